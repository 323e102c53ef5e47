//! The gate: which addresses a request may connect to. The only maker of [`Admitted`].

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use jp_policy::{Capability, HostPattern, Net};

use super::{
    Gate, HttpError,
    address::{self, Class},
    error::shown,
    reactor,
    target::{Host, Target},
};

/// How many addresses of one name are looked at; no honest name has more.
const MAX_ADDRESSES: usize = 64;

/// An address that was checked for the request at hand; connections are made to nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Admitted(SocketAddr);

impl Admitted {
    /// Returns the address itself.
    pub(super) fn address(self) -> SocketAddr {
        self.0
    }
}

impl Gate {
    /// Checks the host by name, resolves it once, and checks every address.
    pub(super) async fn admit(&self, target: &Target) -> Result<Vec<Admitted>, HttpError> {
        // Before the lookup: a name that is not granted could carry data to its name server.
        self.check_host(target)?;
        let addresses = match &target.host {
            Host::Name(name) => self.lookup(name).await?,
            Host::Address(address) => vec![*address],
        };
        let check = |address| self.check_address(target, address);
        addresses.into_iter().map(check).collect()
    }

    fn check_host(&self, target: &Target) -> Result<(), HttpError> {
        let missing = match target.host {
            // A pattern cannot spell IPv6 addresses.
            Host::Address(IpAddr::V6(_)) => self.net.missing(&Net::Any),
            _ => self
                .net
                .missing(&Net::hosts([pattern(&target.authority())?])),
        };
        match missing {
            None => Ok(()),
            Some(host) => Err(HttpError::Denied {
                setting: Capability::Net(host).setting(),
                host: target.authority(),
            }),
        }
    }

    async fn lookup(&self, name: &str) -> Result<Vec<IpAddr>, HttpError> {
        let (resolver, host) = (Arc::clone(&self.resolver), name.to_owned());
        let found = reactor::run_blocking(move || resolver.resolve(&host)).await?;
        let failure = |reason: &str| HttpError::Resolve {
            host: name.to_owned(),
            reason: shown(reason),
        };
        let found = found.map_err(|error| failure(&error.to_string()))?;
        if found.is_empty() {
            return Err(failure("the name has no address"));
        }
        if found.len() > MAX_ADDRESSES {
            return Err(failure("the name has too many addresses"));
        }
        Ok(found)
    }

    /// One address that may not be reached denies the host: which one a connection would end up at
    /// must not depend on chance, or on who answers first.
    fn check_address(&self, target: &Target, address: IpAddr) -> Result<Admitted, HttpError> {
        let address = address::canonical(address);
        let admitted = Admitted(SocketAddr::new(address, target.port));
        let via = match &target.host {
            Host::Name(name) => format!(", which {name} resolves to"),
            Host::Address(_) => String::new(),
        };
        let refused = |why: &str| HttpError::Refused {
            host: target.authority(),
            reason: format!("{address} is {why}"),
        };
        // Its name says that it is this machine (RFC 6761), whatever a resolver says.
        let is_local = matches!(&target.host, Host::Name(name) if name == "localhost");
        if is_local && !address.is_loopback() {
            return Err(refused(
                "not an address of this machine, which `localhost` means",
            ));
        }
        match address::classify(address) {
            Class::Public => Ok(admitted),
            Class::Private(_) if self.private || self.grants_literally(admitted.0) => Ok(admitted),
            Class::Private(_) if address.is_ipv4() => Err(HttpError::Denied {
                host: format!("{}{via}", admitted.0),
                setting: Capability::Net(admitted.0.to_string()).setting(),
            }),
            Class::Private(why) => Err(refused(why)),
            Class::Never(why) => Err(refused(why)),
        }
    }

    /// Tells whether the grant names this very address. `net = true` does not: who allows every host
    /// means the internet, not the machine's own services.
    fn grants_literally(&self, address: SocketAddr) -> bool {
        let named = matches!(self.net, Net::Hosts(_)) && address.is_ipv4();
        let literal = || pattern(&address.to_string()).ok();
        named && literal().is_some_and(|host| self.net.missing(&Net::hosts([host])).is_none())
    }
}

fn pattern(authority: &str) -> Result<HostPattern, HttpError> {
    let parsed = authority.parse();
    parsed.map_err(|_| {
        HttpError::invalid(format!(
            "invalid host `{}`: expected a name or an address",
            shown(authority)
        ))
    })
}
