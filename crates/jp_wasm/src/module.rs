//! Core modules as tools: JSON goes in and comes out through the module's own memory (ABI 1 and 2),
//! or through the standard streams of a WASI program.
//!
//! A module names what it wants done on its behalf in its answer, and somebody else does it; what
//! that is, nothing here knows.

mod answer;
mod exchange;
mod shape;

use jp_tool::{Action, Answer, Outcome};
use wasmtime::{Engine, Instance, InstancePre, Linker, Module, ModuleExport, Store};
use wasmtime_wasi::I32Exit;

use self::{
    answer::Said,
    exchange::Exchange,
    shape::{Shape, WayIn},
};
use crate::{
    call::GuestCall,
    capability::{self, Afterwards, MAX_CALLS},
    error::{Error, Signs, TooManyCalls, causes, classify},
    execute::bytes,
    guest::ToolKind,
    host::State,
    preview1,
};

/// Arguments that every module is given, however small its output limit.
const MIN_INPUT: usize = 256 * 1024;

/// How a core module is entered and spoken to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModuleAbi<'a> {
    /// The export that is called; by default `execute`, or else `invoke`, or else `_start`.
    pub entrypoint: Option<&'a str>,
    /// What the configuration says the module speaks.
    pub version: AbiVersion,
}

/// A version of the module ABI.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AbiVersion {
    /// One capability call, whose result is final.
    #[default]
    One,
    /// A module that exports `resume` sees the result of a capability call and may call again.
    Two,
}

/// A linked module.
pub(crate) struct ModulePre {
    pre: InstancePre<State>,
    shape: Shape,
}

impl ModulePre {
    /// Links a module, or says why it is not a tool.
    pub(crate) fn link(module: &Module) -> Result<Self, Error> {
        let failed = |error: wasmtime::Error| Error::InstantiateModule {
            reason: causes(&error),
        };
        let shape = Shape::of(module)?;
        let mut linker = Linker::new(module.engine());
        if shape.wasi {
            preview1::add_to_linker(&mut linker).map_err(failed)?;
        }
        let pre = linker.instantiate_pre(module).map_err(failed)?;
        Ok(Self { pre, shape })
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.pre.module().engine()
    }

    pub(crate) fn kind(&self) -> ToolKind {
        self.shape.kind()
    }

    /// Finds the export that a call enters by.
    pub(crate) fn way_in(&self, name: Option<&str>) -> Result<WayIn, Error> {
        Ok(self.shape.way_in(self.pre.module(), name)?)
    }

    /// Whether a call that enters here runs a program.
    pub(crate) fn is_command(&self, name: Option<&str>) -> bool {
        matches!(self.way_in(name), Ok(WayIn::Command(_)))
    }

    /// Brings a fresh instance to life, as far as it has to be before it can be called.
    pub(crate) async fn instantiate(&self, store: &mut Store<State>) -> wasmtime::Result<Instance> {
        let instance = self.pre.instantiate_async(&mut *store).await?;
        if let Some(initialize) = self.shape.initialize {
            let initialize = function::<(), ()>(&instance, store, initialize)?;
            initialize.call_async(store, ()).await?;
        }
        Ok(instance)
    }

    /// Calls an instance that this made.
    pub(crate) async fn call(
        &self,
        store: &mut Store<State>,
        instance: Instance,
        call: &GuestCall<'_>,
    ) -> Result<Answer, Error> {
        if call.context.action == Action::FormatArguments {
            // Whatever the module would do now, it was not asked to.
            return Ok(Outcome::failed("a core module cannot format its arguments").into());
        }
        let (size, most) = (call.arguments.len(), max_input(call));
        if size > most {
            let message = format!("WASM tool input too large: {size} bytes (max {most})");
            return Ok(Outcome::failed(message).into());
        }
        match self.way_in(call.module.entrypoint)? {
            WayIn::Command(start) => command(store, instance, start, call).await,
            WayIn::Memory(entry) => self.converse(store, instance, entry, call).await,
        }
    }

