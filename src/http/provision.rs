//! What phones ask: `GET|HEAD /provision/<file>`, and logs that some upload.

use std::{
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use percent_encoding::percent_decode_str;

use super::{freshness, uploads::Uploads};
use crate::app::{
    App, AppError,
    provision::{Answer, Asker, Refusal, Served},
};

/// Greatest upload that is taken.
const MAX_UPLOAD: usize = 1 << 20;
/// An upload takes at most this long.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub(super) struct PhoneState {
    app: App,
    uploads: Arc<Uploads>,
}

impl PhoneState {
    pub(super) fn new(app: App) -> Self {
        Self { app, uploads: Arc::new(Uploads::new()) }
    }
}

/// Answers any request of the phone plane.
pub(super) async fn answer(State(state): State<PhoneState>, ConnectInfo(peer): ConnectInfo<SocketAddr>, request: Request) -> Response {
    let path = file_path(request.uri().path());
    let shown = path.clone().unwrap_or_else(|| request.uri().path().to_owned());
    let user_agent =
        request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok()).map(|text| text.chars().take(256).collect());
    let mut asker = Asker { address: peer.ip(), user_agent };
    match state.app.networks().client(peer.ip(), forwarded(request.headers()).as_deref()) {
        Ok(address) => asker.address = address,
        Err(untrusted) => {
            tracing::error!(peer = %peer.ip(), ?untrusted, "a forwarded header is not to be believed: check trusted_proxies");
            return refuse(&state.app, &Refusal::UntrustedProxy, None, &shown, asker);
        }
    }
    match *request.method() {
        Method::GET | Method::HEAD => {
            let Some(path) = path else { return refuse(&state.app, &Refusal::UnknownName, None, &shown, asker) };
            match state.app.answer(&path, asker.address).await {
                Answer::File(served) => hand_over(state.app, *served, asker, request.method() == Method::HEAD, request.headers()),
                Answer::Refused(refusal, mac) => refuse(&state.app, &refusal, mac, &shown, asker),
                Answer::Unavailable => unavailable(),
            }
        }
        Method::PUT => upload(&state, path, asker, request).await,
        _ => method_not_allowed(),
    }
}

/// The whole file, or 304 where the phone has it.
fn hand_over(app: App, served: Served, asker: Asker, head: bool, headers: &HeaderMap) -> Response {
    let etag = served.file.etag();
    let bytes = Bytes::from(served.file.text.clone().into_bytes());
    let mut answer = HeaderMap::new();
    answer.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    answer.extend(HeaderValue::from_str(&etag).map(|value| (header::ETAG, value)));
    if served.conditional && freshness::matches(headers, &etag) {
        app.record_check_in(&served, asker, 304, false);
        return (StatusCode::NOT_MODIFIED, answer, Body::new(Bodiless)).into_response();
    }
    answer.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    answer.extend(HeaderValue::from_str(&served.file.media_type).map(|value| (header::CONTENT_TYPE, value)));
    if head {
        app.record_check_in(&served, asker, 200, false);
        return (answer, Body::empty()).into_response();
    }
    let body = Recorded { bytes: Some(bytes), handed_over: Some(Box::new(move || app.record_check_in(&served, asker, 200, true))) };
    (answer, Body::new(body)).into_response()
}

/// A body that notes when it was handed to the connection as a whole.
struct Recorded {
    bytes: Option<Bytes>,
    handed_over: Option<Box<dyn FnOnce() + Send>>,
}

impl HttpBody for Recorded {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        let Some(bytes) = self.bytes.take() else { return Poll::Ready(None) };
        if let Some(handed_over) = self.handed_over.take() {
            handed_over();
        }
        Poll::Ready(Some(Ok(http_body::Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// No body, and no `Content-Length` of one: that of a 304 could only be the file's (RFC 9110, 8.6).
struct Bodiless;

impl HttpBody for Bodiless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        Poll::Ready(None)
    }
}

async fn upload(state: &PhoneState, path: Option<String>, asker: Asker, request: Request) -> Response {
    let Some(path) = path else { return method_not_allowed() };
    match state.app.takes_upload(&path, asker.address).await {
        Ok(Ok(mac)) if state.uploads.take(mac) => {
            match tokio::time::timeout(UPLOAD_TIMEOUT, axum::body::to_bytes(request.into_body(), MAX_UPLOAD)).await {
                Ok(Ok(_)) => StatusCode::NO_CONTENT.into_response(),
                Ok(Err(_)) => empty(StatusCode::PAYLOAD_TOO_LARGE),
                // The phone is slow, not the store: no 503.
                Err(_) => empty(StatusCode::REQUEST_TIMEOUT),
            }
        }
        Ok(Ok(_)) => {
            let mut response = empty(StatusCode::TOO_MANY_REQUESTS);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
            response
        }
        Ok(Err((refusal @ Refusal::OutsideNetworks, mac))) => refuse(&state.app, &refusal, mac, &path, asker),
        // Whether there is such a device makes no difference to the phone.
        Ok(Err((refusal, mac))) => {
            state.app.record_refusal(&refusal, mac, &path, asker);
            method_not_allowed()
        }
        Err(AppError::Store(_) | _) => unavailable(),
    }
}

/// The part of the path below `/provision/`, percent-decoded once; `None` where it is no such path. A slash
/// that is encoded parts no folders, and no name holds one.
fn file_path(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/provision/")?;
    if rest.len() > 1024 {
        return None;
    }
    let decoded = percent_decode_str(rest).decode_utf8().ok()?;
    let slashes = |text: &str| text.matches('/').count();
    (slashes(&decoded) == slashes(rest)).then(|| decoded.into_owned())
}

/// All forwarded headers, in the order of their lines. `Forwarded` (RFC 7239) counts as one that cannot be read.
fn forwarded(headers: &HeaderMap) -> Option<String> {
    let lines: Vec<_> = headers.get_all("x-forwarded-for").iter().map(|value| value.to_str().unwrap_or("unreadable")).collect();
    match (lines.is_empty(), headers.contains_key("forwarded")) {
        (false, _) => Some(lines.join(",")),
        (true, true) => Some("unreadable".to_owned()),
        (true, false) => None,
    }
}

/// 404, the same for everything: a phone learns nothing, the operator everything.
fn refuse(app: &App, refusal: &Refusal, mac: Option<crate::domain::Mac>, path: &str, asker: Asker) -> Response {
    tracing::info!(reason = refusal.reason(), "refused");
    app.record_refusal(refusal, mac, path, asker);
    empty(StatusCode::NOT_FOUND)
}

fn method_not_allowed() -> Response {
    let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

/// 503 while the store is away.
pub(super) fn unavailable() -> Response<Body> {
    let mut response = empty(StatusCode::SERVICE_UNAVAILABLE);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    response
}

fn empty(status: StatusCode) -> Response {
    let mut response = status.into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once() {
        assert_eq!(file_path("/provision/80%3A5e.cfg").as_deref(), Some("80:5e.cfg"));
        assert_eq!(file_path("/provision/%2e%2e/x").as_deref(), Some("../x"));
        assert_eq!(file_path("/provision/a%2fx"), None);
        assert_eq!(file_path("/provision/%252e").as_deref(), Some("%2e"));
        for path in ["/", "/provision", "/other/805ec0123456.cfg", "/provision/%ff", "//provision/x"] {
            assert_eq!(file_path(path), None, "{path}");
        }
    }
}
