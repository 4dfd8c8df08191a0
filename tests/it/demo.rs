//! `offbeat demo`: the real program, and every command that it prints.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::File,
    io::{BufRead, BufReader},
    net::{Ipv4Addr, TcpListener},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use offbeat::render::registry;
use serde_json::Value;
use tempfile::TempDir;

use crate::generated::hold;

/// A running demo, in a folder with settings that would stop any other command.
struct Demo {
    child: Child,
    screen: String,
    folder: TempDir,
}

impl Demo {
    fn start(port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("offbeat.toml"), "nonsense = 1\n").unwrap();
        let temporary = folder.path().join("tmp");
        std::fs::create_dir(&temporary).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_offbeat"))
            .args(["demo", "--port", &port.to_string()])
            .current_dir(folder.path())
            .env("TMPDIR", temporary)
            .env("OFFBEAT_NONSENSE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut demo = Self { child, screen: String::new(), folder };
        for line in BufReader::new(demo.child.stdout.take().unwrap()).lines().map(Result::unwrap) {
            demo.screen.push_str(&line);
            demo.screen.push('\n');
            if line.starts_with("The API:") {
                return demo;
            }
        }
        panic!("the demo ended: {}{}", demo.screen, demo.log());
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    fn temporary(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.folder.path().join("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    /// Presses Ctrl-C.
    fn end(&mut self) {
        assert!(Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success(), "{}", self.log());
    }

    /// The printed commands with what each answers. Every one must work.
    fn run(&self) -> Vec<(String, String)> {
        let mut commands: Vec<String> = Vec::new();
        let mut continues = false;
        for line in self.screen.lines() {
            if line.starts_with("  curl") {
                commands.push(line.to_owned());
            } else if continues {
                commands.last_mut().unwrap().extend(["\n", line]);
            }
            continues = line.ends_with('\\');
        }
        commands.into_iter().map(|command| (command.clone(), sh(&command))).collect()
    }

    /// The head that carries the token.
    fn authorization(&self) -> &str {
        let rest = &self.screen[self.screen.find("'Authorization: ").unwrap()..];
        &rest[..=rest.match_indices('\'').nth(1).unwrap().0]
    }

    fn admin(&self) -> &str {
        self.screen.split("The API: ").nth(1).unwrap().split("/docs").next().unwrap()
    }

    fn get(&self, path: &str) -> Value {
        let answer = sh(&format!("curl -fsS -H {} '{}/api/v1/{path}'", self.authorization(), self.admin()));
        serde_json::from_str(&answer).unwrap()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sh(command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).env("NO_PROXY", "*").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}\n{error}\n(curl is needed: .ci/run installs it)");
    String::from_utf8(output.stdout).unwrap()
}

/// Parameters of a fetched file.
fn parameters(vendor: &str, text: &str) -> BTreeMap<String, String> {
    registry::find(vendor).unwrap().read(text).unwrap().into_iter().map(|parameter| (parameter.name, parameter.value)).collect()
}

#[test]
fn every_printed_command_works_and_the_edit_does_what_its_plan_said() {
    let mut demo = Demo::start(0);
    let listening = demo.log().lines().count();
    assert!(demo.screen.lines().count() + listening <= 40, "more than a screenful:\n{}", demo.screen);
    for line in demo.screen.lines() {
        assert!(line.chars().count() <= 100, "wider than a screen: {line}");
    }
    assert_eq!(demo.temporary().len(), 1);

    let devices = demo.get("devices?limit=1000")["items"].as_array().unwrap().clone();
    assert!(devices.len() >= 60);
    let vendors: std::collections::BTreeSet<_> = devices.iter().map(|device| device["vendor"].as_str().unwrap()).collect();
    assert!(vendors.len() >= 4, "{vendors:?}");
    for device in &devices {
        assert_eq!(device["errors"], serde_json::json!([]), "{}", device["mac"]);
    }
    let timers = demo.get("devices/805ec0d00001/timers");

    let answers = demo.run();
    let fetches: Vec<&String> = answers.iter().filter(|(c, _)| c.ends_with("/provision/805ec0d00001.cfg")).map(|(_, text)| text).collect();
    let [first, second] = fetches[..] else { panic!("{} fetches of the phone", fetches.len()) };
    hold("README.md", "fetched file", &pointed_out(first, &timers));

    let plan = answers.iter().find(|(command, _)| command.contains("dry_run")).map(|(_, text)| text).unwrap();
    let plan: Value = serde_json::from_str(plan).unwrap();
    let (before, after) = (parameters("yealink", first), parameters("yealink", second));
    let differing: Vec<&String> = before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name)).collect();
    assert!(!differing.is_empty());
    let planned: Vec<&Value> = plan["parameters"].as_array().unwrap().iter().filter(|change| change["vendor"] == "yealink").collect();
    for name in differing {
        assert!(planned.iter().any(|change| change["parameter"] == **name), "{name} was not in the plan");
    }
    for change in planned {
        // The example is the shown phone or one like it: its file is now as the plan said.
        let mac = change["example"]["mac"].as_str().unwrap();
        let phones = answers[0].0.rsplit_once('/').unwrap().0;
        let now = parameters("yealink", &sh(&format!("{phones}/{mac}.cfg")));
        let name = change["parameter"].as_str().unwrap();
        assert_eq!(now.get(name).map(String::as_str), change["example"]["to"].as_str(), "{name} of {mac}");
    }
    let diff = answers.iter().find(|(command, _)| command.ends_with("/diff")).map(|(_, text)| text).unwrap();
    assert!(diff.contains("\n-account.1") && diff.contains("\n+account.1"), "{diff}");

    demo.end();
    assert_eq!(demo.temporary(), Vec::<PathBuf>::new());
}

#[test]
fn a_taken_port_is_replaced_and_named() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut demo = Demo::start(port);
    let first = demo.screen.lines().next().unwrap();
    assert!(first.starts_with(&format!("Taken here: port {port}")), "{first}");
    demo.end();
}

/// The file with a note beside each timer. Runs of lines without one are left out but for their first.
fn pointed_out(file: &str, timers: &Value) -> String {
    let parameters = registry::find("yealink").unwrap().read(file).unwrap();
    let note = |line: &str| {
        let parameter = parameters.iter().find(|parameter| line.starts_with(&format!("{} = ", parameter.name)))?;
        let timer = timers["items"].as_array()?.iter().find(|timer| timer["parameter"] == *parameter.name)?;
        let unit = match timer["unit_s"].as_u64()? {
            60 => " min",
            1 => " s",
            other => panic!("a word is needed for units of {other} s"),
        };
        let at_most = timer["value"].as_u64()? + timer["offset"].as_u64()?;
        Some(format!("{}: {at_most}{unit} less {}", timer["key"].as_str()?, timer["offset"]))
    };
    let mut text = String::from("```\n");
    let mut skipped = 0;
    for line in file.lines().filter(|line| !line.is_empty()) {
        let note = note(line);
        skipped = if note.is_some() { 0 } else { skipped + 1 };
        match (note, skipped) {
            (Some(note), _) => _ = writeln!(text, "{line:<68} ← {note}"),
            (None, 1) => _ = writeln!(text, "{line}"),
            (None, 2) => text.push_str("…\n"),
            (None, _) => {}
        }
    }
    text + "```\n"
}
