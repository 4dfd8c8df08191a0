//! What operations ask: is it alive, is it ready, what does it count.

use std::sync::Arc;

use axum::{body::Body, http::Request};
use offbeat::http::{Metrics, ops_router};
use tower::ServiceExt;

use crate::{app::TestApp, provision};

async fn status(app: &TestApp, path: &str) -> u16 {
    let metrics: Metrics = Arc::new(|| "counted 1\n".to_owned());
    let request = Request::get(path).body(Body::empty()).unwrap();
    ops_router(app.app.clone(), metrics).oneshot(request).await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_server_without_its_database_is_alive_but_not_ready() {
    let app = provision::served().await;
    assert_eq!((status(&app, "/livez").await, status(&app, "/readyz").await, status(&app, "/metrics").await), (200, 200, 200));
    app.store.close().await;
    assert_eq!((status(&app, "/livez").await, status(&app, "/readyz").await, status(&app, "/metrics").await), (200, 503, 200));
    assert_eq!(status(&app, "/api/v1/tenants").await, 404);
}
