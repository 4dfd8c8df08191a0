//! The contract of the store: every test runs on SQLite and on PostgreSQL.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use chrono::{DateTime, TimeDelta, Utc};
use offbeat::{
    domain::{Device, Mac, Profile, ProfileRef, Slug, Tenant, fields::Reader},
    store::{Author, Keyring, Store},
};
use serde_json::{Value, json};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};

/// Expands each test to `sqlite::<name>` and `postgres::<name>`.
macro_rules! on_both_databases {
    ($($(#[$meta:meta])* async fn $name:ident($db:ident: &Db) $body:block)*) => {
        $($(#[$meta])* async fn $name($db: &$crate::store::Db) $body)*

        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(&$crate::store::Db::sqlite()).await;
            })*
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if let Some(db) = $crate::store::Db::postgres().await {
                    super::$name(&db).await;
                }
            })*
        }
    };
}

pub(crate) use on_both_databases;

mod away;
mod damage;
mod keys;
mod lists;
mod migrations;
mod record;
mod resources;
mod revisions;
mod stack;
mod tokens;
mod unclaimed;

/// An empty database of a test's own.
pub(crate) struct Db {
    pub(crate) url: String,
    /// Where the SQLite file is; removed with it.
    pub(crate) directory: Option<tempfile::TempDir>,
}

impl Db {
    pub(crate) fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("offbeat.db").display());
        Self { url, directory: Some(directory) }
    }

    pub(crate) async fn postgres() -> Option<Self> {
        crate::postgres::database().await.map(|url| Self { url, directory: None })
    }

    /// Another server on this database, with the usual key.
    pub(crate) async fn connect(&self) -> Store {
        Store::connect(&self.url, keyring(1)).await.unwrap()
    }

    /// A server on this database once it is up to date.
    pub(crate) async fn store(&self) -> Store {
        let store = self.connect().await;
        store.migrate().await.unwrap();
        store.check_key().await.unwrap();
        store
    }

    /// Does to the database what no program should.
    pub(crate) async fn tamper(&self, statement: &str) {
        let mut connection = AnyConnection::connect(&self.url).await.unwrap();
        connection.execute(AssertSqlSafe(statement.to_owned())).await.unwrap();
        connection.close().await.unwrap();
    }

    /// One number from the database.
    pub(crate) async fn number(&self, statement: &str) -> i64 {
        let mut connection = AnyConnection::connect(&self.url).await.unwrap();
        let number = sqlx::query_scalar(AssertSqlSafe(statement.to_owned())).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        number
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self.directory.is_some()
    }
}

pub(crate) fn keyring(digit: u8) -> Keyring {
    Keyring::from_hex(&format!("{digit:064}")).unwrap()
}

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(1_700_000_000 + seconds)
}

pub(crate) fn author() -> Author {
    Author { at: at(0), actor: "tester".into(), message: None }
}

fn mac(text: &str) -> Mac {
    text.parse().unwrap()
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn reference(text: &str) -> ProfileRef {
    ProfileRef::parse(text, None).unwrap()
}

pub(crate) fn tenant(value: &Value) -> Tenant {
    let mut reader = Reader::default();
    let read = Tenant::read(value, None, &mut reader);
    assert_eq!(reader.errors, []);
    let (mut tenant, resets) = read.unwrap();
    tenant.layer.resets = resets.unwrap_or_default();
    tenant
}

pub(crate) fn profile(home: &str, value: &Value) -> Profile {
    let mut reader = Reader::default();
    let read = Profile::read(value, &slug(home), None, &mut reader);
    assert_eq!(reader.errors, []);
    let (mut profile, resets) = read.unwrap();
    profile.layer.resets = resets.unwrap_or_default();
    profile
}

pub(crate) fn device(value: &Value) -> Device {
    let mut reader = Reader::default();
    let read = Device::read(value, None, &mut reader);
    assert_eq!(reader.errors, []);
    let (mut device, resets) = read.unwrap();
    device.layer.resets = resets.unwrap_or_default();
    device
}

/// Stores tenants, profiles (`"<tenant>"`, document) and devices in one write.
pub(crate) async fn put(store: &Store, tenants: &[Value], profiles: &[(&str, Value)], devices: &[Value]) {
    let mut write = store.write(author()).await.unwrap();
    for value in tenants {
        write.put_tenant(&tenant(value)).await.unwrap();
    }
    for (home, value) in profiles {
        write.put_profile(&profile(home, value)).await.unwrap();
    }
    for value in devices {
        write.put_device(&device(value)).await.unwrap();
    }
    write.commit().await.unwrap();
}

/// A device with secrets in several places.
fn secretive(mac: &str) -> Value {
    json!({
        "mac": mac, "vendor": "yealink", "model": "T46U", "name": "Empfang Zürich",
        "settings": {
            "access": {"admin_password": "hunter2-admin"},
            "provisioning": {"url": "https://user:hunter2-url@host.example/", "password": "hunter2-provisioning"},
            "phonebooks": [{"name": "one", "url": "http://book.example/"}, {"name": "two", "url": "http://u:hunter2-book@book.example/"}],
        },
        "lines": [{"line": 2, "user": "102", "password": "hunter2-line2"}, {"line": 1, "user": "101", "password": ""}],
        "keys": [{"position": 3, "type": "blf", "value": "103"}],
        "parameters": {"yealink": {"a/b~c": "x", "url": "ldap://u:hunter2-parameter@ldap.example"}},
        "resets": [{"path": "/settings/time/zone", "was": "Europe/Zurich"}, {"path": "/keys"}],
    })
}
