//! The one vocabulary of extractors of the admin plane: each rejection is a problem document.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request, rejection::BytesRejection},
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::ApiError;
use crate::{
    app::{Actor, App, AppError, Precondition, WriteOptions},
    domain::{FieldError, Mac, Slug},
};

/// Who asks: every handler of the API takes it, so that none can forget it.
pub(super) struct Authorized(pub(super) Actor);

impl FromRequestParts<App> for Authorized {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let header = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (scheme, token) = header.split_once(' ').unwrap_or_default();
        if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
            return Err(ApiError::unauthorized());
        }
        app.authenticate(token.trim()).await?.map(Self).ok_or_else(ApiError::unauthorized)
    }
}

/// A JSON document.
pub(super) struct Document(pub(super) Value);

impl<S: Send + Sync> FromRequest<S> for Document {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_patch = request.method() == axum::http::Method::PATCH;
        if kind != "application/json" && !(is_patch && kind == "application/merge-patch+json") {
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "media_type",
                "expected Content-Type: application/json (PATCH: or application/merge-patch+json)",
            ));
        }
        // One that does not come in time is cut off by the listener.
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection: BytesRejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "a document has at most 4 MiB"),
            _ => ApiError::new(StatusCode::BAD_REQUEST, "unreadable", "the body could not be read"),
        })?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| ApiError::new(StatusCode::BAD_REQUEST, "unreadable", format!("the body is no JSON: {error}")))
    }
}

/// Path segments.
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(value)| Self(value))
            .map_err(|_| ApiError::new(StatusCode::NOT_FOUND, "not_found", "there is nothing at this path"))
    }
}

/// Query parameters.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        query.map(|axum::extract::Query(value)| Self(value)).map_err(|rejection| AppError::BadQuery(rejection.body_text()).into())
    }
}

/// How a write is to be done: `?dry_run`, `?accept`, `?message`, `If-Match`, `If-None-Match`.
pub(super) struct Write(pub(super) WriteOptions);

#[derive(serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WriteQuery {
    /// Store nothing; answer with the plan.
    #[serde(default)]
    dry_run: bool,
    /// What is accepted that would be refused, comma-separated: `errors`.
    #[serde(default)]
    accept: String,
    /// Why, for the history.
    message: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Write {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Query(query) = Query::<WriteQuery>::from_request_parts(parts, state).await?;
        let accept = query.accept.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Ok(Self(WriteOptions { precondition: precondition(&parts.headers)?, dry_run: query.dry_run, accept, message: query.message }))
    }
}

fn precondition(headers: &HeaderMap) -> Result<Precondition, ApiError> {
    // A header that is sent in several lines is one list (RFC 9110, 5.3).
    let text = |name| {
        let lines: Vec<_> =
            headers.get_all(name).iter().map(|value: &axum::http::HeaderValue| value.to_str().unwrap_or_default()).collect();
        (!lines.is_empty()).then(|| lines.join(","))
    };
    let revisions = match text(header::IF_MATCH) {
        None => None,
        Some(tags) if tags.trim() == "*" => Some(Vec::new()),
        Some(tags) => {
            // A tag that is no revision matches nothing, as any other stale one.
            Some(tags.split(',').map(|tag| revision(tag.trim()).unwrap_or(-1)).collect())
        }
    };
    let absent = match text(header::IF_NONE_MATCH) {
        None => false,
        Some(tags) if tags.trim() == "*" => true,
        Some(_) => return Err(ApiError::new(StatusCode::BAD_REQUEST, "unreadable", "If-None-Match of a write is *")),
    };
    Ok(Precondition { revisions, absent })
}

/// The revision of a tag as it is given out: `"30"`; the quotes may be left out. A weak tag never matches.
fn revision(tag: &str) -> Option<i64> {
    let digits = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap_or(tag);
    let revision: i64 = digits.parse().ok()?;
    (revision.to_string() == digits).then_some(revision)
}

/// A page of a list.
#[derive(Clone, Debug, serde::Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// At most so many, 1 to 1000.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub(super) limit: Option<u32>,
    /// `next` of the page before.
    pub(super) cursor: Option<String>,
}

impl PageQuery {
    pub(super) fn limit(&self) -> Result<u32, ApiError> {
        match self.limit.unwrap_or(100) {
            limit @ 1..=1000 => Ok(limit),
            _ => Err(AppError::BadQuery("limit: expected 1 to 1000".into()).into()),
        }
    }
}

/// An identifier of a path that is read: one that cannot be is not there.
pub(super) fn slug(text: &str) -> Result<Slug, ApiError> {
    Slug::parse(text).ok_or_else(|| ApiError::new(StatusCode::NOT_FOUND, "not_found", "there is nothing at this path"))
}

/// An identifier of a path that is written: one that cannot be is a field error.
pub(super) fn new_slug(text: &str) -> Result<Slug, ApiError> {
    Slug::parse(text)
        .ok_or_else(|| AppError::field("/id", "not_an_id", "expected 1 to 64 of a-z 0-9 - _ . , first a letter or digit").into())
}

/// A MAC of a path that is read.
pub(super) fn mac(text: &str) -> Result<Mac, ApiError> {
    text.parse().map_err(|_| ApiError::new(StatusCode::NOT_FOUND, "not_found", "this device does not exist"))
}

/// A MAC of a path that is written.
pub(super) fn new_mac(text: &str) -> Result<Mac, ApiError> {
    text.parse().map_err(|error: crate::domain::mac::MacError| {
        AppError::Invalid(vec![FieldError::new("/mac", "not_a_mac", error.to_string())]).into()
    })
}
