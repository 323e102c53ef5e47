//! The `learn` tool: lists and loads the subjects of one knowledge-base topic.
//!
//! [`run`] is the whole tool, from JSON arguments to outcome; [`execute`] is the same without JSON.
//! The host uses [`scan`] and [`knowledge_section`] to build the system prompt and to decide whether
//! the tool is offered at all. Everything works alike natively and as a Wasm component. This crate
//! knows neither the configuration nor which topics exist: it is handed one directory.

mod arguments;
#[cfg(unix)]
mod beneath;
mod execute;
mod knowledge;
mod limits;
mod load;
mod pattern;
mod render;
mod request;
mod scan;
mod selector;
mod slug;
#[cfg(test)]
mod tests;
mod topic_dir;
mod walk;

pub use arguments::run;
#[cfg(unix)]
pub use beneath::FileBeneath;
pub use execute::{LearnInput, execute};
pub use knowledge::{LearnedSubject, Preloaded, TopicPrompt, knowledge_section};
pub use limits::MAX_ENTRIES;
#[cfg(not(target_arch = "wasm32"))]
pub use scan::scan_beneath;
pub use scan::{Scan, ScanError, Subject, scan};

#[cfg(unix)]
pub use topic_dir::Stamp;

#[cfg(target_arch = "wasm32")]
mod guest {
    //! The export of the component; translates nothing that [`crate::run`] does not know.

    struct LearnTool;

    impl jp_tool::guest::ToolGuest for LearnTool {
        fn run(
            ctx: jp_tool::Context,
            _name: &str,
            arguments: &str,
            _answers: &str,
        ) -> jp_tool::Outcome {
            crate::run(&ctx, arguments)
        }
    }

    jp_tool::export_tool!(LearnTool);
}
