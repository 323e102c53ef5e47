//! What a tool needs to speak `jp:tool@0.2.0`: it describes itself, tells how far it is, and has
//! the host do things on its behalf.
//!
//! ```ignore
//! struct Clock;
//! impl jp_tool::guest::DescribedGuest for Clock {
//!     fn describe() -> jp_tool::Description {
//!         jp_tool::Description::default()
//!     }
//!     fn run(_: jp_tool::Context, _: &str, _: &str, _: &str) -> jp_tool::Outcome {
//!         match jp_tool::guest::call_capability("clock.now_unix", "{}") {
//!             Ok(result) => result.into(),
//!             Err(error) => jp_tool::Outcome::failed(error),
//!         }
//!     }
//! }
//! jp_tool::export_described_tool!(Clock);
//! ```

use super::ToolGuest;
use crate::{Context, Description, Outcome};

/// Generated bindings; use [`DescribedGuest`] instead.
#[doc(hidden)]
pub mod bindings {
    wit_bindgen::generate!({
        world: "described-tool",
        path: "wit/0.2.0",
        with: { "jp:tool/types@0.1.0": crate::guest::bindings::jp::tool::types },
        pub_export_macro: true,
        export_macro_name: "export_described_bindings",
        default_bindings_module: "jp_tool::guest::described::bindings",
    });
}

pub use bindings::jp::tool0_2_0::events::Level;

/// A tool compiled to Wasm that describes itself.
pub trait DescribedGuest {
    /// Says which tools this component holds.
    fn describe() -> Description;

    /// Runs the tool, as [`ToolGuest::run`] does.
    fn run(context: Context, name: &str, arguments: &str, answers: &str) -> Outcome;
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
/// With the error of the host as a JSON object; `code` says what kind it is.
pub fn call_capability(name: &str, arguments: &str) -> Result<String, String> {
    bindings::jp::tool0_2_0::capabilities::call_capability(name, arguments)
}

/// Describes a [`DescribedGuest`] as JSON.
#[doc(hidden)]
#[must_use]
pub fn describe_bound<T: DescribedGuest>() -> String {
    // A description is text and JSON values, which can always be written.
    serde_json::to_string(&T::describe()).unwrap_or_default()
}

/// Lets a [`DescribedGuest`] be run like any other.
#[doc(hidden)]
pub struct Run<T>(std::marker::PhantomData<T>);

impl<T: DescribedGuest> ToolGuest for Run<T> {
    fn run(context: Context, name: &str, arguments: &str, answers: &str) -> Outcome {
        T::run(context, name, arguments, answers)
    }
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
                ) -> $crate::guest::bindings::Outcome {
                    $crate::guest::run_bound::<$crate::guest::described::Run<$tool>>(
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
