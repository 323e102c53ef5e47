//! Approvals of one user: what they decided and is remembered, and calls that wait for them. One store for
//! all programs of the user; each keeps in memory what holds, and looks at a counter once per call whether
//! that is of now.

mod access;
mod answer;
mod here;
mod index;
mod pattern;
mod request;

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use jp_llm::Unreadable;
use jp_store::{Generation, Grants as _, Pending as _, RunId, Store, StoreError};

pub use answer::{Answer, AnswerError, Matching};
pub use here::Here;
pub use jp_store::{
    Arguments, Decided, Effect, Grant, GrantId, Kind, Millis, Request, RequestId, Standing,
};
pub use request::{About, Missing};

use index::Index;

/// Where nothing was ever decided, that is looked at once in so many milliseconds.
const MOMENT: Millis = 1;

/// A permission for one call can be used this long.
pub const TICKET_LIFE: Millis = 60 * 60 * 1000;

/// A request waits this long for a person.
pub const REQUEST_LIFE: Millis = 24 * 60 * 60 * 1000;

/// As many requests of one principal wait at once.
pub const MOST_WAITING: u64 = 100;

/// The approvals of a user. Clones are the same.
#[derive(Clone)]
pub struct Approvals(Arc<Inner>);

struct Inner {
    path: PathBuf,
    /// Which run of a program this is: what is allowed for it ends with it.
    run: RunId,
    known: RwLock<Arc<Index>>,
    counter: RwLock<Option<Arc<Generation>>>,
    /// When there was last no counter.
    absent: AtomicU64,
    store: Mutex<Option<Open>>,
}

struct Open {
    store: Arc<Store>,
    inode: u64,
}

impl Approvals {
    /// Returns the approvals that are kept in a file. Nothing is opened before it is needed.
    ///
    /// # Errors
    ///
    /// When the system gives no randomness.
    pub fn at(path: &Path) -> Result<Self, StoreError> {
        Ok(Self(Arc::new(Inner {
            path: path.to_owned(),
            run: RunId::random()?,
            known: RwLock::default(),
            counter: RwLock::default(),
            absent: AtomicU64::new(0),
            store: Mutex::default(),
        })))
    }

    /// Returns the store, which is made if it is not there. May wait for the disk.
    ///
    /// # Errors
    ///
    /// When it cannot be used.
    pub fn store(&self, now: Millis) -> Result<Arc<Store>, StoreError> {
        let mut open = self.0.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.as_ref()
            && inode(&self.0.path) == Some(open.inode)
        {
            return Ok(Arc::clone(&open.store));
        }
        let store = Arc::new(Store::open(&self.0.path, now)?);
        let inode = inode(&self.0.path).unwrap_or_default();
        *open = Some(Open {
            store: Arc::clone(&store),
            inode,
        });
        Ok(store)
    }

    /// Tells whether nothing was decided since this was last read.
    fn is_fresh(&self, now: Millis) -> bool {
        let known = self.index().generation;
        let counter = match self.counter() {
            // Nobody can decide for the first time and be heard sooner.
            None if known == 0 && self.was_absent(now) => return true,
            None => {
                let found = self.find_counter().ok().flatten();
                if found.is_none() {
                    self.0.absent.store(now, Ordering::Relaxed);
                }
                found
            }
            there => there,
        };
        match counter {
            Some(counter) => counter.read() == Some(known),
            None => known == 0,
        }
    }

    /// Tells whether there was no counter a moment ago. A clock that was set back says nothing.
    fn was_absent(&self, now: Millis) -> bool {
        now.wrapping_sub(self.0.absent.load(Ordering::Relaxed)) < MOMENT
    }

    /// Reads again what holds. May wait for the disk.
    fn reload(&self) -> Result<(), StoreError> {
        let failed = |source| StoreError::Io {
            what: "read",
            path: self.0.path.clone(),
            source,
        };
        let there = self.counter().filter(|counter| counter.read().is_some());
        let counter = match there {
            Some(counter) => Some(counter),
            None => self.find_counter().map_err(failed)?,
        };
        let index = match counter {
            None => Index::default(),
            Some(counter) => {
                // Whoever asks has the time; what has expired meanwhile is told apart then.
                let store = self.store(0)?;
                let mut all = store.snapshot(0)?;
                if counter.read() != Some(all.generation) {
                    store.settle()?;
                    all = store.snapshot(0)?;
                }
                Index::of(all)
            }
        };
        *self.0.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(index);
        Ok(())
    }

    fn index(&self) -> Arc<Index> {
        let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&known)
    }

    fn counter(&self) -> Option<Arc<Generation>> {
        let counter = self
            .0
            .counter
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        counter.clone()
    }

    /// Looks for the counter, which is not there before something was decided, or not any more.
    fn find_counter(&self) -> io::Result<Option<Arc<Generation>>> {
        let found = Generation::open(&self.0.path)?.map(Arc::new);
        if found.is_some() || self.counter().is_some() {
            let counter = self.0.counter.write();
            counter
                .unwrap_or_else(PoisonError::into_inner)
                .clone_from(&found);
        }
        Ok(found)
    }

    /// Does something that may wait for the disk where that holds nobody up.
    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Unreadable> {
        let approvals = self.clone();
        let unreadable = |reason: String| Unreadable { reason };
        match tokio::task::spawn_blocking(move || work(&approvals)).await {
            Ok(done) => done.map_err(|error| unreadable(text_of(&error))),
            Err(error) => Err(unreadable(error.to_string())),
        }
    }

    /// Returns the name of this run.
    #[must_use]
    pub fn run(&self) -> &str {
        self.0.run.as_str()
    }
}

/// What people do with their approvals; each may wait for the disk.
impl Approvals {
    /// Returns all requests that are kept, the oldest first.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn requests(&self, now: Millis) -> Result<Vec<Request>, StoreError> {
        if !self.0.path.exists() {
            return Ok(Vec::new());
        }
        self.store(now)?.requests(now)
    }

    /// Returns what is remembered and holds.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn grants(&self, now: Millis) -> Result<Vec<Grant>, StoreError> {
        if !self.0.path.exists() {
            return Ok(Vec::new());
        }
        Ok(self.store(now)?.snapshot(now)?.grants)
    }

    /// Decides about a request.
    ///
    /// # Errors
    ///
    /// When the answer does not fit the request, or the store fails.
    pub fn decide(
        &self,
        request: &Request,
        answer: &Answer,
        author: &str,
        now: Millis,
    ) -> Result<Decided, AnswerError> {
        let verdict = answer::verdict(request, answer, author, now)?;
        Ok(self
            .store(now)?
            .decide(&request.id, &verdict, author, now)?)
    }

    /// Takes back a remembered decision, or a permission that was not used yet.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn revoke(&self, id: &str, now: Millis) -> Result<bool, StoreError> {
        if !self.0.path.exists() {
            return Ok(false);
        }
        self.store(now)?.revoke(id, now)
    }

    /// Forgets what is over.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn sweep(&self, now: Millis) -> Result<(), StoreError> {
        if self.0.path.exists() {
            let store = self.store(now)?;
            store.sweep_grants(now)?;
            store.sweep_requests(now)?;
        }
        Ok(())
    }
}

fn inode(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|found| found.ino())
}

/// Writes an error with its causes.
fn text_of(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
