//! `/refusals`.

use axum::{Json, extract::State};

use super::{Items, whole};
use crate::{
    app::App,
    http::{
        error::{ApiError, Problem},
        extract::{Authorized, PageQuery, Query},
    },
};

/// The latest refused requests with their reasons, newest first.
#[utoipa::path(get, path = "/refusals", tag = "operations", params(PageQuery), responses((status = 200, body = Items), (status = 401, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Query(page): Query<PageQuery>,
) -> Result<Json<Items>, ApiError> {
    Ok(whole(app.refusals(&actor, page.limit()?).await?))
}
