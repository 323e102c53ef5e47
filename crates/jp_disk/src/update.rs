//! Read, change, write, while nobody else does.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::disk::{Disk, SHARED, parent, read};

/// A file that nobody else changes as long as this lives.
///
/// For files that people keep beside their sources: the lock is on the directory, so none of ours is
/// left there. A link stays a link: what it leads to is held and replaced.
#[derive(Debug)]
pub struct Held {
    target: PathBuf,
    disk: Disk,
    _lock: File,
}

impl Held {
    /// Waits until nobody else changes a file. Whatever was read of it before is out of date.
    ///
    /// # Errors
    ///
    /// When its directory is not there or cannot be locked.
    pub fn take(path: &Path) -> io::Result<Self> {
        let disk = Disk::real();
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let lock = lock_dir(&disk, parent(&target))?;
        Ok(Self {
            target,
            disk,
            _lock: lock,
        })
    }

    /// Puts bytes in the place of the file in one step; it keeps its permissions.
    ///
    /// # Errors
    ///
    /// When it cannot be written; it is as it was then.
    pub fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        self.disk.replace_alike(&self.target, bytes, SHARED)
    }
}

/// Replaces a file by what `change` makes of the bytes it has now, with nobody else changing it
/// meanwhile; `None` from `change` leaves it as it is. A file of more than `most` bytes is not read.
///
/// # Errors
///
/// What `change` says, or what kept the file from being read or written; it is as it was then.
pub fn update<E: From<io::Error>>(
    path: &Path,
    most: u64,
    change: impl FnOnce(Option<Vec<u8>>) -> Result<Option<Vec<u8>>, E>,
) -> Result<(), E> {
    let held = Held::take(path)?;
    match change(read(&held.target, most)?)? {
        Some(new) => Ok(held.replace(&new)?),
        None => Ok(()),
    }
}

/// Waits until nobody else holds a directory; dropping the file ends that.
fn lock_dir(disk: &Disk, dir: &Path) -> io::Result<File> {
    let held = File::open(dir)?;
    match held.lock() {
        Ok(()) => Ok(held),
        // A network file system may lock only what is open for writing.
        Err(_) => disk.lock(&dir.join(".jp-lock")),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _, thread};

    use super::*;

    fn add(path: &Path, word: &str) {
        update(path, 1 << 20, |old| {
            let mut text = old.unwrap_or_default();
            text.extend_from_slice(word.as_bytes());
            Ok::<_, io::Error>(Some(text))
        })
        .unwrap();
    }

    #[test]
    fn of_many_updates_at_once_none_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        thread::scope(|scope| {
            for n in 0..16 {
                let path = &path;
                scope.spawn(move || {
                    for round in 0..10 {
                        add(path, &format!("{n}-{round}\n"));
                    }
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 160);
        assert_eq!(
            fs::read_dir(dir.path()).unwrap().count(),
            1,
            "no lock is left"
        );
    }

    #[test]
    fn permissions_and_links_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "a").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o666)).unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        add(&link, "b");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"ab");
        let mode = fs::metadata(&real).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o666);
    }

    #[test]
    fn what_fails_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let refuse = |_| Err::<Option<Vec<u8>>, _>(io::Error::other("no"));
        assert!(update(&path, 10, refuse).is_err());
        assert!(!path.exists());
        fs::write(&path, "eleven bytes").unwrap();
        assert!(update(&path, 10, Ok::<_, io::Error>).is_err());
        update(&path, 20, |_| Ok::<_, io::Error>(None)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"eleven bytes");
    }
}
