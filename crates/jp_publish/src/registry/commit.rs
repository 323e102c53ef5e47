//! Many files at once. They are written to a directory beside the registry's files first; one rename
//! makes that directory `.pending`, and from then on readers look there first. Then each file is put
//! in its own place, and the directory goes. A crash before the rename changes nothing; one after it
//! is finished when the registry is next opened.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use jp_disk::{Disk, Sha256Hasher};

use jp_registry::{Digest, Domain, IndexContent, PENDING, Place, RevocationList};

use super::{PublishError, Registry};
use crate::sign::sign_list;

/// No document of a registry is larger, and nothing larger is put in its place.
const MAX_DOCUMENT: u64 = 32 * 1024 * 1024;

const FRESH: &str = ".pending.new";
const DONE: &str = ".pending.done";

/// The files of one change, by their place.
#[derive(Default)]
pub(super) struct Change(BTreeMap<String, Vec<u8>>);

impl Change {
    pub(super) fn add(&mut self, place: &str, bytes: Vec<u8>) {
        self.0.insert(place.to_owned(), bytes);
    }
}

impl Registry<'_> {
    /// Adds the next index to a change.
    pub(super) fn sign_index(
        &self,
        change: &mut Change,
        mut index: IndexContent,
    ) -> Result<(), PublishError> {
        index.number = index.number.saturating_add(1);
        let dates = (index.issued_at, index.expires_at);
        (index.issued_at, index.expires_at) = next(dates, self.now);
        let signed = sign_list(Domain::Index, &index, self.key)?;
        change.add(&Place::Index.path()?, signed.document);
        change.add(&Place::Index.signatures()?, signed.signatures);
        Ok(())
    }

    /// Adds the next list of revocations to a change.
    pub(super) fn sign_revocations(
        &self,
        change: &mut Change,
        mut list: RevocationList,
    ) -> Result<(), PublishError> {
        list.number = list.number.saturating_add(1);
        let dates = (list.issued_at, list.expires_at);
        (list.issued_at, list.expires_at) = next(dates, self.now);
        let signed = sign_list(Domain::Revocations, &list, self.key)?;
        change.add(&Place::Revocations.path()?, signed.document);
        change.add(&Place::Revocations.signatures()?, signed.signatures);
        Ok(())
    }

    /// Makes all files of a change visible at once.
    pub(super) fn commit(&self, change: Change) -> Result<(), PublishError> {
        // What a change left that failed must not become part of this one.
        recover(&self.dir, &self.disk)?;
        let (fresh, pending) = (self.dir.join(FRESH), self.dir.join(PENDING));
        let failed = |source| PublishError::Io {
            action: format!("write the registry in {}", self.dir.display()),
            source,
        };
        for (place, bytes) in change.0 {
            let path = fresh.join(place);
            make_parent(&path, &self.disk).map_err(failed)?;
            let written = self.disk.write_new(&path, &bytes, jp_disk::SHARED);
            written.map_err(failed)?;
        }
        self.disk.rename(&fresh, &pending).map_err(failed)?;
        recover(&self.dir, &self.disk)
    }

    /// Copies a file into the registry while it is hashed. Nobody looks at it before the index does.
    pub(super) fn copy_in(
        &self,
        from: &Path,
        place: &str,
        (sha256, size): (Digest, u64),
    ) -> Result<(), PublishError> {
        let failed = |source| PublishError::Io {
            action: format!("copy {} into the registry", from.display()),
            source,
        };
        let source = open_sized(from, size)?;
        let path = self.dir.join(place);
        make_parent(&path, &self.disk).map_err(failed)?;
        let fresh = path.with_extension("new");
        self.disk.remove(&fresh).map_err(failed)?;
        self.disk.step().map_err(failed)?;
        let mut copied = Hashed::new(File::create_new(&fresh).map_err(failed)?);
        let found = copied.fill(source, size).map_err(failed)?;
        if found != (sha256, size) {
            self.disk.remove(&fresh).map_err(failed)?;
            return Err(other_bytes(from, &found.0, &sha256));
        }
        self.disk.step().map_err(failed)?;
        copied.to.sync_all().map_err(failed)?;
        self.disk.rename(&fresh, &path).map_err(failed)
    }
}

/// Returns when a list is issued now, and until when it holds: as long as the one before did.
fn next((issued, expires): (u64, Option<u64>), now: u64) -> (u64, Option<u64>) {
    let holds = |until: u64| now.saturating_add(until.saturating_sub(issued));
    (now, expires.map(holds))
}

