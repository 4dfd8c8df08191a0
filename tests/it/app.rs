//! The product without a socket: both routers on a database of the test's own, with a clock that the test turns.
#![expect(clippy::unwrap_used, reason = "test support: it panics")]

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use axum::{
    Router,
    body::Body,
    extract::ConnectInfo,
    http::{HeaderMap, Method, Request},
};
use chrono::{DateTime, TimeDelta, Utc};
use http_body_util::BodyExt;
use offbeat::{
    app::{Actor, App, Clock, Role, networks::Networks, tokens::NewToken},
    domain::Slug,
    http::{admin_router, phone_router},
    store::Store,
};
use secrecy::SecretString;
use serde_json::Value;
use tower::ServiceExt;

use crate::store::Db;

/// The unscoped administrator's token of every test server.
pub(crate) const ADMIN_TOKEN: &str = "admin-token-of-the-tests";

/// A server's insides: what it stores, and the two planes.
pub(crate) struct TestApp {
    pub(crate) app: App,
    pub(crate) store: Store,
    phones: Router,
    admin: Router,
    clock: Arc<AtomicI64>,
    /// Kept as long as the server: an SQLite file goes with it.
    own: Option<Db>,
}

impl TestApp {
    /// On an SQLite file of its own.
    pub(crate) async fn new() -> Self {
        let db = Db::sqlite();
        Self::on(&db).await.keep(db)
    }

    /// Holds the database for as long as the server is there.
    pub(crate) fn keep(mut self, db: Db) -> Self {
        self.own = Some(db);
        self
    }

    /// On a database that the test holds; it may hold several servers.
    pub(crate) async fn on(db: &Db) -> Self {
        Self::with_networks(db, &["127.0.0.0/8", "::1/128"], &[]).await
    }

    pub(crate) async fn with_networks(db: &Db, phones: &[&str], proxies: &[&str]) -> Self {
        let networks = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let store = db.store().await;
        let clock = Arc::new(AtomicI64::new(1_700_000_000));
        let hands = clock.clone();
        let reading: Clock = Arc::new(move || DateTime::UNIX_EPOCH + TimeDelta::seconds(hands.load(Ordering::Relaxed)));
        let networks = Networks { phones: networks(phones), proxies: networks(proxies) };
        let app = App::new(store.clone(), reading, networks, Some(SecretString::from(ADMIN_TOKEN)));
        Self { phones: phone_router(app.clone()), admin: admin_router(app.clone()), app, store, clock, own: None }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(self.clock.load(Ordering::Relaxed))
    }

    pub(crate) fn advance(&self, by: TimeDelta) {
        self.clock.fetch_add(by.num_seconds(), Ordering::Relaxed);
    }

    /// A new token.
    pub(crate) async fn token(&self, role: Role, tenant: Option<&str>, reveal: bool) -> String {
        let tenant = tenant.map(|id| Slug::parse(id).unwrap());
        let name = format!("{}-{tenant:?}-{reveal}", role.as_str());
        self.app.create_token(&Actor::local(), &NewToken { name, role, tenant, reveal, expires: None }).await.unwrap()
    }

    /// Asks the phone plane.
    pub(crate) async fn phone(&self, call: Call) -> Answer {
        Answer::of(self.phones.clone().oneshot(call.request).await.unwrap()).await
    }

    /// What a phone gets for a name.
    pub(crate) async fn fetch(&self, file: &str) -> Answer {
        self.phone(Call::get(&format!("/provision/{file}"))).await
    }

    /// Asks the admin plane.
    pub(crate) async fn ask(&self, call: Call) -> Answer {
        Answer::of(self.admin.clone().oneshot(call.request).await.unwrap()).await
    }

    /// Asks the API as the unscoped administrator; the path is below `/api/v1`.
    pub(crate) async fn api(&self, call: Call) -> Answer {
        self.ask(call.token(ADMIN_TOKEN)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.api(Call::api("GET", path)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        self.api(Call::api("PUT", path).json(body)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.api(Call::api("POST", path).json(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.api(Call::api("PATCH", path).json(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.api(Call::api("DELETE", path)).await
    }
}

/// A request being made.
pub(crate) struct Call {
    request: Request<Body>,
}

impl Call {
    /// Any request, from a phone or administrator on the loopback network.
    pub(crate) fn new(method: &str, uri: &str) -> Self {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = Request::builder().method(method).uri(uri).body(Body::empty()).unwrap();
        Self { request }.peer("127.0.0.1")
    }

    pub(crate) fn get(uri: &str) -> Self {
        Self::new("GET", uri)
    }

    /// A request of the API; the path is below `/api/v1`.
    pub(crate) fn api(method: &str, path: &str) -> Self {
        Self::new(method, &format!("/api/v1{path}"))
    }

    pub(crate) fn peer(mut self, address: &str) -> Self {
        let peer = std::net::SocketAddr::new(address.parse().unwrap(), 40_000);
        self.request.extensions_mut().insert(ConnectInfo(peer));
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        let name: axum::http::HeaderName = name.parse().unwrap();
        self.request.headers_mut().append(name, value.parse().unwrap());
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn body(mut self, media_type: &str, body: impl Into<Body>) -> Self {
        *self.request.body_mut() = body.into();
        self.header("content-type", media_type)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }
}

/// An answer with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    async fn of(response: axum::response::Response) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Self { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The same answer, which must have this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// The problem document of a refusal (RFC 9457): every member that the contract names, and never HTML.
    #[track_caller]
    pub(crate) fn problem(self, status: u16) -> Value {
        let answer = self.expect(status);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        let problem = answer.json();
        assert_eq!(problem["status"], status);
        for member in ["type", "title", "detail", "code"] {
            assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{member} of {problem}");
        }
        problem
    }

    /// The field errors of a 422 as pointer and code, in order.
    #[track_caller]
    pub(crate) fn errors(self) -> Vec<(String, String)> {
        let problem = self.problem(422);
        let errors = problem["errors"].as_array().unwrap_or_else(|| panic!("{problem}"));
        let text = |error: &Value, member: &str| error[member].as_str().unwrap().to_owned();
        assert!(errors.iter().all(|error| !text(error, "detail").is_empty()));
        errors.iter().map(|error| (text(error, "path"), text(error, "code"))).collect()
    }

    /// The pointers of a 422.
    #[track_caller]
    pub(crate) fn error_paths(self) -> Vec<String> {
        self.errors().into_iter().map(|(path, _)| path).collect()
    }
}
