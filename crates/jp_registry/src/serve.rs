//! A small server for a registry of static files: `GET` and `HEAD` of the files that a registry has,
//! and of no others. For one machine or a local network; to the world, put the directory behind any
//! web server.
//!
//! It holds no key and writes nothing. A connection serves one request, has its time and its thread,
//! and there are only so many of both: whoever says nothing makes room for whoever comes.

mod places;
mod request;
mod respond;

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    path::Path,
    sync::Arc,
    thread,
    time::Duration,
};

use self::places::{Place, Places};
use crate::source::{beneath::Beneath, layout};

/// How long the loop sleeps when nobody comes.
const PAUSE: Duration = Duration::from_millis(5);

/// A server that is bound, and not yet running.
pub struct Server {
    listener: TcpListener,
    addr: SocketAddr,
    files: Arc<Beneath>,
    limits: Limits,
}

/// How much a client may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time for the whole request to arrive.
    pub request: Duration,
    /// Time for each write to make headway.
    pub write: Duration,
    /// Time for the whole response to leave.
    pub response: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(10),
            write: Duration::from_secs(30),
            response: Duration::from_hours(1),
        }
    }
}

impl Server {
    /// Binds an address. Port 0 takes one that is free, see [`Server::addr`].
    ///
    /// # Errors
    /// If the directory holds no registry, or the address is taken.
    pub fn bind(addr: impl ToSocketAddrs, dir: &Path) -> io::Result<Self> {
        let files = Beneath::new(dir);
        if files.open(layout::ABOUT)?.is_none() {
            let text = format!("{} holds no registry", dir.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let listener = TcpListener::bind(addr)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            addr: listener.local_addr()?,
            listener,
            files: Arc::new(files),
            limits: Limits::default(),
        })
    }

    /// Sets how much a client may take.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the address that it listens on.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves until `stop` returns true, which is asked every few milliseconds. Connections that are
    /// open then end by themselves.
    ///
    /// # Errors
    /// If no connection can be accepted any more.
    pub fn run(&self, stop: &dyn Fn() -> bool) -> io::Result<()> {
        let places = Places::default();
        let mut next: Option<(TcpStream, SocketAddr)> = None;
        while !stop() {
            let (stream, peer) = match next.take() {
                Some(waiting) => waiting,
                None => match self.listener.accept() {
                    Ok(came) => came,
                    Err(error) if is_passing(&error) => {
                        thread::sleep(PAUSE);
                        continue;
                    }
                    Err(error) => return Err(error),
                },
            };
            let stream = match places.take(stream, peer.ip()) {
                Ok(place) => {
                    self.spawn(place);
                    continue;
                }
                Err(stream) => stream,
            };
            next = Some((stream, peer));
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn spawn(&self, place: Place) {
        let (files, limits) = (Arc::clone(&self.files), self.limits);
        let thread = thread::Builder::new().name("jp-registry".to_owned());
        // Without a thread the connection is closed, and the client may try again.
        let _ = thread.spawn(move || {
            // A client that went away is nobody's error.
            let _ = serve(&place, &files, limits);
        });
    }
}

fn serve(place: &Place, files: &Beneath, limits: Limits) -> io::Result<()> {
    let stream = place.stream();
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let request = request::read(stream, limits.request)?;
    place.has_asked();
    respond::respond(stream, &request, files, limits)
}

/// Tells whether the next connection may fare better.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionReset, Interrupted, OutOfMemory, TimedOut, WouldBlock,
    };
    let out_of_files = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE];
    let number = error.raw_os_error();
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted | OutOfMemory | TimedOut | WouldBlock
    ) || out_of_files
        .iter()
        .any(|errno| number == Some(errno.raw_os_error()))
}
