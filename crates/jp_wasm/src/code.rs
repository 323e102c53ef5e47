//! Compiled code of both kinds of Wasm file. What a file is, its bytes say, never its name.

use wasmtime::{Engine, Module, component::Component};

use crate::error::Error;
#[cfg(feature = "compiler")]
use crate::error::causes;

/// What some bytes would be compiled as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    /// A component.
    Component,
    /// A core module.
    Module,
}

impl Layer {
    /// Reads the field after the version, which is all that distinguishes the two. Bytes that are
    /// neither are refused by the code that reads the rest of them.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        match bytes.get(6..8) {
            Some([1, 0]) => Self::Component,
            _ => Self::Module,
        }
    }

    /// Returns the word that keeps the two apart in names and under MACs.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Module => "module",
        }
    }
}

/// Machine code that can be linked.
#[derive(Clone)]
pub(crate) enum Code {
    Component(Component),
    Module(Module),
}

impl Code {
    /// Compiles bytes.
    #[cfg(feature = "compiler")]
    pub(crate) fn compile(engine: &Engine, bytes: &[u8]) -> Result<Self, Error> {
        let made = match Layer::of(bytes) {
            Layer::Component => Component::new(engine, bytes).map(Self::Component),
            Layer::Module => Module::new(engine, bytes).map(Self::Module),
        };
        made.map_err(|error| Error::Compile {
            reason: causes(&error),
        })
    }

    /// Refuses: there is no compiler.
    #[cfg(not(feature = "compiler"))]
    pub(crate) fn compile(_: &Engine, _: &[u8]) -> Result<Self, Error> {
        Err(no_compiler())
    }

    pub(crate) const fn layer(&self) -> Layer {
        match self {
            Self::Component(_) => Layer::Component,
            Self::Module(_) => Layer::Module,
        }
    }

    /// Refuses: what nothing has compiled here came from bytes that are there already.
    #[cfg(not(feature = "compiler"))]
    pub(crate) fn serialize(&self) -> Result<Vec<u8>, Error> {
        Err(no_compiler())
    }

    /// Returns the code as bytes that the cache can load again.
    #[cfg(feature = "compiler")]
    pub(crate) fn serialize(&self) -> Result<Vec<u8>, Error> {
        let bytes = match self {
            Self::Component(component) => component.serialize(),
            Self::Module(module) => module.serialize(),
        };
        bytes.map_err(|error| Error::Host {
            reason: causes(&error),
        })
    }
}

#[cfg(not(feature = "compiler"))]
fn no_compiler() -> Error {
    let reason = "this build of jp has no compiler and runs precompiled tools only".to_owned();
    Error::Compile { reason }
}
