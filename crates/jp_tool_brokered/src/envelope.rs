//! What a module answers with: a capability call, or what is wrong with the arguments.

use serde_json::{Map, Value};

/// The longest part of a caller's own words that is repeated to it.
const MAX_QUOTE: usize = 64;

/// Why no call was made. The texts are part of the ABI: callers compare them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    NotAnObject,
    TooLarge { limit: usize },
    UnsupportedAction,
    Missing { key: String },
    Invalid { key: String, must: String },
    Unknown { key: String },
}

impl Refusal {
    fn text(&self) -> String {
        match self {
            Self::NotAnObject => "Input must be a JSON object".to_owned(),
            Self::TooLarge { limit } => format!("Input is larger than {limit} bytes"),
            Self::UnsupportedAction => "Unsupported action".to_owned(),
            Self::Missing { key } => format!("Missing {key}"),
            Self::Invalid { key, must } => format!("Invalid {key}: must be {must}"),
            Self::Unknown { key } => format!("Unknown argument {}", quote(key)),
        }
    }

    /// Returns the answer that says so.
    pub(crate) fn answer(&self) -> Value {
        object([
            ("status", "error".into()),
            ("code", "invalid_args".into()),
            ("error", self.text().into()),
        ])
    }
}

/// Returns the answer that asks the host for `name`.
pub(crate) fn capability_call(name: &str, arguments: Map<String, Value>) -> Value {
    object([
        ("status", "capability_call".into()),
        ("abi_version", 1.into()),
        (
            "capability_call",
            object([("name", name.into()), ("args", arguments.into())]),
        ),
    ])
}

/// Makes an object. `json!` could do it too, and would add a tenth to each module for failures that
/// cannot happen.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(
        fields
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// Shortens what a caller wrote and says so: a name may be as long as the input.
fn quote(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTE) {
        Some((end, _)) => {
            let start = text.get(..end).unwrap_or_default();
            format!("{start}… [{} bytes]", text.len())
        }
        None => text.to_owned(),
    }
}
