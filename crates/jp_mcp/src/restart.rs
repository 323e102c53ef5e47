//! When a program that died may be started again: later each time, and only a few times a minute.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::Limits;

const MINUTE: Duration = Duration::from_secs(60);

/// The longest a program is left alone after it died.
const MAX_BACK_OFF: Duration = Duration::from_secs(10);

/// The starts of one program, and how they went.
#[derive(Debug, Default)]
pub(crate) struct Restarts {
    starts: VecDeque<Instant>,
    /// Starts without a call that worked in between.
    in_vain: u32,
}

/// What to do about a start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Start after this time.
    After(Duration),
    /// Do not start: there were this many within a minute.
    Never(usize),
}

impl Restarts {
    /// Says when the next start may be.
    pub(crate) fn next(&mut self, now: Instant, limits: &Limits) -> Next {
        while self
            .starts
            .front()
            .is_some_and(|start| now.duration_since(*start) > MINUTE)
        {
            self.starts.pop_front();
        }
        if self.starts.len() >= limits.starts {
            return Next::Never(self.starts.len());
        }
        let Some(last) = self.starts.back() else {
            return Next::After(Duration::ZERO);
        };
        let doubled = 2_u32.saturating_pow(self.in_vain.saturating_sub(1).min(16));
        let pause = match self.in_vain {
            0 => Duration::ZERO,
            _ => limits.back_off.saturating_mul(doubled).min(MAX_BACK_OFF),
        };
        Next::After(pause.saturating_sub(now.duration_since(*last)))
    }

    /// Notes a start.
    pub(crate) fn started(&mut self, now: Instant) {
        self.starts.push_back(now);
        self.in_vain = self.in_vain.saturating_add(1);
    }

    /// Notes that the server answered: the next start need not wait.
    pub(crate) const fn worked(&mut self) {
        self.in_vain = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_until_a_call_works() {
        let limits = Limits {
            back_off: Duration::from_millis(100),
            starts: 10,
            ..Limits::default()
        };
        let mut restarts = Restarts::default();
        let now = Instant::now();
        let mut pauses = Vec::new();
        for _ in 0..4 {
            let Next::After(pause) = restarts.next(now, &limits) else {
                panic!()
            };
            pauses.push(pause.as_millis());
            restarts.started(now);
        }
        assert_eq!(pauses, [0, 100, 200, 400]);
        restarts.worked();
        assert_eq!(restarts.next(now, &limits), Next::After(Duration::ZERO));
    }

    #[test]
    fn a_minute_has_room_for_so_many_starts_and_no_more() {
        let limits = Limits {
            starts: 2,
            ..Limits::default()
        };
        let mut restarts = Restarts::default();
        let now = Instant::now();
        restarts.started(now);
        restarts.started(now);
        assert_eq!(restarts.next(now + MINUTE, &limits), Next::Never(2));
        assert_eq!(
            restarts.next(now + MINUTE * 2, &limits),
            Next::After(Duration::ZERO)
        );
    }
}
