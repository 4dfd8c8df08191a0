//! What operations ask: is it alive, is it ready, what does it count.

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};

use crate::app::App;

/// Prints the metrics as Prometheus text.
pub type Metrics = std::sync::Arc<dyn Fn() -> String + Send + Sync>;

/// The ops plane.
pub fn router(app: App, metrics: Metrics) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(app)
        .route("/metrics", get(move || async move { ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], metrics()) }))
}

async fn ready(State(app): State<App>) -> Response {
    match app.ping().await {
        Ok(()) => "ok\n".into_response(),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n").into_response()
        }
    }
}
