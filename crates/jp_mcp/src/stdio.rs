//! The messages on a program's standard streams, one to a line.
//!
//! Output that is not a message is tolerated up to a bound and kept for error messages: many programs greet on
//! their standard output.

use std::{
    future::Future,
    sync::{Arc, OnceLock},
};

use rmcp::{RoleClient, service::TxJsonRpcMessage, transport::Transport};
use tokio::{
    io::{AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::{Mutex, mpsc},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Limits,
    lines::{self, Line},
    message::{self, Heard, Incoming, Unreadable},
    pace::Pace,
    tail::Tail,
};

/// Messages that wait to be looked at; a server that sends more is not read meanwhile.
const MAX_WAITING: usize = 64;

/// Bytes on standard output that are not messages, over the whole life of a server.
const MAX_STRAY_BYTES: usize = 1024 * 1024;

/// Why a connection was ended from this side.
#[derive(Debug, Clone)]
pub(crate) enum Ended {
    /// A message was longer than it may be.
    MessageTooLong {
        /// The most bytes a message may have.
        limit: usize,
    },
    /// An answer could not be read, and its request is unknown.
    Unreadable(Unreadable),
    /// Too much else was written to standard output.
    Noise {
        /// The most lines that are tolerated.
        limit: usize,
    },
}

/// How a connection ended, once it did.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    /// Why, if it was ended from this side.
    pub(crate) ended: OnceLock<Ended>,
    /// Nothing more is read.
    pub(crate) gone: CancellationToken,
}

/// A program's standard streams as a transport.
pub(crate) struct Stdio {
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    incoming: mpsc::Receiver<Incoming>,
}

impl Stdio {
    /// Starts to read.
    pub(crate) fn new(
        stdin: ChildStdin,
        stdout: ChildStdout,
        limits: Limits,
        tail: Tail,
        fate: &Arc<Fate>,
    ) -> Self {
        let (sender, incoming) = mpsc::channel(MAX_WAITING);
        let reader = Reader {
            limits,
            tail,
            fate: Arc::clone(fate),
            stray_lines: 0,
            stray_bytes: 0,
        };
        let gone = fate.gone.clone();
        tokio::spawn(async move {
            reader.run(stdout, sender).await;
            gone.cancel();
        });
        Self {
            stdin: Arc::new(Mutex::new(Some(stdin))),
            incoming,
        }
    }
}

impl Transport<RoleClient> for Stdio {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let stdin = Arc::clone(&self.stdin);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            // One message is written whole before the next; half a line would garble both.
            let mut stdin = stdin.lock().await;
            let Some(open) = stdin.as_mut() else {
                return Err(std::io::ErrorKind::BrokenPipe.into());
            };
            let written = write(open, &line).await;
            if written.is_err() {
                *stdin = None;
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.incoming.close();
        // The holder of the lock waits for a program that does not read; it is killed anyway.
        if let Ok(mut stdin) = self.stdin.try_lock() {
            *stdin = None;
        }
        Ok(())
    }
}

async fn write(stdin: &mut ChildStdin, line: &[u8]) -> std::io::Result<()> {
    stdin.write_all(line).await?;
    stdin.flush().await
}

/// Reads standard output.
struct Reader {
    limits: Limits,
    tail: Tail,
    fate: Arc<Fate>,
    stray_lines: usize,
    stray_bytes: usize,
}

impl Reader {
    /// Reads until the stream ends, nobody listens, or the program breaks the rules.
    async fn run(mut self, stdout: ChildStdout, to: mpsc::Sender<Incoming>) {
        let mut stdout = BufReader::with_capacity(64 * 1024, stdout);
        let mut pace = Pace::new(self.limits.messages_per_second);
        loop {
            let line = tokio::select! {
                line = lines::next(&mut stdout, self.limits.message_bytes) => line,
                () = to.closed() => return,
            };
            let line = match line {
                Line::End => return,
                Line::TooLong(line) => {
                    self.tail.push("stdout", &line);
                    let limit = self.limits.message_bytes;
                    let _ = self.fate.ended.set(Ended::MessageTooLong { limit });
                    return;
                }
                Line::Whole(line) => line,
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            pace.wait().await;
            match message::hear(&line) {
                Heard::Message(message) | Heard::Repaired(message) => {
                    if to.send(message).await.is_err() {
                        return;
                    }
                }
                Heard::Broken(why) => {
                    self.tail.push("stdout", &line);
                    let _ = self.fate.ended.set(Ended::Unreadable(why));
                    return;
                }
                Heard::Stray if self.tolerates(&line) => {}
                Heard::Stray => {
                    let limit = self.limits.stray_lines;
                    let _ = self.fate.ended.set(Ended::Noise { limit });
                    return;
                }
            }
        }
    }

    fn tolerates(&mut self, line: &[u8]) -> bool {
        self.tail.push("stdout", line);
        self.stray_lines = self.stray_lines.saturating_add(1);
        self.stray_bytes = self.stray_bytes.saturating_add(line.len());
        self.stray_lines <= self.limits.stray_lines && self.stray_bytes <= MAX_STRAY_BYTES
    }
}
