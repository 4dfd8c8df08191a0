//! Every golden case over HTTP, again and again: the bytes depend on what is stored, and on nothing else.
//!
//! The documents of all cases go into one database, each case with tenants of its own, and are asked for from the
//! server that took them, after a restart 400 days later, and from other processes in other places of the world.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Case, cases};
use crate::{
    app::{Call, TestApp},
    process::Server,
    store::{Db, author, device, on_both_databases, profile, tenant},
};

/// The documents of a case with its tenants renamed, so that many cases fit into one database.
struct Documents {
    tenants: Vec<Value>,
    /// Tenant and document.
    profiles: Vec<(String, Value)>,
    device: Value,
}

impl Documents {
    fn of(case: &Case) -> Self {
        let home = |id: Option<&str>| format!("{}-{}-{}", case.vendor, case.name.replace('_', "-"), id.unwrap_or("default"));
        let rename = |document: &mut Value, members: &[&str], reference: &str| {
            for member in members {
                let id = document[*member].as_str().map(|id| home(Some(id)));
                document.as_object_mut().unwrap().extend(id.map(|id| ((*member).to_owned(), json!(id))));
            }
            if let Some((tenant, id)) = document[reference].as_str().and_then(|text| text.split_once('/')) {
                document[reference] = json!(format!("{}/{id}", home(Some(tenant))));
            }
        };
        let mut tenants = case.tenants.clone();
        if !tenants.iter().any(|tenant| tenant["id"] == "default") {
            tenants.insert(0, json!({"id": "default"}));
        }
        for tenant in &mut tenants {
            rename(tenant, &["id", "parent"], "profile");
        }
        let profiles = case.profiles.iter().cloned().map(|mut profile| {
            let tenant = home(profile["tenant"].as_str());
            profile["tenant"] = json!(tenant);
            rename(&mut profile, &[], "extends");
            (tenant, profile)
        });
        let profiles = profiles.collect();
        let mut device = case.device.clone();
        device["vendor"] = json!(device["vendor"].as_str().unwrap_or(&case.vendor));
        device["tenant"] = json!(home(device["tenant"].as_str()));
        rename(&mut device, &[], "profile");
        Self { tenants, profiles, device }
    }

    /// Each document with its path: tenants without their default profile, profiles, tenants with it, the device.
    fn writes(&self) -> Vec<(String, Value)> {
        let tenant_path = |tenant: &Value| format!("/tenants/{}", tenant["id"].as_str().unwrap());
        let bare = |tenant: &Value| json!({"id": tenant["id"], "parent": tenant["parent"]});
        let profile_path = |(tenant, profile): &(String, Value)| format!("/tenants/{tenant}/profiles/{}", profile["id"].as_str().unwrap());
        let tenants = in_order(&self.tenants, "parent", |tenant| tenant["id"].as_str().unwrap().to_owned());
        let profiles: Vec<Value> = self.profiles.iter().map(|(_, profile)| profile.clone()).collect();
        let profiles = in_order(&profiles, "extends", |profile| {
            format!("{}/{}", profile["tenant"].as_str().unwrap(), profile["id"].as_str().unwrap())
        });
        let mut writes: Vec<(String, Value)> = tenants.iter().map(|tenant| (tenant_path(tenant), bare(tenant))).collect();
        writes.extend(
            profiles.into_iter().map(|profile| (profile_path(&(profile["tenant"].as_str().unwrap().to_owned(), profile.clone())), profile)),
        );
        writes.extend(tenants.into_iter().map(|tenant| (tenant_path(&tenant), tenant)));
        writes.push((format!("/devices/{}", self.device["mac"].as_str().unwrap()), self.device.clone()));
        writes
    }

    /// Writes the case through the API, and resets, which no document may add, through the store.
    async fn put(&self, app: &TestApp, case: &Case) {
        for (path, mut document) in self.writes() {
            document.as_object_mut().unwrap().remove("resets");
            let answer = app.put(&format!("{path}?accept=errors"), &document).await;
            let refused = answer.status == 422 && !case.refuses.is_empty();
            assert!(refused || answer.status == 200 || answer.status == 201, "{}: {path}: {}", case.title(), answer.text());
        }
        let with_resets = |document: &&Value| !document["resets"].is_null();
        let mut write = app.store.write(author()).await.unwrap();
        for document in self.tenants.iter().filter(with_resets) {
            write.put_tenant(&tenant(document)).await.unwrap();
        }
        for (home, document) in self.profiles.iter().filter(|(_, profile)| with_resets(&profile)) {
            write.put_profile(&profile(home, document)).await.unwrap();
        }
        if with_resets(&&self.device) {
            write.put_device(&device(&self.device)).await.unwrap();
        }
        write.commit().await.unwrap();
    }
}

/// Documents so that each comes after the one that it leads to.
fn in_order(documents: &[Value], link: &str, key: impl Fn(&Value) -> String) -> Vec<Value> {
    let mut left = documents.to_vec();
    let mut ordered: Vec<Value> = Vec::new();
    while !left.is_empty() {
        let waits = |document: &Value, left: &[Value]| {
            let next = document[link].as_str().map(|next| {
                if next.contains('/') || link == "parent" {
                    next.to_owned()
                } else {
                    format!("{}/{next}", document["tenant"].as_str().unwrap())
                }
            });
            left.iter().any(|other| Some(key(other)) == next)
        };
        let at = left.iter().position(|document| !waits(document, &left)).unwrap();
        ordered.push(left.remove(at));
    }
    ordered
}

