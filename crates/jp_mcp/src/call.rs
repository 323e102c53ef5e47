//! A call of a tool: what is sent, and what is made of the answer.

use std::{fmt::Write as _, time::Instant};

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{Digest, McpError, hidden};

/// A call of a tool.
pub struct Call<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// What the tool was when somebody decided to use it; a changed tool is not called.
    pub digest: Option<Digest>,
    /// When the caller stops waiting.
    pub deadline: Instant,
    /// Stops the call.
    pub cancel: &'a CancellationToken,
    /// The most bytes the result may have.
    pub max_result: usize,
    /// Hears how far the call is.
    pub progress: &'a (dyn Fn(Progress) + Send + Sync),
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What is done.
    pub progress: f64,
    /// What there is to do, if that is known.
    pub total: Option<f64>,
    /// What is going on, cleaned and short.
    pub message: Option<String>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Called {
    /// Its texts and the texts of its resources, with blank lines between.
    pub content: String,
    /// Whether the tool says no.
    pub is_error: bool,
    /// The same as data, if the tool has an output schema.
    pub structured: Option<Value>,
    /// What was left out.
    pub notes: Vec<String>,
}

impl Called {
    /// Returns what a model sees: the content, and what was left out of it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.content.clone();
        for note in &self.notes {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            let _ = write!(text, "{gap}[{note}]");
        }
        text
    }

    /// Makes what a model sees of what a server sent.
    pub(crate) fn read(server: &str, sent: CallToolResult, most: usize) -> Result<Self, McpError> {
        let mut called = Self {
            is_error: sent.is_error.unwrap_or(false),
            ..Self::default()
        };
        let mut texts = 0_usize;
        for block in sent.content {
            match readable(block) {
                Ok(text) => {
                    if texts > 0 {
                        called.content.push_str("\n\n");
                    }
                    texts = texts.saturating_add(1);
                    called.content.push_str(&text);
                }
                Err(what) => called.notes.push(what),
            }
            called.within(server, most)?;
        }
        if let Some(structured) = sent.structured_content {
            // Servers should repeat it as text; of those that do not, this is all there is.
            if texts == 0 && !structured.is_null() {
                called.content = structured.to_string();
            }
            called.structured = Some(structured);
        }
        called.within(server, most)?;
        Ok(called)
    }

    fn within(&self, server: &str, most: usize) -> Result<(), McpError> {
        let notes: usize = self.notes.iter().map(String::len).sum();
        if self.content.len().saturating_add(notes) > most {
            return Err(McpError::TooLarge {
                server: server.to_owned(),
                what: "a result",
                limit: most,
            });
        }
        Ok(())
    }
}

/// Returns the text of a part of an answer, or a note about a part that has none.
fn readable(block: ContentBlock) -> Result<String, String> {
    let binary = |what: &str, kind: &str, data: &str| {
        let kind = hidden::shown(kind, 100);
        Err(format!(
            "{what} of type {kind} left out, {} bytes as base64",
            data.len()
        ))
    };
    match block {
        ContentBlock::Text(text) => Ok(text.text),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { text, .. } => Ok(text),
            ResourceContents::BlobResourceContents {
                mime_type, blob, ..
            } => binary("resource", mime_type.as_deref().unwrap_or("unknown"), &blob),
            _ => Err("resource of an unknown kind left out".to_owned()),
        },
        ContentBlock::Image(image) => binary("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => binary("audio", &audio.mime_type, &audio.data),
        ContentBlock::ResourceLink(link) => Err(format!(
            "link to resource {} left out",
            hidden::shown(&link.uri, 200)
        )),
        _ => Err("content of an unknown kind left out".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn called(result: Value, most: usize) -> Result<Called, McpError> {
        Called::read("s", serde_json::from_value(result).unwrap(), most)
    }

    #[test]
    fn texts_are_joined_and_the_rest_is_named() {
        let called = called(
            json!({"content": [
                {"type": "text", "text": "one"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "a:b", "text": "two"}},
                {"type": "resource", "resource": {"uri": "a:c", "blob": "AA=="}},
                {"type": "audio", "data": "AA", "mimeType": "audio/wav\u{1b}"},
                {"type": "resource_link", "uri": "file:///x", "name": "x"},
            ], "isError": true}),
            1000,
        )
        .unwrap();
        assert!(called.is_error);
        insta::assert_snapshot!(called.text(), @r"
        one

        two

        [image of type image/png left out, 4 bytes as base64]

        [resource of type unknown left out, 4 bytes as base64]

        [audio of type audio/wav left out, 2 bytes as base64]

        [link to resource file:///x left out]
        ");
    }

    #[test]
    fn a_result_of_data_alone_is_its_own_text() {
        let called = called(
            json!({"content": [], "structuredContent": {"sum": 3}}),
            1000,
        )
        .unwrap();
        assert_eq!(called.text(), r#"{"sum":3}"#);
        assert_eq!(called.structured, Some(json!({"sum": 3})));
    }

    #[test]
    fn a_result_over_the_limit_is_refused_and_the_limit_named() {
        let result = json!({"content": [{"type": "text", "text": "x".repeat(101)}]});
        let error = called(result, 100).unwrap_err();
        assert_eq!(
            error.to_string(),
            "MCP server `s` sent a result of more than 100 bytes"
        );
    }
}
