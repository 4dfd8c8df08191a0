//! `/api/v1`: one file per resource, its handlers the verbs. The routes stand with their descriptions, so
//! that `/openapi.json` cannot say otherwise.

mod devices;
mod profiles;
mod refusals;
mod tenants;
mod tokens;
mod unclaimed;
mod vendors;

use axum::{
    Json, Router,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::{
    Modify, OpenApi,
    openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_axum::{router::OpenApiRouter, routes};
use utoipa_swagger_ui::SwaggerUi;

use super::error::{ApiError, Problem};
use crate::app::{App, Doc, Listed, Outcome, devices::DeviceState, unclaimed::UnclaimedView};

#[derive(OpenApi)]
#[openapi(
    info(title = "Offbeat", description = "Provisioning of SIP desk phones. Errors are problem documents (RFC 9457)."),
    components(schemas(Problem, DeviceState, UnclaimedView)),
    modifiers(&BearerToken),
    security(("token" = []))
)]
struct Api;

struct BearerToken;

impl Modify for BearerToken {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        openapi.components.get_or_insert_default().add_security_scheme("token", scheme);
    }
}

fn routes() -> OpenApiRouter<App> {
    let resources = OpenApiRouter::new()
        .routes(routes!(tenants::list, tenants::create))
        .routes(routes!(tenants::get, tenants::replace, tenants::patch, tenants::delete))
        .routes(routes!(profiles::list, profiles::create))
        .routes(routes!(profiles::get, profiles::replace, profiles::patch, profiles::delete))
        .routes(routes!(devices::list, devices::create))
        .routes(routes!(devices::get, devices::replace, devices::patch, devices::delete))
        .routes(routes!(devices::files))
        .routes(routes!(devices::file))
        .routes(routes!(devices::timers))
        .routes(routes!(devices::diff))
        .routes(routes!(refusals::list))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::get, tokens::delete))
        .routes(routes!(unclaimed::list))
        .routes(routes!(unclaimed::claim))
        .routes(routes!(vendors::list))
        .routes(routes!(vendors::get));
    OpenApiRouter::with_openapi(Api::openapi()).nest("/api/v1", resources)
}

/// The admin plane's routes.
pub(super) fn router(app: App) -> Router {
    let (router, description) = routes().split_for_parts();
    router
        .merge(SwaggerUi::new("/docs").url("/openapi.json", description))
        .fallback(|| async { ApiError::new(StatusCode::NOT_FOUND, "not_found", "there is nothing at this path") })
        .method_not_allowed_fallback(|| async { ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this path has other methods") })
        .with_state(app)
}

/// The description of the API.
pub fn openapi() -> utoipa::openapi::OpenApi {
    routes().into_openapi()
}

/// A list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Items {
    /// In order of their id.
    #[schema(value_type = Vec<Object>)]
    items: Vec<serde_json::Value>,
    /// Where the next page begins (`?cursor=`), null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable)]
    next: Option<serde_json::Value>,
}

impl From<Listed> for Json<Items> {
    fn from(listed: Listed) -> Self {
        Json(Items { items: listed.items, next: Some(listed.next.map_or(serde_json::Value::Null, Into::into)) })
    }
}

/// A resource as it is answered: what is stored, and its revision.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "describes the answer, which is put together as JSON")]
struct Shown<T: utoipa::ToSchema> {
    /// What is stored.
    #[serde(flatten)]
    stored: T,
    /// Number of the history entry that last changed it.
    revision: i64,
}

/// A list that is whole.
fn whole(items: Vec<serde_json::Value>) -> Json<Items> {
    Json(Items { items, next: None })
}

/// A document with its revision as the tag.
fn shown(status: StatusCode, doc: Doc) -> Response {
    let mut response = (status, Json(doc.body)).into_response();
    let tag = HeaderValue::from_str(&format!("\"{}\"", doc.revision));
    response.headers_mut().extend(tag.map(|tag| (header::ETAG, tag)));
    response
}

/// The answer to a write.
fn written(outcome: Outcome) -> Response {
    match outcome {
        Outcome::Stored { doc, created } => shown(if created { StatusCode::CREATED } else { StatusCode::OK }, *doc),
        Outcome::Deleted => StatusCode::NO_CONTENT.into_response(),
        Outcome::Planned(plan) => Json(plan).into_response(),
    }
}
