//! What the host does on a tool's behalf: the capabilities a guest can call by name, one module per
//! family, and the HTTP client under them.
//!
//! Entry point: [`Broker::call`]. A new capability is one more row of [`table`] and a module that
//! holds its [`Capability`]. It knows nothing of Wasm, configuration files or terminals; grants are
//! composed elsewhere and handed in with each call.

mod broker;
mod capability;
mod clock;
mod error;
pub mod http;
mod log;
mod services;
mod table;

pub use broker::{Broker, Caller, answered};
pub use capability::{Arguments, Capability, CapabilityCall, Spec};
pub use error::{CallError, Code};
pub use services::{LogSink, Services};
pub use table::table;
