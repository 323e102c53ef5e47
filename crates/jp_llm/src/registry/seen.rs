//! Where a file lies that was hashed and found right, for as long as nothing about it changes. Hashing
//! a model takes seconds, so it is not done at every call.

use std::{
    path::PathBuf,
    sync::{PoisonError, RwLock},
};

use crate::tool::Stamp;

/// A file that was found right.
#[derive(Debug, Default)]
pub(crate) struct Seen(RwLock<Option<(PathBuf, Stamp)>>);

impl Seen {
    /// Returns the file, unless it was touched since.
    pub(crate) fn get(&self) -> Option<PathBuf> {
        let seen = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (path, stamp) = seen.as_ref()?;
        (Stamp::of(path).as_ref() == Some(stamp)).then(|| path.clone())
    }

    /// Keeps in mind that a file was found right.
    pub(crate) fn set(&self, path: PathBuf) {
        let stamp = Stamp::of(&path);
        let mut seen = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *seen = stamp.map(|stamp| (path, stamp));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_was_touched_is_not_the_one_that_was_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model");
        let seen = Seen::default();
        assert_eq!(seen.get(), None);
        for change in ["written", "replaced", "linked", "gone"] {
            fs::write(&path, "right").unwrap();
            seen.set(path.clone());
            assert_eq!(seen.get().as_deref(), Some(&*path), "{change}");
            let other = dir.path().join("other");
            fs::write(&other, "wrong").unwrap();
            match change {
                "written" => fs::write(&path, "longer than before").unwrap(),
                "replaced" => fs::rename(&other, &path).unwrap(),
                "linked" => {
                    fs::remove_file(&path).unwrap();
                    std::os::unix::fs::symlink(&other, &path).unwrap();
                }
                _ => fs::remove_file(&path).unwrap(),
            }
            assert_eq!(seen.get(), None, "{change}");
            drop(fs::remove_file(&path));
        }
    }
}
