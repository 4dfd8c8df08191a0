//! `/tenants/{tenant}/profiles`.

use axum::{Json, extract::State, http::StatusCode, response::Response};

use super::{Items, Shown, shown, written};
use crate::{
    app::{App, Body, Plan},
    domain::{Profile, ProfileRef},
    http::{
        error::{ApiError, Problem},
        extract::{Authorized, Document, PageQuery, Path, Query, Write, WriteQuery, new_slug, slug},
    },
};

fn reference(tenant: &str, id: &str) -> Result<ProfileRef, ApiError> {
    Ok(ProfileRef { tenant: slug(tenant)?, id: slug(id)? })
}

/// Profiles of a tenant.
#[utoipa::path(get, path = "/tenants/{tenant}/profiles", tag = "profiles", params(PageQuery), responses((status = 200, body = Items), (status = 404, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(tenant): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Items>, ApiError> {
    Ok(app.list_profiles(&actor, &slug(&tenant)?, page.cursor.as_deref(), page.limit()?).await?.into())
}

/// Creates a profile.
#[utoipa::path(post, path = "/tenants/{tenant}/profiles", tag = "profiles", params(WriteQuery), request_body = Profile,
    responses((status = 201, body = Shown<Profile>), (status = 200, body = Plan), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn create(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(tenant): Path<String>,
    Write(mut options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    options.precondition.absent = true;
    Ok(written(app.write_profile(&actor, &slug(&tenant)?, None, Body::Whole(&body), &options).await?))
}

/// One profile.
#[utoipa::path(get, path = "/tenants/{tenant}/profiles/{id}", tag = "profiles", responses((status = 200, body = Shown<Profile>), (status = 404, body = Problem)))]
pub(super) async fn get(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path((tenant, id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    Ok(shown(StatusCode::OK, app.get_profile(&actor, &reference(&tenant, &id)?).await?))
}

/// Creates or replaces a profile.
#[utoipa::path(put, path = "/tenants/{tenant}/profiles/{id}", tag = "profiles", params(WriteQuery), request_body = Profile,
    responses((status = 200, body = Shown<Profile>), (status = 201, body = Shown<Profile>), (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn replace(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path((tenant, id)): Path<(String, String)>,
    Write(options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    Ok(written(app.write_profile(&actor, &slug(&tenant)?, Some(&new_slug(&id)?), Body::Whole(&body), &options).await?))
}

/// Merges a patch (RFC 7396) into a profile.
#[utoipa::path(patch, path = "/tenants/{tenant}/profiles/{id}", tag = "profiles", params(WriteQuery), request_body = Profile,
    responses((status = 200, body = Shown<Profile>), (status = 404, body = Problem), (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn patch(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path((tenant, id)): Path<(String, String)>,
    Write(options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    Ok(written(app.write_profile(&actor, &slug(&tenant)?, Some(&slug(&id)?), Body::Patch(&body), &options).await?))
}

/// Deletes a profile that nothing refers to.
#[utoipa::path(delete, path = "/tenants/{tenant}/profiles/{id}", tag = "profiles", params(WriteQuery),
    responses((status = 204), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn delete(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path((tenant, id)): Path<(String, String)>,
    Write(options): Write,
) -> Result<Response, ApiError> {
    Ok(written(app.delete_profile(&actor, &reference(&tenant, &id)?, &options).await?))
}