    /// Lets the module answer, and go on with what its capability calls brought.
    async fn converse(
        &self,
        store: &mut Store<State>,
        instance: Instance,
        entry: ModuleExport,
        call: &GuestCall<'_>,
    ) -> Result<Answer, Error> {
        let host = |error: wasmtime::Error| Error::Host {
            reason: causes(&error),
        };
        let entry = function(&instance, store, entry).map_err(host)?;
        let resume = match (self.shape.resume, call.module.version) {
            (Some(resume), AbiVersion::Two) => {
                Some(function(&instance, store, resume).map_err(host)?)
            }
            _ => None,
        };
        let memory = self.shape.memory.as_ref().map_err(|missing| Error::Host {
            reason: missing.to_string(),
        })?;
        let mut exchange = Exchange::new(store, &instance, memory, call).map_err(host)?;
        let mut said = exchange.ask(&entry, call.arguments).await?;
        let version = if resume.is_some() {
            AbiVersion::Two
        } else {
            AbiVersion::One
        };
        for made in 0.. {
            let (name, arguments) = match answer::read(said, version)? {
                Said::Answer(answer) => return Ok(answer),
                Said::Call { name, arguments } => (name, arguments),
            };
            if made == MAX_CALLS {
                break;
            }
            let afterwards = match resume {
                Some(_) => Afterwards::GuestGoesOn,
                None => Afterwards::CallEnds,
            };
            let asked = (name.as_str(), arguments.as_str());
            let result = capability::answer(&call.outside, call.name, asked, afterwards).await;
            let Some(resume) = &resume else {
                return Ok(answer::of_capability(&name, result));
            };
            let told = match result {
                Ok(result) => answer::told(&name, &result),
                Err(error) => error.json,
            };
            said = exchange.ask(resume, &told).await?;
        }
        Err(Error::Trap {
            reason: TooManyCalls.to_string(),
        })
    }
}

/// Runs a program: arguments on standard input, the answer on standard output.
async fn command(
    store: &mut Store<State>,
    instance: Instance,
    start: ModuleExport,
    call: &GuestCall<'_>,
) -> Result<Answer, Error> {
    store.data_mut().preview1.set_stdin(call.arguments);
    let started = function::<(), ()>(&instance, store, start);
    let ended = match started {
        Ok(start) => start.call_async(&mut *store, ()).await,
        Err(error) => Err(error),
    };
    let code = match &ended {
        Ok(()) => 0,
        Err(error) => match error.downcast_ref() {
            Some(I32Exit(code)) => *code,
            None => return Err(classify(error, &module_signs(store))),
        },
    };
    let streams = &store.data().streams;
    let stdout = streams.take_stdout();
    if code != 0 {
        return Ok(answer::of_exit(code, &stdout, &streams.peek_stderr()));
    }
    let text = exchange::utf8(stdout)?;
    match answer::read(text, AbiVersion::One)? {
        Said::Answer(answer) => Ok(answer),
        Said::Call { name, arguments } => {
            let asked = (name.as_str(), arguments.as_str());
            let ends = Afterwards::CallEnds;
            let result = capability::answer(&call.outside, call.name, asked, ends).await;
            Ok(answer::of_capability(&name, result))
        }
    }
}

/// Finds a function whose type was checked when the module was linked.
fn function<P: wasmtime::WasmParams, R: wasmtime::WasmResults>(
    instance: &Instance,
    store: &mut Store<State>,
    export: ModuleExport,
) -> wasmtime::Result<wasmtime::TypedFunc<P, R>> {
    let found = instance.get_module_export(&mut *store, &export);
    match found.and_then(wasmtime::Extern::into_func) {
        Some(found) => found.typed(&*store),
        None => Err(wasmtime::Error::msg("an export is gone")),
    }
}

/// What is known about a module when it fails. What it hands over is measured by us, so no failure
/// of wasmtime means too much output.
fn module_signs(store: &Store<State>) -> Signs {
    Signs {
        memory_refused: store.data().limiter.refused(),
        could_exceed_output: false,
    }
}

/// What may be handed to a module in one go.
fn max_input(call: &GuestCall<'_>) -> usize {
    bytes(call.limits.output_bytes).clamp(MIN_INPUT, i32::MAX as usize)
}
