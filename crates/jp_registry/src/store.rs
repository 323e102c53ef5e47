//! The shared store: artifacts and models by sha256, visible only when verified.
//!
//! `objects/<first two digits>/<sha256>` holds what is complete and right; `partial/<sha256>` what is
//! on its way. A partial file is locked while someone works on it, so that two processes download
//! once; it becomes an object by one rename, after its sha256 was found right and its bytes reached
//! the disk. What a crash leaves is a partial file, and the next fetch goes on from there.
//!
//! Does not know which manifest asks, and trusts nothing it finds: an object is hashed at each use.

mod landing;
mod object;
mod verified;

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::{
    disk::Disk,
    id::Digest,
    source::{ArtifactRef, Delivery, MAX_ARTIFACT, Owner, Source},
    transport::FetchError,
};

use landing::Landing;
pub use object::Object;

/// How often a partial file may be gone by the time its lock is ours.
const MAX_TRIES: usize = 100;

/// Called with how many bytes are there, and of how many if that is known.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(u64, Option<u64>);

/// The store of one user.
#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
    disk: Disk,
}

impl Store {
    /// Opens the store in a directory, which is made (0700) if it is not there.
    ///
    /// # Errors
    /// [`FetchError::Io`] if it cannot be made, or if others may write to it.
    pub fn open(dir: &Path) -> Result<Self, FetchError> {
        let store = Self {
            dir: dir.to_owned(),
            disk: Disk::real(),
        };
        for place in [dir.to_owned(), store.objects(), store.partials()] {
            make_private(&place)?;
        }
        Ok(store)
    }

    /// Uses another disk, for tests of crashes.
    #[must_use]
    pub fn with_disk(mut self, disk: Disk) -> Self {
        self.disk = disk;
        self
    }

    /// Tells whether there is an object of this sha256, without a look at its bytes.
    #[must_use]
    pub fn contains(&self, sha256: &Digest) -> bool {
        fs::symlink_metadata(self.object_path(sha256)).is_ok_and(|meta| meta.is_file())
    }

    /// Returns an object whose bytes are right, and removes one whose bytes are not.
    ///
    /// # Errors
    /// [`FetchError::Io`] if it cannot be read, or cannot be removed.
    pub fn find(&self, sha256: &Digest) -> Result<Option<Object>, FetchError> {
        let path = self.object_path(sha256);
        match Object::check(&path, sha256)? {
            object::Found::Right(object) => Ok(Some(object)),
            object::Found::Nothing => Ok(None),
            object::Found::Damaged => {
                remove(&path)?;
                Ok(None)
            }
        }
    }

    /// Returns an object, from the store or else from a source.
    ///
    /// # Errors
    /// See [`FetchError`]; what arrived so far is kept only if it ended early.
    pub fn fetch(
        &self,
        wanted: &ArtifactRef<'_>,
        source: &dyn Source,
        progress: Progress<'_>,
    ) -> Result<Object, FetchError> {
        if let Some(size) = wanted.size.filter(|size| *size > MAX_ARTIFACT) {
            return Err(FetchError::TooLarge {
                what: format!("{} ({size} bytes)", what(wanted)),
                max: MAX_ARTIFACT,
            });
        }
        let found = self.find(&wanted.sha256)?;
        let found = match found {
            Some(object) => Some(object),
            None => self.download(wanted, source, progress)?,
        };
        let object = match found {
            Some(object) => object,
            // Another process was at it, and has it.
            None => self
                .find(&wanted.sha256)?
                .ok_or_else(|| FetchError::NotFound { what: what(wanted) })?,
        };
        // The sha256 decides; a manifest that states another size is wrong all the same.
        match wanted.size.filter(|size| *size != object.size()) {
            None => Ok(object),
            Some(expected) => Err(FetchError::WrongSize {
                what: what(wanted),
                expected,
                found: object.size(),
            }),
        }
    }