/// Every name of a case with the bytes it must be answered with; `None` is 404.
fn names(case: &Case) -> Vec<(String, Option<Vec<u8>>)> {
    let mac: offbeat::domain::Mac = case.device["mac"].as_str().unwrap().parse().unwrap();
    let files = case.files();
    let vendor = offbeat::render::registry::find(&case.vendor).unwrap();
    let mut names: Vec<_> = files.iter().map(|(name, text)| (name.clone(), Some(text.clone().into_bytes()))).collect();
    names.push((format!("{mac}.cfg"), files.get(&vendor.main_file(mac)).map(|text| text.clone().into_bytes())));
    names
}

fn compare(case: &Case, when: &str, name: &str, expected: Option<&Vec<u8>>, (status, body): (u16, Vec<u8>)) {
    let title = case.title();
    match expected {
        None => assert_eq!((status, body.len()), (404, 0), "{title}: {name} {when}"),
        Some(expected) => {
            assert_eq!(status, 200, "{title}: {name} {when}");
            assert!(body == *expected, "{title}: {name} {when} differs:\n{}", String::from_utf8_lossy(&body));
        }
    }
}

async fn check(app: &TestApp, cases: &[&Case], when: &str, headers: &[(&str, &str)]) {
    for case in cases {
        for (name, expected) in names(case) {
            let call = headers.iter().fold(Call::get(&format!("/provision/{name}")), |call, (header, value)| call.header(header, value));
            let answer = app.phone(call).await;
            compare(case, when, &name, expected.as_ref(), (answer.status, answer.body));
        }
    }
}

async fn check_process(server: &Server, cases: &[&Case], when: &str) {
    let client = reqwest::Client::new();
    for case in cases {
        for (name, expected) in names(case) {
            let answer = client.get(server.url("phones", &format!("/provision/{name}"))).send().await.unwrap();
            let status = answer.status().as_u16();
            compare(case, when, &name, expected.as_ref(), (status, answer.bytes().await.unwrap().to_vec()));
        }
    }
}

/// The cases so that no round holds a MAC twice.
fn rounds(cases: &[Case]) -> Vec<Vec<&Case>> {
    let mut rounds: Vec<(BTreeSet<String>, Vec<&Case>)> = Vec::new();
    for case in cases {
        let mac = case.device["mac"].to_string();
        match rounds.iter_mut().find(|(macs, _)| !macs.contains(&mac)) {
            Some((macs, round)) => {
                macs.insert(mac);
                round.push(case);
            }
            None => rounds.push((BTreeSet::from([mac]), vec![case])),
        }
    }
    rounds.into_iter().map(|(_, round)| round).collect()
}

const OTHER_HEADERS: [(&str, &str); 6] = [
    ("host", "somewhere.example:8443"),
    ("user-agent", "Mozilla/5.0 (compatible)"),
    ("accept", "application/json"),
    ("accept-language", "tr-TR"),
    ("accept-encoding", "gzip, br"),
    ("cookie", "a=b"),
];

/// Serves the cases from one database in every way there is.
async fn serve(db: &Db, cases: &[Case], turned: bool) {
    let mut app = TestApp::on(db).await;
    let far = Server::start(db, &[("TZ", "Pacific/Auckland"), ("LC_ALL", "tr_TR.UTF-8"), ("LANG", "tr_TR.UTF-8"), ("OFFBEAT_LOG", "warn")]);
    for (number, mut round) in rounds(cases).into_iter().enumerate() {
        if turned {
            round.reverse();
        }
        for case in &round {
            if number > 0 {
                let gone = app.delete(&format!("/devices/{}", case.device["mac"].as_str().unwrap())).await.status;
                assert!(matches!(gone, 204 | 404), "{gone}");
            }
            Documents::of(case).put(&app, case).await;
        }
        if turned {
            turn_rows(db).await;
        }
        check(&app, &round, "at first", &[]).await;
        check(&app, &round, "with other headers", &OTHER_HEADERS).await;
        check_process(&far, &round, "from another process, in Auckland and Turkish").await;
        app.app.close().await;
        app = TestApp::on(db).await;
        app.advance(chrono::TimeDelta::days(400));
        check(&app, &round, "after a restart and 400 days", &[]).await;
        let near = Server::start(db, &[("TZ", "America/St_Johns"), ("LC_ALL", "C"), ("OFFBEAT_LOG", "warn")]);
        check_process(&near, &round, "from a new process, in St John's").await;
    }
}

/// Rows in another order: rewritten ones move to the end of the table on PostgreSQL; on SQLite row ids are turned round.
async fn turn_rows(db: &Db) {
    for table in ["tenants", "profiles", "devices"] {
        db.tamper(&format!("UPDATE {table} SET revision = revision")).await;
        if db.is_sqlite() {
            db.tamper(&format!("UPDATE {table} SET rowid = -rowid - (SELECT 2 * MAX(ABS(rowid)) + 1 FROM {table})")).await;
        }
    }
}

on_both_databases! {
    async fn every_case_is_served_as_its_golden_files_say(db: &Db) {
        serve(db, &cases(), false).await;
    }

    async fn every_case_is_served_the_same_from_rows_in_another_order(db: &Db) {
        serve(db, &cases(), true).await;
    }
}
