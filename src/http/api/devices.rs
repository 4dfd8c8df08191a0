//! `/devices`, their files, timers and diff.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::json;

use super::{Items, shown, whole, written};
use crate::{
    app::{
        App, Body, Plan,
        device_diff::DeviceDiff,
        devices::{DeviceQuery, DeviceState},
        explain,
    },
    domain::Device,
    http::{
        error::{ApiError, Problem},
        extract::{Authorized, Document, PageQuery, Path, Query, Write, WriteQuery, mac, new_mac, slug},
    },
};

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FilterQuery {
    /// This tenant and those below it.
    tenant: Option<String>,
    /// Naming this profile: `<id>` of the tenant asked for, or `<tenant>/<id>`.
    profile: Option<String>,
    /// Vendor.
    vendor: Option<String>,
    /// Model.
    model: Option<String>,
    /// How they fare.
    state: Option<DeviceState>,
    /// Text in MAC, name or model.
    q: Option<String>,
}

/// Something about a device that works otherwise than one may think.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "describes the answer, which is put together as JSON")]
struct DeviceWarning {
    /// Stable code.
    code: String,
    /// For people.
    detail: String,
}

/// A device as it is answered: what is stored, and how it fares.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "describes the answer, which is put together as JSON")]
struct ShownDevice {
    /// What is stored.
    #[serde(flatten)]
    stored: Device,
    /// Number of the history entry that last changed it.
    revision: i64,
    /// What works otherwise than one may think.
    warnings: Vec<DeviceWarning>,
    /// Why it is served nothing; empty where it is.
    errors: Vec<crate::domain::FieldError>,
    /// The last time it was answered: `at`, `address`, `user_agent`, `file`, `status`.
    #[schema(value_type = Option<Object>)]
    checked_in: Option<serde_json::Value>,
    /// The last time it was refused: `at`, `address`, `user_agent`, `path`, `reason`.
    #[schema(value_type = Option<Object>)]
    last_refused: Option<serde_json::Value>,
    /// What the phone says of itself: `model`, `firmware`.
    #[schema(value_type = Option<Object>)]
    reported: Option<serde_json::Value>,
}

/// Devices that the token sees.
#[utoipa::path(get, path = "/devices", tag = "devices", params(FilterQuery, PageQuery), responses((status = 200, body = Items), (status = 422, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Query(filter): Query<FilterQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Items>, ApiError> {
    let tenant = filter.tenant.as_deref().map(slug).transpose()?;
    let query =
        DeviceQuery { tenant, profile: filter.profile, vendor: filter.vendor, model: filter.model, state: filter.state, q: filter.q };
    Ok(app.list_devices(&actor, &query, page.cursor.as_deref(), page.limit()?).await?.into())
}

