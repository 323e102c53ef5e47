//! The error numbers of preview 1, and what becomes one.

use std::io;

use wasmtime::component::ResourceTableError;
use wasmtime_wasi::p2::{
    FsError, StreamError,
    bindings::filesystem::types::{DescriptorType, ErrorCode},
};

/// An error as a guest sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Errno(pub(super) u16);

impl Errno {
    pub(super) const BADF: Self = Self(8);
    pub(super) const ILSEQ: Self = Self(25);
    pub(super) const INVAL: Self = Self(28);
    pub(super) const IO: Self = Self(29);
    pub(super) const ISDIR: Self = Self(31);
    pub(super) const NAMETOOLONG: Self = Self(37);
    pub(super) const NOTDIR: Self = Self(54);
    pub(super) const NOTSOCK: Self = Self(57);
    pub(super) const NOTSUP: Self = Self(58);
    pub(super) const OVERFLOW: Self = Self(61);
    pub(super) const SPIPE: Self = Self(70);
}

/// Why a function did not do what it was asked to.
#[derive(Debug)]
pub(super) enum Refused {
    /// The guest gets this error.
    Errno(Errno),
    /// The guest is stopped.
    Stop(wasmtime::Error),
}

/// What a function of preview 1 brings.
pub(super) type Answer<T = ()> = Result<T, Refused>;

impl From<Errno> for Refused {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<wasmtime::Error> for Refused {
    fn from(error: wasmtime::Error) -> Self {
        Self::Stop(error)
    }
}

impl From<ResourceTableError> for Refused {
    fn from(error: ResourceTableError) -> Self {
        Self::Stop(error.into())
    }
}

impl From<FsError> for Refused {
    fn from(error: FsError) -> Self {
        match error.downcast() {
            Ok(code) => Self::Errno(code.into()),
            Err(error) => Self::Stop(error),
        }
    }
}

impl From<StreamError> for Refused {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Closed => Errno::IO.into(),
            StreamError::Trap(error) => Self::Stop(error),
            StreamError::LastOperationFailed(error) => match error.downcast::<io::Error>() {
                Ok(error) => Self::Errno(ErrorCode::from(error).into()),
                Err(_) => Errno::IO.into(),
            },
        }
    }
}

impl From<ErrorCode> for Errno {
    fn from(code: ErrorCode) -> Self {
        Self(match code {
            ErrorCode::Access => 2,
            ErrorCode::WouldBlock => 6,
            ErrorCode::Already => 7,
            ErrorCode::BadDescriptor => 8,
            ErrorCode::Busy => 10,
            ErrorCode::Deadlock => 16,
            ErrorCode::Quota => 19,
            ErrorCode::Exist => 20,
            ErrorCode::FileTooLarge => 22,
            ErrorCode::IllegalByteSequence => 25,
            ErrorCode::InProgress => 26,
            ErrorCode::Interrupted => 27,
            ErrorCode::Invalid => 28,
            ErrorCode::Io => 29,
            ErrorCode::IsDirectory => 31,
            ErrorCode::Loop => 32,
            ErrorCode::TooManyLinks => 34,
            ErrorCode::MessageSize => 35,
            ErrorCode::NameTooLong => 37,
            ErrorCode::NoDevice => 43,
            ErrorCode::NoEntry => 44,
            ErrorCode::NoLock => 46,
            ErrorCode::InsufficientMemory => 48,
            ErrorCode::InsufficientSpace => 51,
            ErrorCode::NotDirectory => 54,
            ErrorCode::NotEmpty => 55,
            ErrorCode::NotRecoverable => 56,
            ErrorCode::Unsupported => 58,
            ErrorCode::NoTty => 59,
            ErrorCode::NoSuchDevice => 60,
            ErrorCode::Overflow => 61,
            ErrorCode::NotPermitted => 63,
            ErrorCode::Pipe => 64,
            ErrorCode::ReadOnly => 69,
            ErrorCode::InvalidSeek => 70,
            ErrorCode::TextFileBusy => 74,
            ErrorCode::CrossDevice => 75,
        })
    }
}

/// A directory, as a kind of file.
pub(super) const DIRECTORY: u8 = 3;

/// Returns the number of a kind of file; what preview 1 has no number for is 0, "unknown".
pub(super) const fn filetype(kind: DescriptorType) -> u8 {
    match kind {
        DescriptorType::BlockDevice => 1,
        DescriptorType::CharacterDevice => 2,
        DescriptorType::Directory => DIRECTORY,
        DescriptorType::RegularFile => 4,
        DescriptorType::SymbolicLink => 7,
        DescriptorType::Fifo | DescriptorType::Socket | DescriptorType::Unknown => 0,
    }
}
