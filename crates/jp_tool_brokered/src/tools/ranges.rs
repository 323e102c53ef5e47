//! Which whole numbers the host takes. It refuses others in the same words; a model that sees the range in the
//! schema does not have to try.

use crate::Kind;

/// The last second of the year 9999.
const LAST_TIME: i64 = 253_402_300_799;
/// Ten years, in minutes.
const MOST_MINUTES: i64 = 10 * 365 * 24 * 60;

/// How many rows a list shows.
pub(super) const ROWS: Kind = Kind::Between(1, 1000);
/// The same, where 0 stands for all.
pub(super) const ROWS_OR_ALL: Kind = Kind::Between(0, 1000);
/// Story points.
pub(super) const POINTS: Kind = Kind::Between(1, 1000);
/// An estimate or an interval.
pub(super) const MINUTES: Kind = Kind::Between(1, MOST_MINUTES);
/// An interval, where 0 stands for none.
pub(super) const MINUTES_OR_ONCE: Kind = Kind::Between(0, MOST_MINUTES);
/// A delay.
pub(super) const SECONDS: Kind = Kind::Between(0, LAST_TIME);
/// A point in time in seconds.
pub(super) const TIME: Kind = Kind::Between(0, LAST_TIME);
/// A point in time in seconds or milliseconds.
pub(super) const TIME_OR_MILLISECONDS: Kind = Kind::Between(0, LAST_TIME * 1000 + 999);
