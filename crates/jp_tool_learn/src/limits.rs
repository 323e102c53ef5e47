//! How much of a topic directory the tool is willing to take in. Each limit is reported when met;
//! none cuts silently. The host's own limits on time, memory and output come on top.

/// The number of files and directories a topic may hold.
pub const MAX_ENTRIES: usize = 200_000;

/// The size of the largest subject that is loaded: 8 MiB.
pub(crate) const MAX_SUBJECT_BYTES: u64 = 8 * 1024 * 1024;

/// The size of all subjects loaded by one call: 32 MiB.
pub(crate) const MAX_OUTPUT_BYTES: usize = 32 * 1024 * 1024;

/// The bytes of all paths of a topic. Paths 4 KiB long would otherwise make [`MAX_ENTRIES`] of them
/// cost a gigabyte.
pub(crate) const MAX_PATH_BYTES: usize = 32 * 1024 * 1024;

/// The product of path bytes and pattern bytes, which bounds the steps of matching them.
pub(crate) const MAX_MATCH_WORK: u64 = 4_000_000_000;

/// How many remarks about skipped files are written out before the rest is only counted.
pub(crate) const MAX_NOTES: usize = 20;

/// How many slugs a message about a wrong name suggests.
pub(crate) const MAX_SUGGESTED: usize = 50;

/// How many characters of a name or pattern a message repeats.
pub(crate) const MAX_ECHO: usize = 200;

/// How many unreadable entries in a row end the listing of a directory.
pub(crate) const MAX_ENTRY_ERRORS: usize = 16;
