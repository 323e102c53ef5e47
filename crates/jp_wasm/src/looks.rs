//! What files and directories of the host look like, seen just now or a moment ago.
//!
//! Every call asks whether its tool's file and its directories are still the same, which costs a
//! system call each. Where calls come often a thread asks ahead of them: a call is then told what
//! was seen at most [`Looks::fresh`] ago. Does not know what is done with the answer.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rustix::fs::Stat;

/// How long the thread goes on looking at what no call asks for any more.
const LINGER: Duration = Duration::from_millis(250);

/// Paths looked at ahead of calls; for more, each call looks itself.
const MOST: usize = 64;

/// What makes a file the same file.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) modified: (i64, i64),
    pub(crate) changed: (i64, i64),
}

impl Identity {
    fn of(found: &Stat) -> Self {
        let nanos = |count| i64::try_from(count).unwrap_or_default();
        Self {
            device: found.st_dev,
            inode: found.st_ino,
            size: found.st_size.cast_unsigned(),
            modified: (found.st_mtime, nanos(found.st_mtime_nsec)),
            changed: (found.st_ctime, nanos(found.st_ctime_nsec)),
        }
    }
}

/// What was seen, and when.
pub(crate) struct Looks {
    fresh: Duration,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// Few, and asked for in every call: comparing them is quicker than hashing a path.
    looks: Vec<Look>,
    /// How often everything was forgotten: what was seen before such a moment is not kept after it.
    forgotten: u64,
}

struct Look {
    path: OsString,
    identity: Identity,
    at: Instant,
    wanted: Instant,
}

impl Seen {
    fn get(&mut self, path: &OsStr) -> Option<&mut Look> {
        self.looks.iter_mut().find(|look| look.path == path)
    }
}

impl Looks {
    /// Tells calls what was seen so long ago; nothing is kept when that is no time at all.
    pub(crate) fn new(fresh: Duration) -> Self {
        Self {
            fresh,
            seen: Mutex::default(),
        }
    }

    const fn are_kept(&self) -> bool {
        !self.fresh.is_zero()
    }

    /// Says what a path leads to.
    pub(crate) fn identity(&self, path: &Path) -> rustix::io::Result<Identity> {
        if !self.are_kept() {
            return look(path);
        }
        let now = Instant::now();
        let forgotten = {
            let mut seen = self.lock();
            if let Some(look) = seen.get(path.as_os_str())
                && now.saturating_duration_since(look.at) < self.fresh
            {
                look.wanted = now;
                return Ok(look.identity);
            }
            seen.forgotten
        };
        let identity = look(path)?;
        let mut seen = self.lock();
        if seen.forgotten == forgotten {
            seen.looks.retain(|look| look.path != path.as_os_str());
            if seen.looks.len() >= MOST {
                seen.looks.clear();
            }
            seen.looks.push(Look {
                path: path.as_os_str().to_owned(),
                identity,
                at: now,
                wanted: now,
            });
        }
        Ok(identity)
    }

    /// Whether there is anything to look at again.
    pub(crate) fn are_wanted(&self) -> bool {
        self.are_kept() && !self.lock().looks.is_empty()
    }

    /// Looks again at what calls asked for lately, and forgets the rest.
    pub(crate) fn again(&self) {
        let now = Instant::now();
        let (paths, forgotten) = {
            let mut seen = self.lock();
            seen.looks
                .retain(|look| now.saturating_duration_since(look.wanted) < LINGER);
            let paths = seen.looks.iter().map(|look| look.path.clone());
            let paths: Vec<OsString> = paths.collect();
            (paths, seen.forgotten)
        };
        for path in paths {
            let now = Instant::now();
            let found = look(Path::new(&path));
            self.note(&path, found.ok(), now, forgotten);
        }
    }

    fn note(&self, path: &OsStr, found: Option<Identity>, at: Instant, forgotten: u64) {
        let mut seen = self.lock();
        if seen.forgotten != forgotten {
            return;
        }
        match (seen.get(path), found) {
            (Some(look), Some(identity)) => (look.identity, look.at) = (identity, at),
            // The next call looks itself and says what is wrong.
            _ => seen.looks.retain(|look| look.path != path),
        }
    }

    /// Forgets everything: somebody may just have changed files, and who comes next must see that.
    pub(crate) fn forget(&self) {
        if self.are_kept() {
            let mut seen = self.lock();
            seen.looks.clear();
            seen.forgotten = seen.forgotten.wrapping_add(1);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Not `std::fs::metadata`, which asks for more and takes longer.
fn look(path: &Path) -> rustix::io::Result<Identity> {
    rustix::fs::stat(path).map(|found| Identity::of(&found))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// So long that no test is over before.
    const LONG: Duration = Duration::from_hours(1);

    fn size(looks: &Looks, path: &Path) -> u64 {
        looks.identity(path).unwrap().size
    }

    #[test]
    fn what_is_kept_is_told_until_it_is_looked_at_again_or_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "1").unwrap();
        let (each, kept) = (Looks::new(Duration::ZERO), Looks::new(LONG));
        assert_eq!((size(&each, &path), size(&kept, &path)), (1, 1));
        fs::write(&path, "22").unwrap();
        assert_eq!((size(&each, &path), size(&kept, &path)), (2, 1));
        kept.again();
        assert_eq!(size(&kept, &path), 2);
        fs::write(&path, "333").unwrap();
        kept.forget();
        assert_eq!(size(&kept, &path), 3);
    }

    #[test]
    fn what_is_gone_is_gone_when_it_is_looked_at_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "1").unwrap();
        let kept = Looks::new(LONG);
        assert_eq!(size(&kept, &path), 1);
        fs::remove_file(&path).unwrap();
        kept.again();
        assert_eq!(kept.identity(&path).err(), Some(rustix::io::Errno::NOENT));
    }

    #[test]
    fn what_was_seen_before_everything_was_forgotten_does_not_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "1").unwrap();
        let kept = Looks::new(LONG);
        assert_eq!(size(&kept, &path), 1);
        // As if the thread had looked, and a tool had changed the file before it could say so.
        let (before, forgotten) = (look(&path).unwrap(), kept.lock().forgotten);
        fs::write(&path, "22").unwrap();
        kept.forget();
        assert_eq!(size(&kept, &path), 2);
        kept.note(path.as_os_str(), Some(before), Instant::now(), forgotten);
        assert_eq!(size(&kept, &path), 2);
    }

    #[test]
    fn no_more_paths_are_kept_than_can_be_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let kept = Looks::new(LONG);
        for number in 0..1000 {
            let path = dir.path().join(number.to_string());
            fs::write(&path, "").unwrap();
            kept.identity(&path).unwrap();
            assert!(kept.lock().looks.len() <= MOST);
        }
    }
}
