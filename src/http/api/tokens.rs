//! `/tokens`.

use axum::{Json, extract::State, http::StatusCode, response::Response};

use super::{Items, shown, written};
use crate::{
    app::{
        App, Plan,
        tokens::{TokenBody, TokenView},
    },
    http::{
        error::{ApiError, Problem},
        extract::{Authorized, Document, PageQuery, Path, Query, Write, WriteQuery},
    },
};

/// Tokens of the tenants that the token administers.
#[utoipa::path(get, path = "/tokens", tag = "tokens", params(PageQuery), responses((status = 200, body = Items), (status = 403, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Query(page): Query<PageQuery>,
) -> Result<Json<Items>, ApiError> {
    Ok(app.list_tokens(&actor, page.cursor.as_deref(), page.limit()?).await?.into())
}

/// Makes a token. The answer holds it as `token`: the only time it is shown. It can be no more than the token that
/// makes it: not above its role, outside its tenants, without `reveal` if that lacks it, nor longer.
#[utoipa::path(post, path = "/tokens", tag = "tokens", params(WriteQuery), request_body = TokenBody,
    responses((status = 201, body = TokenView), (status = 200, body = Plan), (status = 403, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn create(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Write(options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    Ok(written(app.post_token(&actor, &body, &options).await?))
}

/// One token by its name or id.
#[utoipa::path(get, path = "/tokens/{token}", tag = "tokens",
    responses((status = 200, body = TokenView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn get(State(app): State<App>, Authorized(actor): Authorized, Path(token): Path<String>) -> Result<Response, ApiError> {
    Ok(shown(StatusCode::OK, app.get_token(&actor, &token).await?))
}

/// Revokes a token: it is good for nothing from the answer on.
#[utoipa::path(delete, path = "/tokens/{token}", tag = "tokens", params(WriteQuery),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn delete(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(token): Path<String>,
    Write(options): Write,
) -> Result<Response, ApiError> {
    Ok(written(app.revoke_token(&actor, &token, &options).await?))
}
