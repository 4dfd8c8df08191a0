//! `/devices/{mac}/timers`: anyone can redo section 1 of the contract by hand, which this does.

use sha2::{Digest, Sha256};

use super::*;

/// The hash of section 1, written down again.
fn hash(row: &Value, mac: &str) -> u64 {
    let text = ["spread-v1", row["salt"].as_str().unwrap(), row["key"].as_str().unwrap(), mac].join("\n");
    let digest = Sha256::digest(text.as_bytes());
    u64::from_be_bytes(digest[..8].try_into().unwrap())
}

fn number(row: &Value, member: &str) -> u64 {
    row[member].as_u64().unwrap_or_else(|| panic!("{member} of {row}"))
}

/// Redoes one row by hand and compares.
fn redo(row: &Value, mac: &str) {
    let h = hash(row, mac);
    assert_eq!(row["hash"], format!("{h:016x}"), "{row}");
    for layer in ["interval", "spread", "floor", "ceiling"] {
        let source = row["source"][layer].as_str().unwrap();
        assert!(
            ["default", "device", "line"].contains(&source) || source.starts_with("tenant:") || source.starts_with("profile:"),
            "{source}"
        );
    }
    let unit = number(row, "unit_s");
    if row["value"].is_string() {
        return;
    }
    let value = number(row, "value");
    assert_eq!(number(row, "value_s"), value * unit);
    if number(row, "interval") == 0 {
        assert_eq!((value, number(row, "steps"), number(row, "offset")), (0, 0, 0), "{row}");
        return;
    }
    let most = row["vendor_max"].as_u64().unwrap_or(u64::MAX);
    let least = row["vendor_min"].as_u64().unwrap_or(1);
    let ceiling = row["ceiling"].as_u64().unwrap_or(u64::MAX);
    let hi = (number(row, "interval").min(ceiling) / unit).min(most);
    let lo = number(row, "floor").div_ceil(unit).min(ceiling / unit).max(least).min(most);
    let hi = hi.max(lo);
    let steps = (number(row, "spread") / unit).min(hi - lo + 1).max(1);
    assert_eq!((number(row, "steps"), number(row, "offset"), value), (steps, h % steps, hi - h % steps), "{row}");
    assert!(value > 0);
}

/// The rows of a device, each redone.
async fn rows(app: &TestApp, mac: &str) -> Vec<Value> {
    let rows = app.get(&format!("/devices/{mac}/timers")).await.expect(200).json()["items"].as_array().unwrap().clone();
    let members = [
        "timer",
        "key",
        "salt",
        "hash",
        "parameter",
        "unit_s",
        "vendor_min",
        "vendor_max",
        "interval",
        "spread",
        "floor",
        "ceiling",
        "steps",
        "offset",
        "value",
        "value_s",
        "source",
    ];
    for row in &rows {
        assert!(members.iter().all(|member| row.get(*member).is_some()), "{row}");
        redo(row, mac);
    }
    rows
}

fn row<'r>(rows: &'r [Value], key: &str) -> &'r Value {
    rows.iter().find(|row| row["key"] == key).unwrap_or_else(|| panic!("no {key} in {rows:?}"))
}

const ALL: [&str; 4] = [YEALINK, POLY, GRANDSTREAM, LINPHONE];

