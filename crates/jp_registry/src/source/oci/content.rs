//! What an OCI manifest says of a tool. Does not know where it came from.

use serde_json::Value;

use super::{MAX_OCI_MANIFEST, reference};
use crate::{document, id::Digest, transport::FetchError};

const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.wasm.config.v0+json";
const WASM: &str = "application/wasm";
const MANIFEST: (&str, &str) = ("dev.jp.manifest", "application/vnd.jp.manifest.v1+json");
const SIGNATURES: (&str, &str) = ("dev.jp.signatures", "application/vnd.jp.signatures.v1+json");

/// More layers are refused.
const MAX_LAYERS: usize = 16;

/// Where our own documents are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) manifest: Document,
    pub(super) signatures: Document,
}

/// A document inside an OCI manifest, or beside it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Document {
    Annotation(String),
    Layer { digest: Digest, size: u64 },
}

impl Content {
    pub(super) fn read(bytes: &[u8], url: &str) -> Result<Self, FetchError> {
        let refused = |reason: String| FetchError::invalid(url, reason);
        let max = usize::try_from(MAX_OCI_MANIFEST).unwrap_or(usize::MAX);
        let value = document::parse(bytes, max).map_err(|error| refused(error.to_string()))?;
        let stated = value.get("mediaType").and_then(Value::as_str);
        if value.get("schemaVersion") != Some(&Value::from(2)) || stated.unwrap_or(IMAGE) != IMAGE {
            return Err(refused(format!("expected the media type {IMAGE}")));
        }
        let config = value.pointer("/config/mediaType").and_then(Value::as_str);
        if config != Some(CONFIG) {
            return Err(refused(format!(
                "not a Wasm artifact: expected a config of the media type {CONFIG}"
            )));
        }
        let layers = value.get("layers").and_then(Value::as_array);
        let layers = layers.map(Vec::as_slice).unwrap_or_default();
        if layers.len() > MAX_LAYERS {
            return Err(refused(format!("it has more than {MAX_LAYERS} layers")));
        }
        if one(layers, WASM).is_none() {
            return Err(refused(format!("it has not exactly one layer {WASM}")));
        }
        let find = |(annotation, media_type): (&str, &str)| {
            let text = value
                .get("annotations")
                .and_then(|notes| notes.get(annotation))
                .and_then(Value::as_str)
                .map(|text| Document::Annotation(text.to_owned()));
            text.or_else(|| layer(one(layers, media_type)?))
                .ok_or_else(|| {
                    refused(format!(
                        "it has neither an annotation `{annotation}` nor one layer {media_type}"
                    ))
                })
        };
        Ok(Self {
            manifest: find(MANIFEST)?,
            signatures: find(SIGNATURES)?,
        })
    }
}

/// Returns the layer of a media type, if there is one only.
fn one<'a>(layers: &'a [Value], media_type: &str) -> Option<&'a Value> {
    let is = |layer: &&Value| layer.get("mediaType").and_then(Value::as_str) == Some(media_type);
    let mut found = layers.iter().filter(is);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn layer(layer: &Value) -> Option<Document> {
    let digest = layer.get("digest").and_then(Value::as_str);
    Some(Document::Layer {
        digest: reference::digest(digest?)?,
        size: layer.get("size").and_then(Value::as_u64)?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Result<Content, String> {
        let bytes = serde_json::to_vec(value).unwrap();
        Content::read(&bytes, "x").map_err(|error| error.to_string())
    }

    fn good() -> Value {
        json!({
            "schemaVersion": 2, "mediaType": IMAGE,
            "config": {"mediaType": CONFIG},
            "layers": [{"mediaType": WASM}],
            "annotations": {"dev.jp.manifest": "{}", "dev.jp.signatures": "[]"},
        })
    }

    #[test]
    fn documents_are_annotations_or_layers() {
        let note = |text: &str| Document::Annotation(text.to_owned());
        let found = read(&good()).unwrap();
        assert_eq!((found.manifest, found.signatures), (note("{}"), note("[]")));
        let digest = Digest::of(b"x");
        let mut value = good();
        value["annotations"] = json!({"dev.jp.signatures": "[]"});
        value["layers"] = json!([
            {"mediaType": WASM},
            {"mediaType": MANIFEST.1, "digest": format!("sha256:{digest}"), "size": 1},
        ]);
        let found = read(&value).unwrap();
        assert_eq!(found.manifest, Document::Layer { digest, size: 1 });
    }

    #[test]
    fn anything_else_than_a_wasm_artifact_is_refused() {
        for (pointer, other) in [
            ("/schemaVersion", json!(1)),
            (
                "/mediaType",
                json!("application/vnd.oci.image.index.v1+json"),
            ),
            (
                "/config",
                json!({"mediaType": "application/vnd.oci.image.config.v1+json"}),
            ),
            ("/layers", json!([])),
            ("/layers", json!([{"mediaType": WASM}, {"mediaType": WASM}])),
            ("/layers", json!(vec![json!({}); 17])),
            ("/annotations", json!({})),
            ("/annotations", json!([])),
        ] {
            let mut value = good();
            *value.pointer_mut(pointer).unwrap() = other;
            assert!(read(&value).is_err(), "{pointer}");
        }
    }
}
