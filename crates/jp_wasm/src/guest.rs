//! A guest of any kind: linked once, brought to life for each call, and called.
//!
//! The only place that knows the kinds apart. Limits, stopping, spares and traces are the same for
//! all and live elsewhere.

use wasmtime::{Engine, Instance, Store};

use crate::{
    answer,
    call::{GuestCall, Task},
    code::Code,
    convert::{self, described, from_wit_outcome, to_wit_context},
    error::{Error, causes, classify},
    events::Outward,
    execute::signs,
    host::State,
    link::{self, Linked},
    module::ModulePre,
};

use jp_tool::Answer;

/// What kind of tool a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// A component that speaks `jp:tool`.
    Component {
        /// Whether it can say what it is, which came with version 0.2.0.
        describes: bool,
        /// Whether it can make HTTP requests: it imports `wasi:http/outgoing-handler`.
        requests: bool,
    },
    /// A core module with `memory`, `alloc`, `dealloc` and an entrypoint, and no imports.
    Module {
        /// Whether it can go on with the result of a capability call.
        resumes: bool,
    },
    /// A core module with the same exports that imports WASI preview 1.
    WasiModule {
        /// Whether it can go on with the result of a capability call.
        resumes: bool,
    },
    /// A program for WASI preview 1: arguments on standard input, the result on standard output.
    WasiCommand,
}

impl ToolKind {
    /// Says what the tool speaks, for people.
    #[must_use]
    pub const fn speaks(self) -> &'static str {
        match self {
            Self::Component {
                describes: false, ..
            } => "jp:tool@0.1.0",
            Self::Component {
                describes: true, ..
            } => "jp:tool@0.2.0",
            Self::Module { resumes: false } => "module ABI 1",
            Self::Module { resumes: true } => "module ABI 2",
            Self::WasiModule { resumes: false } => "module ABI 1, with WASI preview 1",
            Self::WasiModule { resumes: true } => "module ABI 2, with WASI preview 1",
            Self::WasiCommand => "WASI preview 1, JSON on standard input and output",
        }
    }

    /// Whether it can ask for something to be done on its behalf.
    #[must_use]
    pub const fn calls_capabilities(self) -> bool {
        !matches!(
            self,
            Self::Component {
                describes: false,
                ..
            }
        )
    }

    /// Whether it can make HTTP requests itself.
    #[must_use]
    pub const fn makes_requests(self) -> bool {
        matches!(self, Self::Component { requests: true, .. })
    }

    /// Whether it can open anything: a module without imports has no way to.
    #[must_use]
    pub const fn sees_files(self) -> bool {
        !matches!(self, Self::Module { .. })
    }
}

/// What a component of the second version of the contract exports.
const DESCRIBED: &str = "jp:tool/guest@0.2.0";

/// A linked guest.
pub(crate) enum GuestPre {
    Component {
        pre: convert::GuestPre<State>,
        requests: bool,
    },
    Described {
        pre: described::DescribedToolPre<State>,
        requests: bool,
    },
    Module(ModulePre),
}

/// A living guest.
pub(crate) enum Guest {
    Component(convert::Guest),
    Described(described::DescribedTool),
    Module(Instance),
}

impl GuestPre {
    /// Links code, or says why it is not a tool.
    pub(crate) fn link(code: &Code) -> Result<Self, Error> {
        let component = match code {
            Code::Module(module) => return ModulePre::link(module).map(Self::Module),
            Code::Component(component) => component,
        };
        let failed = |error: wasmtime::Error| Error::Instantiate {
            reason: causes(&error),
        };
        let Linked { linker, requests } = link::linker_for(component).map_err(failed)?;
        let pre = linker.instantiate_pre(component).map_err(failed)?;
        if component.get_export_index(None, DESCRIBED).is_some() {
            let pre = described::DescribedToolPre::new(pre).map_err(failed)?;
            return Ok(Self::Described { pre, requests });
        }
        let pre = convert::GuestPre::new(pre).map_err(|error| Error::Instantiate {
            reason: format!(
                "it does not export `run` of jp:tool@0.1.0: {}",
                causes(&error)
            ),
        })?;
        Ok(Self::Component { pre, requests })
    }

    /// Tells whether it is a core module.
    pub(crate) const fn is_module(&self) -> bool {
        matches!(self, Self::Module(_))
    }

    pub(crate) fn kind(&self) -> ToolKind {
        match self {
            Self::Component { requests, .. } => ToolKind::Component {
                describes: false,
                requests: *requests,
            },
            Self::Described { requests, .. } => ToolKind::Component {
                describes: true,
                requests: *requests,
            },
            Self::Module(module) => module.kind(),
        }
    }

    pub(crate) fn check_entrypoint(&self, name: Option<&str>) -> Result<(), Error> {
        match self {
            Self::Component { .. } | Self::Described { .. } => Ok(()),
            Self::Module(module) => module.way_in(name).map(drop),
        }
    }

    /// Whether a call that enters here has no other way to answer than standard output.
    pub(crate) fn needs_stdio(&self, name: Option<&str>) -> bool {
        match self {
            Self::Component { .. } | Self::Described { .. } => false,
            Self::Module(module) => module.is_command(name),
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        match self {
            Self::Component { pre, .. } => pre.engine(),
            Self::Described { pre, .. } => pre.engine(),
            Self::Module(module) => module.engine(),
        }
    }

    /// Brings a fresh guest to life.
    pub(crate) async fn instantiate(&self, store: &mut Store<State>) -> wasmtime::Result<Guest> {
        match self {
            Self::Component { pre, .. } => pre.instantiate_async(store).await.map(Guest::Component),
            Self::Described { pre, .. } => pre.instantiate_async(store).await.map(Guest::Described),
            Self::Module(module) => module.instantiate(store).await.map(Guest::Module),
        }
    }

    /// Calls a guest that this made.
    pub(crate) async fn call(
        &self,
        store: &mut Store<State>,
        guest: Guest,
        call: &GuestCall<'_>,
        task: Task,
    ) -> Result<Answer, Error> {
        let GuestCall {
            name,
            arguments,
            answers,
            ..
        } = *call;
        let answer = match (guest, self) {
            (Guest::Module(instance), Self::Module(module)) => {
                return module.call(store, instance, call).await;
            }
            (Guest::Module(_), _) => Err(wasmtime::Error::msg("a module made of a component")),
            (Guest::Component(guest), _) => {
                let context = to_wit_context(call.context);
                let said = guest.call_run(&mut *store, &context, name, arguments, answers);
                said.await.map(from_wit_outcome).map(Answer::from)
            }
            (Guest::Described(guest), _) => {
                store.data_mut().outward = Outward::of(call);
                let guest = guest.jp_tool0_2_0_guest();
                match task {
                    Task::Run => {
                        let context = to_wit_context(call.context);
                        let said = guest.call_run(&mut *store, &context, name, arguments, answers);
                        let said = said.await;
                        said.and_then(|said| answer::of(said, store.data_mut()))
                    }
                    Task::Describe => guest.call_describe(&mut *store).await.map(Answer::from),
                }
            }
        };
        answer.map_err(|error| classify(&error, &signs(store, call.limits)))
    }
}
