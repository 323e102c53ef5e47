//! The audit record of a script that a person runs by hand, with `jp bash`. It has the same fields as that of a
//! call of the tool: the script is hashed as that tool's arguments are, so equal scripts have equal hashes.

use std::{
    fmt::Write as _,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use jp_audit::{AuditError, Decision, Log, OutcomeKind, Record, Source};
use jp_bash::{Category, ExecResult, HostMode, OutputStream};
use jp_disk::Sha256Hasher;
use jp_policy::Net;
use serde_json::{Map, Value};

use crate::tool::now;

/// The tool that scripts are calls of.
const TOOL: &str = "bash";

/// What a script may see and use, in the words of the audit log.
#[derive(Debug, Default)]
pub struct ScriptWords {
    mounts: Vec<String>,
    places: String,
    rest: String,
}

impl ScriptWords {
    /// Adds a mount. Where it leads is the user's own: the record has a hash with the log's key, which
    /// whoever knows the path and the log can compare.
    pub fn mount(&mut self, path: &str, mode: HostMode, leads_to: &Path, log: &Log) {
        let mode = match mode {
            HostMode::ReadOnly => "read",
            HostMode::ReadWrite => "read-write",
            HostMode::Overlay => "overlay",
        };
        // Quotes, so that no path can pass for a second mount or for another field.
        let path = match path.contains([',', ' ', '"', '#']) {
            true => format!("{path:?}"),
            false => path.to_owned(),
        };
        let hash = log.hash_arguments(leads_to.as_os_str().as_encoded_bytes());
        self.places.push_str(&format!(" mounted={path}#{hash}"));
        self.mounts.push(format!("{path}:{mode}"));
    }

    /// Adds the hosts it may reach.
    pub fn network(&mut self, net: &Net) {
        self.rest.push_str(&format!(" net={net}"));
    }

    /// Adds the names of the variables it gets. Their values may be secrets.
    pub fn variables<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        for (at, name) in names.enumerate() {
            let _ = write!(self.rest, "{}{name}", if at == 0 { " env=" } else { "," });
        }
    }

    /// Says that what it changes in overlays is applied.
    pub fn applied(&mut self) {
        self.rest.push_str(" apply");
    }

    fn into_text(self) -> String {
        let mounts = match self.mounts.is_empty() {
            true => "none".to_owned(),
            false => self.mounts.join(","),
        };
        format!("fs={mounts}{}{}", self.rest, self.places)
    }
}

/// The record of one script, written once: when the script has ended, or when this is dropped before.
/// Clones are of the same record.
#[derive(Clone)]
pub struct ScriptRecord(Arc<Unwritten>);

struct Unwritten {
    log: Log,
    principal: String,
    id: String,
    grant: String,
    script: Mutex<Map<String, Value>>,
    /// What it read of a standard input that is the script.
    input: Mutex<Option<Sha256Hasher>>,
    started: Instant,
    stdout: AtomicU64,
    stderr: AtomicU64,
    is_written: Mutex<bool>,
}

impl ScriptRecord {
    /// Begins the record of a script.
    #[must_use]
    pub fn begin(log: Log, principal: String, id: String, words: ScriptWords) -> Self {
        Self(Arc::new(Unwritten {
            log,
            principal,
            id,
            grant: words.into_text(),
            script: Mutex::default(),
            input: Mutex::default(),
            started: Instant::now(),
            stdout: AtomicU64::new(0),
            stderr: AtomicU64::new(0),
            is_written: Mutex::default(),
        }))
    }

    /// Says what runs, with its name and arguments; all of it is hashed and none of it written.
    pub fn runs(&self, text: Option<&[u8]>, name: &[u8], args: &[Vec<u8>]) {
        let mut script = lock(&self.0.script);
        if let Some(text) = text {
            script.insert("commands".to_owned(), value(text));
        }
        if !name.is_empty() {
            script.insert("name".to_owned(), value(name));
        }
        if !args.is_empty() {
            let args = args.iter().map(|word| value(word)).collect();
            script.insert("args".to_owned(), args);
        }
    }

