//! Which address a request comes from, and whether its network may have a configuration for a MAC alone.

use std::net::IpAddr;

use ipnet::IpNet;

/// Networks of phones and of trusted proxies.
#[derive(Clone, Debug, Default)]
pub struct Networks {
    /// Whose phones may have a configuration for a MAC alone.
    pub phones: Vec<IpNet>,
    /// Whose forwarded header is believed.
    pub proxies: Vec<IpNet>,
}

/// Why the address of a request cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untrusted {
    /// A forwarded header from somebody who is no trusted proxy.
    HeaderFromStranger,
    /// A trusted proxy that sent no forwarded header, or one that cannot be read.
    NoHeaderFromProxy,
}

impl Networks {
    /// The address a request comes from: the peer's, or behind a trusted proxy the right-most untrusted one
    /// of the forwarded header (all its lines joined by commas).
    ///
    /// # Errors
    /// Where the header may not be believed.
    pub fn client(&self, peer: IpAddr, forwarded: Option<&str>) -> Result<IpAddr, Untrusted> {
        let peer = peer.to_canonical();
        match (self.is_proxy(peer), forwarded) {
            (false, None) => Ok(peer),
            (false, Some(_)) => Err(Untrusted::HeaderFromStranger),
            (true, None) => Err(Untrusted::NoHeaderFromProxy),
            (true, Some(header)) => {
                let mut addresses = header.rsplit(',').map(|part| address(part.trim()));
                addresses.find(|address| !address.is_some_and(|a| self.is_proxy(a))).flatten().ok_or(Untrusted::NoHeaderFromProxy)
            }
        }
    }

    /// May a phone at this address have a configuration for a MAC alone?
    pub fn may_fetch(&self, address: IpAddr) -> bool {
        contains(&self.phones, address)
    }

    fn is_proxy(&self, address: IpAddr) -> bool {
        contains(&self.proxies, address)
    }
}

fn contains(networks: &[IpNet], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(&address))
}

/// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`.
fn address(text: &str) -> Option<IpAddr> {
    let plain = text.parse::<IpAddr>().ok();
    let with_port = || text.parse::<std::net::SocketAddr>().ok().map(|socket| socket.ip());
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    plain.or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: Option<&str>) -> Result<String, Untrusted> {
        let networks = Networks { phones: Vec::new(), proxies: vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()] };
        networks.client(peer.parse().unwrap(), forwarded).map(|address| address.to_string())
    }

    #[test]
    fn the_right_most_untrusted_address_counts() {
        assert_eq!(client("192.0.2.9", None), Ok("192.0.2.9".into()));
        assert_eq!(client("10.0.0.1", Some("203.0.113.7")), Ok("203.0.113.7".into()));
        assert_eq!(client("10.0.0.1", Some("198.51.100.1, 203.0.113.7, 10.0.0.2")), Ok("203.0.113.7".into()));
        assert_eq!(client("::ffff:10.0.0.1", Some("[2001:db8::5]:4711")), Ok("2001:db8::5".into()));
    }

    #[test]
    fn a_header_that_may_not_be_believed_is_no_address() {
        assert_eq!(client("192.0.2.9", Some("10.0.0.1")), Err(Untrusted::HeaderFromStranger));
        assert_eq!(client("10.0.0.1", None), Err(Untrusted::NoHeaderFromProxy));
        assert_eq!(client("10.0.0.1", Some("unknown")), Err(Untrusted::NoHeaderFromProxy));
        assert_eq!(client("10.0.0.1", Some("203.0.113.7, garbage")), Err(Untrusted::NoHeaderFromProxy));
        assert_eq!(client("10.0.0.1", Some("10.0.0.2")), Err(Untrusted::NoHeaderFromProxy));
    }
}
