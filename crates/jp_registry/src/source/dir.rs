//! A registry in a directory of this machine, or of one that is mounted.

use std::{
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use super::{ArtifactRef, Delivery, Files, beneath::Beneath};
use crate::transport::FetchError;

/// The files of a directory.
pub(super) struct Dir {
    below: Beneath,
    name: String,
}

impl Dir {
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            below: Beneath::new(dir),
            name: dir.display().to_string(),
        }
    }
}

impl Files for Dir {
    fn name(&self) -> &str {
        &self.name
    }

    fn shown(&self, path: &str) -> String {
        self.below.dir().join(path).display().to_string()
    }

    fn read(&self, path: &str, max: u64) -> Result<Option<Vec<u8>>, FetchError> {
        let failed = |error| FetchError::io(format!("read {}", self.shown(path)), error);
        let Some(opened) = self.below.open(path).map_err(failed)? else {
            // A directory that is not mounted is a registry that cannot be reached, not an empty one.
            if !self.below.dir().is_dir() {
                return Err(FetchError::Unreachable {
                    from: self.name.clone(),
                    reason: "there is no such directory".to_owned(),
                });
            }
            return Ok(None);
        };
        let too_large = || FetchError::TooLarge {
            what: self.shown(path),
            max,
        };
        if opened.size > max {
            return Err(too_large());
        }
        // The file may grow while it is read.
        let (mut bytes, mut file) = (Vec::new(), opened.file.take(max.saturating_add(1)));
        file.read_to_end(&mut bytes).map_err(failed)?;
        match bytes.len() as u64 > max {
            true => Err(too_large()),
            false => Ok(Some(bytes)),
        }
    }

    fn send(
        &self,
        artifact: &ArtifactRef<'_>,
        path: &str,
        from: u64,
        max: u64,
        sink: &mut dyn Write,
    ) -> Result<Delivery, FetchError> {
        // A URL in a manifest is for readers elsewhere; a directory has the artifact itself.
        let _ = artifact;
        let failed = |error| FetchError::io(format!("read {}", self.shown(path)), error);
        let opened = self.below.open(path).map_err(failed)?;
        let mut opened = opened.ok_or_else(|| FetchError::NotFound {
            what: self.shown(path),
        })?;
        if opened.size > max {
            return Err(FetchError::TooLarge {
                what: self.shown(path),
                max,
            });
        }
        opened.file.seek(SeekFrom::Start(from)).map_err(failed)?;
        let left = max.saturating_sub(from);
        let sent = io::copy(&mut opened.file.take(left), sink);
        sent.map(|_| Delivery::Sent).map_err(failed)
    }
}
