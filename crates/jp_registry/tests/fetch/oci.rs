//! Pulling from an OCI registry: a small one that keeps to the specification, and its evil twins.

use std::{collections::BTreeMap, sync::Arc};

use jp_registry::{Digest, FetchError, OciSource, Source};
use serde_json::{Value, json};

use crate::{
    BYTES,
    kit::{Asked, Plain, Shop, Web, answer, manifest, no_progress},
};

const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const REPOSITORY: &str = "someone/tools/ocr";

/// What a registry holds, and how it behaves.
#[derive(Clone, Default)]
struct Oci {
    /// By `manifests/<tag or digest>` and `blobs/<digest>`.
    files: BTreeMap<String, Vec<u8>>,
    /// Whether it wants a token.
    locked: bool,
    /// The realm it names, instead of its own.
    realm: Option<String>,
}

fn name(bytes: &[u8]) -> String {
    format!("sha256:{}", Digest::of(bytes))
}

impl Oci {
    fn blob(&mut self, media_type: &str, bytes: &[u8]) -> Value {
        let digest = name(bytes);
        self.files.insert(format!("blobs/{digest}"), bytes.to_vec());
        json!({"mediaType": media_type, "digest": digest, "size": bytes.len()})
    }

    fn tag(&mut self, tag: &str, manifest: &Value) {
        let bytes = serde_json::to_vec(manifest).unwrap();
        let by_digest = format!("manifests/{}", name(&bytes));
        self.files.insert(by_digest, bytes.clone());
        self.files.insert(format!("manifests/{tag}"), bytes);
    }

