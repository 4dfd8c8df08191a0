//! Reading JSON documents into domain types, collecting every error with its path.
//!
//! [`Setting`] is implemented by each leaf type (once, with its rule) and by each group of settings
//! through the `group!` macro, which derives from one list of fields: reading, merging,
//! walking over the leaves and visiting the secrets.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::secret::Secret;

/// One thing wrong with a document: where (JSON pointer), a stable code, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, utoipa::ToSchema)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) of the field in the document.
    pub path: String,
    /// Stable code.
    pub code: String,
    /// For people: what is wrong and what is accepted.
    pub detail: String,
}

impl FieldError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, code: &str, detail: impl Into<String>) -> Self {
        Self { path: path.into(), code: code.into(), detail: detail.into() }
    }
}

/// An answer that lists more errors than this helps nobody, and costs a great deal.
pub const MAX_ERRORS: usize = 1000;
/// Entries of a list, unless it has a limit of its own.
const MAX_ENTRIES: usize = 1000;
/// Entries of a map, such as the raw parameters of one selector.
const MAX_MEMBERS: usize = 10_000;
/// Bytes of a name that the document chooses itself, such as a vendor and model, or a raw parameter.
const MAX_NAME: usize = 256;

/// The errors met so far and the place being read.
#[derive(Debug, Default)]
pub struct Reader {
    path: String,
    /// Everything found wrong, in reading order.
    pub errors: Vec<FieldError>,
}

impl Reader {
    /// JSON pointer of the place being read.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Notes an error at the current place, up to [`MAX_ERRORS`].
    pub fn fail(&mut self, code: &str, detail: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            let error = FieldError::new(self.path.clone(), code, detail);
            self.errors.push(error);
        }
    }

    /// Runs `read` one level deeper.
    pub fn at<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        push_pointer(&mut self.path, name);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// The value as an object, or an error here.
    pub fn object<'v>(&mut self, value: &'v Value) -> Option<Object<'v>> {
        if let Value::Object(map) = value {
            return Some(Object { map, taken: Vec::new() });
        }
        self.fail("not_an_object", "expected an object");
        None
    }

    /// The value as a list of at most `max`, each item read at its index, or an error here.
    pub fn list<T>(&mut self, value: &Value, max: usize, mut read: impl FnMut(&Value, &mut Self) -> Option<T>) -> Option<Vec<T>> {
        let Value::Array(items) = value else {
            self.fail("not_a_list", "expected a list");
            return None;
        };
        if items.len() > max {
            self.fail("too_long", format!("at most {max} entries"));
            return None;
        }
        let read_items: Vec<T> =
            items.iter().enumerate().filter_map(|(index, item)| self.at(&index.to_string(), |r| read(item, r))).collect();
        Some(read_items)
    }

    /// A string without control characters, at most `max` bytes.
    pub fn text(&mut self, value: &Value, max: usize) -> Option<String> {
        let Value::String(text) = value else {
            self.fail("not_a_string", "expected a string");
            return None;
        };
        if text.chars().any(char::is_control) {
            self.fail("control_character", "control characters are not allowed");
            return None;
        }
        if text.len() > max {
            self.fail("too_long", format!("at most {max} bytes"));
            return None;
        }
        Some(text.clone())
    }

    /// A name of an object's own choosing: no control characters, 1 to 256 bytes. Where it goes into the path of a
    /// reset, that path is one that [`Reader::text`] takes back.
    pub fn is_name(&mut self, name: &str) -> bool {
        self.at(name, |r| {
            if name.chars().any(char::is_control) {
                r.fail("control_character", "control characters are not allowed, in a name neither");
                return false;
            }
            if !(1..=MAX_NAME).contains(&name.len()) {
                r.fail("too_long", format!("a name is 1 to {MAX_NAME} bytes"));
                return false;
            }
            true
        })
    }

    /// A whole number within `min..=max`.
    pub fn integer(&mut self, value: &Value, min: u32, max: u32) -> Option<u32> {
        match value.as_u64().and_then(|n| u32::try_from(n).ok()) {
            Some(n) if (min..=max).contains(&n) => Some(n),
            _ => {
                self.fail("out_of_range", format!("expected a whole number from {min} to {max}"));
                None
            }
        }
    }

    /// One of the words of an enum.
    pub fn choice<T: DeserializeOwned>(&mut self, value: &Value) -> Option<T> {
        match serde_json::from_value(value.clone()) {
            Ok(choice) => Some(choice),
            Err(error) => {
                // The parser's words repeat the value, whatever its size.
                self.fail("not_allowed", error.to_string().chars().take(300).collect::<String>());
                None
            }
        }
    }
}

