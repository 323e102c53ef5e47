//! A small server for a registry of static files: `GET` and `HEAD` of the files that a registry has,
//! and of no others. For one machine or a local network; to the world, put the directory behind any
//! web server.
//!
//! It holds no key and writes nothing. HTTP is hyper's and axum's. A connection serves one request,
//! has its time, and there are only so many: one that asks for nothing makes room for the next.

mod answer;
mod connection;
mod file;
mod paced;
mod places;

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener as StdListener, ToSocketAddrs},
    path::Path,
    sync::Arc,
    time::Duration,
};

use axum::{Router, routing::get};
use jp_registry::{Place, open_served};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time,
};
use tokio_util::sync::CancellationToken;

use self::places::Places;

/// How long the loop waits before it looks again whether there is a place, or a descriptor.
const PAUSE: Duration = Duration::from_millis(5);

/// A server that is bound, and not yet running.
pub struct Server {
    listener: StdListener,
    addr: SocketAddr,
    router: Router,
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
    /// Time for responses that are under way when the server is stopped.
    pub shutdown: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(10),
            write: Duration::from_secs(30),
            response: Duration::from_hours(1),
            shutdown: Duration::from_secs(5),
        }
    }
}

impl Server {
    /// Binds an address. Port 0 takes one that is free, see [`Server::addr`].
    ///
    /// # Errors
    /// If the directory holds no registry, or the address is taken.
    pub fn bind(addr: impl ToSocketAddrs, dir: &Path) -> io::Result<Self> {
        let about = Place::About.path().unwrap_or_default();
        if open_served(dir, &about).is_none() {
            let text = format!("{} holds no registry", dir.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let listener = StdListener::bind(addr)?;
        listener.set_nonblocking(true)?;
        // Whatever the path: `answer` decides by the one table of what a registry has. Other methods
        // get 405 from the router.
        let router = Router::new()
            .fallback(get(answer::answer))
            .with_state(Arc::<Path>::from(dir));
        Ok(Self {
            addr: listener.local_addr()?,
            listener,
            router,
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

    /// Serves until `stop` is cancelled. Then nobody is let in any more, connections that ask for
    /// nothing are closed, and responses under way get [`Limits::shutdown`] to leave.
    ///
    /// # Errors
    /// If no connection can be accepted any more.
    pub async fn run(self, stop: CancellationToken) -> io::Result<()> {
        let listener = TcpListener::from_std(self.listener)?;
        let (places, mut open) = (Places::default(), JoinSet::new());
        let served = loop {
            let (stream, peer) = tokio::select! {
                () = stop.cancelled() => break Ok(()),
                accepted = accept(&listener) => match accepted {
                    Ok(came) => came,
                    Err(error) => break Err(error),
                },
            };
            let (places, router) = (places.clone(), self.router.clone());
            let (limits, stop) = (self.limits, stop.clone());
            // Waits for its place on its own: another address may have a right to one at once.
            open.spawn(async move {
                let came = wait_for_place(&places, peer.ip());
                let place = tokio::select! {
                    () = stop.cancelled() => return,
                    place = time::timeout(limits.request, came) => place,
                };
                if let Ok(Some(place)) = place {
                    connection::serve(stream, place, router, limits, stop).await;
                }
            });
            while open.try_join_next().is_some() {}
        };
        drop(listener);
        let ended = async { while open.join_next().await.is_some() {} };
        // Whatever is left after that is dropped, and its connection closed.
        let _ = time::timeout(self.limits.shutdown, ended).await;
        served
    }
}

/// Waits until a connection gets a place; nothing when too many of its address wait already.
async fn wait_for_place(places: &Places, peer: IpAddr) -> Option<places::Place> {
    if let Some(place) = places.take(peer) {
        return Some(place);
    }
    let _waiting = places.wait(peer)?;
    loop {
        time::sleep(PAUSE).await;
        if let Some(place) = places.take(peer) {
            return Some(place);
        }
    }
}

/// Accepts the next connection; waits where the next may fare better than this one.
async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept().await {
            Err(error) if is_passing(&error) => time::sleep(PAUSE).await,
            accepted => return accepted,
        }
    }
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
