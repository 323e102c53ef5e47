//! The contract between jp and its tools: what a tool is given and what it may answer.
//!
//! Host and guests share these types. Nothing here does I/O, runs anything or knows which runtime
//! executes a tool; [`wit/tool.wit`](../wit/tool.wit) is the same contract for Wasm components, and
//! [`wit/0.2.0`](../wit/0.2.0/tool.wit) its second version.

mod answer;
mod content;
mod context;
mod description;
#[cfg(feature = "guest")]
pub mod guest;
mod input;
mod outcome;
mod question;
mod tool;

pub use answer::{Answer, Beside, Problem};
pub use content::{
    Annotations, Blob, Content, EmbeddedResource, GivenBlob, GivenBlobs, InvalidBase64, Media,
    NoRoom, Part, Resource, ResourceContents, ResourceLink, Role, TextPart,
};
pub use context::{Action, Context};
pub use description::{DescribedTool, Description, DescriptionError};
pub use input::{Form, Input, Sample, SampleMessage};
pub use outcome::Outcome;
pub use question::{AnswerType, AnswerTypeError, Choice, Question};
pub use tool::{Tool, ToolRequest, ToolResponse, ToolStatus};

/// The text of `jp:tool@0.1.0`, exactly as tools elsewhere are built against it.
pub const WIT_0_1_0: &str = include_str!("../wit/tool.wit");

/// The text of `jp:tool@0.2.0`, which uses the types of 0.1.0.
pub const WIT_0_2_0: &str = include_str!("../wit/0.2.0/tool.wit");

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    /// Components built by strangers rely on this text: a change needs a new package version.
    #[test]
    fn contract_0_1_0_is_frozen() {
        let hex: String = Sha256::digest(super::WIT_0_1_0)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(
            hex,
            "385b3da6ded5de4883e63ae8cee21ee6fce0d5aeaa52eb8d809fecc162c1fe99"
        );
    }
}