/// An object whose fields are taken one by one; what is left over at the end is an error.
#[derive(Debug)]
pub struct Object<'v> {
    map: &'v Map<String, Value>,
    taken: Vec<&'static str>,
}

impl<'v> Object<'v> {
    /// The field `name` read by `read`; absent and null are `None`.
    pub fn take<T>(
        &mut self,
        reader: &mut Reader,
        name: &'static str,
        read: impl FnOnce(&'v Value, &mut Reader) -> Option<T>,
    ) -> Option<T> {
        self.taken.push(name);
        match self.map.get(name) {
            None | Some(Value::Null) => None,
            Some(value) => reader.at(name, |r| read(value, r)),
        }
    }

    /// The field `name`, which must be there.
    pub fn require<T>(
        &mut self,
        reader: &mut Reader,
        name: &'static str,
        read: impl FnOnce(&'v Value, &mut Reader) -> Option<T>,
    ) -> Option<T> {
        if matches!(self.map.get(name), None | Some(Value::Null)) {
            self.taken.push(name);
            reader.at(name, |r| r.fail("required", "this field is required"));
            return None;
        }
        self.take(reader, name, read)
    }

    /// Accepts fields that are shown but not stored (`revision`, `warnings`, …): a document that was
    /// read may be sent back as it is.
    pub fn ignore(&mut self, names: &[&'static str]) {
        self.taken.extend(names);
    }

    /// Refuses what nobody took.
    pub fn finish(self, reader: &mut Reader) {
        for name in self.map.keys().filter(|name| !self.taken.contains(&name.as_str())) {
            reader.at(name, |r| r.fail("unknown_field", "no such field here"));
        }
    }
}

/// Appends one JSON pointer token.
pub fn push_pointer(path: &mut String, name: &str) {
    path.push('/');
    path.push_str(&name.replace('~', "~0").replace('/', "~1"));
}

/// A value that a layer may set: a leaf with its own rule, or a group of such values.
pub trait Setting: Sized + Clone {
    /// Reads the value, noting what is wrong.
    fn read(value: &Value, reader: &mut Reader) -> Option<Self>;

    /// Is it a group that sets nothing, and so as good as absent?
    fn says_nothing(&self) -> bool {
        false
    }

    /// Puts `over`, from a nearer layer, on top of `self`; `note` is told each leaf that came from it.
    fn overlay(&mut self, over: &Self, path: &mut String, note: &mut dyn FnMut(&str)) {
        *self = over.clone();
        note(path);
    }

    /// Calls `visit` for each leaf that is set.
    fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, Value));

    /// Calls `visit` for each secret.
    fn secrets(&mut self, _path: &mut String, _visit: &mut dyn FnMut(&str, &mut Secret)) {}

    /// Some value of this type, for finding out which parameters it reaches.
    fn sample() -> Self;

    /// Sets the leaf at `pointer` (relative, `/a/b`) to `value`, or to a sample of its type.
    fn plant(_pointer: &str, value: Option<&Value>) -> Option<Self> {
        match value {
            Some(value) => Self::read(value, &mut Reader::default()).or_else(|| Some(Self::sample())),
            None => Some(Self::sample()),
        }
    }

    /// Takes the leaf at `pointer` away; `true` when the whole value is to go.
    fn prune(&mut self, _pointer: &str) -> bool {
        true
    }
}

/// Overlays an optional field.
pub fn overlay_field<T: Setting>(base: &mut Option<T>, over: Option<&T>, name: &str, path: &mut String, note: &mut dyn FnMut(&str)) {
    let Some(over) = over else { return };
    let length = path.len();
    push_pointer(path, name);
    if let Some(base) = base {
        base.overlay(over, path, note);
    } else {
        over.leaves(path, &mut |leaf, _| note(leaf));
        *base = Some(over.clone());
    }
    path.truncate(length);
}

/// Walks the leaves of an optional field.
pub fn field_leaves<T: Setting>(field: Option<&T>, name: &str, path: &mut String, visit: &mut dyn FnMut(&str, Value)) {
    let Some(field) = field else { return };
    let length = path.len();
    push_pointer(path, name);
    field.leaves(path, visit);
    path.truncate(length);
}

/// Visits the secrets of an optional field.
pub fn field_secrets<T: Setting>(field: Option<&mut T>, name: &str, path: &mut String, visit: &mut dyn FnMut(&str, &mut Secret)) {
    let Some(field) = field else { return };
    let length = path.len();
    push_pointer(path, name);
    field.secrets(path, visit);
    path.truncate(length);
}

/// Splits `/a/b/c` into `a` (unescaped) and `/b/c`.
pub fn split_pointer(pointer: &str) -> Option<(String, &str)> {
    let rest = pointer.strip_prefix('/')?;
    let (head, tail) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    Some((head.replace("~1", "/").replace("~0", "~"), tail))
}

/// Declares a group of optional settings and everything that follows from the list of its fields.
macro_rules! group {
    ($(#[$meta:meta])* $name:ident { $( $(#[$doc:meta])* $field:ident : $type:ty ),* $(,)? } $(before overlay $before:expr)?) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, utoipa::ToSchema)]
        pub struct $name {
            $( $(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$type>, )*
        }

        impl $crate::domain::fields::Setting for $name {
            fn read(value: &serde_json::Value, reader: &mut $crate::domain::fields::Reader) -> Option<Self> {
                let mut object = reader.object(value)?;
                let group = Self { $( $field: object.take(reader, stringify!($field), <$type as $crate::domain::fields::Setting>::read).filter(|field| !field.says_nothing()), )* };
                object.finish(reader);
                Some(group)
            }

            fn says_nothing(&self) -> bool {
                *self == Self::default()
            }

            fn overlay(&mut self, over: &Self, path: &mut String, note: &mut dyn FnMut(&str)) {
                $( let before: fn(&mut $name, &$name) = $before; before(self, over); )?
                $( $crate::domain::fields::overlay_field(&mut self.$field, over.$field.as_ref(), stringify!($field), path, note); )*
            }

            fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, serde_json::Value)) {
                $( $crate::domain::fields::field_leaves(self.$field.as_ref(), stringify!($field), path, visit); )*
            }

            fn secrets(&mut self, path: &mut String, visit: &mut dyn FnMut(&str, &mut $crate::domain::secret::Secret)) {
                $( $crate::domain::fields::field_secrets(self.$field.as_mut(), stringify!($field), path, visit); )*
            }

            fn sample() -> Self {
                Self { $( $field: Some(<$type as $crate::domain::fields::Setting>::sample()), )* }
            }

            fn plant(pointer: &str, value: Option<&serde_json::Value>) -> Option<Self> {
                let (head, tail) = $crate::domain::fields::split_pointer(pointer)?;
                let mut group = Self::default();
                match head.as_str() {
                    $( stringify!($field) => group.$field = Some(<$type as $crate::domain::fields::Setting>::plant(tail, value)?), )*
                    _ => return None,
                }
                Some(group)
            }

            fn prune(&mut self, pointer: &str) -> bool {
                let Some((head, tail)) = $crate::domain::fields::split_pointer(pointer) else { return true };
                match head.as_str() {
                    $( stringify!($field) => if self.$field.as_mut().is_some_and(|field| <$type as $crate::domain::fields::Setting>::prune(field, tail)) { self.$field = None; }, )*
                    _ => {}
                }
                false
            }
        }
    };
}
pub(crate) use group;

/// Implements [`Setting`] for an enum of words.
macro_rules! words {
    ($($type:ty = $sample:expr),* $(,)?) => { $(
        impl $crate::domain::fields::Setting for $type {
            fn read(value: &serde_json::Value, reader: &mut $crate::domain::fields::Reader) -> Option<Self> {
                reader.choice(value)
            }
            fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, serde_json::Value)) {
                visit(path, serde_json::json!(self));
            }
            fn sample() -> Self { $sample }
        }
    )* };
}
pub(crate) use words;

