//! A device with its layers → the complete bytes of its files.
//!
//! [`view`] holds all that a template may see, [`timers`] places each timer, [`registry`] knows the packs
//! and their templates, [`escape`] the one escaper per format. Pure: no clock, no randomness, no
//! environment. Imports vendor, format, spread, zone and domain.

pub mod escape;
mod keys;
mod lines;
mod look;
pub mod registry;
mod resets;
pub mod timers;
pub mod view;

use sha2::{Digest, Sha256};

use crate::{
    domain::{
        FieldError,
        merge::{Effective, Stack},
    },
    format::{self, Parameter},
    vendor::{Phone, dialect::Unknown, filename::file_name, spec},
};
use registry::Vendor;
pub use timers::TimerRow;
use view::View;

/// Something about a device that works, but not as somebody may think.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, utoipa::ToSchema)]
pub struct Warning {
    /// Stable code.
    pub code: String,
    /// For people.
    pub detail: String,
}

impl Warning {
    /// A warning.
    pub fn new(code: &str, detail: impl Into<String>) -> Self {
        Self { code: code.to_owned(), detail: detail.into() }
    }
}

/// One complete file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedFile {
    /// What it is.
    pub kind: String,
    /// Name a phone asks for.
    pub name: String,
    /// Pattern of that name in the pack.
    pub pattern: String,
    /// Media type.
    pub media_type: String,
    /// The bytes.
    pub text: String,
    /// Does it hold the parameters?
    pub parameters: bool,
}

impl RenderedFile {
    /// Strong entity tag, quotes included: the first 128 bits of the SHA-256 of the bytes.
    pub fn etag(&self) -> String {
        etag(self.text.as_bytes())
    }
}

/// Strong entity tag of these bytes, quotes included.
pub fn etag(bytes: &[u8]) -> String {
    format!("\"{}\"", hex::encode(&Sha256::digest(bytes)[..16]))
}

/// What a device gets, and what there is to say about it.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Its files, the main one first.
    pub files: Vec<RenderedFile>,
    /// Its timers.
    pub timers: Vec<TimerRow>,
    /// What works otherwise than one may think.
    pub warnings: Vec<Warning>,
}

/// Why a device is served nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faulty {
    /// All that is wrong, at least one.
    pub errors: Vec<FieldError>,
    /// What else there is to say.
    pub warnings: Vec<Warning>,
}

impl Faulty {
    fn because(error: FieldError) -> Self {
        Self { errors: vec![error], warnings: Vec::new() }
    }
}

/// Renders every file of a device.
///
/// # Errors
/// [`Faulty`] where the device cannot be served, with everything that is wrong.
pub fn render(vendor: &Vendor, stack: &Stack) -> Result<Rendered, Faulty> {
    let phone = phone(vendor, stack)?;
    let mut effective = Effective::of(stack, &|selector| phone.selected_by(selector, stack.device.model_name()));
    let mut warnings: Vec<Warning> = phone.doubt.iter().map(|doubt| Warning::new("unknown_model", doubt)).collect();
    // A line beyond the model is not emitted, so it is not spread either.
    let accounts = phone.model.accounts;
    for line in effective.lines.iter().filter(|line| line.line > accounts) {
        warnings.push(Warning::new(
            "line_beyond_model",
            format!("line {} is beyond the {accounts} accounts of {}", line.line, phone.model_name()),
        ));
    }
    effective.lines.retain(|line| line.line <= accounts);
    let draft = Draft { vendor, phone: &phone, stack };
    let mut view = draft.view(&effective);
    let plain = draft.files(&view)?;
    let (extras, notes) = resets::extras(&draft, &effective, &plain)?;
    view.warnings.extend(notes);
    let errors = std::mem::take(&mut view.errors);
    warnings.append(&mut view.warnings);
    warnings.sort();
    warnings.dedup();
    if !errors.is_empty() {
        return Err(Faulty { errors, warnings });
    }
    let timers = std::mem::take(&mut view.rows);
    let files = if extras.is_empty() {
        plain
    } else {
        view.extra = extras;
        draft.files(&view)?.into_iter().map(|file| draft.settle(file)).collect::<Result<_, _>>()?
    };
    Ok(Rendered { files, timers, warnings })
}

/// The phone that a device is, or what is missing to tell.
fn phone<'p>(vendor: &'p Vendor, stack: &'p Stack) -> Result<Phone<'p>, Faulty> {
    let device = &stack.device;
    Phone::find(&vendor.pack, device.model_name(), device.firmware_name()).map_err(|unknown| {
        Faulty::because(match unknown {
            Unknown::Model => FieldError::new(
                "/model",
                "model_required",
                format!(
                    "{} needs a model it knows: {}",
                    vendor.pack.name,
                    names(vendor.pack.models.iter().map(|model| model.name.as_str()))
                ),
            ),
            Unknown::Firmware => {
                FieldError::new("/firmware", "firmware_required", "this model's parameters depend on its firmware: state the version")
            }
        })
    })
}

fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    all.collect::<Vec<_>>().join(", ")
}

/// One device being rendered.
struct Draft<'a> {
    vendor: &'a Vendor,
    phone: &'a Phone<'a>,
    stack: &'a Stack,
}

impl Draft<'_> {
    /// All that the templates may see.
    fn view(&self, effective: &Effective) -> View<'_> {
        View::of(self.phone, self.stack, effective)
    }

    /// Every file of the device as its template gives it.
    fn files(&self, view: &View<'_>) -> Result<Vec<RenderedFile>, Faulty> {
        self.phone.files().map(|file| self.file(file, view)).collect()
    }

    fn file(&self, file: &spec::File, view: &View<'_>) -> Result<RenderedFile, Faulty> {
        let text = self.vendor.template(&file.kind, view).map_err(|error| {
            Faulty::because(FieldError::new(
                "",
                "template",
                format!("the template {:?} of {} failed: {error}", file.kind, self.vendor.pack.id),
            ))
        })?;
        Ok(RenderedFile {
            kind: file.kind.clone(),
            name: file_name(&file.name, self.stack.device.mac),
            pattern: file.name.clone(),
            media_type: file.media_type.clone(),
            text,
            parameters: file.parameters,
        })
    }

    /// The parameters of a rendered file.
    fn read(&self, file: &RenderedFile) -> Result<Vec<Parameter>, Faulty> {
        self.vendor.read(&file.text).map_err(|error| Faulty::because(FieldError::new("", "template", format!("{}: {error}", file.name))))
    }

    /// Leaves the last of each parameter: what an administrator said beats the template's own line.
    fn settle(&self, mut file: RenderedFile) -> Result<RenderedFile, Faulty> {
        if file.parameters {
            let parameters = self.read(&file)?;
            file.text = format::keep_last(&file.text, &parameters);
        }
        Ok(file)
    }
}
