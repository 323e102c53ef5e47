//! Connections kept for the next request. A pool belongs to one client, and with that to one grant;
//! no connection ever leaves it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use super::{
    admit::Admitted,
    line::Line,
    reactor,
    target::{Host, Scheme, Target},
};

/// How long a connection is kept without a request.
const MAX_IDLE: Duration = Duration::from_secs(30);
/// How long for requests that cannot be repeated: servers close what is idle after five seconds and
/// more, and such a request must not meet a connection that is just being closed.
const MAX_IDLE_UNREPEATABLE: Duration = Duration::from_secs(3);
/// Connections kept to one origin, and to all.
const MAX_PER_ORIGIN: usize = 8;
const MAX_KEPT: usize = 32;

/// The kept connections of one client.
#[derive(Default)]
pub(super) struct Pool(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    kept: Vec<Kept>,
    /// Whether a task closes connections that were kept long enough.
    is_swept: bool,
}

struct Kept {
    origin: Origin,
    line: Line,
    since: Instant,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: Scheme,
    host: Host,
    port: u16,
}

impl Origin {
    fn of(target: &Target) -> Self {
        Self {
            scheme: target.scheme,
            host: target.host.clone(),
            port: target.port,
        }
    }
}

/// Whether a request may be sent again when its connection closes without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeatable {
    Yes,
    No,
}

impl Pool {
    /// Takes a connection to one of the addresses that were just checked.
    pub(super) async fn take(
        &self,
        target: &Target,
        addresses: &[Admitted],
        repeatable: Repeatable,
    ) -> Option<Line> {
        let origin = Origin::of(target);
        loop {
            let line = self.find(&origin, addresses, repeatable)?;
            if let Some(line) = line.ready().await {
                return Some(line);
            }
        }
    }

    fn find(
        &self,
        origin: &Origin,
        addresses: &[Admitted],
        repeatable: Repeatable,
    ) -> Option<Line> {
        let mut inside = self.lock();
        inside.prune();
        let longest = match repeatable {
            Repeatable::Yes => MAX_IDLE,
            Repeatable::No => MAX_IDLE_UNREPEATABLE,
        };
        let fits = |kept: &Kept| {
            let leads_to = |address: &Admitted| address.address() == kept.line.address();
            kept.origin == *origin
                && addresses.iter().any(leads_to)
                && kept.since.elapsed() < longest
        };
        let at = inside.kept.iter().rposition(fits)?;
        if let Some(shared) = inside.kept.get(at).and_then(|kept| kept.line.share()) {
            return Some(shared);
        }
        Some(inside.kept.remove(at).line)
    }

    /// Keeps a connection whose last response was read to its end.
    pub(super) fn keep(self: &Arc<Self>, target: &Target, line: Line) {
        if line.is_closed() {
            return;
        }
        let origin = Origin::of(target);
        let mut inside = self.lock();
        inside.prune();
        // Of a connection that takes several requests one handle is enough.
        if line.share().is_some() {
            let same = |kept: &&mut Kept| {
                kept.origin == origin
                    && kept.line.address() == line.address()
                    && kept.line.share().is_some()
            };
            if let Some(kept) = inside.kept.iter_mut().find(same) {
                kept.since = Instant::now();
                return;
            }
        }
        let of_origin = inside.kept.iter().filter(|kept| kept.origin == origin);
        let oldest = match of_origin.count() >= MAX_PER_ORIGIN {
            true => inside.kept.iter().position(|kept| kept.origin == origin),
            false => (inside.kept.len() >= MAX_KEPT).then_some(0),
        };
        if let Some(oldest) = oldest {
            inside.kept.remove(oldest);
        }
        inside.kept.push(Kept {
            origin,
            line,
            since: Instant::now(),
        });
        if !inside.is_swept
            && let Ok(handle) = reactor::handle()
        {
            inside.is_swept = true;
            handle.spawn(sweep(Arc::downgrade(self)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn prune(&mut self) {
        self.kept
            .retain(|kept| !kept.line.is_closed() && kept.since.elapsed() < MAX_IDLE);
    }
}

/// Closes what was kept long enough, until nothing is kept any more.
async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(MAX_IDLE).await;
        let Some(pool) = pool.upgrade() else {
            return;
        };
        let mut inside = pool.lock();
        inside.prune();
        if inside.kept.is_empty() {
            inside.is_swept = false;
            return;
        }
    }
}
