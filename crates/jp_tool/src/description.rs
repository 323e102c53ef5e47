//! What a tool says about itself, so that nobody writes it down twice.

use std::{error::Error, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tools that one component may hold.
const MAX_TOOLS: usize = 1000;

/// The tools of one component, as `describe` of `jp:tool@0.2.0` states them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Description {
    /// The tools it holds.
    pub tools: Vec<DescribedTool>,
}

/// One tool, as it describes itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DescribedTool {
    /// What it is called by.
    pub name: String,

    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,

    /// One line about it.
    pub summary: String,

    /// Everything a model should know about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,

    /// The JSON Schema of its arguments.
    pub parameters: Value,

    /// The JSON Schema of its structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

/// Why a component's answer is not a valid description.
#[derive(Debug)]
pub enum DescriptionError {
    /// It is no JSON of that form.
    Unreadable(serde_json::Error),
    /// It holds more tools than anybody would look at.
    TooMany,
    /// A tool has no name.
    Nameless,
    /// Two tools have one name.
    Twice {
        /// The name.
        name: String,
    },
    /// The parameters of a tool are no schema.
    Parameters {
        /// The tool's name.
        name: String,
    },
    /// The output schema of a tool is none.
    OutputSchema {
        /// The tool's name.
        name: String,
    },
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // What could not be read may be part of the message, and as long as it likes.
            Self::Unreadable(error) => {
                let error = error.to_string();
                f.write_str(&jp_text::shorten(&error, 300))
            }
            Self::TooMany => write!(f, "more than {MAX_TOOLS} tools"),
            Self::Nameless => f.write_str("a tool has no name"),
            Self::Twice { name } => write!(f, "the tool `{name}` is there twice"),
            Self::Parameters { name } => {
                write!(f, "the parameters of `{name}` are no JSON Schema object")
            }
            Self::OutputSchema { name } => write!(
                f,
                "invalid `output_schema` of `{name}`: expected a JSON Schema object"
            ),
        }
    }
}

impl Error for DescriptionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

impl Description {
    /// Reads what a component said, and says what is wrong with it if it is no description.
    ///
    /// # Errors
    ///
    /// When it is no JSON of that form, when there are too many tools, when parameters are no object,
    /// or when a name is empty or there twice.
    pub fn read(text: &str) -> Result<Self, DescriptionError> {
        let read: Self = serde_json::from_str(text).map_err(DescriptionError::Unreadable)?;
        if read.tools.len() > MAX_TOOLS {
            return Err(DescriptionError::TooMany);
        }
        for (at, tool) in read.tools.iter().enumerate() {
            let name = || jp_text::shorten(&tool.name, 100).into_owned();
            if tool.name.is_empty() {
                return Err(DescriptionError::Nameless);
            }
            if read
                .tools
                .iter()
                .take(at)
                .any(|other| other.name == tool.name)
            {
                return Err(DescriptionError::Twice { name: name() });
            }
            if !tool.parameters.is_object() {
                return Err(DescriptionError::Parameters { name: name() });
            }
            if tool
                .output_schema
                .as_ref()
                .is_some_and(|schema| !schema.is_object())
            {
                return Err(DescriptionError::OutputSchema { name: name() });
            }
        }
        Ok(read)
    }

    /// Finds a tool by its name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&DescribedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_survives_the_round_trip() {
        let text = r#"{"tools":[{"name":"a","summary":"does a","parameters":{"type":"object"}},
            {"name":"b","title":"B","summary":"does b","description":"at length","parameters":{},"output_schema":{},"more":1}]}"#;
        let read = Description::read(text).unwrap();
        assert_eq!(
            read.tool("b").unwrap().description.as_deref(),
            Some("at length")
        );
        assert_eq!(read.tool("c"), None);
        let again = Description::read(&serde_json::to_string(&read).unwrap()).unwrap();
        assert_eq!(read, again);
    }

    #[test]
    fn what_is_no_description_says_why() {
        let long = format!(r#"{{"tools":"{}"}}"#, "x".repeat(10_000));
        for (text, words) in [
            ("", "EOF"),
            ("{}", "missing field `tools`"),
            (long.as_str(), "invalid type"),
            (
                r#"{"tools":[{"name":"","summary":"","parameters":{}}]}"#,
                "no name",
            ),
            (
                r#"{"tools":[{"name":"a","summary":"","parameters":[]}]}"#,
                "of `a` are no",
            ),
            (
                r#"{"tools":[{"name":"a","summary":"","parameters":{},"output_schema":[]}]}"#,
                "invalid `output_schema` of `a`",
            ),
            (
                r#"{"tools":[{"name":"a","summary":"","parameters":{}},{"name":"a","summary":"","parameters":{}}]}"#,
                "twice",
            ),
        ] {
            let error = Description::read(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
            assert!(error.len() < 1000);
        }
    }
}
