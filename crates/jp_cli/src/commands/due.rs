//! `jp due`: reminders, tasks and wake-ups whose time has come, as lines of JSON.

use std::{
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use jp_llm::broker::{Due, DueEvent};
use rustix::fs::{OFlags, fcntl_getfl, fstat, stat};

use crate::{clock, error::CliError, exit::Exit, interrupt::Interrupts, places, session, ui::Ui};

/// Events that are claimed, written and acknowledged together.
const BATCH: usize = 32;
/// How long nothing is looked at: others may add something that is due sooner.
const LONGEST_NAP: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DueArgs {
    /// Wait for what comes later, until interrupted
    #[arg(long)]
    watch: bool,
}

const EXAMPLES: &str = "\
Examples:
  jp due                          what is due now, one JSON object per line
  jp due --watch | my-notifier    and whatever becomes due

An event is written once. If jp is stopped between writing and noting it down,
or its reader goes away, the event comes again with the same `id` and
`redelivered: true`. With standard output closed, no event is delivered.";

/// Writes what is due.
pub(crate) fn run(args: &DueArgs, _: &Ui) -> Result<Exit, CliError> {
    if is_output_closed() {
        let problem = "standard output is closed, or /dev/null that was opened for reading too";
        return Err(CliError::System {
            what: "cannot print due events".to_owned(),
            source: io::Error::other(problem),
        });
    }
    let store = jp_llm::broker::open_store(&places::own().broker()?).map_err(CliError::broker)?;
    let due = Due::new(Arc::new(store));
    if !args.watch {
        deliver_all(&due)?;
        return Ok(Exit::Done);
    }
    session::block_on(watch(&due))?
}

/// Returns whether jp was started without a standard output.
///
/// Before `main`, the standard library opens /dev/null in its place, for reading and writing, so that
/// no other file gets the number: writes succeed, and events would be lost. `> /dev/null` in a shell
/// opens it for writing only, and is intended.
fn is_output_closed() -> bool {
    let out = io::stdout();
    let is_null = match (fstat(&out), stat("/dev/null")) {
        (Ok(out), Ok(null)) => (out.st_mode, out.st_rdev) == (null.st_mode, null.st_rdev),
        (Err(_), _) => return true,
        (Ok(_), Err(_)) => false,
    };
    is_null && fcntl_getfl(&out).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR)
}

async fn watch(due: &Due) -> Result<Exit, CliError> {
    let interrupts = Interrupts::listen().map_err(|source| CliError::System {
        what: "cannot listen for Ctrl-C".to_owned(),
        source,
    })?;
    loop {
        deliver_all(due)?;
        let next = due.next().map_err(CliError::broker)?;
        let wait = next.map_or(LONGEST_NAP, |at| {
            let seconds = at.saturating_sub(clock::unix());
            Duration::from_secs(u64::try_from(seconds).unwrap_or_default().max(1))
        });
        tokio::select! {
            () = interrupts.cancel.cancelled() => return Ok(Exit::Cancelled),
            () = tokio::time::sleep(wait.min(LONGEST_NAP)) => {}
        }
    }
}

fn deliver_all(due: &Due) -> Result<(), CliError> {
    loop {
        let events = due.claim(clock::unix(), BATCH).map_err(CliError::broker)?;
        if events.is_empty() {
            return Ok(());
        }
        deliver(due, &events)?;
    }
}

/// Writes events and only then notes them down: what was not written comes again.
fn deliver(due: &Due, events: &[DueEvent]) -> Result<(), CliError> {
    let lines: String = events.iter().map(|event| line(event) + "\n").collect();
    let now = clock::unix();
    if let Err(source) = write(&lines) {
        for event in events {
            // What cannot be noted down is handed out again when the claim runs out.
            let _ = due.fail(&event.id, &source.to_string(), now);
        }
        let what = "cannot print due events, they will come again".to_owned();
        return Err(CliError::System { what, source });
    }
    let ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
    due.ack(&ids, now).map_err(CliError::broker)?;
    Ok(())
}

/// Writes to standard output. A reader that has gone is a failure here, whatever it is elsewhere: an
/// event nobody read must come again.
fn write(lines: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(lines.as_bytes())?;
    out.flush()
}

/// Writes an event as JSON that a terminal can be shown: what it would obey is escaped for all.
fn line(event: &DueEvent) -> String {
    jp_text::json_escape(&serde_json::to_string(event).unwrap_or_default())
}