/// Creates a device.
#[utoipa::path(post, path = "/devices", tag = "devices", params(WriteQuery), request_body = Device,
    responses((status = 201, body = ShownDevice), (status = 200, body = Plan), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn create(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Write(mut options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    options.precondition.absent = true;
    Ok(written(app.write_device(&actor, None, Body::Whole(&body), &options).await?))
}

/// One device: what is stored, `warnings`, `errors`, `checked_in`, `last_refused`, `reported`.
#[utoipa::path(get, path = "/devices/{mac}", tag = "devices", responses((status = 200, body = ShownDevice), (status = 404, body = Problem)))]
pub(super) async fn get(State(app): State<App>, Authorized(actor): Authorized, Path(text): Path<String>) -> Result<Response, ApiError> {
    Ok(shown(StatusCode::OK, app.get_device(&actor, mac(&text)?).await?))
}

/// Creates or replaces a device.
#[utoipa::path(put, path = "/devices/{mac}", tag = "devices", params(WriteQuery), request_body = Device,
    responses((status = 200, body = ShownDevice), (status = 201, body = ShownDevice), (status = 409, body = Problem), (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn replace(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(text): Path<String>,
    Write(options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    Ok(written(app.write_device(&actor, Some(new_mac(&text)?), Body::Whole(&body), &options).await?))
}

/// Merges a patch (RFC 7396) into a device.
#[utoipa::path(patch, path = "/devices/{mac}", tag = "devices", params(WriteQuery), request_body = Device,
    responses((status = 200, body = ShownDevice), (status = 404, body = Problem), (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn patch(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(text): Path<String>,
    Write(options): Write,
    Document(body): Document,
) -> Result<Response, ApiError> {
    Ok(written(app.write_device(&actor, Some(mac(&text)?), Body::Patch(&body), &options).await?))
}

/// Deletes a device.
#[utoipa::path(delete, path = "/devices/{mac}", tag = "devices", params(WriteQuery), responses((status = 204), (status = 404, body = Problem)))]
pub(super) async fn delete(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(text): Path<String>,
    Write(options): Write,
) -> Result<Response, ApiError> {
    Ok(written(app.delete_device(&actor, mac(&text)?, &options).await?))
}

/// The files of a device.
#[utoipa::path(get, path = "/devices/{mac}/files", tag = "devices", responses((status = 200, body = Items), (status = 422, body = Problem)))]
pub(super) async fn files(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(text): Path<String>,
) -> Result<Json<Items>, ApiError> {
    let files = app.device_files(&actor, mac(&text)?).await?;
    Ok(whole(files.iter().map(|file| json!(file)).collect()))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RevealQuery {
    /// Show clear secrets; takes a token with that right.
    #[serde(default)]
    reveal: bool,
}

/// The bytes of a file, secrets masked.
#[utoipa::path(get, path = "/devices/{mac}/files/{name}", tag = "devices", params(RevealQuery), responses((status = 200), (status = 403, body = Problem)))]
pub(super) async fn file(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path((text, name)): Path<(String, String)>,
    Query(query): Query<RevealQuery>,
) -> Result<Response, ApiError> {
    let file = app.device_file(&actor, mac(&text)?, Some(&name), query.reveal).await?;
    let kind = HeaderValue::from_str(&file.media_type).unwrap_or(HeaderValue::from_static("text/plain"));
    Ok(([(header::CONTENT_TYPE, kind)], file.text).into_response())
}

/// The timers of a device: numbers, hash, value, and which layer set what. `Accept: text/plain` answers with a table
/// for people.
#[utoipa::path(get, path = "/devices/{mac}/timers", tag = "devices", responses((status = 200, body = Items), (status = 422, body = Problem)))]
pub(super) async fn timers(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(text): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let timers = app.device_timers(&actor, mac(&text)?).await?;
    if wants_text(&headers) {
        return Ok(plain(explain::table(&timers)));
    }
    Ok(whole(timers.iter().map(|row| json!(row)).collect()).into_response())
}

/// Does the caller ask for text?
fn wants_text(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|kind| kind.trim().starts_with("text/plain"))
}

fn plain(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DiffQuery {
    /// What it is compared from: `served`.
    from: Option<String>,
    /// What it is compared with: `current`.
    to: Option<String>,
}

/// Last served against what it would get now. `Accept: text/plain` answers with the unified diff alone.
#[utoipa::path(get, path = "/devices/{mac}/diff", tag = "devices", params(DiffQuery), responses((status = 200, body = DeviceDiff), (status = 422, body = Problem)))]
pub(super) async fn diff(
    State(app): State<App>,
    Authorized(actor): Authorized,
    Path(text): Path<String>,
    Query(query): Query<DiffQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let known = |word: &Option<String>, only: &str| word.as_deref().is_none_or(|word| word == only);
    if !known(&query.from, "served") || !known(&query.to, "current") {
        return Err(crate::app::AppError::BadQuery("expected from=served and to=current".into()).into());
    }
    let diff = app.diff_device(&actor, mac(&text)?).await?;
    if wants_text(&headers) {
        return Ok(plain(diff.unified.values().map(String::as_str).collect()));
    }
    Ok(Json(diff).into_response())
}