#[tokio::test]
async fn the_built_in_numbers_are_those_of_the_table() {
    let app = four_vendors().await;
    let table = [
        ("check_in", 86400, 21600, 3600, Value::Null),
        ("registration/1", 3600, 600, 60, Value::Null),
        ("subscription/1", 3600, 600, 60, json!(3600)),
        ("mwi_subscription/1", 3600, 600, 60, Value::Null),
        ("registration_retry/1", 60, 30, 30, json!(1800)),
        ("check_in_retry", 600, 300, 60, Value::Null),
        ("keepalive/1", 30, 10, 15, Value::Null),
        ("phonebook", 21600, 3600, 3600, Value::Null),
    ];
    let rows = rows(&app, YEALINK).await;
    for (key, interval, spread, floor, ceiling) in table {
        let row = row(&rows, key);
        assert_eq!((number(row, "interval"), number(row, "spread"), number(row, "floor")), (interval, spread, floor), "{key}");
        assert_eq!(row["ceiling"], ceiling, "{key}");
        assert_eq!(row["source"], json!({"interval": "default", "spread": "default", "floor": "default", "ceiling": "default"}));
        assert_eq!(row["salt"], "");
    }
    // A vector of spread-vectors.csv.
    assert_eq!(
        (&row(&rows, "registration/1")["value"], &row(&rows, "registration/1")["parameter"]),
        (&json!(3058), &json!("account.1.sip_server.1.expires"))
    );
}

#[tokio::test]
async fn every_row_of_every_vendor_can_be_redone_by_hand() {
    let app = four_vendors().await;
    for timers in [
        json!({}),
        json!({"registration": {"interval": 90, "spread": 3600}, "check_in": {"interval": 3600, "spread": 86400}}),
        json!({"registration": {"interval": 86400, "spread": 86400, "ceiling": 1000}, "subscription": {"ceiling": 0, "interval": 7200}}),
        json!({"registration": {"interval": 61, "spread": 0}, "keepalive": {"interval": 2_147_483_647, "spread": 2_147_483_647}}),
        json!({"check_in": {"interval": 0}, "keepalive": {"interval": 0}, "phonebook": {"interval": 0}, "mwi_subscription": {"interval": 0}}),
        json!({"registration_lead": {"interval": 120}, "registration_retry": {"interval": 600, "ceiling": 900}, "check_in_retry": {"interval": 60, "floor": 1}}),
        json!({"check_in": {"interval": 1, "floor": 0}, "registration": {"interval": 1, "floor": 0, "spread": 0}}),
    ] {
        for salt in ["", "acme-2024"] {
            let tenant = json!({"salt": salt, "settings": {"sip": {"server": "pbx.example.com", "backup": {"server": "b.example"}}, "timers": timers}});
            app.put("/tenants/default", &tenant).await.expect(200);
            for mac in ALL {
                let rows = rows(&app, mac).await;
                assert!(rows.len() >= 4, "{mac}: {rows:?}");
                assert!(rows.iter().all(|row| row["salt"] == salt));
            }
        }
    }
}

#[tokio::test]
async fn each_number_names_the_layer_that_set_it() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let registration = |numbers: Value| json!({"settings": {"timers": {"registration": numbers}}});
    app.patch("/tenants/default", &registration(json!({"interval": 7200}))).await.expect(200);
    app.put("/tenants/site", &json!({"parent": "default"})).await.expect(201);
    app.put("/tenants/default/profiles/desk", &registration(json!({"spread": 300}))).await.expect(201);
    let mut device = phone("805ec0000001", "yealink", Some("T46S"));
    device.as_object_mut().unwrap().extend(registration(json!({"floor": 100})).as_object().unwrap().clone());
    device["tenant"] = json!("site");
    device["profile"] = json!("default/desk");
    device["lines"] =
        json!([{"line": 1, "user": "1"}, {"line": 3, "user": "3", "timers": {"registration": {"ceiling": 5000, "spread": 200}}}]);
    app.post("/devices", &device).await.expect(201);
    let rows = rows(&app, "805ec0000001").await;
    assert_eq!(
        row(&rows, "registration/1")["source"],
        json!({"interval": "tenant:default", "spread": "profile:default/desk", "floor": "device", "ceiling": "default"})
    );
    assert_eq!(
        row(&rows, "registration/3")["source"],
        json!({"interval": "tenant:default", "spread": "line", "floor": "device", "ceiling": "line"})
    );
    assert!(!rows.iter().any(|row| row["key"] == "registration/2"), "a line that is not there has no timer");
    // The registrar lifts the floor, from the layer that says so.
    app.patch("/devices/805ec0000001", &json!({"settings": {"sip": {"registrar": {"min_expires": 1800}}}})).await.expect(200);
    let rows = self::rows(&app, "805ec0000001").await;
    assert_eq!(
        (&row(&rows, "registration/1")["floor"], &row(&rows, "registration/1")["source"]["floor"]),
        (&json!(1800), &json!("device"))
    );
    assert_eq!(row(&rows, "subscription/1")["floor"], 1800);
}

