//! What a tool answered, kind by kind: MCP's content blocks and structured result as typed values.
//!
//! A result that is text alone has an empty [`Content`]; its text says it all. The JSON form of a
//! [`Part`] is MCP's, with bytes as base64.

mod blob;
mod given;
mod size;
mod text;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

pub use blob::{Blob, InvalidBase64};
pub use given::{GivenBlob, GivenBlobs, NoRoom};

/// What a tool answered beside its text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Content {
    /// All parts in the order of the tool, its texts among them; none when there is only text.
    pub parts: Vec<Part>,

    /// The result as data.
    pub structured: Option<Value>,
}

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text(TextPart),

    /// A picture.
    Image(Media),

    /// A sound.
    Audio(Media),

    /// A document that the answer holds.
    Resource(EmbeddedResource),

    /// A document that lies elsewhere.
    ResourceLink(ResourceLink),
}

/// Text, and whom it is for.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TextPart {
    /// The text.
    pub text: String,

    /// Hints about its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
}

/// A picture or a sound.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Media {
    /// Its bytes.
    pub data: Blob,

    /// What the tool says they are, such as `image/png`. Nobody has checked it.
    pub mime_type: String,

    /// Hints about its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
}

/// A document that the answer holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EmbeddedResource {
    /// The document.
    pub resource: Resource,

    /// Hints about its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
}

/// A document with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// What it is called by.
    pub uri: String,

    /// What the tool says it is.
    pub mime_type: Option<String>,

    /// What it says.
    pub contents: ResourceContents,
}

/// What a document says.
#[derive(Debug, Clone, PartialEq)]
pub enum ResourceContents {
    /// Text.
    Text(String),

    /// Bytes.
    Blob(Blob),
}

/// A document that lies elsewhere.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceLink {
    /// Where it lies.
    pub uri: String,

    /// Its name for programs.
    pub name: String,

    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,

    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,

    /// What the tool says it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,

    /// How many bytes it has, as the tool says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,

    /// Hints about its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
}

/// Hints about the use of a part. Nothing may rest on them.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// Whom it is for; everybody when there is nobody.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,

    /// How much it matters, between 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f32>,

    /// When it was last changed, as the tool says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// Whom a part is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,

    /// The model.
    Assistant,
}

impl Content {
    /// Tells whether the text of the answer says it all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.structured.is_none()
    }
}

impl From<Value> for Content {
    fn from(structured: Value) -> Self {
        Self {
            parts: Vec::new(),
            structured: Some(structured),
        }
    }
}

impl From<Vec<Part>> for Content {
    fn from(parts: Vec<Part>) -> Self {
        Self {
            parts,
            structured: None,
        }
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(TextPart {
            text,
            annotations: None,
        })
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Part {
    /// Makes a picture.
    pub fn image(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self::Image(Media::new(data, mime_type))
    }

    /// Makes a sound.
    pub fn audio(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self::Audio(Media::new(data, mime_type))
    }

    /// Makes a document that the answer holds.
    #[must_use]
    pub const fn resource(resource: Resource) -> Self {
        Self::Resource(EmbeddedResource {
            resource,
            annotations: None,
        })
    }
}

impl Media {
    fn new(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
        }
    }
}

impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("uri", &self.uri)?;
        if let Some(mime_type) = &self.mime_type {
            map.serialize_entry("mimeType", mime_type)?;
        }
        match &self.contents {
            ResourceContents::Text(text) => map.serialize_entry("text", text)?,
            ResourceContents::Blob(blob) => map.serialize_entry("blob", blob)?,
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_have_the_json_form_of_mcp() {
        let annotations = Annotations {
            audience: vec![Role::User, Role::Assistant],
            priority: Some(0.5),
            last_modified: Some("2026-01-12".to_owned()),
        };
        let resource = |contents| {
            Part::resource(Resource {
                uri: "file:///a".to_owned(),
                mime_type: Some("text/plain".to_owned()),
                contents,
            })
        };
        for (part, expected) in [
            (Part::from("hi"), json!({"type": "text", "text": "hi"})),
            (
                Part::Text(TextPart {
                    text: "hi".to_owned(),
                    annotations: Some(annotations),
                }),
                json!({"type": "text", "text": "hi", "annotations": {
                    "audience": ["user", "assistant"], "priority": 0.5,
                    "lastModified": "2026-01-12"}}),
            ),
            (
                Part::image(vec![0, 0, 0], "image/png"),
                json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
            ),
            (
                Part::audio(vec![1], "audio/wav"),
                json!({"type": "audio", "data": "AQ==", "mimeType": "audio/wav"}),
            ),
            (
                resource(ResourceContents::Text("t".to_owned())),
                json!({"type": "resource", "resource":
                    {"uri": "file:///a", "mimeType": "text/plain", "text": "t"}}),
            ),
            (
                resource(ResourceContents::Blob(vec![0].into())),
                json!({"type": "resource", "resource":
                    {"uri": "file:///a", "mimeType": "text/plain", "blob": "AA=="}}),
            ),
            (
                Part::ResourceLink(ResourceLink {
                    uri: "a:b".to_owned(),
                    name: "b".to_owned(),
                    size: Some(7),
                    ..ResourceLink::default()
                }),
                json!({"type": "resource_link", "uri": "a:b", "name": "b", "size": 7}),
            ),
        ] {
            assert_eq!(serde_json::to_value(&part).unwrap(), expected);
        }
    }
}
