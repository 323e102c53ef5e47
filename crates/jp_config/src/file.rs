//! Reading configuration files that a stranger may have put there.
//!
//! A FIFO would block for ever, a device has no end, and a link can lead anywhere: the kind, the
//! size and the place of a file are looked at before its bytes.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{
    document::{Document, Format},
    error::{ConfigError, MAX_FILE, MAX_FILES, MAX_TOTAL, Problem},
};

/// Reads files and counts what it has read.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    bytes: u64,
    files: usize,
}

impl Reader {
    /// Reads one file; `None` if there is none.
    ///
    /// With `within`, the file must really lie in that directory tree.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        within: Option<&Path>,
    ) -> Result<Option<Document>, ConfigError> {
        let fail = |problem| ConfigError::of_file(path, problem);
        let meta = match fs::metadata(path) {
            Ok(meta) => meta,
            // A parent that is a file has no such file below it either.
            Err(error) if absent(&error) => return Ok(None),
            Err(error) => return Err(fail(io_problem(&error))),
        };
        if !meta.is_file() {
            return Err(fail(Problem::NotAFile));
        }
        if let Some(root) = within {
            let real = canonical(path)?;
            if !real.starts_with(root) {
                let root = root.to_path_buf();
                return Err(fail(Problem::Escapes { root }));
            }
        }
        if meta.len() > MAX_FILE {
            return Err(fail(Problem::TooLarge));
        }
        let format = Format::of(path).ok_or_else(|| {
            let message = "expected a file that ends in `.toml` or `.json`".to_string();
            fail(Problem::Invalid { message })
        })?;
        let mut text = self.text(path)?;
        // Some editors put a mark in front; the reader of TOML passes over it, that of JSON does not.
        if format != Format::Toml && text.starts_with('\u{feff}') {
            text.remove(0);
        }
        Ok(Some(Document {
            path: path.to_path_buf(),
            format,
            text,
        }))
    }

    fn text(&mut self, path: &Path) -> Result<String, ConfigError> {
        let fail = |problem| ConfigError::of_file(path, problem);
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(|error| fail(io_problem(&error)))?;
        // The file may have grown since its size was looked at.
        let mut file = file.take(MAX_FILE + 1);
        file.read_to_end(&mut bytes)
            .map_err(|error| fail(io_problem(&error)))?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if length > MAX_FILE {
            return Err(fail(Problem::TooLarge));
        }
        self.bytes += length;
        self.files += 1;
        if self.bytes > MAX_TOTAL || self.files > MAX_FILES {
            return Err(fail(Problem::TooMuch));
        }
        String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            fail(Problem::NotUtf8 { offset })
        })
    }
}

/// Follows all links of a path.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf, ConfigError> {
    let result = path.canonicalize();
    result.map_err(|error| ConfigError::of_file(path, io_problem(&error)))
}

/// Returns whether an error means that nothing is there.
pub(crate) fn absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns what the system said.
pub(crate) fn io_problem(error: &io::Error) -> Problem {
    Problem::Io {
        message: error.to_string(),
    }
}