/// Returns the sha256 of a file.
pub(super) fn hash(path: &Path) -> Result<Digest, PublishError> {
    let failed = |source| PublishError::Io {
        action: format!("read {}", path.display()),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    let (sha256, _) = Hashed::new(io::sink())
        .fill(file, u64::MAX)
        .map_err(failed)?;
    Ok(sha256)
}

/// Refuses a file that is not the one of a manifest.
pub(super) fn check_bytes(from: &Path, (sha256, size): (Digest, u64)) -> Result<(), PublishError> {
    let source = open_sized(from, size)?;
    let read = Hashed::new(io::sink()).fill(source, size);
    let found = read.map_err(|source| PublishError::Io {
        action: format!("read {}", from.display()),
        source,
    })?;
    match found == (sha256, size) {
        true => Ok(()),
        false => Err(other_bytes(from, &found.0, &sha256)),
    }
}

/// Opens a file of the size that its manifest says.
fn open_sized(from: &Path, size: u64) -> Result<File, PublishError> {
    let failed = |source| PublishError::Io {
        action: format!("read {}", from.display()),
        source,
    };
    let source = File::open(from).map_err(failed)?;
    let meta = source.metadata().map_err(failed)?;
    if meta.is_file() && meta.len() == size {
        return Ok(source);
    }
    Err(PublishError::Artifact {
        path: from.to_owned(),
        reason: format!("it has {} bytes, the manifest says {size}", meta.len()),
    })
}

fn other_bytes(from: &Path, found: &Digest, sha256: &Digest) -> PublishError {
    PublishError::Artifact {
        path: from.to_owned(),
        reason: format!("its sha256 is {found}, the manifest says {sha256}"),
    }
}

/// Finishes or forgets what an interrupted change left.
pub(super) fn recover(dir: &Path, disk: &Disk) -> Result<(), PublishError> {
    let failed = |source| PublishError::Io {
        action: format!("finish an interrupted change in {}", dir.display()),
        source,
    };
    let (pending, done) = (dir.join(PENDING), dir.join(DONE));
    remove_tree(&done, disk).map_err(failed)?;
    if pending.is_dir() {
        for place in files(&pending).map_err(failed)? {
            let to = dir.join(&place);
            let bytes = jp_disk::read(&pending.join(&place), MAX_DOCUMENT).map_err(failed)?;
            make_parent(&to, disk).map_err(failed)?;
            let bytes = bytes.unwrap_or_default();
            disk.replace(&to, &bytes, jp_disk::SHARED).map_err(failed)?;
        }
        disk.rename(&pending, &done).map_err(failed)?;
        remove_tree(&done, disk).map_err(failed)?;
    }
    remove_tree(&dir.join(FRESH), disk).map_err(failed)
}

/// Returns the files below a directory of ours, by their path from there.
fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut waiting) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(dir.join(&at))? {
            let entry = entry?;
            let place = at.join(entry.file_name());
            match entry.file_type()?.is_dir() {
                true => waiting.push(place),
                false => found.push(place),
            }
        }
    }
    found.sort();
    Ok(found)
}

fn remove_tree(dir: &Path, disk: &Disk) -> io::Result<()> {
    if fs::symlink_metadata(dir).is_err() {
        return Ok(());
    }
    disk.step()?;
    fs::remove_dir_all(dir)
}

/// Makes the directory of a file. Others may read a registry, so it is not private.
fn make_parent(path: &Path, disk: &Disk) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.is_dir() => {
            disk.step()?;
            fs::create_dir_all(parent)
        }
        _ => Ok(()),
    }
}

/// Hashes what is written through it.
struct Hashed<W> {
    to: W,
    hash: Sha256Hasher,
}

impl<W: io::Write> Hashed<W> {
    fn new(to: W) -> Self {
        let hash = Sha256Hasher::default();
        Self { to, hash }
    }

    /// Copies a file, but for what is longer than it may be; returns its sha256 and how long it is.
    fn fill(&mut self, from: File, size: u64) -> io::Result<(Digest, u64)> {
        let mut limited = io::Read::take(from, size.saturating_add(1));
        let count = io::copy(&mut limited, self)?;
        let hash = std::mem::take(&mut self.hash);
        Ok((hash.finish(), count))
    }
}

impl<W: io::Write> io::Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.hash.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn the_next_list_holds_as_long_as_the_one_before() {
        assert_eq!(next((1000, Some(1007)), 1008), (1008, Some(1015)));
        assert_eq!(next((1000, None), 1008), (1008, None));
        // A date out of range must not panic.
        let odd = next((u64::MAX, Some(0)), u64::MAX);
        assert_eq!(odd, (u64::MAX, Some(u64::MAX)));
    }
}
