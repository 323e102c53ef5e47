//! The keyring of the user's desktop session, asked with a time limit.
//!
//! The address of its bus is handed in: it reads no environment.

use std::{fmt::Write, os::unix::ffi::OsStrExt, path::Path, sync::mpsc, thread, time::Duration};

use zeroize::Zeroizing;

use super::{KeyId, Keyring, KeyringError};

/// How long a keyring is waited for in which nothing of ours lies yet.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// How long a keyring is waited for that has the key: it may have to be started.
const WAIT: Duration = Duration::from_secs(5);
/// The longest address of a bus.
const MAX_ADDRESS: usize = 4096;

/// The keyring of a desktop session: the service that answers to `org.freedesktop.secrets` on its bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionKeyring {
    address: Option<String>,
}

impl SessionKeyring {
    /// Makes the keyring on the bus at `address`, as in `DBUS_SESSION_BUS_ADDRESS`; no service is asked
    /// before it is needed.
    ///
    /// Of the address only sockets of this machine count: others would send the key over a network
    /// or start programs.
    #[must_use]
    pub fn new(address: Option<&str>) -> Self {
        Self {
            address: address.and_then(sockets_of),
        }
    }

    /// Makes the keyring on the bus whose socket is the file at `path`.
    #[must_use]
    pub fn at_socket(path: &Path) -> Self {
        let mut address = "unix:path=".to_owned();
        for byte in path.as_os_str().as_bytes() {
            // What may stand for itself in an address (D-Bus Specification, "Server Addresses").
            if byte.is_ascii_alphanumeric() || b"-_/.".contains(byte) {
                address.push(char::from(*byte));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(address, "%{byte:02x}");
            }
        }
        Self::new(Some(&address))
    }

    fn ask<T: Send + 'static>(
        &self,
        wait: Duration,
        ask: impl FnOnce(&service::Service) -> Result<T, KeyringError> + Send + 'static,
    ) -> Result<T, KeyringError> {
        let address = self.address.clone().ok_or(KeyringError::NoBus)?;
        within(wait, move || ask(&service::Service::open(&address, wait)?))
    }
}

impl Keyring for SessionKeyring {
    fn get(&self, id: &KeyId) -> Result<Option<Zeroizing<Vec<u8>>>, KeyringError> {
        let id = id.clone();
        self.ask(WAIT, move |service| service.get(&id))
    }

    fn put(&self, id: &KeyId, key: &[u8]) -> Result<(), KeyringError> {
        let (id, key) = (id.clone(), Zeroizing::new(key.to_vec()));
        self.ask(FIRST_WAIT, move |service| service.put(&id, &key))
    }

    fn remove(&self, id: &KeyId) -> Result<(), KeyringError> {
        let id = id.clone();
        self.ask(WAIT, move |service| service.remove(&id))
    }
}

/// Does something on a thread of its own, and stops waiting for it in time.
///
/// The library that speaks to the bus can be kept waiting by a bus that accepts and says nothing; its
/// own limit is 25 seconds, after which the thread ends too.
fn within<T: Send + 'static>(
    wait: Duration,
    work: impl FnOnce() -> Result<T, KeyringError> + Send + 'static,
) -> Result<T, KeyringError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let started = thread::Builder::new()
        .name("jp-keyring".to_owned())
        .spawn(move || {
            // The caller may have stopped waiting.
            let _ = sender.send(work());
        });
    started.map_err(|error| KeyringError::failed(&error.to_string()))?;
    receiver.recv_timeout(wait).unwrap_or_else(|error| {
        Err(match error {
            mpsc::RecvTimeoutError::Timeout => KeyringError::TimedOut { waited: wait },
            mpsc::RecvTimeoutError::Disconnected => KeyringError::failed("it cannot be asked"),
        })
    })
}

/// Returns the sockets of this machine among the addresses of a bus.
fn sockets_of(address: &str) -> Option<String> {
    if address.len() > MAX_ADDRESS || address.chars().any(char::is_control) {
        return None;
    }
    let sockets: Vec<&str> = address
        .split(';')
        .filter(|one| one.starts_with("unix:"))
        .collect();
    (!sockets.is_empty()).then(|| sockets.join(";"))
}

#[cfg(target_os = "linux")]
use super::service;

/// On other systems there is no such service, and keys lie in files.
#[cfg(not(target_os = "linux"))]
mod service {
    use std::time::Duration;

    use zeroize::Zeroizing;

    use super::{KeyId, KeyringError};

    pub(super) enum Service {}

    impl Service {
        pub(super) fn open(_: &str, _: Duration) -> Result<Self, KeyringError> {
            Err(KeyringError::no_service("jp knows none of this system"))
        }

        pub(super) fn get(&self, _: &KeyId) -> Result<Option<Zeroizing<Vec<u8>>>, KeyringError> {
            match *self {}
        }

        pub(super) fn put(&self, _: &KeyId, _: &[u8]) -> Result<(), KeyringError> {
            match *self {}
        }

        pub(super) fn remove(&self, _: &KeyId) -> Result<(), KeyringError> {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_of_this_machine_are_connected_to() {
        for (address, expected) in [
            (
                "unix:path=/run/user/1000/bus",
                Some("unix:path=/run/user/1000/bus"),
            ),
            (
                "unixexec:path=/bin/sh;unix:abstract=/tmp/x,guid=0;tcp:host=h,port=1",
                Some("unix:abstract=/tmp/x,guid=0"),
            ),
            ("tcp:host=localhost,port=1", None),
            ("autolaunch:", None),
            ("", None),
            ("unix:path=/a\0b", None),
        ] {
            assert_eq!(sockets_of(address).as_deref(), expected, "{address:?}");
        }
        assert_eq!(
            sockets_of(&format!("unix:path=/{}", "x".repeat(5000))),
            None
        );
    }

    #[test]
    fn a_socket_may_have_any_name() {
        let keyring = SessionKeyring::at_socket(Path::new("/run/a;unixexec:path=b,é %/bus"));
        let expected = "unix:path=/run/a%3bunixexec%3apath%3db%2c%c3%a9%20%25/bus";
        assert_eq!(keyring.address.as_deref(), Some(expected));
    }

    #[test]
    fn a_panic_of_the_caller_is_an_error() {
        let done: Result<(), _> = within(Duration::from_secs(60), || panic!("on purpose"));
        assert_eq!(done, Err(KeyringError::failed("it cannot be asked")));
    }
}
