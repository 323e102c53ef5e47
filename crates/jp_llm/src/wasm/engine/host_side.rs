//! The host's side of one run of a guest: whom the guest reaches while it runs, all behind one value.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use jp_audit::{Log, Waiting};
use jp_broker::{Broker, Caller};
use jp_tool::{GivenBlobs, Outcome};
use jp_wasm::{Outside, ToolKind};

use crate::{
    Events, ToolError,
    runtime::{Invocation, Run, Stopped},
    tool::{Cause, Stop, record::CapabilityRecord},
};

/// Answers the capability calls of one run of a guest, sends its HTTP requests and passes on what it
/// reports. What was not granted is refused here too, so that it is written down.
pub(super) struct HostSide {
    /// None where nothing was granted that it could do.
    pub(super) broker: Option<Arc<Broker>>,
    pub(super) caller: Caller,
    /// Who hears what the guest reports.
    pub(super) events: Option<Arc<dyn Events>>,
    pub(super) audit: Option<Arc<Log>>,
    pub(super) record: CapabilityRecord,
    /// Where the record of the call looks for one that goes before it.
    pub(super) unwritten: Arc<Mutex<Option<Waiting>>>,
    /// Bytes of a response's body: more than its memory the guest could not hold.
    pub(super) max_body: usize,
    /// Whether the call ended because it was not allowed to ask for what it asked for.
    pub(super) denied: AtomicBool,
    /// What the last request was denied for; a code is all that the guest is told.
    pub(super) refusal: Mutex<Option<String>>,
}

impl HostSide {
    /// Makes the host's side of a run; nothing for a guest that reaches nothing outside.
    pub(super) fn of(
        invocation: &Invocation<'_>,
        kind: ToolKind,
        given: Option<&Arc<GivenBlobs>>,
    ) -> Result<Option<Arc<Self>>, ToolError> {
        let (calls, requests) = (kind.calls_capabilities(), kind.makes_requests());
        let events = invocation.host.caller().events.clone();
        if !calls && !requests && events.is_none() {
            return Ok(None);
        }
        let granted = invocation.grant().capabilities();
        let needs_broker =
            calls && !granted.brokered.is_none() || requests && !granted.net.is_none();
        let broker = match needs_broker {
            true => invocation.host.broker()?.cloned(),
            false => None,
        };
        Ok(Some(Arc::new(Self {
            broker,
            caller: super::calls::caller(invocation, given.cloned()),
            events,
            audit: invocation.host.audit().cloned(),
            record: CapabilityRecord::of(invocation.pass),
            unwritten: Arc::clone(&invocation.unwritten),
            max_body: usize::try_from(invocation.left.memory_bytes).unwrap_or(usize::MAX),
            denied: AtomicBool::new(false),
            refusal: Mutex::default(),
        })))
    }

    /// Returns whom a guest of a kind reaches.
    pub(super) fn outside(self: &Arc<Self>, kind: ToolKind) -> Outside {
        Outside {
            calls: kind.calls_capabilities().then(|| Arc::clone(self) as _),
            events: self.events.is_some().then(|| Arc::clone(self) as _),
            outgoing: kind.makes_requests().then(|| Arc::clone(self) as _),
            given: self.caller.given.clone(),
        }
    }

    /// Adds to what a run left behind what was denied to it meanwhile.
    pub(super) fn add_to(&self, run: Run) -> Run {
        let refusal = self.refusal.lock();
        let refusal = refusal.unwrap_or_else(PoisonError::into_inner).take();
        let run = Run {
            denied: self.denied.load(Ordering::Relaxed),
            ..run
        };
        match refusal {
            Some(denied) => with_refusal(run, &denied),
            None => run,
        }
    }
}

/// Adds what a request was denied for to what a run failed with, so that its reader learns how to grant it.
fn with_refusal(run: Run, denied: &str) -> Run {
    let with = |message: String| format!("{message}\n{denied}");
    let result = match run.result {
        Ok(Outcome::Error {
            message,
            trace,
            transient,
        }) => Ok(Outcome::Error {
            message: with(message),
            trace,
            transient,
        }),
        Err(Stopped::Failed(error)) => Err(Stopped::Failed(error.map_cause(|cause| match cause {
            Cause::Stopped(Stop::WasmTrap(reason)) => Stop::WasmTrap(with(reason)).into(),
            other => other,
        }))),
        other => other,
    };
    let mut beside = run.beside;
    if let Some(problem) = &mut beside.problem {
        problem.message = with(std::mem::take(&mut problem.message));
    }
    Run {
        result,
        beside,
        ..run
    }
}
