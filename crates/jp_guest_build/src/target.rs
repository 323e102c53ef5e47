//! What guests are built for.

/// What a guest is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A component, with WASI.
    Component,
    /// A core module that imports nothing.
    Module,
    /// A core module with WASI preview 1, a program or not.
    Preview1,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Component, Self::Module, Self::Preview1];

    /// Returns the compiler's name for it.
    #[must_use]
    pub const fn triple(self) -> &'static str {
        match self {
            Self::Component => "wasm32-wasip2",
            Self::Module => "wasm32-unknown-unknown",
            Self::Preview1 => "wasm32-wasip1",
        }
    }

    /// Returns the feature without which the examples of a package are not built for it.
    ///
    /// The host uses the library of such a package too, and would otherwise link every example
    /// natively for nothing.
    #[must_use]
    pub const fn feature(self) -> Option<&'static str> {
        match self {
            Self::Component => None,
            Self::Module => Some("module"),
            Self::Preview1 => Some("preview1"),
        }
    }
}
