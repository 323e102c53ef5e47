//! Names to addresses. Does not decide which of them may be reached.

use std::{
    io,
    net::{IpAddr, ToSocketAddrs},
};

/// Finds the addresses of a name.
pub trait Resolve: Send + Sync {
    /// Returns the addresses of `host`, the preferred one first. May block: the caller has the clock.
    ///
    /// # Errors
    /// Any error that kept the name from being resolved.
    fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Asks the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let addresses = (host, 0_u16).to_socket_addrs()?;
        Ok(addresses.map(|address| address.ip()).collect())
    }
}