    /// Downloads under the lock of the sha256. Returns nothing if the object came up meanwhile.
    fn download(
        &self,
        wanted: &ArtifactRef<'_>,
        source: &dyn Source,
        progress: Progress<'_>,
    ) -> Result<Option<Object>, FetchError> {
        let partial = self.partials().join(wanted.sha256.to_string());
        let stopped = |error| FetchError::io(format!("write {}", partial.display()), error);
        self.disk.step().map_err(stopped)?;
        let mut tries = 0;
        let mut landing = loop {
            let landing = Landing::open(&partial, wanted, progress)?;
            if self.contains(&wanted.sha256) {
                landing.leave()?;
                return Ok(None);
            }
            if landing.is_current()? {
                break landing;
            }
            tries += 1;
            if tries == MAX_TRIES {
                let text = "somebody removes it again and again";
                return Err(stopped(io::Error::other(text)));
            }
        };
        let resumed = landing.resume()?;
        let first = fill(&mut landing, wanted, source);
        let settled = first.and_then(|()| landing.settle());
        let settled = match settled {
            // The beginning is of another time, perhaps of a crash: it may be what is wrong.
            Err(FetchError::WrongDigest { .. }) if resumed => {
                landing.restart()?;
                fill(&mut landing, wanted, source).and_then(|()| landing.settle())
            }
            settled => settled,
        };
        if let Err(error) = settled {
            landing.give_up(&error)?;
            return Err(error);
        }
        let path = self.object_path(&wanted.sha256);
        if let Some(parent) = path.parent() {
            make_private(parent)?;
        }
        landing.publish(&path, &self.disk).map(Some)
    }

    fn objects(&self) -> PathBuf {
        self.dir.join("objects")
    }

    fn partials(&self) -> PathBuf {
        self.dir.join("partial")
    }

    fn object_path(&self, sha256: &Digest) -> PathBuf {
        let text = sha256.to_string();
        let (start, _) = text.split_at(2);
        self.objects().join(start).join(&text)
    }
}

/// Asks the source for what is missing.
fn fill(
    landing: &mut Landing<'_>,
    wanted: &ArtifactRef<'_>,
    source: &dyn Source,
) -> Result<(), FetchError> {
    if landing.is_full() {
        return Ok(());
    }
    let from = landing.len();
    let mut delivered = source.artifact(wanted, from, landing);
    if from > 0 && matches!(delivered, Ok(Delivery::FromStartOnly)) {
        landing.restart()?;
        delivered = source.artifact(wanted, 0, landing);
    }
    // What the sink refused says more than what the source made of it.
    landing.refusal()?;
    match delivered? {
        Delivery::Sent => Ok(()),
        Delivery::FromStartOnly => Err(FetchError::invalid(
            what(wanted),
            format!("{} sends it neither whole nor in part", source.name()),
        )),
    }
}

/// Names what is fetched, for errors.
pub(crate) fn what(wanted: &ArtifactRef<'_>) -> String {
    match wanted.owner {
        Owner::Tool(id, version) => format!("the artifact of {id}@{version}"),
        Owner::Model(id) => format!("the model {id}"),
    }
}

pub(crate) fn remove(path: &Path) -> Result<(), FetchError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FetchError::io(format!("remove {}", path.display()), error))
        }
        _ => Ok(()),
    }
}

/// Makes a directory that is the user's alone.
fn make_private(dir: &Path) -> Result<(), FetchError> {
    let failed = |error| FetchError::io(format!("use {} as a store", dir.display()), error);
    jp_disk::create_dir(dir).map_err(failed)?;
    let meta = fs::symlink_metadata(dir).map_err(failed)?;
    let open_to_others = meta.permissions().mode() & 0o022 != 0;
    if !meta.is_dir() || open_to_others || meta.uid() != rustix::process::geteuid().as_raw() {
        let reason = "it must be a directory of yours that nobody else may write to (chmod 700)";
        return Err(failed(io::Error::new(
            io::ErrorKind::PermissionDenied,
            reason,
        )));
    }
    Ok(())
}
