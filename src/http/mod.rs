//! The three planes over HTTP: phones, administrators, operations. Each router is a function of its state
//! and needs no socket.
//!
//! Imports app and domain; never the store, the renderer or SQL.

mod api;
mod error;
mod extract;
mod freshness;
mod ops;
mod provision;
mod trace;
mod uploads;

use std::time::Duration;

use axum::{
    BoxError, Router,
    error_handling::HandleErrorLayer,
    extract::DefaultBodyLimit,
    http::{HeaderName, HeaderValue, header},
    middleware::from_fn,
    response::{IntoResponse, Response},
};
use tower::{ServiceBuilder, load_shed::error::Overloaded};
use tower_http::{
    catch_panic::CatchPanicLayer,
    request_id::{MakeRequestUuid, SetRequestIdLayer},
    set_header::SetResponseHeaderLayer,
};

pub use api::openapi;
pub use ops::{Metrics, router as ops_router};

use crate::app::App;
use error::ApiError;

/// Phones' requests under way at once; more are told to come back.
const PHONES_AT_ONCE: usize = 1024;
/// Administrators' requests under way at once.
const ADMINS_AT_ONCE: usize = 128;
/// A phone's request takes at most this long.
const PHONE_TIMEOUT: Duration = Duration::from_secs(30);
/// An administrator's request takes at most this long: it may look at a whole fleet.
const ADMIN_TIMEOUT: Duration = Duration::from_mins(5);
/// Greatest document.
const MAX_DOCUMENT: usize = 4 << 20;

/// The phone plane. Every request ends in `provision`: nothing else tells a scanner what there is.
pub fn phone_router(app: App) -> Router {
    // Outermost first.
    let stack = ServiceBuilder::new()
        .layer(SetRequestIdLayer::new(HeaderName::from_static("x-request-id"), MakeRequestUuid))
        .layer(from_fn(trace::phone))
        .layer(CatchPanicLayer::custom(|_| provision::unavailable()))
        .layer(HandleErrorLayer::new(|_: BoxError| async { provision::unavailable() }))
        .timeout(PHONE_TIMEOUT)
        .load_shed()
        .concurrency_limit(PHONES_AT_ONCE);
    Router::new().fallback(provision::answer).with_state(provision::PhoneState::new(app)).layer(stack)
}

/// The admin plane.
pub fn admin_router(app: App) -> Router {
    let stack = ServiceBuilder::new()
        .layer(SetRequestIdLayer::new(HeaderName::from_static("x-request-id"), MakeRequestUuid))
        .layer(from_fn(trace::admin))
        .layer(CatchPanicLayer::custom(|_| ApiError::internal().into_response()))
        .layer(HandleErrorLayer::new(overloaded))
        .load_shed()
        .concurrency_limit(ADMINS_AT_ONCE)
        .layer(HandleErrorLayer::new(|_: BoxError| async { ApiError::busy().into_response() }))
        .timeout(ADMIN_TIMEOUT)
        .layer(SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
        .layer(SetResponseHeaderLayer::overriding(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")))
        .layer(SetResponseHeaderLayer::overriding(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")))
        .layer(SetResponseHeaderLayer::overriding(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")))
        .layer(DefaultBodyLimit::max(MAX_DOCUMENT));
    api::router(app).layer(stack)
}

async fn overloaded(error: BoxError) -> Response {
    if error.is::<Overloaded>() {
        return ApiError::busy().into_response();
    }
    tracing::error!(error = %error, "a request failed in the stack");
    ApiError::internal().into_response()
}
