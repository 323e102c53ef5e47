//! What is made of a server's answer: the protocol's blocks become the parts that all tools answer
//! with. Each is counted before it is kept, and base64 is read here and nowhere later.

use jp_tool::{
    Annotations, Blob, Content, EmbeddedResource, Media, Part, Resource, ResourceContents,
    ResourceLink, Role, TextPart,
};
use rmcp::model::{
    Annotations as Hints, CallToolResult, ContentBlock, ResourceContents as Sent, Role as SentRole,
};

use serde_json::{Value, json};

use crate::{Called, McpError, hidden};

/// The types of blocks that can be read.
const KNOWN: [&str; 5] = ["text", "image", "audio", "resource", "resource_link"];

/// The longest name of a type that is shown.
const MAX_TYPE: usize = 100;

/// Reads a result whose blocks are not all of known types; the others are named and left out.
pub(crate) fn of_known_types(mut sent: Value) -> Option<CallToolResult> {
    for block in sent.get_mut("content")?.as_array_mut()? {
        let kind = block.get("type")?.as_str()?;
        if !KNOWN.contains(&kind) {
            let kind = hidden::shown(kind, MAX_TYPE);
            let note = format!("[content of the unknown type `{kind}` left out]");
            *block = json!({"type": "text", "text": note});
        }
    }
    serde_json::from_value(sent).ok()
}

/// What is left of the bytes that an answer may have.
struct Room<'a> {
    server: &'a str,
    limit: usize,
    left: usize,
}

impl Room<'_> {
    /// Counts bytes that are to be kept.
    fn take(&mut self, bytes: usize) -> Result<(), McpError> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| McpError::TooLarge {
            server: self.server.to_owned(),
            what: "a result",
            limit: self.limit,
        })?;
        Ok(())
    }

    /// Reads base64, when there is room for what it stands for.
    fn blob(&mut self, base64: &str) -> Result<Option<Blob>, McpError> {
        let size = Blob::size_of_base64(base64);
        if size > self.left {
            self.take(size)?;
        }
        Ok(Blob::from_base64(base64).ok())
    }
}

impl Called {
    /// Reads what a server sent, as far as it fits.
    pub(crate) fn read(server: &str, sent: CallToolResult, most: usize) -> Result<Self, McpError> {
        let mut room = Room {
            server,
            limit: most,
            left: most,
        };
        let mut parts = Vec::new();
        for block in sent.content {
            if !parts.is_empty() {
                room.take(Content::COST_OF_PART)?;
            }
            let part = read(block, &mut room)?;
            room.take(part.size())?;
            parts.push(part);
        }
        let content = Content {
            parts,
            structured: sent.structured_content,
        };
        room.left = most;
        room.take(content.size())?;
        Ok(Self {
            content,
            is_error: sent.is_error.unwrap_or(false),
            wants: Vec::new(),
        })
    }
}

/// Reads one block. One that cannot be kept is replaced by a text that says so.
fn read(block: ContentBlock, room: &mut Room<'_>) -> Result<Part, McpError> {
    Ok(match block {
        ContentBlock::Text(sent) => Part::Text(TextPart {
            text: sent.text,
            annotations: hints(sent.annotations),
        }),
        ContentBlock::Image(sent) => match room.blob(&sent.data)? {
            Some(data) => Part::Image(Media {
                data,
                mime_type: sent.mime_type,
                annotations: hints(sent.annotations),
            }),
            None => unreadable("image"),
        },
        ContentBlock::Audio(sent) => match room.blob(&sent.data)? {
            Some(data) => Part::Audio(Media {
                data,
                mime_type: sent.mime_type,
                annotations: hints(sent.annotations),
            }),
            None => unreadable("audio"),
        },
        ContentBlock::Resource(sent) => match resource(sent.resource, room)? {
            Ok(resource) => Part::Resource(EmbeddedResource {
                resource,
                annotations: hints(sent.annotations),
            }),
            Err(note) => note,
        },
        ContentBlock::ResourceLink(sent) => Part::ResourceLink(ResourceLink {
            uri: sent.uri,
            name: sent.name,
            title: sent.title,
            description: sent.description,
            mime_type: sent.mime_type,
            size: sent.size,
            annotations: hints(sent.annotations),
        }),
        _ => Part::from("[content of an unknown kind left out]"),
    })
}

fn resource(sent: Sent, room: &mut Room<'_>) -> Result<Result<Resource, Part>, McpError> {
    let (uri, mime_type, contents) = match sent {
        Sent::TextResourceContents {
            uri,
            mime_type,
            text,
            ..
        } => (uri, mime_type, ResourceContents::Text(text)),
        Sent::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => match room.blob(&blob)? {
            Some(blob) => (uri, mime_type, ResourceContents::Blob(blob)),
            None => return Ok(Err(unreadable("resource"))),
        },
        _ => return Ok(Err(Part::from("[resource of an unknown kind left out]"))),
    };
    Ok(Ok(Resource {
        uri,
        mime_type,
        contents,
    }))
}

