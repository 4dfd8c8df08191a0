//! `/unclaimed`.

use axum::{Json, extract::State, response::Response};

use super::{Items, written};
use crate::{
    app::{App, Plan},
    domain::Device,
    http::{
        error::{ApiError, Problem},
        extract::{Authorized, Document, PageQuery, Path, Query, Write, WriteQuery, mac},
    },
};

/// MACs that phones asked for and no device has, with a guess of what they are: `UnclaimedView`. For operators and
/// admins over all tenants.
#[utoipa::path(get, path = "/unclaimed", tag = "operations", params(PageQuery), responses((status = 200, body = Items), (status = 403, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Query(page): Query<PageQuery>,
) -> Result<Json<Items>, ApiError> {
    Ok(app.list_unclaimed(&actor, page.cursor.as_deref(), page.limit()?).await?.into())
}

/// Makes a device of one: as `POST /devices`, without `mac`; vendor and model are the guessed ones where absent.
#[utoipa::path(post, path = "/unclaimed/{mac}/claim", tag = "operations", params(WriteQuery), request_body = Device,
    responses((status = 201, body = Device), (status = 200, body = Plan), (status = 403, body = Problem), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn claim(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(text): Path<String>,
    Write(options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    Ok(written(app.claim(&actor, mac(&text)?, &body, &options).await?))
}
