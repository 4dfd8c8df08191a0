//! `/vendors`.

use axum::{Json, http::StatusCode};
use serde_json::Value;

use super::{Items, whole};
use crate::{
    app::vendors,
    http::{
        error::{ApiError, Problem},
        extract::{Authorized, Path},
    },
};

/// Vendors in short.
#[utoipa::path(get, path = "/vendors", tag = "vendors", responses((status = 200, body = Items)))]
pub(super) async fn list(_: Authorized) -> Json<Items> {
    whole(vendors::list())
}

/// A vendor: files, timers with limits and units, models, settings it supports, effects, sources.
#[utoipa::path(get, path = "/vendors/{id}", tag = "vendors", responses((status = 200, body = Object), (status = 404, body = Problem)))]
pub(super) async fn get(_: Authorized, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    vendors::get(&id).map(Json).ok_or_else(|| ApiError::new(StatusCode::NOT_FOUND, "not_found", "there is no such vendor"))
}
