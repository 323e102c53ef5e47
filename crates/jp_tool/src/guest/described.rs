//! What a tool needs to speak `jp:tool@0.2.0`: it describes itself, answers in parts, tells how far
//! it is, and has the host do things on its behalf.
//!
//! ```ignore
//! struct Clock;
//! impl jp_tool::guest::DescribedGuest for Clock {
//!     fn describe() -> jp_tool::Description {
//!         jp_tool::Description::default()
//!     }
//!     fn run(_: jp_tool::Context, _: &str, _: &str, _: &str) -> jp_tool::Answer {
//!         match jp_tool::guest::described::call_capability("clock.now_unix", "{}") {
//!             Ok(result) => result.into(),
//!             Err(error) => jp_tool::Outcome::fail(error).into(),
//!         }
//!     }
//! }
//! jp_tool::export_described_tool!(Clock);
//! ```

mod answer;

use super::from_wit_context;
use crate::{Answer, Context, Description};

/// Generated bindings; use [`DescribedGuest`] instead.
#[doc(hidden)]
pub mod bindings {
    wit_bindgen::generate!({
        world: "described-tool",
        path: "wit/0.2.0",
        with: {
            "jp:tool/types@0.1.0": crate::guest::bindings::jp::tool::types,
            "wasi:io/poll@0.2.0": generate,
        },
        pub_export_macro: true,
        export_macro_name: "export_described_bindings",
        default_bindings_module: "jp_tool::guest::described::bindings",
    });
}

pub use bindings::jp::tool0_2_0::{capabilities::CapabilityError, events::Level};

/// A tool compiled to Wasm that describes itself.
pub trait DescribedGuest {
    /// Says which tools this component holds.
    fn describe() -> Description;

    /// Runs the tool, as [`ToolGuest::run`](super::ToolGuest::run) does. Whatever an
    /// [`Outcome`](crate::Outcome) or [`Content`](crate::Content) can say becomes an answer with
    /// `into`.
    fn run(context: Context, name: &str, arguments: &str, answers: &str) -> Answer;
}

/// Tells whoever waits for the tool how far it is; `fraction` lies between 0 and 1.
pub fn progress(message: &str, fraction: Option<f64>) {
    bindings::jp::tool0_2_0::events::progress(message, fraction);
}

/// Adds a line to the log of the call.
pub fn log(level: Level, text: &str) {
    bindings::jp::tool0_2_0::events::log(level, text);
}

/// Has the host do something on the tool's behalf: arguments and result are JSON.
///
/// # Errors
///
/// When the host refused or failed; `code` says which.
pub fn call_capability(name: &str, arguments: &str) -> Result<String, CapabilityError> {
    bindings::jp::tool0_2_0::capabilities::call_capability(name, arguments)
}

/// A capability call under way. It goes on while the tool waits for anything, and is given up when it
/// is dropped.
pub struct PendingCall(bindings::jp::tool0_2_0::capabilities::PendingCall);

/// Starts what [`call_capability`] does and returns at once.
#[must_use]
pub fn start_capability(name: &str, arguments: &str) -> PendingCall {
    PendingCall(bindings::jp::tool0_2_0::capabilities::start_capability(
        name, arguments,
    ))
}

impl PendingCall {
    /// Waits for the answer.
    ///
    /// # Errors
    ///
    /// When the host refused or failed; `code` says which.
    pub fn wait(self) -> Result<String, CapabilityError> {
        loop {
            self.0.subscribe().block();
            if let Some(answer) = self.0.take() {
                return answer;
            }
        }
    }
}

/// Waits until one of several calls has its answer, and returns where those that have one stand.
///
/// # Panics
///
/// When there is no call to wait for.
#[must_use]
pub fn wait_for_any(calls: &[PendingCall]) -> Vec<usize> {
    let pollables: Vec<_> = calls.iter().map(|call| call.0.subscribe()).collect();
    let pollables: Vec<_> = pollables.iter().collect();
    let ready = bindings::wasi::io::poll::poll(&pollables);
    ready
        .into_iter()
        .map(|place| usize::try_from(place).unwrap_or_default())
        .collect()
}

/// Bytes that the tool was given; they stay with the host and are read piece by piece.
pub struct ReceivedBlob(bindings::jp::tool0_2_0::content::Blob);

/// Returns the bytes for which a name stands: see `received` of the contract. Nothing when there are none
/// of that name.
#[must_use]
pub fn received(name: &str) -> Option<ReceivedBlob> {
    bindings::jp::tool0_2_0::content::received(name).map(ReceivedBlob)
}

impl ReceivedBlob {
    /// Returns how many bytes there are.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.0.size()
    }

    /// Returns bytes from a place on: at most 64 KiB, and none past the end.
    #[must_use]
    pub fn read(&self, offset: u64, most: u32) -> Vec<u8> {
        self.0.read(offset, most)
    }

    /// Takes more bytes, which traps: what a tool was given cannot grow.
    pub fn append(&self, bytes: &[u8]) {
        self.0.append(bytes);
    }

    /// Returns all bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let piece = self.read(bytes.len() as u64, u32::MAX);
            if piece.is_empty() {
                return bytes;
            }
            bytes.extend(piece);
        }
    }
}

/// Describes a [`DescribedGuest`] as JSON.
#[doc(hidden)]
#[must_use]
pub fn describe_bound<T: DescribedGuest>() -> String {
    // A description is text and JSON values, which can always be written.
    serde_json::to_string(&T::describe()).unwrap_or_default()
}

/// Runs a [`DescribedGuest`] with the types of the bindings.
#[doc(hidden)]
pub fn run_bound<T: DescribedGuest>(
    context: super::wit::Context,
    name: &str,
    arguments: &str,
    answers: &str,
) -> bindings::exports::jp::tool0_2_0::guest::Outcome {
    let context = from_wit_context(context);
    answer::of(T::run(context, name, arguments, answers))
}

/// Exports a [`DescribedGuest`](crate::guest::DescribedGuest) as a `jp:tool@0.2.0` component.
///
/// Expands to nothing on other targets, so that the same crate can be tested natively.
#[macro_export]
macro_rules! export_described_tool {
    ($tool:ty) => {
        #[cfg(target_arch = "wasm32")]
        #[expect(unsafe_code, reason = "exports of a component are raw symbols")]
        const _: () = {
            struct Bound;

            impl $crate::guest::described::bindings::exports::jp::tool0_2_0::guest::Guest for Bound {
                fn describe() -> String {
                    $crate::guest::described::describe_bound::<$tool>()
                }

                fn run(
                    context: $crate::guest::bindings::Context,
                    name: String,
                    arguments: String,
                    answers: String,
                ) -> $crate::guest::described::bindings::exports::jp::tool0_2_0::guest::Outcome {
                    $crate::guest::described::run_bound::<$tool>(
                        context, &name, &arguments, &answers,
                    )
                }
            }

            $crate::guest::described::bindings::export_described_bindings!(
                Bound with_types_in $crate::guest::described::bindings
            );
        };
    };
}