impl Setting for bool {
    fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        let read = value.as_bool();
        if read.is_none() {
            reader.fail("not_a_boolean", "expected true or false");
        }
        read
    }
    fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, Value)) {
        visit(path, Value::Bool(*self));
    }
    fn sample() -> Self {
        true
    }
}

/// Declares whole numbers with a range.
macro_rules! numbers {
    ($($(#[$meta:meta])* $name:ident $min:literal..=$max:literal),* $(,)?) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, utoipa::ToSchema)]
        pub struct $name(u32);

        impl $name {
            /// The number.
            pub fn get(self) -> u32 {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $crate::domain::fields::Setting for $name {
            fn read(value: &serde_json::Value, reader: &mut $crate::domain::fields::Reader) -> Option<Self> {
                reader.integer(value, $min, $max).map(Self)
            }
            fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, serde_json::Value)) {
                visit(path, serde_json::json!(self.0));
            }
            fn sample() -> Self {
                Self($max)
            }
        }
    )* };
}
pub(crate) use numbers;

impl<T: Setting + serde::Serialize> Setting for Vec<T> {
    fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        reader.list(value, MAX_ENTRIES, T::read)
    }
    fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, Value)) {
        visit(path, serde_json::json!(self));
    }
    fn secrets(&mut self, path: &mut String, visit: &mut dyn FnMut(&str, &mut Secret)) {
        for (index, item) in self.iter_mut().enumerate() {
            field_secrets(Some(item), &index.to_string(), path, visit);
        }
    }
    fn sample() -> Self {
        vec![T::sample()]
    }
}

