//! The vendors: one sorted line each, naming the pack and the template of each kind of file.

use std::sync::LazyLock;

use askama::Template;
use regex::Regex;

use super::view::View;
use crate::{
    domain::{Mac, secret::has_user_info},
    format::{FormatError, Parameter, Syntax},
    vendor::{
        Pack,
        filename::{Request, UNIVERSAL, file_name},
    },
};

/// A vendor: its facts and its templates.
#[derive(Debug)]
pub struct Vendor {
    /// Its facts.
    pub pack: Pack,
    syntax: Syntax,
    names: Regex,
    values: Option<Regex>,
    user_agents: Vec<Regex>,
    templates: &'static [(&'static str, Render)],
}

type Render = fn(&View<'_>) -> askama::Result<String>;

/// Declares the vendors. Each kind of file names its template below `templates/`.
macro_rules! vendors {
    ($($id:literal: { $($kind:literal => $path:literal),+ $(,)? })*) => {
        static VENDORS: LazyLock<Vec<Vendor>> = LazyLock::new(|| vec![ $( {
            $crate::render::registry::vendor(
                include_str!(concat!("../../vendors/", $id, "/vendor.toml")),
                include_str!(concat!("../../vendors/", $id, "/parameters.tsv")),
                &[ $( ($kind, {
                    fn render(view: &View<'_>) -> askama::Result<String> {
                        #[derive(Template)]
                        #[template(path = $path, config = "templates/askama.toml")]
                        struct File<'a> {
                            v: &'a View<'a>,
                        }
                        File { v: view }.render()
                    }
                    render
                }), )+ ],
            )
        }, )* ]);
    };
}

vendors! {
    "grandstream": { "config" => "grandstream/config.xml", "named" => "grandstream/named.xml" }
    "linphone": { "config" => "linphone/config.xml" }
    "poly": { "master" => "poly/master.xml", "config" => "poly/config.xml" }
    "yealink": { "config" => "yealink/config.cfg", "boot" => "yealink/boot.boot" }
}

fn vendor(toml: &str, parameters: &str, templates: &'static [(&'static str, Render)]) -> Vendor {
    // The packs are compiled in and every one is read by a test: a fault here cannot leave the build.
    let pack = Pack::parse(toml, parameters).unwrap_or_else(|error| panic!("vendor pack: {error}"));
    let syntax = Syntax::named(&pack.syntax).unwrap_or_else(|| panic!("vendor pack {}: no syntax {:?}", pack.id, pack.syntax));
    let grammar = |text: &str| Regex::new(text).unwrap_or_else(|error| panic!("vendor pack {}: {error}", pack.id));
    let (names, values) = (grammar(&pack.parameter_names), pack.values.as_deref().map(grammar));
    let user_agents = pack.user_agents.iter().map(|text| grammar(text)).collect();
    Vendor { pack, syntax, names, values, user_agents, templates }
}

/// Can the files of this pack carry the value?
pub(super) fn value_fits(pack: &Pack, value: &str) -> bool {
    find(&pack.id).is_none_or(|vendor| vendor.value_fits(value))
}

/// All vendors, sorted by id.
pub fn vendors() -> &'static [Vendor] {
    &VENDORS
}

/// The vendor with this id.
pub fn find(id: &str) -> Option<&'static Vendor> {
    vendors().iter().find(|vendor| vendor.pack.id == id)
}

/// The vendor that a MAC's prefix names, where exactly one pack claims it.
pub fn by_prefix(mac: Mac) -> Option<&'static Vendor> {
    let mut claims = vendors().iter().filter(|vendor| vendor.has_prefix(mac));
    let first = claims.next()?;
    claims.next().is_none().then_some(first)
}

/// What the path of a phone's request may mean.
pub fn request(path: &str) -> Option<Request> {
    Request::parse(path, vendors().iter().map(|vendor| &vendor.pack))
}

impl Vendor {
    /// Renders one kind of file.
    ///
    /// # Errors
    /// When the template fails or the pack names a kind that has none.
    pub fn template(&self, kind: &str, view: &View<'_>) -> Result<String, String> {
        let (_, render) =
            self.templates.iter().find(|(known, _)| *known == kind).ok_or_else(|| format!("there is no template for {kind:?}"))?;
        render(view).map_err(|error| error.to_string())
    }

    /// Does the name fit the vendor's grammar of raw parameters?
    pub fn name_fits(&self, name: &str) -> bool {
        self.names.is_match(name)
    }

    /// Can the vendor's files carry the value?
    pub fn value_fits(&self, value: &str) -> bool {
        self.values.as_ref().is_none_or(|values| values.is_match(value))
    }

    /// Model and firmware as a phone calls them in its user agent; `None` where it is no phone of this vendor.
    pub fn reported(&self, user_agent: &str) -> Option<(Option<String>, Option<String>)> {
        let captures = self.user_agents.iter().find_map(|pattern| pattern.captures(user_agent))?;
        let part = |name: &str| captures.name(name).map(|found| found.as_str().to_owned());
        Some((part("model"), part("firmware")))
    }

    /// Is the prefix of the MAC one of the vendor's?
    pub fn has_prefix(&self, mac: Mac) -> bool {
        let prefix = mac.prefix();
        self.pack.prefixes.iter().any(|known| known.oui == prefix)
    }

    /// Is it a name of the vendor's own? The one that every phone may use is not.
    pub fn has_name(&self, request: &Request) -> bool {
        let names = self.pack.files.iter().map(|file| &file.name).chain(self.pack.uploads.iter().map(|upload| &upload.name));
        names.into_iter().any(|name| name != UNIVERSAL && request.is(name))
    }

    /// The pack's name of a model that is called so.
    pub fn model_named(&self, name: &str) -> Option<&str> {
        let is_called = |own: &String| own.eq_ignore_ascii_case(name);
        let model = self.pack.models.iter().find(|model| is_called(&model.name) || model.aliases.iter().any(is_called));
        model.map(|model| model.name.as_str())
    }

    /// The kinds of file that have a template.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.templates.iter().map(|(kind, _)| *kind)
    }

    /// Reads a rendered file back into parameters.
    ///
    /// # Errors
    /// Where the text is not of the vendor's syntax.
    pub fn read(&self, text: &str) -> Result<Vec<Parameter>, FormatError> {
        self.syntax.read(text, &|name| self.pack.keyed.iter().any(|pattern| pattern.matches(name)))
    }

    /// Is the value of this parameter a secret, by its name or by what it holds?
    pub fn is_secret(&self, parameter: &Parameter) -> bool {
        let base = parameter.name.split('[').next().unwrap_or_default();
        self.pack.is_secret(&parameter.name) || self.pack.is_secret(base) || has_user_info(&parameter.value)
    }

    /// Is the request an upload that is taken and dropped?
    pub fn takes_upload(&self, request: &Request) -> bool {
        self.pack.uploads.iter().any(|upload| request.is(&upload.name))
    }

    /// The name of the n-th file of the pack for this MAC.
    pub fn main_file(&self, mac: Mac) -> String {
        self.pack.files.first().map(|file| file_name(&file.name, mac)).unwrap_or_default()
    }
}
