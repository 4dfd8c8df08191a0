//! One error type of the admin plane: problem documents (RFC 9457) with stable codes.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::{AppError, StoreFailure},
    domain::FieldError,
};

/// A problem document (RFC 9457).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Problem {
    /// `about:blank`: the status says what it is.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The status in words.
    pub(super) title: String,
    /// HTTP status.
    pub(super) status: u16,
    /// What is wrong with this request.
    pub(super) detail: String,
    /// Stable code.
    pub(super) code: String,
    /// With 422: everything that is wrong with the document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) errors: Vec<FieldError>,
}

/// A failed request.
#[derive(Clone, Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    code: &'static str,
    detail: String,
    errors: Vec<FieldError>,
    /// Seconds to wait.
    retry_after: Option<u64>,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        let retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(5);
        Self { status, code, detail: detail.into(), errors: Vec::new(), retry_after }
    }

    pub(super) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "something went wrong here; the log says what")
    }

    pub(super) fn busy() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many requests are under way; try again")
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "send a token: Authorization: Bearer <token>")
    }
}

impl From<AppError> for ApiError {
    fn from(error: AppError) -> Self {
        let detail = error.to_string();
        match error {
            AppError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", detail),
            AppError::Conflict(_) => Self::new(StatusCode::CONFLICT, "conflict", detail),
            AppError::Stale(_) => Self::new(StatusCode::PRECONDITION_FAILED, "stale", detail),
            AppError::Forbidden(_) => Self::new(StatusCode::FORBIDDEN, "forbidden", detail),
            AppError::TooMany { seconds, .. } => {
                Self { retry_after: Some(seconds), ..Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many", detail) }
            }
            AppError::BadQuery(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_query", detail),
            AppError::Invalid(errors) => Self { errors, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail) },
            AppError::Store(error) => {
                // The outside text holds nothing of the inside; this is the boundary where it is logged once.
                tracing::error!(error = &error as &dyn std::error::Error, "the store failed");
                match StoreFailure::of(&error) {
                    StoreFailure::Unavailable => {
                        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the database does not answer; try again")
                    }
                    StoreFailure::Conflict => Self::new(StatusCode::CONFLICT, "conflict", "this stands against what is stored"),
                    StoreFailure::Corrupt => {
                        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "corrupt", "the stored row is damaged; the log says which")
                    }
                    StoreFailure::Internal => Self::internal(),
                }
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let problem = Problem {
            kind: "about:blank".into(),
            title: self.status.canonical_reason().unwrap_or_default().into(),
            status: self.status.as_u16(),
            detail: self.detail,
            code: self.code.into(),
            errors: self.errors,
        };
        let mut response = (self.status, Json(problem)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
