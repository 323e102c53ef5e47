//! How much an answer holds: what counts against the limit on output.

use std::io;

use serde_json::Value;

use super::{Annotations, Content, Part, Resource, ResourceContents, ResourceLink};

impl Content {
    /// What every part but the first costs beside its bytes, so that nobody sends empty ones for ever.
    pub const COST_OF_PART: usize = 64;

    /// Returns how many bytes of output this is: those of its parts or those of its structured
    /// result, whichever are more, since the one should repeat the other.
    #[must_use]
    pub fn size(&self) -> usize {
        let count = self.parts.len().saturating_sub(1);
        let costs = count.saturating_mul(Self::COST_OF_PART);
        let parts = self.parts.iter().map(Part::size);
        let parts = parts.fold(costs, usize::saturating_add);
        parts.max(self.structured.as_ref().map_or(0, json_size))
    }
}

impl Part {
    /// Returns how many bytes of output this is.
    #[must_use]
    pub fn size(&self) -> usize {
        let (bytes, annotations) = match self {
            Self::Text(part) => (part.text.len(), &part.annotations),
            Self::Image(media) | Self::Audio(media) => (
                media.data.len().saturating_add(media.mime_type.len()),
                &media.annotations,
            ),
            Self::Resource(part) => (part.resource.size(), &part.annotations),
            Self::ResourceLink(link) => (link.bytes(), &link.annotations),
        };
        let annotations = annotations.as_ref().map_or(0, Annotations::size);
        bytes.saturating_add(annotations)
    }
}

impl Resource {
    fn size(&self) -> usize {
        let contents = match &self.contents {
            ResourceContents::Text(text) => text.len(),
            ResourceContents::Blob(blob) => blob.len(),
        };
        let mime_type = self.mime_type.as_ref().map_or(0, String::len);
        contents
            .saturating_add(self.uri.len())
            .saturating_add(mime_type)
    }
}

impl ResourceLink {
    fn bytes(&self) -> usize {
        let more = [&self.title, &self.description, &self.mime_type];
        let more = more.into_iter().flatten().map(String::len);
        more.fold(self.uri.len(), usize::saturating_add)
            .saturating_add(self.name.len())
    }
}

impl Annotations {
    fn size(&self) -> usize {
        let last_modified = self.last_modified.as_ref().map_or(0, String::len);
        self.audience.len().saturating_add(last_modified)
    }
}

/// Returns how many bytes a value has as JSON, without keeping them.
fn json_size(value: &Value) -> usize {
    let mut counted = Counted(0);
    // Nothing fails that only counts.
    let _ = serde_json::to_writer(&mut counted, value);
    counted.0
}

struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_that_is_kept_is_counted() {
        let link = Part::ResourceLink(ResourceLink {
            uri: "a".repeat(10),
            name: "b".repeat(10),
            title: Some("c".repeat(10)),
            description: Some("d".repeat(10)),
            mime_type: Some("e".repeat(10)),
            size: Some(u64::MAX),
            annotations: Some(Annotations {
                last_modified: Some("f".repeat(10)),
                ..Annotations::default()
            }),
        });
        assert_eq!(link.size(), 60);
        let image = Part::image(vec![0; 100], "image/png");
        assert_eq!(image.size(), 109);
        let value = json!({"a": [1, "ä"]});
        assert_eq!(Content::from(value.clone()).size(), value.to_string().len());
        let parts = vec![image, link, "".into()];
        assert_eq!(Content::from(parts).size(), 109 + 60 + 128);
    }
}
