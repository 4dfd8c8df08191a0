//! Listeners, TLS, limits, drain. Takes its sockets and the end of its life as arguments.
//!
//! Imports http and config.

mod limits;
mod tls;

use std::{
    io,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use axum::Router;
use axum_server::{Handle, Server, tls_rustls::RustlsAcceptor};
use tower_http::timeout::RequestBodyDeadlineLayer;

pub use limits::{Limits, raise_open_files};
pub use tls::{Tls, TlsError};

use limits::{Gate, Sparingly};

/// What is under way at the end may take this long.
const DRAIN: Duration = Duration::from_secs(20);

/// One listener: its name in the log, its socket and what it serves.
#[derive(Debug)]
pub struct Listener {
    /// `phones`, `admin` or `ops`.
    pub name: &'static str,
    /// Bound socket.
    pub socket: TcpListener,
    /// What it serves.
    pub router: Router,
    /// Its certificates; plain HTTP without.
    pub tls: Option<Tls>,
    /// What it bears.
    pub limits: Limits,
}

/// Binds an address; port 0 binds a free one.
///
/// # Errors
/// When the address cannot be had.
pub fn bind(name: &str, address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpListener::bind(address).map_err(|error| io::Error::new(error.kind(), format!("{name}: {address}: {error}")))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Serves all listeners until `shutdown`; then no more is accepted and what is under way is finished.
///
/// # Errors
/// When a listener fails.
pub async fn serve(listeners: Vec<Listener>, shutdown: impl Future<Output = ()>) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let hangup = signal(SignalKind::hangup())?;
    let mut running = tokio::task::JoinSet::new();
    let mut handles = Vec::new();
    let mut certificates = Vec::new();
    for Listener { name, socket, router, tls, limits } in listeners {
        let address = socket.local_addr()?;
        let handle: Handle<SocketAddr> = Handle::new();
        let mut server: Server<SocketAddr> = axum_server::from_tcp(socket)?.http1_only();
        server.http_builder().http1().header_read_timeout(limits.head);
        let server = server
            .handle(handle.clone())
            .first_request_timeout(limits.head)
            .accept_error_handler(failed(name))
            .acceptor(Gate::new(name, limits));
        let service = router.layer(RequestBodyDeadlineLayer::new(limits.body)).into_make_service_with_connect_info::<SocketAddr>();
        let scheme = if let Some(tls) = tls {
            let config = tls.config();
            certificates.push((name, tls));
            let server = server.map(|gate| RustlsAcceptor::new(config).handshake_timeout(limits.handshake).acceptor(gate));
            running.spawn(async move { server.serve(service).await });
            "https"
        } else {
            running.spawn(async move { server.serve(service).await });
            "http"
        };
        handles.push(handle);
        // For people and for scripts that had a free port bound.
        #[expect(clippy::print_stderr, reason = "the start says where it listens, whatever the log is set to")]
        {
            eprintln!("{name} listening on {scheme}://{address}");
        }
    }
    let mut following = tokio::task::JoinSet::new();
    following.spawn(tls::follow(certificates, hangup));
    tokio::select! {
        () = shutdown => tracing::info!("shutting down"),
        Some(ended) = running.join_next() => {
            ended.map_err(io::Error::other)??;
            return Err(io::Error::other("a listener ended by itself"));
        }
    }
    for handle in &handles {
        handle.graceful_shutdown(Some(DRAIN));
    }
    while let Some(ended) = running.join_next().await {
        ended.map_err(io::Error::other)??;
    }
    Ok(())
}

/// Counts and tells connections that could not be taken, and handshakes that failed.
fn failed(listener: &'static str) -> impl Fn(Option<&SocketAddr>, &io::Error) + Send + Sync + 'static {
    let lines = Sparingly::default();
    move |peer, error| match peer {
        // The gate has told it.
        Some(_) if error.kind() == io::ErrorKind::QuotaExceeded => {}
        Some(peer) => {
            metrics::counter!("offbeat_handshakes_failed_total", "listener" => listener).increment(1);
            tracing::debug!(listener, %peer, %error, "no handshake");
        }
        None => {
            metrics::counter!("offbeat_accept_errors_total", "listener" => listener).increment(1);
            lines.say(|| tracing::error!(listener, %error, "connections cannot be taken"));
        }
    }
}

/// Ends with SIGTERM or SIGINT. Both are watched from this call on: whoever reads that the server listens may
/// end it at once.
///
/// # Errors
/// When signals cannot be watched.
pub fn signalled() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
