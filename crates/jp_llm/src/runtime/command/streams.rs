//! What a command prints, kept up to its limit.

use jp_policy::{Limit, Limits};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, ChildStderr, ChildStdout},
};

/// The output of a process.
pub(super) struct Streams {
    pub(super) out: Stream<ChildStdout>,
    pub(super) err: Stream<ChildStderr>,
}

impl Streams {
    /// Takes the streams of a process.
    pub(super) fn of(child: &mut Child, limits: &Limits) -> Self {
        let most = usize::try_from(limits.output_bytes).unwrap_or(usize::MAX);
        Self {
            out: Stream::new(child.stdout.take(), most),
            err: Stream::new(child.stderr.take(), most),
        }
    }

    /// Reads both until they end, or one reaches its limit.
    pub(super) async fn read(&mut self) -> Result<((), ()), Limit> {
        tokio::try_join!(self.out.read(), self.err.read())
    }
}

/// One stream, and its output so far.
pub(super) struct Stream<S> {
    from: Option<S>,
    most: usize,
    pub(super) kept: Vec<u8>,
}

impl<S: AsyncRead + Unpin> Stream<S> {
    const fn new(from: Option<S>, most: usize) -> Self {
        Self {
            from,
            most,
            kept: Vec::new(),
        }
    }

    /// Keeps what the stream says. What is over the limit is read and dropped, and ends the reading.
    async fn read(&mut self) -> Result<(), Limit> {
        let Some(from) = &mut self.from else {
            return Ok(());
        };
        let mut buffer = vec![0; 64 * 1024];
        loop {
            // An error while reading is the end of what can be known; the exit status tells the
            // rest.
            let Ok(count @ 1..) = from.read(&mut buffer).await else {
                self.from = None;
                return Ok(());
            };
            let room = self.most.saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&buffer[..count.min(room)]);
            if count > room {
                self.from = None;
                return Err(Limit::Output);
            }
        }
    }
}
