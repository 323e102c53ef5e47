//! The head: how far the log reaches, so that a cut-off end is seen. Does not read the log.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::{AuditError, files, key::Keys};

const MAGIC: &[u8; 8] = b"jpaudit1";
const SIGNED: usize = 8 + 5 * 8 + 32;
const SIZE: usize = SIGNED + 32;

/// A position at the end of the log, and where the log starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// The number of the newest record; 0 when there is none.
    pub(crate) seq: u64,
    /// Its MAC; zeros when there is none.
    pub(crate) mac: [u8; 32],
    /// The file being written.
    pub(crate) file: u64,
    /// How long that file is.
    pub(crate) len: u64,
    /// The oldest file that was not pruned.
    pub(crate) first_file: u64,
    /// The number of that file's first record. Signed with the rest, it is what makes missing
    /// files before it legitimate.
    pub(crate) first_seq: u64,
}

impl Head {
    /// The head of a log without records.
    pub(crate) const EMPTY: Self = Self {
        seq: 0,
        mac: [0; 32],
        file: 1,
        len: 0,
        first_file: 1,
        first_seq: 1,
    };

    fn encode(&self, keys: &Keys) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let fields = [
            self.seq,
            self.file,
            self.len,
            self.first_file,
            self.first_seq,
        ];
        let (signed, tag) = bytes.split_at_mut(SIGNED);
        let (magic, rest) = signed.split_at_mut(MAGIC.len());
        let (numbers, mac) = rest.split_at_mut(fields.len() * 8);
        magic.copy_from_slice(MAGIC);
        for (place, field) in numbers.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        mac.copy_from_slice(&self.mac);
        tag.copy_from_slice(keys.head(signed).as_bytes());
        bytes
    }

    /// Reads a head back; `None` when it is not one that the holder of the key wrote.
    fn decode(bytes: &[u8], keys: &Keys) -> Option<Self> {
        let bytes: &[u8; SIZE] = bytes.try_into().ok()?;
        let (signed, tag) = bytes.split_at(SIGNED);
        let tag: [u8; 32] = tag.try_into().ok()?;
        if keys.head(signed) != blake3::Hash::from_bytes(tag) {
            return None;
        }
        let rest = signed.strip_prefix(MAGIC)?;
        let (numbers, mac) = rest.split_at_checked(5 * 8)?;
        let mut fields = numbers
            .chunks_exact(8)
            .filter_map(|field| field.try_into().ok());
        let mut next = || fields.next().map(u64::from_le_bytes);
        let (seq, file, len) = (next()?, next()?, next()?);
        let (first_file, first_seq) = (next()?, next()?);
        Some(Self {
            seq,
            mac: mac.try_into().ok()?,
            file,
            len,
            first_file,
            first_seq,
        })
    }

    /// Writes the head in one call; it fits into one page, so nobody sees half of it.
    pub(crate) fn write(&self, file: &File, dir: &Path, keys: &Keys) -> Result<(), AuditError> {
        files::write_at_start(file, &self.encode(keys))
            .map_err(|error| AuditError::io("write", &path(dir), error))
    }

    /// Reads the head of a directory.
    pub(crate) fn read(dir: &Path, keys: &Keys) -> Result<Stored, AuditError> {
        match files::open_existing(&path(dir))? {
            Some(file) => Self::read_from(&file, dir, keys),
            None => Ok(Stored::Missing),
        }
    }

    /// Reads the head from its open file.
    pub(crate) fn read_from(file: &File, dir: &Path, keys: &Keys) -> Result<Stored, AuditError> {
        // One byte more than a head has is enough to see that it is not one.
        let mut bytes = [0; SIZE + 1];
        let read = files::read_at_start(file, &mut bytes)
            .map_err(|error| AuditError::io("read", &path(dir), error))?;
        let head = bytes
            .get(..read)
            .and_then(|bytes| Self::decode(bytes, keys));
        Ok(head.map_or(Stored::Damaged, Stored::Valid))
    }

    /// Opens the head file for writing, creating it when it is not there.
    pub(crate) fn open(dir: &Path) -> Result<File, AuditError> {
        let path = path(dir);
        let open = || -> io::Result<File> {
            let mut options = files::private();
            let file = options
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)?;
            // A longer file is not a head, and writing over its start would not make it one.
            if file.metadata()?.len() > SIZE as u64 {
                file.set_len(0)?;
            }
            Ok(file)
        };
        open().map_err(|error| AuditError::io("open", &path, error))
    }
}

/// What the head file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    Valid(Head),
    Damaged,
    Missing,
}

impl Stored {
    /// Gives the head if it is one.
    pub(crate) fn valid(self) -> Option<Head> {
        match self {
            Self::Valid(head) => Some(head),
            Self::Damaged | Self::Missing => None,
        }
    }
}

/// Names the head file.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("head")
}
