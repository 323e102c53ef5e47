//! Until when a list counts as fresh.
//!
//! A number keeps an older list out, and says nothing of a newer one that is held back. So a list is
//! dated, and may say until when it holds: users who keep getting an old one are warned. Nothing is
//! refused for it, since an installed tool must outlive its registry.

/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

/// A list that does not say until when it holds is taken for fresh as long.
const MAX_AGE: u64 = 365 * DAY;

/// When a list was made, and until when it holds. In seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dated {
    /// When it was made.
    pub issued_at: u64,
    /// Until when it holds, if it says so.
    pub expires_at: Option<u64>,
}

impl Dated {
    /// Returns how many days ago the list was made, if it should have been renewed since.
    #[must_use]
    pub(crate) fn overdue(&self, now: u64) -> Option<u64> {
        let until = self
            .expires_at
            .unwrap_or(self.issued_at.saturating_add(MAX_AGE));
        (now > until).then(|| now.saturating_sub(self.issued_at) / DAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_overdue_when_it_says_so_or_after_a_year() {
        let quiet = Dated {
            issued_at: 1000 * DAY,
            expires_at: None,
        };
        assert_eq!(quiet.overdue(1365 * DAY), None);
        assert_eq!(quiet.overdue(1366 * DAY), Some(366));
        let busy = Dated {
            expires_at: Some(1007 * DAY),
            ..quiet
        };
        assert_eq!(busy.overdue(1007 * DAY), None);
        assert_eq!(busy.overdue(1008 * DAY), Some(8));
        // A date out of range must not panic.
        let odd = Dated {
            issued_at: u64::MAX,
            expires_at: Some(0),
        };
        assert_eq!(odd.overdue(DAY), Some(0));
    }
}
