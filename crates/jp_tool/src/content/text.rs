//! An answer as text, for models and terminals that show nothing else.
//!
//! Texts are passed on as they are. What cannot be text is one line in brackets that says what it
//! is and how large; the MIME types and addresses in it are a stranger's, and shown as such.

use std::{borrow::Cow, fmt::Write as _};

use super::{Content, Media, Part, Resource, ResourceContents, ResourceLink};

/// Characters of a MIME type that are shown.
const MAX_MIME: usize = 100;

/// Characters of an address or a name that are shown.
const MAX_URI: usize = 200;

impl Content {
    /// Returns the parts as one text, with blank lines between. Of an answer without any text the
    /// structured result is the text: servers should repeat it, and not all do.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut put = |part: &str| {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(part);
        };
        let is_said = self.parts.iter().any(Part::is_text);
        if let (false, Some(structured)) = (is_said, &self.structured)
            && !structured.is_null()
        {
            put(&structured.to_string());
        }
        self.parts.iter().for_each(|part| put(&part.text()));
        text
    }
}

impl Part {
    /// Tells whether it is text through and through.
    const fn is_text(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Resource(part) => matches!(part.resource.contents, ResourceContents::Text(_)),
            Self::Image(_) | Self::Audio(_) | Self::ResourceLink(_) => false,
        }
    }

    /// Returns the part as text; what has none is named on one line.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(part) => Cow::Borrowed(&part.text),
            Self::Image(media) => Cow::Owned(media_line("image", media)),
            Self::Audio(media) => Cow::Owned(media_line("audio", media)),
            Self::Resource(part) => resource_text(&part.resource),
            Self::ResourceLink(link) => Cow::Owned(link_line(link)),
        }
    }
}

fn media_line(what: &str, media: &Media) -> String {
    let mime_type = jp_text::short_line(&media.mime_type, MAX_MIME);
    let size = media.data.len();
    format!("[{what}: {mime_type}, {size} bytes, not shown as text]")
}

fn resource_text(resource: &Resource) -> Cow<'_, str> {
    let blob = match &resource.contents {
        ResourceContents::Text(text) => return Cow::Borrowed(text),
        ResourceContents::Blob(blob) => blob,
    };
    let uri = jp_text::short_line(&resource.uri, MAX_URI);
    let mut line = format!("[resource {uri}: ");
    if let Some(mime_type) = &resource.mime_type {
        line.push_str(&jp_text::short_line(mime_type, MAX_MIME));
        line.push_str(", ");
    }
    let _ = write!(line, "{} bytes, not shown as text]", blob.len());
    Cow::Owned(line)
}

fn link_line(link: &ResourceLink) -> String {
    let name = link.title.as_ref().unwrap_or(&link.name);
    let mut line = format!(
        "[link to {}: {}",
        jp_text::short_line(name, MAX_URI),
        jp_text::short_line(&link.uri, MAX_URI)
    );
    if let Some(mime_type) = &link.mime_type {
        let _ = write!(line, ", {}", jp_text::short_line(mime_type, MAX_MIME));
    }
    if let Some(size) = link.size {
        let _ = write!(line, ", {size} bytes");
    }
    line.push(']');
    line
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn resource(contents: ResourceContents) -> Part {
        Part::resource(Resource {
            uri: "a:\u{202e}b".to_owned(),
            mime_type: None,
            contents,
        })
    }

    #[test]
    fn texts_are_joined_and_the_rest_is_named() {
        let content = Content::from(vec![
            "one".into(),
            Part::image(vec![0; 3], "image/png"),
            resource(ResourceContents::Text("two".to_owned())),
            resource(ResourceContents::Blob(vec![0].into())),
            Part::audio(vec![], "audio/wav\u{1b}\n[fake]"),
            Part::ResourceLink(ResourceLink {
                uri: "file:///x".to_owned(),
                name: "x".to_owned(),
                mime_type: Some("text/plain".to_owned()),
                size: Some(9),
                ..ResourceLink::default()
            }),
        ]);
        let expected = r"one

[image: image/png, 3 bytes, not shown as text]

two

[resource a:\u{202e}b: 1 bytes, not shown as text]

[audio: audio/wav\u{1b}\n[fake], 0 bytes, not shown as text]

[link to x: file:///x, text/plain, 9 bytes]";
        assert_eq!(content.text(), expected);
    }

    #[test]
    fn data_is_its_own_text_where_nothing_else_says_it() {
        let sum = json!({"sum": 3});
        let mut content = Content::from(sum.clone());
        assert_eq!(content.text(), r#"{"sum":3}"#);
        content.parts = vec![Part::image(vec![0; 3], "image/png")];
        let text = content.text();
        assert!(text.starts_with("{\"sum\":3}\n\n[image: "), "{text}");
        content.parts.push("three".into());
        assert!(!content.text().contains("sum"));
        assert_eq!(Content::from(Value::Null).text(), "");
    }

    #[test]
    fn names_of_strangers_are_short_and_on_one_line() {
        let part = Part::image(vec![], "x\n".repeat(100_000));
        assert!(part.text().len() < 1000 && !part.text().contains('\n'));
    }
}
