//! Time that this thread, and children that have ended, have spent on a processor: what a busy machine does not stretch.

use std::time::Duration;

#[repr(C)]
#[derive(Default)]
struct Time {
    secs: i64,
    /// Nanoseconds of `clock_gettime`, microseconds of `getrusage`.
    part: i64,
}

/// The two times that matter, and what the C library writes behind them.
#[repr(C)]
#[derive(Default)]
struct Usage {
    user: Time,
    system: Time,
    rest: [i64; 14],
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    fn getrusage(who: i32, usage: *mut Usage) -> i32;
}

const THREAD: i32 = 3;
const CHILDREN: i32 = -1;

/// Returns what this thread has used.
pub(crate) fn own() -> Duration {
    let mut time = Time::default();
    // SAFETY: the structure is Linux's on 64-bit machines, and lives through the call.
    unsafe { clock_gettime(THREAD, &mut time) };
    Duration::from_nanos((time.secs * 1_000_000_000 + time.part) as u64)
}

/// Returns what children that were waited for have used.
pub(crate) fn children() -> Duration {
    let mut usage = Usage::default();
    // SAFETY: as above.
    unsafe { getrusage(CHILDREN, &mut usage) };
    let micros = (usage.user.secs + usage.system.secs) * 1_000_000 + usage.user.part + usage.system.part;
    Duration::from_micros(micros as u64)
}
