//! How many connections a listener takes, in all and from one source, and how long each step of one may take.

use std::{
    collections::BTreeMap,
    fmt,
    future::{Ready, ready},
    io::{self, ErrorKind, IoSlice},
    net::{IpAddr, Ipv6Addr},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum_server::accept::Accept;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};

/// What one listener bears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open connections in all; one more is closed at once.
    pub connections: usize,
    /// Open connections from one source: an IPv4 address, or a /64 of IPv6.
    pub per_source: usize,
    /// A TLS handshake is done within this.
    pub handshake: Duration,
    /// The head of a request is sent within this, counted from the end of what came before.
    pub head: Duration,
    /// The body of a request is sent within this.
    pub body: Duration,
    /// A client takes something of an answer within this.
    pub stall: Duration,
}

impl Limits {
    /// Of the phones' listener. A site of thousands of phones may stand behind one address.
    pub const PHONES: Self = Self {
        connections: 16_384,
        per_source: 4096,
        handshake: Duration::from_secs(10),
        head: Duration::from_secs(20),
        body: Duration::from_mins(1),
        stall: Duration::from_secs(30),
    };
    /// Of the listeners of administrators and operations. They have counts of their own: phones cannot lock them out.
    pub const OPERATORS: Self = Self { connections: 2048, per_source: 1024, ..Self::PHONES };
}

/// Lets connections in, up to the limits.
#[derive(Clone, Debug)]
pub(super) struct Gate(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    listener: &'static str,
    limits: Limits,
    open: Mutex<Open>,
    refusals: Sparingly,
}

/// Connections that are open now. Bounded by their number in all.
#[derive(Debug, Default)]
struct Open {
    all: usize,
    by_source: BTreeMap<IpAddr, usize>,
}

impl Gate {
    pub(super) fn new(listener: &'static str, limits: Limits) -> Self {
        Self(Arc::new(Shared { listener, limits, open: Mutex::default(), refusals: Sparingly::default() }))
    }

    /// A place for one more connection, or which limit it would exceed.
    fn enter(&self, peer: IpAddr) -> Result<Slot, &'static str> {
        let (shared, source) = (&self.0, source(peer));
        let mut open = shared.open();
        let of_source = open.by_source.get(&source).copied().unwrap_or(0);
        if open.all >= shared.limits.connections {
            return Err("all");
        }
        if of_source >= shared.limits.per_source {
            return Err("source");
        }
        open.all += 1;
        open.by_source.insert(source, of_source + 1);
        metrics::gauge!("offbeat_connections", "listener" => shared.listener).increment(1);
        Ok(Slot { shared: shared.clone(), source })
    }

    fn admit(&self, stream: TcpStream) -> io::Result<Connection> {
        let peer = stream.peer_addr()?.ip();
        let slot = self.enter(peer).map_err(|reason| {
            let listener = self.0.listener;
            metrics::counter!("offbeat_connections_refused_total", "listener" => listener, "reason" => reason).increment(1);
            self.0.refusals.say(|| tracing::warn!(listener, %peer, reason, "too many connections: this one is closed"));
            io::Error::from(ErrorKind::QuotaExceeded)
        })?;
        Ok(Connection { stream, limit: self.0.limits.stall, stall: None, _slot: slot })
    }
}

impl<S> Accept<TcpStream, S> for Gate {
    type Stream = Connection;
    type Service = S;
    type Future = Ready<io::Result<(Connection, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        ready(self.admit(stream).map(|connection| (connection, service)))
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Open> {
        // Nothing panics while the lock is held.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who counts as one: a host of IPv6 has all addresses of its /64.
fn source(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address @ IpAddr::V4(_) => address,
    }
}

/// The place of a connection, free again when dropped.
struct Slot {
    shared: Arc<Shared>,
    source: IpAddr,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.shared.open();
        open.all -= 1;
        if let Some(count) = open.by_source.get_mut(&self.source) {
            *count -= 1;
            if *count == 0 {
                open.by_source.remove(&self.source);
            }
        }
        metrics::gauge!("offbeat_connections", "listener" => self.shared.listener).decrement(1);
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slot").field(&self.source).finish()
    }
}

/// A connection with its place. It breaks when the client takes nothing of what is written for too long.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    limit: Duration,
    /// Runs while the client takes nothing.
    stall: Option<Pin<Box<Sleep>>>,
    _slot: Slot,
}

impl Connection {
    fn bounded<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stall = None;
            return written;
        }
        let limit = self.limit;
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(limit)));
        stall.as_mut().poll(context).map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, written)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.bounded(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bounded(context, closed)
    }
}

/// Log lines that a flood must not multiply: one in ten seconds.
#[derive(Debug, Default)]
pub(super) struct Sparingly(Mutex<Option<Instant>>);

impl Sparingly {
    pub(super) fn say(&self, line: impl FnOnce()) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() > Duration::from_secs(10)) {
            *last = Some(Instant::now());
            line();
        }
    }
}

/// Raises the limit of open files as far as it may be; says so where the caps on connections lie above it.
pub fn raise_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
    let needed = (Limits::PHONES.connections + 2 * Limits::OPERATORS.connections) as u64;
    match getrlimit(Resource::Nofile).current {
        Some(files) if files < needed => {
            tracing::warn!(files, needed, "fewer open files are allowed than connections: phones may have to wait");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(connections: usize, per_source: usize) -> Gate {
        Gate::new("test", Limits { connections, per_source, ..Limits::PHONES })
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_place_is_free_again_when_its_connection_ends() {
        let gate = gate(3, 2);
        let one = gate.enter(ip("192.0.2.1")).unwrap();
        let _two = gate.enter(ip("192.0.2.1")).unwrap();
        assert_eq!(gate.enter(ip("192.0.2.1")).unwrap_err(), "source");
        let three = gate.enter(ip("192.0.2.2")).unwrap();
        assert_eq!(gate.enter(ip("192.0.2.3")).unwrap_err(), "all");
        drop(one);
        let _four = gate.enter(ip("192.0.2.1")).unwrap();
        drop(three);
        assert_eq!(gate.0.open().by_source.keys().collect::<Vec<_>>(), [&ip("192.0.2.1")], "nothing is kept of who is gone");
    }

    #[test]
    fn a_source_is_an_address_or_a_64_of_ipv6() {
        for (one, other, same) in [
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("2001:db8::1", "2001:db8::ffff:0:0:2", true),
            ("2001:db8::1", "2001:db8:0:1::1", false),
        ] {
            assert_eq!(source(ip(one)) == source(ip(other)), same, "{one} {other}");
        }
    }
}