fn unreadable(what: &str) -> Part {
    Part::from(format!("[{what} left out: invalid base64]"))
}

fn hints(sent: Option<Hints>) -> Option<Annotations> {
    let sent = sent?;
    let audience = sent.audience.unwrap_or_default();
    let role = |role: SentRole| match role {
        SentRole::User => Role::User,
        SentRole::Assistant => Role::Assistant,
    };
    Some(Annotations {
        audience: audience.into_iter().map(role).collect(),
        // JSON has no number for what is not finite.
        priority: sent.priority.filter(|priority| priority.is_finite()),
        last_modified: sent.last_modified,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(result: Value, most: usize) -> Result<Called, McpError> {
        Called::read("s", serde_json::from_value(result).unwrap(), most)
    }

    fn all_kinds() -> Value {
        json!([
            {"type": "text", "text": "one", "annotations": {"audience": ["user"], "priority": 1.0}},
            {"type": "image", "data": "AAAA", "mimeType": "image/png",
                "annotations": {"lastModified": "2026-01-12"}},
            {"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "two"}},
            {"type": "resource", "resource": {"uri": "a:c", "blob": "AA=="}},
            {"type": "audio", "data": "AAE=", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "file:///x", "name": "x", "title": "X",
                "description": "about x", "mimeType": "text/x", "size": 3,
                "annotations": {"audience": ["assistant"]}},
        ])
    }

    #[test]
    fn every_kind_of_block_passes_through_unchanged() {
        let blocks = all_kinds();
        let sent = json!({"content": blocks, "structuredContent": {"sum": 3}, "isError": true});
        let called = called(sent, 1000).unwrap();
        assert!(called.is_error);
        assert_eq!(called.content.structured, Some(json!({"sum": 3})));
        assert_eq!(serde_json::to_value(&called.content.parts).unwrap(), blocks);
    }

    #[test]
    fn a_block_of_an_unknown_type_is_named_and_the_rest_stays() {
        let sent = json!({"content": [
            {"type": "text", "text": "before"},
            {"type": "vid\u{202e}eo", "data": [1, 2]},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        ], "structuredContent": {"a": 1}, "isError": true});
        let called = Called::read("s", of_known_types(sent).unwrap(), 1000).unwrap();
        assert!(called.is_error);
        assert_eq!(called.content.structured, Some(json!({"a": 1})));
        let shown = serde_json::to_value(&called.content.parts).unwrap();
        assert_eq!(
            shown[1]["text"],
            "[content of the unknown type `video` left out]"
        );
        assert_eq!(
            (&shown[0]["text"], &shown[2]["type"]),
            (&json!("before"), &json!("image"))
        );
        for none in [
            json!(7),
            json!({"content": 7}),
            json!({"content": [{"type": 7}]}),
        ] {
            assert!(of_known_types(none).is_none());
        }
    }

    #[test]
    fn what_is_not_base64_is_left_out_and_the_rest_stays() {
        let bad = "AA A";
        let called = called(
            json!({"content": [
                {"type": "image", "data": bad, "mimeType": "image/png"},
                {"type": "audio", "data": bad, "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "a:c", "blob": bad}},
                {"type": "text", "text": "kept"},
            ]}),
            1000,
        )
        .unwrap();
        insta::assert_snapshot!(called.content.text(), @r"
        [image left out: invalid base64]

        [audio left out: invalid base64]

        [resource left out: invalid base64]

        kept
        ");
    }

    #[test]
    fn whatever_is_too_large_is_refused_and_the_limit_named() {
        let block = |block: Value| json!({"content": [block]});
        let large = "A".repeat(1000);
        for sent in [
            block(json!({"type": "text", "text": large})),
            block(json!({"type": "image", "data": large, "mimeType": "image/png"})),
            block(json!({"type": "audio", "data": "", "mimeType": large})),
            block(json!({"type": "resource", "resource": {"uri": "a:b", "text": large}})),
            block(json!({"type": "resource", "resource": {"uri": "a:b", "blob": large}})),
            block(json!({"type": "resource_link", "uri": "a:b", "name": large})),
            json!({"content": vec![json!({"type": "text", "text": ""}); 100]}),
            json!({"content": [], "structuredContent": {"a": large}}),
        ] {
            let error = called(sent.clone(), 500).unwrap_err().to_string();
            let expected = "MCP server `s` sent a result of more than 500 bytes";
            assert_eq!(error, expected, "{sent}");
            assert!(called(sent, 10_000).is_ok());
        }
    }
}
