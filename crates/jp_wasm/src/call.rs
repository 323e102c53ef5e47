//! What a call hands to a guest, and what is left when it has ended.

use std::sync::Arc;

use jp_policy::Limits;
use jp_tool::{Answer, Beside, Context, GivenBlobs, Outcome};
use tokio_util::sync::CancellationToken;

use crate::{
    capability::CapabilityCalls, error::Error, events::GuestEvents, host::WasiContext,
    http::Outgoing, module::ModuleAbi,
};

/// Everything one call hands to a guest.
pub struct GuestCall<'a> {
    /// The name of the tool; one component may hold several.
    pub name: &'a str,
    /// The arguments, as JSON.
    pub arguments: &'a str,
    /// The answers to earlier questions, as JSON.
    pub answers: &'a str,
    /// Where the guest runs and what it is asked.
    pub context: &'a Context,
    /// The directories it sees.
    pub wasi: WasiContext,
    /// What it may use.
    pub limits: &'a Limits,
    /// Stops the call when its caller loses interest.
    pub cancel: Option<CancellationToken>,
    /// Whom it reaches meanwhile.
    pub outside: Outside,
    /// How a core module is entered and spoken to; components have no use for it.
    pub module: ModuleAbi<'a>,
}

/// Whom a guest reaches while it runs; by default nobody.
#[derive(Clone, Default)]
pub struct Outside {
    /// Answers its capability calls; without it there are none.
    pub calls: Option<Arc<dyn CapabilityCalls>>,
    /// Receives what the guest reports meanwhile; without it the reports are dropped.
    pub events: Option<Arc<dyn GuestEvents>>,
    /// Makes the HTTP requests of a component; without it each is denied.
    pub outgoing: Option<Arc<dyn Outgoing>>,
    /// The bytes that a component is given; without them there are none.
    pub given: Option<Arc<GivenBlobs>>,
}

/// What a guest is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// To do what the call says.
    Run,
    /// To say what it is.
    Describe,
}

/// What a guest left behind, whether it answered or not.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Traces {
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// The fuel it used.
    pub fuel: u64,
}

/// A call that has ended.
#[derive(Debug)]
pub struct Ended {
    /// What the guest said, or why it said nothing.
    pub result: Result<Outcome, Error>,
    /// What the guest said beside that.
    pub beside: Beside,
    /// What it left behind.
    pub traces: Traces,
}

impl Ended {
    /// Makes a call that ended before the guest ran.
    #[must_use]
    pub fn failed(error: Error) -> Self {
        Self::new(Err(error), Traces::default())
    }

    pub(crate) fn new(result: Result<Answer, Error>, traces: Traces) -> Self {
        let (result, beside) = match result {
            Ok(Answer { outcome, beside }) => (Ok(outcome), beside),
            Err(error) => (Err(error), Beside::default()),
        };
        Self {
            result,
            beside,
            traces,
        }
    }
}
