//! The ground of the virtual bash: the system calls that a command sees, the budget of a run, and streams over
//! descriptors.
//!
//! The shell implements [`System`]; commands are written against it and know nothing else.

mod budget;
mod errno;
pub mod io;
pub mod meter;
mod pieces;
mod program;
mod stop;
mod system;

pub use budget::{Bounds, Budget, Monotonic, PIECE, units};
pub use errno::Errno;
pub use pieces::pieces;
pub use program::{Program, Programs, Run};
pub use stop::{Limit, Stop};
pub use system::{
    DirEntry, Ended, Environ, Fd, FileKind, Follow, HttpError, HttpRequest, HttpResponse, OpenHow,
    Pid, SetTime, Spawn, Stat, SysError, SysResult, System, Timestamp, Whence, failed,
};
