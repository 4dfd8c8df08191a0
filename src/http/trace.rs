//! One span per request, one line per answer, and the metrics of both.

use std::time::{Duration, Instant};

use axum::{
    extract::{MatchedPath, Request},
    middleware::Next,
    response::Response,
};
use tracing::Instrument;

/// Traces and counts a request of the phone plane.
pub(super) async fn phone(request: Request, next: Next) -> Response {
    observe("phone", request, next).await
}

/// Traces and counts a request of the admin plane.
pub(super) async fn admin(request: Request, next: Next) -> Response {
    observe("admin", request, next).await
}

async fn observe(plane: &'static str, request: Request, next: Next) -> Response {
    let id = request.headers().get("x-request-id").and_then(|id| id.to_str().ok()).unwrap_or_default();
    let id: String = id.chars().take(64).collect();
    let span = tracing::info_span!("request", plane, id, method = %request.method(), path = %shown(request.uri().path()));
    let route = request.extensions().get::<MatchedPath>().map_or_else(|| "-".to_owned(), |path| path.as_str().to_owned());
    // A label takes a handful of values: anyone may send methods of their own making.
    let method = match request.method().as_str() {
        known @ ("GET" | "HEAD" | "PUT" | "POST" | "PATCH" | "DELETE" | "OPTIONS") => known.to_owned(),
        _ => "other".to_owned(),
    };
    let started = Instant::now();
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    let took = started.elapsed();
    metrics::counter!("offbeat_requests_total", "plane" => plane, "method" => method, "route" => route, "status" => status.to_string())
        .increment(1);
    metrics::histogram!("offbeat_request_seconds", "plane" => plane).record(took);
    span.in_scope(|| tracing::info!(status, took_ms = millis(took), "answered"));
    response
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

/// Enough of a path to recognise it.
fn shown(path: &str) -> String {
    path.chars().take(200).collect()
}
