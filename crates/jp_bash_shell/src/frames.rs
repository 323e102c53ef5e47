//! The call stack: what `FUNCNAME`, `BASH_SOURCE`, `BASH_LINENO` and `caller` show.

use std::sync::Arc;

/// What a frame stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The script itself; shown as `main`.
    Main,
    /// `source FILE`; shown as `source`.
    Source,
    Function,
}

/// One level. The last frame is the innermost.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    /// `FUNCNAME`
    pub(crate) name: Arc<[u8]>,
    /// `BASH_SOURCE`: where the code of this level was read.
    pub(crate) source: Arc<[u8]>,
    /// `BASH_LINENO`: the line of the level above from which this was called.
    pub(crate) call_line: u32,
    /// The arguments, only kept under `extdebug` (`BASH_ARGV`).
    pub(crate) args: Vec<Vec<u8>>,
    /// The options to go back to when the level ends (`local -`).
    pub(crate) options: Option<crate::options::Options>,
}
