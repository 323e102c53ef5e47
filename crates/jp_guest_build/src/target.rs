//! What guests are built for.

/// What a guest is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A component, with WASI.
    Component,
    /// A core module that imports nothing.
    Module,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Component, Self::Module];

    /// Returns the compiler's name for it.
    #[must_use]
    pub const fn triple(self) -> &'static str {
        match self {
            Self::Component => "wasm32-wasip2",
            Self::Module => "wasm32-unknown-unknown",
        }
    }
}
