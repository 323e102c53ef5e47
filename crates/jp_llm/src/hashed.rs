//! Files that may be tools: their bytes and their hash.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use jp_disk::Sha256;

/// The largest file that is read; larger files cannot be tools.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Hashes a file that may be a tool.
///
/// # Errors
///
/// When it cannot be read, or is too large for one.
pub fn sha256_file(path: &Path) -> io::Result<String> {
    read(path).map(|bytes| hash(&bytes))
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::of(bytes).to_string()
}

pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Looked at before it is opened: opening a FIFO would wait for a writer.
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if found.len() > MAX_BYTES {
        return Err(io::Error::other(format!(
            "too large: expected at most {MAX_BYTES} bytes, found {}",
            found.len()
        )));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?
        .take(MAX_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
