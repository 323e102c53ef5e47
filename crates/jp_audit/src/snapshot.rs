//! Looks at a log between two appends, so that a verifier is not confused by others at work. Does
//! not read records.

use std::path::Path;

use crate::{
    AuditError, files,
    head::{Head, Stored},
    key::Keys,
};

/// How often the log may rotate while its lock is waited for.
const MAX_TURNS: u32 = 1000;

/// The log at one moment, between two appends.
pub(crate) struct Snapshot {
    pub(crate) head: Stored,
    /// All log files, in order.
    pub(crate) numbers: Vec<u64>,
    /// The file being written and its length then.
    pub(crate) current: Option<(u64, u64)>,
}

impl Snapshot {
    /// Looks at the log under its lock, and lets go of it again before anything is read.
    pub(crate) fn take(dir: &Path, keys: Option<&Keys>) -> Result<Self, AuditError> {
        let read_head = || keys.map_or(Ok(Stored::Missing), |keys| Head::read(dir, keys));
        for _ in 0..MAX_TURNS {
            let number = match read_head()?.valid() {
                Some(head) => Some(head.file),
                None => files::list(dir)?.last().copied(),
            };
            let path = number.map(|number| (number, files::log_path(dir, number)));
            let file = match &path {
                Some((number, path)) => {
                    files::open_existing(path)?.map(|file| (*number, path, file))
                }
                None => None,
            };
            let mut current = None;
            if let Some((number, path, file)) = &file {
                let io_error = |error| AuditError::io("look at", path, error);
                file.lock_shared().map_err(io_error)?;
                current = Some((*number, file.metadata().map_err(io_error)?.len()));
            }
            let head = read_head()?;
            // The log may have rotated before the lock was ours.
            if head.valid().is_none_or(|head| Some(head.file) == number) {
                return Ok(Self {
                    head,
                    numbers: files::list(dir)?,
                    current,
                });
            }
        }
        Err(AuditError::Unsettled {
            dir: dir.to_owned(),
        })
    }
}