impl<T: Setting> Setting for std::collections::BTreeMap<String, T> {
    fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        let Value::Object(map) = value else {
            reader.fail("not_an_object", "expected an object");
            return None;
        };
        if map.len() > MAX_MEMBERS {
            reader.fail("too_long", format!("at most {MAX_MEMBERS} entries"));
            return None;
        }
        let mut read = Self::new();
        for (name, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            if reader.is_name(name)
                && let Some(value) = reader.at(name, |r| T::read(value, r))
            {
                read.insert(name.clone(), value);
            }
        }
        Some(read)
    }
    fn says_nothing(&self) -> bool {
        self.is_empty()
    }
    fn overlay(&mut self, over: &Self, path: &mut String, note: &mut dyn FnMut(&str)) {
        for (name, value) in over {
            let mut slot = self.remove(name);
            overlay_field(&mut slot, Some(value), name, path, note);
            self.extend(slot.map(|value| (name.clone(), value)));
        }
    }
    fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, Value)) {
        for (name, value) in self {
            field_leaves(Some(value), name, path, visit);
        }
    }
    fn secrets(&mut self, path: &mut String, visit: &mut dyn FnMut(&str, &mut Secret)) {
        for (name, value) in self {
            field_secrets(Some(value), name, path, visit);
        }
    }
    fn sample() -> Self {
        Self::new()
    }
    fn plant(pointer: &str, value: Option<&Value>) -> Option<Self> {
        let (head, tail) = split_pointer(pointer)?;
        Some(Self::from([(head, T::plant(tail, value)?)]))
    }
    fn prune(&mut self, pointer: &str) -> bool {
        let Some((head, tail)) = split_pointer(pointer) else { return true };
        if self.get_mut(&head).is_some_and(|value| value.prune(tail)) {
            self.remove(&head);
        }
        false
    }
}
