//! The expression of `find`, as a tree.

use jp_bash_regex::Regex;
use jp_bash_system::{FileKind, Stat, Timestamp};

use crate::file::mode::Mode;

/// `+N`, `-N` or `N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    More(i128),
    Less(i128),
    Exactly(i128),
}

impl Count {
    pub(super) fn holds(self, value: i128) -> bool {
        match self {
            Self::More(than) => value > than,
            Self::Less(than) => value < than,
            Self::Exactly(number) => value == number,
        }
    }
}

/// One of a file's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Access,
    Birth,
    Change,
    Modify,
}

impl Which {
    pub(super) fn of(self, stat: &Stat) -> Timestamp {
        match self {
            Self::Access => stat.atime,
            Self::Birth => stat.btime,
            Self::Change => stat.ctime,
            Self::Modify => stat.mtime,
        }
    }
}

/// How the bits of `-perm` must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Perm {
    Exactly,
    All,
    Any,
}

/// What a pattern is matched with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Name,
    Path,
    Link,
}

/// Where an action writes: standard output, or a file by its place in the list.
pub(super) type Sink = usize;

/// A command of `-exec`.
#[derive(Debug, Clone)]
pub(super) struct Exec {
    pub(super) words: Vec<Vec<u8>>,
    /// Run in the directory of the file.
    pub(super) in_dir: bool,
    /// `{} +`: many files for one run; the place of the list that collects them.
    pub(super) batch: Option<usize>,
}

/// The tree. Its depth is bounded by the parser.
pub(super) enum Expr {
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// All are evaluated, the last decides.
    List(Vec<Expr>),
    Not(Box<Expr>),
    Constant(bool),
    Match {
        subject: Subject,
        pattern: Vec<u8>,
        fold_case: bool,
    },
    Regex(Box<Regex>),
    Kind {
        kinds: Vec<FileKind>,
        /// `-xtype`: through a symlink where `-type` would not be.
        other: bool,
    },
    Size {
        count: Count,
        unit: u64,
    },
    Perm {
        mode: Mode,
        how: Perm,
    },
    /// Age in units of seconds; `up` rounds up, as `-mmin` does.
    Age {
        which: Which,
        count: Count,
        unit: i64,
    },
    Newer {
        which: Which,
        than: Timestamp,
    },
    Used(Count),
    Empty,
    Links(Count),
    Inode(Count),
    User(Count),
    Group(Count),
    SameFile(u64, u64),
    Access(u32),
    FsType(Vec<u8>),
    Print {
        sink: Sink,
        end: u8,
    },
    Printf {
        sink: Sink,
        format: Vec<u8>,
    },
    Ls(Sink),
    Delete,
    Prune,
    Quit,
    Exec(Exec),
}
