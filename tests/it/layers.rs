//! Who may import whom (the table in the architecture): the code is read, not trusted.
//!
//! Tests inside the files are left out: they may use what they test with. A new module of `src/` needs a line in
//! [`MAY_IMPORT`].

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use offbeat::render::registry;

/// Top-level modules and those of the crate that each may import; `cli` may import all.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("spread", &["domain"]),
    ("zone", &["domain"]),
    ("config", &["domain"]),
    ("telemetry", &["domain"]),
    ("vendor", &["domain"]),
    ("format", &["domain"]),
    ("store", &["domain"]),
    ("render", &["vendor", "spread", "zone", "format", "domain"]),
    ("diff", &["format", "render", "vendor"]),
    ("app", &["store", "render", "diff", "vendor", "spread", "zone", "domain"]),
    ("http", &["app", "domain"]),
    ("server", &["http", "config", "telemetry"]),
    ("main", &["cli"]),
    ("lib", &[]),
];

/// Libraries that belong to some modules alone.
const CONFINED: &[(&str, &[&str])] = &[
    ("sqlx", &["store"]),
    ("axum", &["http", "server"]),
    ("axum_server", &["server"]),
    ("rustls", &["server"]),
    ("askama", &["render"]),
    ("std::env", &["config"]),
];

/// The one file that may name vendors.
const REGISTRY: &str = "render/registry.rs";

/// What is wrong with a source file; `path` is below `src/`.
fn faults(path: &str, source: &str, vendors: &BTreeSet<&str>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |what: String| faults.push(format!("src/{path}: {what}"));
    if !source.starts_with("//!") {
        fault("does not begin with its documentation (//!)".into());
    }
    let (code, literals) = split(source);
    let module = module_of(path);
    let depth = path.split('/').count() - usize::from(path.ends_with("/mod.rs"));
    let allowed = MAY_IMPORT.iter().find(|(name, _)| *name == module).map(|(_, allowed)| *allowed);
    if allowed.is_none() && module != "cli" {
        fault(format!("module {module:?} stands in no row of the table"));
    }
    for imported in imports(&code, depth) {
        if imported != module && allowed.is_some_and(|allowed| !allowed.contains(&imported.as_str())) {
            fault(format!("imports {imported}"));
        }
    }
    let paths = paths(&code);
    for (library, homes) in CONFINED {
        let used = paths.iter().any(|path| *path == *library || path.starts_with(&format!("{library}::")));
        if used && !homes.contains(&module) {
            fault(format!("uses {library}"));
        }
    }
    for literal in literals.iter().filter(|_| path != REGISTRY) {
        let words = literal.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        for vendor in words.filter(|word| vendors.contains(word)) {
            fault(format!("names the vendor {vendor:?}"));
        }
    }
    faults
}

/// The top-level module of a file.
fn module_of(path: &str) -> &str {
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs")
}

/// The code without comments, literals and in-file tests; and the string literals.
fn split(source: &str) -> (String, Vec<String>) {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or(source);
    let (mut code, mut literals) = (String::new(), Vec::new());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if let Some((literal, length)) = literal(rest, code.chars().last()) {
            literals.push(literal.to_owned());
            code.push_str("\"\"");
            length
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\''") {
            if rest.starts_with("'\"'") { 3 } else { 4 }
        } else {
            code.push(first);
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    (code, literals)
}

/// The string literal that the text begins with, and its length with quotes.
fn literal(text: &str, before: Option<char>) -> Option<(&str, usize)> {
    if let Some(body) = text.strip_prefix('"') {
        let mut escaped = false;
        let end = body.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })?;
        return Some((&body[..end], end + 2));
    }
    let body = text.strip_prefix('r').filter(|_| !before.is_some_and(|c| c.is_alphanumeric() || c == '_'))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let body = body[hashes..].strip_prefix('"')?;
    let end = body.find(&format!("\"{}", "#".repeat(hashes)))?;
    Some((&body[..end], end + hashes * 2 + 3))
}

/// Every path in the code, with the groups of its `use` trees written out (`a::{b, c}` is `a::b` and `a::c`).
fn paths(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = code;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        if is_word(first) && !is_word(before) && before != ':' {
            expand("", rest, &mut found);
        }
        before = first;
        rest = &rest[first.len_utf8()..];
    }
    found
}

/// Writes out the path that the text begins with; returns what follows it.
fn expand<'t>(prefix: &str, text: &'t str, found: &mut BTreeSet<String>) -> &'t str {
    let text = text.trim_start();
    if let Some(mut group) = text.strip_prefix('{') {
        loop {
            group = expand(prefix, group, found).trim_start();
            match group.chars().next() {
                Some(',') => group = group[1..].trim_start(),
                Some('}') => return &group[1..],
                // No group of a `use`: a block, or the end.
                _ => return group,
            }
        }
    }
    let length = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(length);
    let path = format!("{prefix}{name}");
    match rest.strip_prefix("::") {
        Some(rest) if !name.is_empty() => expand(&format!("{path}::"), rest, found),
        _ => {
            found.insert(path);
            rest
        }
    }
}

