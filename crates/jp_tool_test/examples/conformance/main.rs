//! The tools that the conformance suite of MCP expects of a server, in one component: `cargo xtask
//! conformance` has `jp serve` offer them. What each must do is said by the suite.

#[cfg(target_arch = "wasm32")]
mod asks;
#[cfg(target_arch = "wasm32")]
mod list;
#[cfg(target_arch = "wasm32")]
mod media;
#[cfg(target_arch = "wasm32")]
mod says;
#[cfg(target_arch = "wasm32")]
mod works;

#[cfg(target_arch = "wasm32")]
mod export {
    use jp_tool::{Answer, Context, Description, Outcome, guest::DescribedGuest};
    use serde_json::Value;

    use crate::{asks, list, says, works};

    struct Conformance;

    impl DescribedGuest for Conformance {
        fn describe() -> Description {
            list::all()
        }

        fn run(context: Context, name: &str, arguments: &str, answers: &str) -> Answer {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
            let answers: Value = serde_json::from_str(answers).unwrap_or_default();
            says::run(name)
                .or_else(|| asks::run(name, &arguments, &answers))
                .or_else(|| works::run(name, &context, &arguments))
                .unwrap_or_else(|| Outcome::failed(format!("unknown tool `{name}`")).into())
        }
    }

    jp_tool::export_described_tool!(Conformance);
}
