//! Names, permissions and positioned access of the log's files. Does not know what is in them.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use crate::AuditError;

/// Names the log file of a number; numbers start at 1 and never repeat.
pub(crate) fn log_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("audit-{number:08}.jsonl"))
}

/// Reads the number out of a log file's name.
fn log_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("audit-")?.strip_suffix(".jsonl")?;
    // Twelve digits are more files than anyone has, and keep arithmetic on numbers from overflowing.
    let plain =
        (8..=12).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = plain.then(|| digits.parse().ok()).flatten()?;
    // Only the spelling that `log_path` makes counts: `audit-000000001.jsonl` is not file 1.
    (format!("{number:08}") == digits && number > 0).then_some(number)
}

/// Lists the numbers of all log files in order; a directory that is not there holds none.
pub(crate) fn list(dir: &Path) -> Result<Vec<u64>, AuditError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(AuditError::io("list", dir, error)),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| AuditError::io("list", dir, error))?;
        numbers.extend(entry.file_name().to_str().and_then(log_number));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Creates the directory, for its owner only.
pub(crate) fn create_dir(dir: &Path) -> Result<(), AuditError> {
    jp_disk::create_dir(dir).map_err(|error| AuditError::io("create the directory", dir, error))
}

/// Starts options that create files for their owner only.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens a log file for appending and reading, creating it when it is not there.
pub(crate) fn open_log(path: &Path) -> Result<File, AuditError> {
    let opened = private().read(true).append(true).create(true).open(path);
    opened.map_err(|error| AuditError::io("open", path, error))
}

/// Refuses a FIFO in place of a file: it would keep the reader waiting for ever.
fn check_kind(path: &Path) -> Result<(), AuditError> {
    #[cfg(unix)]
    if fs::metadata(path)
        .is_ok_and(|found| std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type()))
    {
        let error = io::Error::other("a FIFO, not a file");
        return Err(AuditError::io("open", path, error));
    }
    Ok(())
}

/// Opens a file for reading; `None` when it is not there.
pub(crate) fn open_existing(path: &Path) -> Result<Option<File>, AuditError> {
    check_kind(path)?;
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(AuditError::io("open", path, error)),
    }
}

/// Returns whether a path still names the file that is open.
#[cfg(unix)]
pub(crate) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether a path still names a file. This system does not let open files be replaced.
#[cfg(not(unix))]
pub(crate) fn is_named(_file: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

/// Takes the exclusive lock of a file, waiting for others to release it.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), AuditError> {
    loop {
        match file.lock() {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(AuditError::io("lock", path, error)),
        }
    }
}

/// Reads from the start of a file as much as fits.
#[cfg(unix)]
pub(crate) fn read_at_start(file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, 0)
}

/// Reads from the start of a file as much as fits.
#[cfg(not(unix))]
pub(crate) fn read_at_start(mut file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(0))?;
    file.read(bytes)
}

/// Writes all bytes at the start of a file.
#[cfg(unix)]
pub(crate) fn write_at_start(file: &File, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, 0)
}

/// Writes all bytes at the start of a file.
#[cfg(not(unix))]
pub(crate) fn write_at_start(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)
}

/// Cuts a log file back to a length. Uses a handle of its own, because on some systems a handle
/// for appending cannot do it.
pub(crate) fn truncate(path: &Path, len: u64) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.set_len(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_spelling_is_a_log_file() {
        assert_eq!(log_number("audit-00000001.jsonl"), Some(1));
        assert_eq!(log_number("audit-123456789.jsonl"), Some(123_456_789));
        for name in [
            "audit-00000000.jsonl",
            "audit-000000001.jsonl",
            "audit-1.jsonl",
            "audit-+0000001.jsonl",
            "audit-18446744073709551615.jsonl",
            "audit-.jsonl",
            "key",
        ] {
            assert_eq!(log_number(name), None, "{name}");
        }
    }
}