#[tokio::test]
async fn the_nearest_salt_counts() {
    let app = TestApp::new().await;
    fleet(&app).await;
    app.put("/tenants/site", &json!({"parent": "default"})).await.expect(201);
    app.patch(&format!("/devices/{YEALINK}"), &json!({"tenant": "site"})).await.expect(200);
    let salt = async || row(&rows(&app, YEALINK).await, "check_in")["salt"].clone();
    assert_eq!(salt().await, "");
    app.patch("/tenants/default", &json!({"salt": "far"})).await.expect(200);
    assert_eq!(salt().await, "far");
    app.patch("/tenants/site", &json!({"salt": "near"})).await.expect(200);
    assert_eq!(salt().await, "near");
    app.patch("/tenants/site", &json!({"salt": ""})).await.expect(200);
    assert_eq!(salt().await, "", "an explicit none");
}

#[tokio::test]
async fn clock_mode_gives_a_minute_that_can_be_redone() {
    let app = four_vendors().await;
    for (from, until) in [("01:00", "05:00"), ("22:30", "04:00"), ("03:00", "03:00"), ("00:00", "00:07"), ("23:59", "00:00")] {
        let mode = json!({"settings": {"timers": {"check_in": {"mode": "clock", "from": from, "until": until}}}});
        app.patch("/tenants/default", &mode).await.expect(200);
        let minutes = |text: &str| text[..2].parse::<u64>().unwrap() * 60 + text[3..].parse::<u64>().unwrap();
        for mac in [YEALINK, POLY, GRANDSTREAM] {
            let rows = rows(&app, mac).await;
            let row = row(&rows, "check_in_slot");
            let resolution = number(row, "unit_s") / 60;
            let span = match (minutes(until) + 1440 - minutes(from)) % 1440 {
                0 => 1440,
                span => span,
            };
            let slots = (span / resolution).max(1);
            let begin = minutes(from).div_ceil(resolution) * resolution;
            let minute = (begin + hash(row, mac) % slots * resolution) % 1440;
            assert_eq!(row["value"], format!("{:02}:{:02}", minute / 60, minute % 60), "{row}");
            assert_eq!((number(row, "steps"), number(row, "offset")), (slots, hash(row, mac) % slots));
            assert!(!rows.iter().any(|row| row["key"] == "check_in"), "either the slot or the interval");
        }
    }
}

#[tokio::test]
async fn what_is_off_is_off_on_every_phone_or_at_its_default_with_a_warning() {
    let app = four_vendors().await;
    app.patch(
        "/tenants/default",
        &json!({"settings": {"timers": {"mwi_subscription": {"interval": 0}, "keepalive": {"interval": 0}, "phonebook": {"interval": 0}}}}),
    )
    .await
    .expect(200);
    for mac in ALL {
        let rows = rows(&app, mac).await;
        let told = warnings(&app, mac).await.contains(&"no_off".to_owned());
        let on: Vec<_> = rows
            .iter()
            .filter(|row| ["mwi_subscription", "keepalive", "phonebook"].contains(&row["timer"].as_str().unwrap()) && row["value"] != 0)
            .collect();
        assert_eq!(told, !on.is_empty(), "{mac}: {on:?}");
        for row in on {
            let default = if row["timer"] == "phonebook" {
                21600
            } else if row["timer"] == "keepalive" {
                30
            } else {
                3600
            };
            assert_eq!(number(row, "interval"), default, "the number that was used");
        }
    }
}
