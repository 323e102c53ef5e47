//! A line from the person at the keyboard.

use std::{
    io::{self, BufRead, Read, Write},
    sync::mpsc,
    time::Duration,
};

use rustix::termios;
use tokio_util::sync::CancellationToken;

use crate::error::CliError;

/// How long a person may think. It does not count against the time limit of the call.
pub(crate) const THINKING: Duration = Duration::from_secs(600);

/// The longest line that is taken.
const MAX_LINE: u64 = 64 * 1024;

/// What came of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line, without its end.
    Line(String),
    /// Nothing more comes: the terminal was closed, or Ctrl-D.
    Ended,
    /// The person took longer than [`THINKING`].
    TimedOut,
    /// Ctrl-C.
    Cancelled,
}

/// Waits for a line.
pub(crate) async fn line(cancel: &CancellationToken) -> Typed {
    let read = tokio::task::spawn_blocking(|| {
        let mut bytes = Vec::new();
        let stdin = io::stdin().lock();
        let count = stdin.take(MAX_LINE).read_until(b'\n', &mut bytes);
        match count {
            Ok(1..) => Typed::Line(String::from_utf8_lossy(&bytes).trim_end().to_owned()),
            _ => Typed::Ended,
        }
    });
    tokio::select! {
        biased;
        () = cancel.cancelled() => Typed::Cancelled,
        () = tokio::time::sleep(THINKING) => Typed::TimedOut,
        typed = read => typed.unwrap_or(Typed::Ended),
    }
}

/// Asks a question that only `y` says yes to; Ctrl-C says no.
pub(crate) fn yes(question: &str, cancel: &CancellationToken) -> bool {
    forget_typed();
    let mut terminal = io::stderr();
    // A terminal that is gone answers nothing either.
    let _ = terminal.write_all(question.as_bytes());
    let _ = terminal.flush();
    let Some(typed) = wait(cancel) else {
        let _ = terminal.write_all(b"\n");
        return false;
    };
    let line = String::from_utf8_lossy(&typed.unwrap_or_default()).to_lowercase();
    matches!(line.trim(), "y" | "yes")
}

/// Asks for a line; nothing after Ctrl-C, and an empty line where nothing more can be typed.
pub(crate) fn ask(question: &str, cancel: &CancellationToken) -> Option<String> {
    forget_typed();
    let mut terminal = io::stderr();
    // A terminal that is gone answers nothing either.
    let _ = terminal.write_all(question.as_bytes());
    let _ = terminal.flush();
    let Some(typed) = wait(cancel) else {
        let _ = terminal.write_all(b"\n");
        return None;
    };
    let typed = typed.unwrap_or_default();
    Some(String::from_utf8_lossy(&typed).trim().to_owned())
}

/// Asks for a line that is not shown while it is typed; nothing after Ctrl-C.
pub(crate) fn hidden(
    question: &str,
    cancel: &CancellationToken,
) -> Result<Option<Vec<u8>>, CliError> {
    let failed = |source: io::Error| CliError::System {
        what: "cannot ask on the terminal".to_owned(),
        source,
    };
    let stdin = io::stdin();
    let before = termios::tcgetattr(&stdin).map_err(|error| failed(error.into()))?;
    let mut silent = before.clone();
    silent.local_modes.remove(termios::LocalModes::ECHO);
    silent.local_modes.insert(termios::LocalModes::ECHONL);
    let set = |modes| termios::tcsetattr(&stdin, termios::OptionalActions::Flush, modes);
    let mut terminal = io::stderr();
    terminal.write_all(question.as_bytes()).map_err(failed)?;
    terminal.flush().map_err(failed)?;
    set(&silent).map_err(|error| failed(error.into()))?;
    let read = wait(cancel);
    // The terminal is the person's own again, whatever was read.
    set(&before).map_err(|error| failed(error.into()))?;
    let Some(read) = read else {
        let _ = terminal.write_all(b"\n");
        return Ok(None);
    };
    let mut bytes = read.map_err(failed)?;
    while bytes.last().is_some_and(|byte| b"\r\n".contains(byte)) {
        bytes.pop();
    }
    Ok(Some(bytes))
}

/// Waits for a line; nothing after Ctrl-C.
fn wait(cancel: &CancellationToken) -> Option<io::Result<Vec<u8>>> {
    let (sender, typed) = mpsc::channel();
    // A thread that waits for a key cannot be woken; nobody waits for that thread.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let stdin = io::stdin().lock();
        let read = stdin.take(MAX_LINE).read_until(b'\n', &mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    while !cancel.is_cancelled() {
        match typed.recv_timeout(Duration::from_millis(50)) {
            Ok(typed) => return Some(typed),
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
    None
}

/// Throws away what was typed before the question was seen, so that nothing is approved by accident.
pub(crate) fn forget_typed() {
    // Where the terminal cannot do that, the question is asked all the same.
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}
