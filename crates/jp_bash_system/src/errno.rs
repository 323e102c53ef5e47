//! Errors of system calls, with the texts that bash and GNU tools print for them.

/// Why a system call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each name is the C name without its E")]
pub enum Errno {
    Perm,
    NoEnt,
    Io,
    BadF,
    Again,
    NoMem,
    Access,
    Exist,
    XDev,
    NotDir,
    IsDir,
    Inval,
    MFile,
    NotTty,
    TxtBsy,
    FBig,
    NoSpc,
    SPipe,
    RoFs,
    MLink,
    Pipe,
    NameTooLong,
    NoSys,
    NotEmpty,
    Loop,
    NoExec,
    Child,
    Srch,
    NotSup,
    Busy,
}

impl Errno {
    /// Returns the text of `strerror`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Perm => "Operation not permitted",
            Self::NoEnt => "No such file or directory",
            Self::Io => "Input/output error",
            Self::BadF => "Bad file descriptor",
            Self::Again => "Resource temporarily unavailable",
            Self::NoMem => "Cannot allocate memory",
            Self::Access => "Permission denied",
            Self::Exist => "File exists",
            Self::XDev => "Invalid cross-device link",
            Self::NotDir => "Not a directory",
            Self::IsDir => "Is a directory",
            Self::Inval => "Invalid argument",
            Self::MFile => "Too many open files",
            Self::NotTty => "Inappropriate ioctl for device",
            Self::TxtBsy => "Text file busy",
            Self::FBig => "File too large",
            Self::NoSpc => "No space left on device",
            Self::SPipe => "Illegal seek",
            Self::RoFs => "Read-only file system",
            Self::MLink => "Too many links",
            Self::Pipe => "Broken pipe",
            Self::NameTooLong => "File name too long",
            Self::NoSys => "Function not implemented",
            Self::NotEmpty => "Directory not empty",
            Self::Loop => "Too many levels of symbolic links",
            Self::NoExec => "Exec format error",
            Self::Child => "No child processes",
            Self::Srch => "No such process",
            Self::NotSup => "Operation not supported",
            Self::Busy => "Device or resource busy",
        }
    }
}

impl std::fmt::Display for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}
