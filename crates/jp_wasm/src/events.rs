//! What a component reports and asks while it runs, in `jp:tool@0.2.0`: how far it is, lines for its
//! log, and capability calls. Who listens and who answers is handed in with the call.

use jp_tool::GivenBlob;
use wasmtime::component::{HasSelf, Resource};
use wasmtime_wasi::WasiView as _;

use crate::{
    call::{GuestCall, Outside},
    capability::{self, Afterwards, MAX_CALLS},
    convert::described::jp::tool0_2_0::{capabilities, content, events, inputs},
    error::{OutputFull, TooManyCalls},
    execute::bytes,
    host::State,
    pending::{self, PendingCall},
};

/// What an event costs beside its text, so that nobody sends empty ones for ever.
const EVENT: usize = 64;

/// Receives what a guest reports while it runs.
pub trait GuestEvents: Send + Sync {
    /// Hears how far it is; the fraction lies between 0 and 1.
    fn progress(&self, message: &str, fraction: Option<f64>);

    /// Hears a line of its log.
    fn log(&self, level: LogLevel, text: &str);
}

/// How much a line of a guest's log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// For the tool's author.
    Debug,
    /// Worth knowing.
    Info,
    /// Worth looking at.
    Warn,
    /// Something failed.
    Error,
}

/// Where a guest's reports and questions go, and how much of them there was.
#[derive(Default)]
pub(crate) struct Outward {
    outside: Outside,
    tool: String,
    made: usize,
    room: usize,
}

impl Outward {
    /// Connects a guest for one call.
    pub(crate) fn of(call: &GuestCall<'_>) -> Self {
        Self {
            outside: call.outside.clone(),
            tool: call.name.to_owned(),
            made: 0,
            room: bytes(call.limits.output_bytes),
        }
    }

    /// Makes one with so much room for output and nobody who listens.
    #[cfg(test)]
    pub(crate) fn with_room(room: usize) -> Self {
        Self {
            room,
            ..Self::default()
        }
    }

    /// Counts text that goes out. It is output like any other: what is too much stops the call.
    fn count(&mut self, text: &str) -> Result<(), OutputFull> {
        self.count_bytes(text.len().saturating_add(EVENT))
    }

    /// Counts a capability call, which is made only if there were few enough before it.
    fn count_call(&mut self) -> Result<(), TooManyCalls> {
        if self.made == MAX_CALLS {
            return Err(TooManyCalls);
        }
        self.made += 1;
        Ok(())
    }

    /// Hands over bytes that the guest was given, if there are any of this name.
    pub(crate) fn take_given(&self, name: &str) -> Option<GivenBlob> {
        self.outside.given.as_ref()?.take(name)
    }

    /// Counts bytes that the host keeps for the guest.
    pub(crate) fn count_bytes(&mut self, size: usize) -> Result<(), OutputFull> {
        self.room = self.room.checked_sub(size).ok_or(OutputFull)?;
        Ok(())
    }
}

impl events::Host for State {
    fn progress(&mut self, message: String, fraction: Option<f64>) -> wasmtime::Result<()> {
        self.touched = true;
        self.outward.count(&message)?;
        if let Some(events) = &self.outward.outside.events {
            let fraction = fraction.filter(|fraction| fraction.is_finite());
            events.progress(&message, fraction.map(|fraction| fraction.clamp(0.0, 1.0)));
        }
        Ok(())
    }

    fn log(&mut self, level: events::Level, text: String) -> wasmtime::Result<()> {
        self.touched = true;
        self.outward.count(&text)?;
        let level = match level {
            events::Level::Debug => LogLevel::Debug,
            events::Level::Info => LogLevel::Info,
            events::Level::Warn => LogLevel::Warn,
            events::Level::Error => LogLevel::Error,
        };
        if let Some(events) = &self.outward.outside.events {
            events.log(level, &text);
        }
        Ok(())
    }
}

impl inputs::Host for State {}

impl capabilities::Host for State {
    async fn call_capability(
        &mut self,
        name: String,
        args: String,
    ) -> wasmtime::Result<Result<String, capabilities::CapabilityError>> {
        self.touched = true;
        self.outward.count_call()?;
        let Outward { outside, tool, .. } = &self.outward;
        let asked = (name.as_str(), args.as_str());
        let answer = capability::answer(outside, tool, asked, Afterwards::GuestGoesOn);
        Ok(pending::told(answer.await))
    }

    async fn start_capability(
        &mut self,
        name: String,
        args: String,
    ) -> wasmtime::Result<Resource<PendingCall>> {
        self.touched = true;
        self.outward.count_call()?;
        let (outside, tool) = (self.outward.outside.clone(), self.outward.tool.clone());
        let call = PendingCall::start(async move {
            let asked = (name.as_str(), args.as_str());
            capability::answer(&outside, &tool, asked, Afterwards::GuestGoesOn).await
        });
        Ok(self.ctx().table.push(call.await)?)
    }
}

/// Gives a linker the interface of this name, if it is one of those above.
pub(crate) fn link(
    linker: &mut wasmtime::component::Linker<State>,
    interface: &str,
) -> wasmtime::Result<()> {
    match interface {
        "jp:tool/events" => events::add_to_linker::<State, HasSelf<State>>(linker, |state| state),
        "jp:tool/content" => content::add_to_linker::<State, HasSelf<State>>(linker, |state| state),
        "jp:tool/inputs" => inputs::add_to_linker::<State, HasSelf<State>>(linker, |state| state),
        "jp:tool/capabilities" => {
            capabilities::add_to_linker::<State, HasSelf<State>>(linker, |state| state)
        }
        _ => Ok(()),
    }
}
