//! What the embedder hands to a run: clocks, chance, a way to wait, a network transport.
//!
//! The shell asks for nothing else from the host, so a test can hand over fakes.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jp_bash_system::{HttpError, HttpRequest, HttpResponse, Monotonic, Timestamp};

/// Answers the requests of `curl`.
pub trait Transport: Send + Sync {
    /// Makes one request; redirects are not followed.
    ///
    /// # Errors
    /// See [`HttpError`].
    fn request(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError>;
}

/// Fills a buffer with random bytes.
pub type Random = Arc<dyn Fn(&mut [u8]) + Send + Sync>;

/// Returns the time of day as seconds and nanoseconds since 1970.
pub type WallClock = Arc<dyn Fn() -> (i64, u32) + Send + Sync>;

/// Parks the thread until that much time has passed or something may have changed; waking early is fine.
pub type Park = Arc<dyn Fn(Duration) + Send + Sync>;

/// The host as one run sees it.
#[derive(Clone)]
pub struct Host {
    /// The time that never goes back.
    pub monotonic: Monotonic,
    /// The time of day.
    pub wall: WallClock,
    /// The source of random bytes.
    pub random: Random,
    /// How to wait.
    pub park: Park,
    /// The network, where it was granted.
    pub transport: Option<Arc<dyn Transport>>,
}

impl Host {
    /// Returns the time of day.
    pub(crate) fn now(&self) -> Timestamp {
        let (secs, nanos) = (self.wall)();
        Timestamp { secs, nanos }
    }
}

/// How long one nap is while a run waits, so that a cancel is seen soon.
const NAP: Duration = Duration::from_millis(5);

impl Default for Host {
    /// The machine's own clocks, and randomness from the standard library's hash keys.
    fn default() -> Self {
        let start = Instant::now();
        Self {
            monotonic: Arc::new(move || start.elapsed()),
            wall: Arc::new(|| {
                SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .map_or((0, 0), |time| {
                        (
                            i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
                            time.subsec_nanos(),
                        )
                    })
            }),
            random: Arc::new(fill_random),
            park: Arc::new(|time| std::thread::park_timeout(Duration::min(time, NAP))),
            transport: None,
        }
    }
}

/// SipHash with the process's random keys, over a counter: unpredictable to a script.
fn fill_random(buf: &mut [u8]) {
    use std::hash::{BuildHasher, Hasher};
    let keys = std::hash::RandomState::new();
    for (at, chunk) in buf.chunks_mut(8).enumerate() {
        let mut hasher = keys.build_hasher();
        hasher.write_usize(at);
        let bytes = hasher.finish().to_le_bytes();
        chunk.copy_from_slice(bytes.get(..chunk.len()).unwrap_or_default());
    }
}
