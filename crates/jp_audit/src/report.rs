//! What the verifier found, in words. Does not know how it was found.

use std::{fmt, path::PathBuf};

use serde::Deserialize;

/// How many problems are listed; the rest is counted. A file of rubbish has one per line.
pub(crate) const MAX_PROBLEMS: usize = 1000;

/// Says what [`crate::verify`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How many records of calls verify.
    pub records: u64,
    /// How many records verify in which the log itself speaks, of rotation or repair.
    pub events: u64,
    /// How many files were read.
    pub files: u64,
    /// What is wrong; empty for an intact log.
    pub problems: Vec<Problem>,
    /// How many more problems there are than are listed.
    pub problems_not_listed: u64,
    /// What happened to the log without anything being wrong.
    pub notes: Vec<Note>,
    /// The newest record. Kept elsewhere, it proves later that the log still holds it.
    pub last: Option<Last>,
}

impl Report {
    /// Returns whether nothing is wrong.
    pub fn is_intact(&self) -> bool {
        self.problems.is_empty()
    }

    /// Lists a problem, or counts it when there are too many to list.
    pub(crate) fn add(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.problems_not_listed += 1;
        }
    }
}

/// Names the newest record of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Last {
    /// Its number.
    pub seq: u64,
    /// Its MAC in hexadecimal digits.
    pub mac: String,
}

/// Names one thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file it was found in.
    pub file: PathBuf,
    /// The line, from 1; `None` if it concerns the whole file.
    pub line: Option<u64>,
    /// The number of the record concerned, as far as it is known.
    pub seq: Option<u64>,
    /// What is wrong.
    pub kind: ProblemKind,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.kind)?;
        match (self.seq, &self.kind) {
            (Some(seq), ProblemKind::Changed | ProblemKind::Reordered | ProblemKind::Forked) => {
                write!(f, " (record {seq})")
            }
            _ => Ok(()),
        }
    }
}

/// Says what is wrong with a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// A record's MAC does not fit what it says.
    #[error("this record was changed or is a forgery")]
    Changed,
    /// Records that were here are not.
    #[error("{count} record(s) are missing before record {next}")]
    Missing {
        /// How many.
        count: u64,
        /// The record that comes instead.
        next: u64,
    },
    /// A whole file is not there.
    #[error("this file is missing")]
    MissingFile,
    /// A file has a log file's name but lies beyond the end of the log.
    #[error("this file is not part of the log")]
    Stray,
    /// A record that is genuine stands in a place that is not its own.
    #[error("this record is out of order or a copy of another")]
    Reordered,
    /// A genuine record follows another than the one before it.
    #[error("this record continues another log than the one before it")]
    Forked,
    /// The newest records are not there.
    #[error("the end was cut off: the newest {count} record(s), up to record {last}, are gone")]
    CutOff {
        /// How many.
        count: u64,
        /// The newest record that was written.
        last: u64,
    },
    /// The last line is half a record.
    #[error("the last line is unfinished, as after a crash; the next call sets it aside")]
    TornTail,
    /// A line is not JSON at all, or too long to be a record.
    #[error("this line is not a record")]
    BadJson,
    /// There is no key to check with.
    #[error("the key is missing, so that only numbers and links could be checked, not contents")]
    KeyMissing,
    /// There is no head, so that nothing would show a cut-off end.
    #[error("the head file is missing, so that a cut-off end would not show")]
    HeadMissing,
    /// The head was changed, so that nothing would show a cut-off end.
    #[error("the head file was changed or damaged, so that a cut-off end would not show")]
    HeadDamaged,
    /// The head is older than a crash can explain.
    #[error(
        "the head file is {behind} records behind the log: an older copy was put back, or it could \
         not be written"
    )]
    HeadStale {
        /// How many records.
        behind: u64,
    },
    /// The log went on after its head had been taken away.
    #[error("before this record the head file was lost; records may have been cut off here unseen")]
    HeadLost,
}

/// Something that happened to a log and is all right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Half a record, as a crash leaves it, was set aside.
    Repaired {
        /// The record that mentions it.
        seq: u64,
        /// The file in the log's directory that holds what was set aside.
        torn_file: String,
        /// How much that was.
        torn_bytes: u64,
    },
    /// The oldest files were removed as the options said.
    Pruned {
        /// The oldest record still there.
        first_seq: u64,
    },
    /// A process died before it told the head of the newest records; the next call repairs it.
    HeadBehind,
}

impl Note {
    /// Reads what a genuine record says about a repair.
    pub(crate) fn repaired(seq: u64, body: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Repaired {
            torn_file: String,
            torn_bytes: u64,
        }
        let body = [b"{", body, b"}"].concat();
        let Repaired {
            torn_file,
            torn_bytes,
        } = serde_json::from_slice(&body).ok()?;
        Some(Self::Repaired {
            seq,
            torn_file,
            torn_bytes,
        })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repaired {
                seq,
                torn_file,
                torn_bytes,
            } => write!(
                f,
                "record {seq} reports a repair: {torn_bytes} bytes of an unfinished line are in \
                 `{}`",
                jp_text::inline(torn_file)
            ),
            Self::Pruned { first_seq } => {
                write!(
                    f,
                    "records before {first_seq} were removed with the oldest files, as set"
                )
            }
            Self::HeadBehind => f.write_str(
                "a process died before the head file knew of the newest records; they are complete and \
                 nothing is lost",
            ),
        }
    }
}