/// The top-level modules that a file names, at a depth of 1 for those right below `src/`.
fn imports(code: &str, depth: usize) -> BTreeSet<String> {
    let top = |path: String| {
        let mut parts = path.split("::");
        match parts.next() {
            Some("crate" | "offbeat") => parts.next().map(str::to_owned),
            Some("super") => {
                let ups = 1 + parts.clone().take_while(|part| *part == "super").count();
                (ups >= depth).then(|| parts.nth(ups - 1)).flatten().map(str::to_owned)
            }
            _ => None,
        }
    };
    paths(code).into_iter().filter_map(top).filter(|name| !name.is_empty()).collect()
}

fn sources(folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix("src").unwrap().to_str().unwrap().to_owned();
            found.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}

fn vendors() -> BTreeSet<&'static str> {
    registry::vendors().iter().map(|vendor| vendor.pack.id.as_str()).collect()
}

#[test]
fn the_code_keeps_to_the_import_table() {
    let mut found = BTreeMap::new();
    sources(Path::new("src"), &mut found);
    assert!(found.len() > 50 && found.contains_key("http/api/devices.rs"), "{:?}", found.keys());
    let faults: Vec<_> = found.iter().flat_map(|(path, source)| faults(path, source, &vendors())).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let modules: BTreeSet<_> = found.keys().map(|path| module_of(path)).collect();
    for (module, _) in MAY_IMPORT {
        assert!(modules.contains(module), "the table names {module}, which is not there");
    }
}

#[test]
fn the_checker_finds_what_breaks_the_rules() {
    let vendors = BTreeSet::from(["acme"]);
    for (path, source, expected) in [
        ("http/a.rs", "//! x\nuse crate::store::Store;\n", vec!["imports store"]),
        ("http/api/a.rs", "//! x\nuse crate::{\n    app::{App, Body},\n    render::{self, view},\n};\n", vec!["imports render"]),
        ("http/api/a.rs", "//! x\nfn f() { super::super::super::render::g() }\n", vec!["imports render"]),
        ("http/mod.rs", "//! x\nuse super::store;\n", vec!["imports store"]),
        ("domain/a.rs", "//! x\nfn f(a: &crate::app::App) {}\n", vec!["imports app"]),
        ("telemetry.rs", "//! x\nuse crate::config::Config;\n", vec!["imports config"]),
        ("app/a.rs", "//! x\nfn f() { sqlx::query(\"\"); }\n", vec!["uses sqlx"]),
        ("app/a.rs", "//! x\nuse axum::{Json, Router};\n", vec!["uses axum"]),
        ("http/a.rs", "//! x\nuse axum_server::Handle;\n", vec!["uses axum_server"]),
        ("config/a.rs", "//! x\nfn f(a: rustls::ServerConfig) {}\n", vec!["uses rustls"]),
        ("vendor/a.rs", "//! x\n#[derive(askama::Template)]\nstruct A;\n", vec!["uses askama"]),
        ("app/a.rs", "//! x\nuse std::{collections::BTreeMap, env};\n", vec!["uses std::env"]),
        ("cli/a.rs", "//! x\nfn f() { std::env::var(\"X\"); }\n", vec!["uses std::env"]),
        ("render/a.rs", "//! x\nfn f(id: &str) -> bool { id == \"acme\" }\n", vec!["names the vendor \"acme\""]),
        ("render/a.rs", "//! x\nconst A: &str = r#\"a \"quoted\" acme/T1\"#;\n", vec!["names the vendor \"acme\""]),
        ("app/a.rs", "use crate::store::Store;\n", vec!["does not begin with its documentation (//!)"]),
        ("stray.rs", "//! x\n", vec!["module \"stray\" stands in no row of the table"]),
    ] {
        let expected: Vec<_> = expected.iter().map(|what| format!("src/{path}: {what}")).collect();
        assert_eq!(faults(path, source, &vendors), expected, "{source}");
    }
}

#[test]
fn the_checker_lets_pass_what_keeps_to_them() {
    let vendors = BTreeSet::from(["acme"]);
    for (path, source) in [
        ("http/api/a.rs", "//! x\nuse super::super::error::ApiError;\nuse crate::{app::App, domain::{Mac, Slug}, http::error};\n"),
        ("store/a.rs", "//! x\nuse sqlx::{Any, AnyPool};\nuse super::error;\n"),
        ("app/a.rs", "//! crate::http, and acme\n// sqlx::query\nconst A: &str = \"crate::http, axum::Json\"; // \"acme\"\n"),
        ("app/a.rs", "//! x\nfn f(c: char) -> bool { c == '\"' || c == '\\'' }\nuse crate::store::Store;\n"),
        ("render/registry.rs", "//! x\nvendors! { \"acme\": {} }\n"),
        ("render/a.rs", "//! x\n\n#[cfg(test)]\nmod tests {\n    use crate::app::App;\n    const A: &str = \"acme\";\n}\n"),
        ("cli/mod.rs", "//! x\nuse crate::{app, config, http, render, store, telemetry};\n"),
    ] {
        assert_eq!(faults(path, source, &vendors), [""; 0], "{source}");
    }
}