    /// Hashes what is read, for a script that comes from standard input while it runs.
    pub fn read(&self, bytes: &[u8]) {
        lock(&self.0.input).get_or_insert_default().update(bytes);
    }

    /// Counts what it printed beside what its result holds.
    pub fn printed(&self, stream: OutputStream, bytes: usize) {
        let count = match stream {
            OutputStream::Out => &self.0.stdout,
            OutputStream::Err => &self.0.stderr,
        };
        count.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Writes how it ended.
    ///
    /// # Errors
    ///
    /// When it cannot be written. A script without a record did not run, as far as its caller may know.
    pub fn ended(&self, result: &ExecResult) -> Result<(), AuditError> {
        self.printed(OutputStream::Out, result.stdout.len());
        self.printed(OutputStream::Err, result.stderr.len());
        let code = result.exit_code;
        let outcome = match result.error {
            Some(Category::Cancelled) => OutcomeKind::Cancelled,
            Some(Category::ResourceLimit(_)) => OutcomeKind::Limit,
            Some(Category::Internal) => OutcomeKind::HostFailure,
            _ if code == 0 => OutcomeKind::Success,
            _ => OutcomeKind::Error,
        };
        let mut detail = format!("exit status {code}");
        if let Some(Category::ResourceLimit(limit)) = result.error {
            detail.push_str(&format!(": limit reached: {}", limit.name()));
        }
        self.0.write(outcome, &detail)
    }

    /// Returns what writes the record for a process that ends while the script runs: nobody waits for it
    /// any longer.
    #[must_use]
    pub fn on_leave(&self) -> Box<dyn Fn() + Send> {
        let unwritten = Arc::downgrade(&self.0);
        Box::new(move || {
            if let Some(unwritten) = unwritten.upgrade() {
                // The process ends now, whether or not there is a record.
                drop(unwritten.write(OutcomeKind::Cancelled, "left while it ran"));
            }
        })
    }
}

impl Unwritten {
    fn write(&self, outcome: OutcomeKind, detail: &str) -> Result<(), AuditError> {
        // Held until it is written: what ends the process meanwhile waits here first.
        let mut is_written = lock(&self.is_written);
        if std::mem::replace(&mut *is_written, true) {
            return Ok(());
        }
        let mut script = std::mem::take(&mut *lock(&self.script));
        if let Some(read) = lock(&self.input).take() {
            script.insert("read".to_owned(), read.finish().to_string().into());
        }
        let arguments = serde_json::to_string(&script).unwrap_or_default();
        let took = self.started.elapsed().as_micros();
        let written = self.log.append(&Record {
            time: now(),
            principal: &self.principal,
            call_id: &self.id,
            traceparent: None,
            tool: TOOL,
            source: Source::Builtin,
            capability: None,
            sha256: None,
            arguments_hash: self.log.hash_arguments(arguments.as_bytes()),
            grant: &self.grant,
            // The person who types a command has allowed it.
            decision: Decision::Allowed,
            decided_by: None,
            outcome,
            detail: Some(detail),
            duration_us: u64::try_from(took).unwrap_or(u64::MAX),
            fuel: None,
            stdout_bytes: self.stdout.load(Ordering::Relaxed),
            stderr_bytes: self.stderr.load(Ordering::Relaxed),
            trace: &[],
            transient: None,
        });
        written.map(|_| ())
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        let (outcome, detail) = match std::thread::panicking() {
            true => (OutcomeKind::HostFailure, "it panicked"),
            false => (OutcomeKind::Cancelled, "left before it ended"),
        };
        // No caller is left who could be told that the record was not written.
        drop(self.write(outcome, detail));
    }
}

/// Makes JSON of bytes, equal only for equal bytes.
fn value(bytes: &[u8]) -> Value {
    match str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.into(),
    }
}

fn lock<T>(held: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