    /// Answers as the distribution specification says.
    fn answer(&self, asked: &Asked) -> Vec<u8> {
        let host = asked.head.split("Host: ").nth(1).unwrap();
        let host = host.split("\r\n").next().unwrap();
        if let Some(query) = asked.path.strip_prefix("/token?") {
            assert!(query.contains("service=test"), "{query}");
            let scope = format!("repository:{REPOSITORY}:pull").replace([':', '/'], "%");
            let asked = query.replace("%3A", "%").replace("%2F", "%");
            assert!(asked.contains(&scope), "{asked} {scope}");
            return answer("200 OK", br#"{"token": "let-me-in", "expires_in": 60}"#);
        }
        if let Some(path) = asked.path.strip_prefix("/cdn/") {
            return answer("200 OK", &self.files[path]);
        }
        if self.locked && !asked.head.contains("Authorization: Bearer let-me-in\r\n") {
            let own = format!("http://{host}/token");
            let realm = self.realm.as_ref().unwrap_or(&own);
            let challenge = format!(
                "401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"{realm}\",service=\"test\",scope=\"x\""
            );
            return answer(&challenge, b"{\"errors\": []}");
        }
        let start = format!("/v2/{REPOSITORY}/");
        let Some(path) = asked.path.strip_prefix(&start) else {
            return answer("404 Not Found", b"");
        };
        match self.files.get(path) {
            None => answer("404 Not Found", b""),
            Some(bytes) if path.starts_with("manifests/") => {
                assert!(asked.head.contains(&format!("Accept: {IMAGE}\r\n")));
                let digest = name(bytes);
                let head =
                    format!("200 OK\r\nContent-Type: {IMAGE}\r\nDocker-Content-Digest: {digest}");
                answer(&head, bytes)
            }
            Some(_) => answer(&format!("307 Elsewhere\r\nLocation: /cdn/{path}"), b""),
        }
    }

    fn serve(self) -> Web {
        Web::new(move |asked| self.answer(asked))
    }
}

fn source(web: &Web, more: &str) -> OciSource {
    let reference = format!("oci+http://{}/someone/tools{more}", web.host());
    OciSource::new(&reference, Arc::new(Plain)).unwrap()
}

/// A shop whose `ocr` 1.0.0 is in an OCI registry, with our documents as annotations.
fn stocked() -> (Shop, Oci, Value) {
    let shop = Shop::new();
    let signed = manifest("1.0.0", BYTES);
    let mut signatures = shop.signed(&signed);
    signatures
        .add(jp_publish::countersign(&signed, &shop.registry_key).unwrap())
        .unwrap();
    let mut oci = Oci::default();
    let config = oci.blob(
        "application/vnd.wasm.config.v0+json",
        b"{\"os\": \"wasip2\"}",
    );
    let layer = oci.blob("application/wasm", BYTES);
    let image = json!({
        "schemaVersion": 2, "mediaType": IMAGE, "config": config, "layers": [layer],
        "annotations": {
            "dev.jp.manifest": signed.to_string(),
            "dev.jp.signatures": String::from_utf8(signatures.to_bytes()).unwrap(),
        },
    });
    oci.tag("1.0.0", &image);
    (shop, oci, image)
}

fn pull(shop: &Shop, source: &OciSource) -> Result<Vec<u8>, FetchError> {
    let version = "1.0.0".parse().unwrap();
    source.manifest(&"ocr".parse().unwrap(), Some(&version))?;
    let verified = shop.verified(source, "1.0.0");
    let found = shop
        .store()
        .artifact(&verified, source, &mut no_progress())?;
    Ok(found.bytes().unwrap())
}

#[test]
fn a_tool_is_pulled_by_tag_and_its_blob_from_where_the_registry_sends_us() {
    let (shop, oci, _) = stocked();
    let web = oci.serve();
    assert_eq!(pull(&shop, &source(&web, "")).unwrap(), BYTES);
    let blob = format!("/cdn/blobs/{}", name(BYTES));
    assert_eq!(web.seen().last().unwrap().path, blob);
    let source = source(&web, "");
    assert_eq!(source.index().unwrap(), None);
    assert_eq!(source.revocations().unwrap(), None);
    let missing = source.manifest(&"ocr".parse().unwrap(), None);
    assert!(matches!(missing, Err(FetchError::NotFound { .. })));
}

#[test]
fn a_token_is_fetched_once_when_the_registry_asks_for_one() {
    let (shop, mut oci, _) = stocked();
    oci.locked = true;
    let web = oci.serve();
    assert_eq!(pull(&shop, &source(&web, "")).unwrap(), BYTES);
    let paths: Vec<String> = web.seen().into_iter().map(|asked| asked.path).collect();
    let tokens = paths.iter().filter(|path| path.starts_with("/token"));
    assert_eq!(tokens.count(), 1, "{paths:?}");
}

#[test]
fn a_token_is_not_fetched_from_just_anywhere() {
    let elsewhere = Web::new(|_| answer("200 OK", br#"{"token": "x"}"#));
    let (shop, mut oci, _) = stocked();
    oci.locked = true;
    oci.realm = Some(elsewhere.url("/token"));
    let error = pull(&shop, &source(&oci.serve(), "")).unwrap_err();
    assert!(error.to_string().contains("realm"), "{error}");
    assert!(elsewhere.seen().is_empty());
}

#[test]
fn our_documents_may_be_layers_of_their_own() {
    let (shop, mut oci, mut image) = stocked();
    let notes = image["annotations"].take();
    for (note, kind) in [("manifest", "manifest"), ("signatures", "signatures")] {
        let text = notes[format!("dev.jp.{note}")].as_str().unwrap();
        let media_type = format!("application/vnd.jp.{kind}.v1+json");
        let layer = oci.blob(&media_type, text.as_bytes());
        image["layers"].as_array_mut().unwrap().push(layer);
    }
    oci.tag("1.0.0", &image);
    assert_eq!(
        pull(&shop, &source(&oci.clone().serve(), "")).unwrap(),
        BYTES
    );

    // A layer whose bytes are others than its digest says.
    let key = oci
        .files
        .keys()
        .find(|key| key.starts_with("blobs/") && oci.files[*key].starts_with(b"{\"id\""));
    let key = key.unwrap().clone();
    let changed = String::from_utf8(oci.files[&key].clone()).unwrap();
    oci.files
        .insert(key, changed.replace("Reads", "Roads").into_bytes());
    let found = pull(&shop, &source(&oci.serve(), ""));
    assert!(
        matches!(found, Err(FetchError::WrongDigest { .. })),
        "{found:?}"
    );
}

#[test]
fn a_reference_by_digest_gets_these_bytes_or_none() {
    let (shop, mut oci, mut image) = stocked();
    let digest = name(&serde_json::to_vec(&image).unwrap());
    let more = format!("/ocr@{digest}");
    let web = oci.clone().serve();
    assert_eq!(pull(&shop, &source(&web, &more)).unwrap(), BYTES);

    image["annotations"]["more"] = "changed".into();
    let bytes = serde_json::to_vec(&image).unwrap();
    oci.files.insert(format!("manifests/{digest}"), bytes);
    let found = pull(&shop, &source(&oci.serve(), &more));
    assert!(
        matches!(found, Err(FetchError::WrongDigest { .. })),
        "{found:?}"
    );
}

#[test]
fn a_registry_that_sends_other_bytes_than_it_names_is_refused() {
    let (shop, mut oci, _) = stocked();
    let blob = format!("blobs/{}", name(BYTES));
    oci.files.insert(blob, b"a shady artifact".to_vec());
    let found = pull(&shop, &source(&oci.serve(), ""));
    assert!(
        matches!(found, Err(FetchError::WrongDigest { .. })),
        "{found:?}"
    );
    assert!(shop.stored().is_empty());

    let (shop, oci, _) = stocked();
    let web = Web::new(move |asked| {
        let said = String::from_utf8(oci.answer(asked)).unwrap();
        let lie = format!("Docker-Content-Digest: {}", name(b"other"));
        let honest = said.split("\r\n").find(|line| line.starts_with("Docker"));
        said.replace(honest.unwrap_or("\0"), &lie).into_bytes()
    });
    let found = pull(&shop, &source(&web, ""));
    assert!(
        matches!(found, Err(FetchError::WrongDigest { .. })),
        "{found:?}"
    );
}

#[test]
fn images_and_endless_manifests_are_refused() {
    let (shop, mut oci, mut image) = stocked();
    image["config"]["mediaType"] = "application/vnd.oci.image.config.v1+json".into();
    oci.tag("1.0.0", &image);
    let error = pull(&shop, &source(&oci.serve(), "")).unwrap_err();
    assert!(error.to_string().contains("not a Wasm artifact"), "{error}");

    let web = Web::raw(|_, mut stream| {
        use std::io::Write;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b' '; 65_536]).is_ok() {}
    });
    let found = pull(&shop, &source(&web, ""));
    assert!(
        matches!(found, Err(FetchError::TooLarge { max: 4_194_304, .. })),
        "{found:?}"
    );
}
