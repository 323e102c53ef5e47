//! A small server for a registry of static files: `GET` and `HEAD` of the files that a registry has,
//! and of no others. For one machine or a local network; to the world, put the directory behind any
//! web server.
//!
//! It holds no key and writes nothing. A connection serves one request, has its time and its thread,
//! and there are only so many of both.

mod request;
mod respond;

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use crate::source::{beneath::Beneath, layout};

/// More connections wait until one ends.
const MAX_CONNECTIONS: usize = 64;
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
        let open = Arc::new(AtomicUsize::new(0));
        while !stop() {
            if open.load(Ordering::Acquire) >= MAX_CONNECTIONS {
                thread::sleep(PAUSE);
                continue;
            }
            match self.listener.accept() {
                Ok((stream, _)) => self.spawn(stream, &open),
                Err(error) if is_passing(&error) => thread::sleep(PAUSE),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn spawn(&self, stream: TcpStream, open: &Arc<AtomicUsize>) {
        let place = Place::take(open);
        let (files, limits) = (Arc::clone(&self.files), self.limits);
        let thread = thread::Builder::new().name("jp-registry".to_owned());
        // Without a thread the connection is closed, and the client may try again.
        let _ = thread.spawn(move || {
            // A client that went away is nobody's error.
            let _ = serve(stream, &files, limits);
            drop(place);
        });
    }
}

fn serve(stream: TcpStream, files: &Beneath, limits: Limits) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let request = request::read(&stream, limits.request)?;
    respond::respond(&stream, &request, files, limits)
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

/// One of the [`MAX_CONNECTIONS`] places, given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(open))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
