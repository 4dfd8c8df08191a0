//! The phone plane: `GET|HEAD /provision/<file>`, and what phones upload.

mod away;
mod files;
mod names;
mod networks;
mod record;
mod refusals;
mod uploads;
mod wire;

use serde_json::{Value, json};

use crate::{app::TestApp, store::Db};

/// A Yealink: its expiry of 3058 s stands in `spread-vectors.csv`.
pub(crate) const YEALINK: &str = "805ec0123456";
/// A Poly, whose first file names the second.
pub(crate) const POLY: &str = "64167f0a0b01";
/// A client whose kind takes a 304 for a failure.
pub(crate) const LINPHONE: &str = "020000000001";
/// A MAC that is no device's.
pub(crate) const NOBODY: &str = "805ec0999999";

/// A device with one line.
pub(crate) fn phone(mac: &str, vendor: &str, model: Option<&str>) -> Value {
    json!({"mac": mac, "vendor": vendor, "model": model, "lines": [{"line": 1, "user": "100", "password": "secret-of-line-1"}]})
}

/// One phone of each kind on a tenant that names the server.
pub(crate) async fn fleet(app: &TestApp) {
    app.patch("/tenants/default", &json!({"settings": {"sip": {"server": "pbx.example.com"}}})).await.expect(200);
    for device in [phone(YEALINK, "yealink", Some("T46S")), phone(POLY, "poly", Some("VVX 250")), phone(LINPHONE, "linphone", None)] {
        app.post("/devices", &device).await.expect(201);
    }
}

/// The fleet on an SQLite file of its own.
pub(crate) async fn served() -> TestApp {
    let app = TestApp::new().await;
    fleet(&app).await;
    app
}

/// The fleet on a database that the test holds.
pub(crate) async fn served_on(db: &Db) -> TestApp {
    let app = TestApp::on(db).await;
    fleet(&app).await;
    app
}
