//! A file below a directory, for a host that shows it: no path and no link leads out, and nothing that
//! stands there can block it.

use std::{
    io::{self, Read as _},
    path::Path,
};

use crate::topic_dir::{Stamp, TopicDir};

/// A file below a directory, with all links followed.
#[derive(Debug)]
pub struct FileBeneath {
    dir: TopicDir,
    leads_to: String,
}

impl FileBeneath {
    /// Finds the file at `path` in the directory `dir` of `root`, refusing a directory that leads out of
    /// `root` and a file that leads out of the directory.
    ///
    /// # Errors
    /// When there is nothing.
    pub fn find(root: &Path, dir: &Path, path: &str) -> io::Result<Self> {
        let dir = TopicDir::open_beneath(root, dir)?;
        let leads_to = dir.resolve(path)?.into_os_string().into_string();
        let leads_to = leads_to.map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))?;
        Ok(Self { dir, leads_to })
    }

    /// Returns where the path leads, relative to the directory.
    #[must_use]
    pub fn leads_to(&self) -> &str {
        &self.leads_to
    }

    /// Reads the whole file; nothing if it has more than `most` bytes.
    ///
    /// # Errors
    /// When the system cannot read it, or it is not a regular file.
    pub fn read(&self, most: u64) -> io::Result<Option<Vec<u8>>> {
        let (file, size) = self.dir.open_file(&self.leads_to)?;
        if size > most {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        // The file may have grown since, or may lie about its size.
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= most).then_some(bytes))
    }

    /// Returns what changes when the file at a path does, without opening it; nothing where none is.
    #[must_use]
    pub fn stamp(root: &Path, dir: &Path, path: &str) -> Option<Stamp> {
        TopicDir::open_beneath(root, dir).ok()?.stamp(path).ok()
    }
}
