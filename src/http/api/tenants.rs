//! `/tenants`.

use axum::{Json, extract::State, http::StatusCode, response::Response};

use super::{Items, Shown, shown, written};
use crate::{
    app::{App, Body, Plan},
    domain::Tenant,
    http::{
        error::{ApiError, Problem},
        extract::{Authorized, Document, PageQuery, Path, Query, Write, WriteQuery, new_slug, slug},
    },
};

/// Tenants that the token sees.
#[utoipa::path(get, path = "/tenants", tag = "tenants", params(PageQuery), responses((status = 200, body = Items), (status = 401, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Query(page): Query<PageQuery>,
) -> Result<Json<Items>, ApiError> {
    Ok(app.list_tenants(&actor, page.cursor.as_deref(), page.limit()?).await?.into())
}

/// Creates a tenant.
#[utoipa::path(post, path = "/tenants", tag = "tenants", params(WriteQuery), request_body = Tenant,
    responses((status = 201, body = Shown<Tenant>), (status = 200, body = Plan), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn create(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Write(mut options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    options.precondition.absent = true;
    Ok(written(app.write_tenant(&actor, None, Body::Whole(&body), &options).await?))
}

/// One tenant.
#[utoipa::path(get, path = "/tenants/{tenant}", tag = "tenants", responses((status = 200, body = Shown<Tenant>), (status = 404, body = Problem)))]
pub(super) async fn get(State(app): State<App>, Authorized(actor): Authorized, Path(id): Path<String>) -> Result<Response, ApiError> {
    Ok(shown(StatusCode::OK, app.get_tenant(&actor, &slug(&id)?).await?))
}

/// Creates or replaces a tenant.
#[utoipa::path(put, path = "/tenants/{tenant}", tag = "tenants", params(WriteQuery), request_body = Tenant,
    responses((status = 200, body = Shown<Tenant>), (status = 201, body = Shown<Tenant>), (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn replace(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(id): Path<String>,
    Write(options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    Ok(written(app.write_tenant(&actor, Some(&new_slug(&id)?), Body::Whole(&body), &options).await?))
}

/// Merges a patch (RFC 7396) into a tenant.
#[utoipa::path(patch, path = "/tenants/{tenant}", tag = "tenants", params(WriteQuery), request_body = Tenant,
    responses((status = 200, body = Shown<Tenant>), (status = 404, body = Problem), (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn patch(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(id): Path<String>,
    Write(options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    Ok(written(app.write_tenant(&actor, Some(&slug(&id)?), Body::Patch(&body), &options).await?))
}

/// Deletes a tenant that nothing refers to.
#[utoipa::path(delete, path = "/tenants/{tenant}", tag = "tenants", params(WriteQuery),
    responses((status = 204), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn delete(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(id): Path<String>,
    Write(options): Write,
) -> Result<Response, ApiError> {
    Ok(written(app.delete_tenant(&actor, &slug(&id)?, &options).await?))
}
