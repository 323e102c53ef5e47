//! Due work: reminders, tasks and wake-ups whose time has come, handed out as events.
//!
//! The code that delivers them calls [`Due::claim`], does what an event says, and calls [`Due::ack`] or
//! [`Due::fail`]. Nothing is run here, and no clock is read: the time is handed in, in seconds since
//! 1970. Of the families this module knows only the columns that say when and how often. It does not
//! know users: the host delivers for all of them.
//!
//! # What is promised
//! - A row is handed out to one claimer at a time, however many processes ask. A claim lasts for
//!   [`Options::lease`]; [`Due::extend`] makes it longer.
//! - A claimer that died, or did not answer in time, loses its claim to the next one: the event comes
//!   again with the same id, and `redelivered` is set. So an event is delivered at least once, and
//!   its id tells when it was delivered twice.
//! - What fails is tried again, after twice as long each time; after [`Options::attempts`] it is
//!   parked: it stays in the lists of its family with `parked_at` and `last_error`, and is not
//!   tried again until a user snoozes or enables it.
//! - What recurs has one run waiting at most: runs that were missed are not made up for.

mod event;
mod rows;

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use rusqlite::Transaction;

pub use event::{DueEvent, Kind};

use self::event::EventId;
use crate::kv::{Access, Store, StoreError};

/// The most events of one claim.
const MOST: usize = 10_000;
/// The most text of one claim, in bytes; the rest waits for the next one.
const BYTES: usize = 32 * 1024 * 1024;
/// The longest error that is kept, in characters.
const ERROR: usize = 500;

/// How often and how long deliveries are tried. All times are in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long a claim lasts.
    pub lease: i64,
    /// How often an event is handed out before it is parked.
    pub attempts: i64,
    /// The pause after the first failure; each further failure doubles it.
    pub first_pause: i64,
    /// The longest pause.
    pub longest_pause: i64,
}

impl Default for Options {
    /// A minute for each claim, eight attempts, and pauses of 10 seconds to an hour.
    fn default() -> Self {
        Self {
            lease: 60,
            attempts: 8,
            first_pause: 10,
            longest_pause: 3600,
        }
    }
}

/// What became of an event that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// It is handed out again at this time.
    Again {
        /// When.
        at: i64,
    },
    /// It was the last attempt.
    Parked,
    /// The claim had gone to another claimer.
    Stale,
}

/// Hands out due work of one store.
pub struct Due {
    store: Arc<Store>,
    /// Tells this claimer from all others, in this process and elsewhere.
    owner: String,
    options: Options,
}

impl Due {
    /// Makes a claimer with the default options.
    #[must_use]
    pub fn new(store: Arc<Store>) -> Self {
        Self::with_options(store, Options::default())
    }

    /// Makes a claimer.
    #[must_use]
    pub fn with_options(store: Arc<Store>, options: Options) -> Self {
        let (pid, token) = (std::process::id(), RandomState::new().hash_one(0));
        Self {
            store,
            owner: format!("{pid}-{token:016x}"),
            options,
        }
    }

    /// Claims what is due, the longest waiting first: at most `limit` events, and at most as many as
    /// fit into memory easily. A caller that gets any asks again: more may be waiting.
    ///
    /// # Errors
    ///
    /// When the store fails; nothing is claimed then.
    pub fn claim(&self, now: i64, limit: usize) -> Result<Vec<DueEvent>, StoreError> {
        let until = now.saturating_add(self.options.lease);
        let most = limit.min(MOST);
        self.store.work(Access::Write, |transaction| {
            loop {
                let found = rows::find(transaction, now, (most, BYTES))?;
                let over = |event: &DueEvent| event.attempt > self.options.attempts;
                let (unanswered, events): (Vec<_>, Vec<_>) = found.into_iter().partition(over);
                for event in &unanswered {
                    rows::park_the_unanswered(transaction, event, now)?;
                }
                for event in &events {
                    rows::claim(transaction, event, (until, &self.owner))?;
                }
                // An empty answer means that nothing waits.
                if !events.is_empty() || unanswered.is_empty() {
                    return Ok(events);
                }
            }
        })
    }

    /// Returns when something is due next, if anything is: now or earlier when something waits.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn next(&self) -> Result<Option<i64>, StoreError> {
        self.store.work(Access::Read, rows::next)
    }

    /// Notes that events were delivered, in one transaction; returns how many of them were still
    /// open. A claimer whose claim ran out may call it too: the event was delivered.
    ///
    /// # Errors
    ///
    /// When the store fails; nothing is noted then.
    pub fn ack<S: AsRef<str>>(&self, ids: &[S], now: i64) -> Result<usize, StoreError> {
        self.each(ids, |transaction, id| rows::ack(transaction, id, now))
    }

    /// Makes claims last for another lease from now; returns how many were still this claimer's.
    ///
    /// # Errors
    ///
    /// When the store fails; no claim is changed then.
    pub fn extend<S: AsRef<str>>(&self, ids: &[S], now: i64) -> Result<usize, StoreError> {
        let until = now.saturating_add(self.options.lease);
        self.each(ids, |transaction, id| {
            rows::extend(transaction, id, (until, &self.owner))
        })
    }

    /// Notes that an event could not be delivered, and why; it is tried again later, or parked.
    ///
    /// # Errors
    ///
    /// When the store fails; the claim then runs out by itself.
    pub fn fail(&self, id: &str, why: &str, now: i64) -> Result<Failed, StoreError> {
        let Some(id) = EventId::parse(id) else {
            return Ok(Failed::Stale);
        };
        // It will be shown to people, and a line break could pass for a line of jp.
        let why = jp_text::mask(why, ERROR);
        self.store.work(Access::Write, |transaction| {
            let Some(attempts) = rows::attempts(transaction, &id, &self.owner)? else {
                return Ok(Failed::Stale);
            };
            if attempts >= self.options.attempts {
                rows::park(transaction, &id, (now, &why))?;
                return Ok(Failed::Parked);
            }
            let at = now.saturating_add(self.pause(attempts));
            rows::postpone(transaction, &id, (at, &why))?;
            Ok(Failed::Again { at })
        })
    }

    /// Returns how long to wait after so many attempts.
    fn pause(&self, attempts: i64) -> i64 {
        let doublings = u32::try_from(attempts.saturating_sub(1).clamp(0, 40)).unwrap_or(40);
        let pause = self.options.first_pause.saturating_mul(1_i64 << doublings);
        pause.min(self.options.longest_pause)
    }

    /// Does something to each event, in one transaction; returns how many it applied to. What is no
    /// id of an event applies to none.
    fn each<S: AsRef<str>>(
        &self,
        ids: &[S],
        change: impl Fn(&Transaction<'_>, &EventId) -> rusqlite::Result<usize>,
    ) -> Result<usize, StoreError> {
        self.store.work(Access::Write, |transaction| {
            let mut changed = 0_usize;
            for id in ids.iter().filter_map(|id| EventId::parse(id.as_ref())) {
                let applied = change(transaction, &id)?;
                changed = changed.saturating_add(applied);
            }
            Ok(changed)
        })
    }
}
