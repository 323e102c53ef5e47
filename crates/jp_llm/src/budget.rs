//! The budget of a call: what is left of its limits, over all the times its tool is run.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jp_policy::{Limit, Limits};
use serde_json::{Map, Value};

/// How many questions a tool may ask in one call.
pub const MAX_QUESTIONS: usize = 16;

/// What a call has used and been told so far. Clones share it, so that a call that is taken up
/// again after a question goes on with what it had left.
#[derive(Debug, Clone, Default)]
pub struct Budget(Arc<Mutex<Used>>);

#[derive(Debug, Default)]
struct Used {
    time: Duration,
    fuel: u64,
    answers: Map<String, Value>,
}

impl Budget {
    /// Returns what is left of the limits.
    ///
    /// # Errors
    ///
    /// When nothing is left of one of them.
    pub fn left(&self, limits: &Limits) -> Result<Limits, Limit> {
        let used = self.lock();
        let time = limits.time.saturating_sub(used.time);
        if time.is_zero() {
            return Err(Limit::Time);
        }
        let fuel = limits.fuel.map(|fuel| fuel.saturating_sub(used.fuel));
        if fuel == Some(0) {
            return Err(Limit::Fuel);
        }
        Ok(Limits {
            time,
            fuel,
            ..*limits
        })
    }

    /// Notes what one run of the tool used.
    pub fn spend(&self, time: Duration, fuel: u64) {
        let mut used = self.lock();
        used.time = used.time.saturating_add(time);
        used.fuel = used.fuel.saturating_add(fuel);
    }

    /// Returns the time and the fuel that all runs of the tool used so far.
    #[must_use]
    pub fn used(&self) -> (Duration, u64) {
        let used = self.lock();
        (used.time, used.fuel)
    }

    /// Returns the answers given so far, as JSON.
    #[must_use]
    pub fn answers(&self) -> Map<String, Value> {
        self.lock().answers.clone()
    }

    /// Keeps an answer; false when the tool has asked too often.
    #[must_use]
    pub(crate) fn keep_answer(&self, id: &str, answer: Value) -> bool {
        let mut used = self.lock();
        if !used.answers.contains_key(id) && used.answers.len() >= MAX_QUESTIONS {
            return false;
        }
        used.answers.insert(id.to_owned(), answer);
        true
    }

    /// Tells whether a question was answered before: a tool that asks again would ask for ever.
    pub(crate) fn has_answer(&self, id: &str) -> bool {
        self.lock().answers.contains_key(id)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.lock().answers.len() >= MAX_QUESTIONS
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_share_what_is_left() {
        let limits = Limits {
            time: Duration::from_secs(2),
            fuel: Some(100),
            ..Limits::default()
        };
        let budget = Budget::default();
        let later = budget.clone();
        budget.spend(Duration::from_millis(1500), 60);
        let left = later.left(&limits).unwrap();
        assert_eq!(
            (left.time, left.fuel),
            (Duration::from_millis(500), Some(40))
        );
        budget.spend(Duration::ZERO, 40);
        assert_eq!(later.left(&limits), Err(Limit::Fuel));
        budget.spend(Duration::from_secs(9), 0);
        assert_eq!(later.left(&limits), Err(Limit::Time));
    }

    #[test]
    fn a_tool_cannot_ask_without_end() {
        let budget = Budget::default();
        for n in 0..MAX_QUESTIONS {
            assert!(budget.keep_answer(&n.to_string(), Value::Null));
        }
        assert!(!budget.keep_answer("one more", Value::Null));
    }
}
