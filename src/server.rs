//! Listeners, timeouts, drain. Takes its sockets and the end of its life as arguments.
//!
//! Imports http and config.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use axum::Router;
use axum_server::{Handle, Server};

/// A client sends the head of its request within this.
const HEADER_TIMEOUT: Duration = Duration::from_secs(20);
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
    let mut running = tokio::task::JoinSet::new();
    let mut handles = Vec::new();
    for listener in listeners {
        let address = listener.socket.local_addr()?;
        let handle: Handle<SocketAddr> = Handle::new();
        let mut server: Server<SocketAddr> = axum_server::from_tcp(listener.socket)?.http1_only();
        server.http_builder().http1().header_read_timeout(HEADER_TIMEOUT);
        let server = server.handle(handle.clone()).first_request_timeout(HEADER_TIMEOUT);
        let service = listener.router.into_make_service_with_connect_info::<SocketAddr>();
        running.spawn(async move { server.serve(service).await });
        handles.push(handle);
        // For people and for scripts that had a free port bound.
        #[expect(clippy::print_stderr, reason = "the start says where it listens, whatever the log is set to")]
        {
            eprintln!("{} listening on http://{address}", listener.name);
        }
    }
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
