//! A stranger's manifest is refused for each reason there is.

mod artifact;
mod attacks;
mod refusals;

use serde_json::{Value, json};

use super::{Expected, Purpose, VerifiedManifest, VerifyError, verify};
use crate::{
    Digest, document,
    revocation::{Revocation, RevocationList, Revocations, RevokedThing},
    signature::{Judge, Signature, Signatures},
    source::Fetched,
    testing::SigningKey,
    testing::{countersign, sign_manifest},
    trust::{AllNames, NamePattern, TrustRoots, TrustedRegistry},
};

const ARTIFACT: &[u8] = b"\0asm and so on";

/// A user who trusts one publisher for `ocr` and `pdf.*`, and a registry.
struct World {
    publisher: SigningKey,
    registry: SigningKey,
    roots: TrustRoots,
    revoked: Revocations,
    manifest: Value,
}

fn key() -> SigningKey {
    SigningKey::new()
}

fn names(list: &[&str]) -> Vec<NamePattern> {
    list.iter().map(|name| name.parse().unwrap()).collect()
}

fn manifest() -> Value {
    json!({
        "id": "ocr",
        "version": "1.2.0",
        "displayName": "Optical Character Recognition",
        "description": "Extract text and structure from images and PDFs.",
        "license": "Apache-2.0",
        "artifact": {
            "url": "https://example.com/tools/ocr-v1.2.0.wasm",
            "sha256": Digest::of(ARTIFACT),
            "size_bytes": ARTIFACT.len(),
        },
        "capability_requirements": ["fs.user-selected (when source is a file path)"],
        "wasi_imports": {"fs": {"scope": "$TOOL_TEMP"}, "stdio": "read-write"},
        "input_schema": {
            "type": "object",
            "properties": {"source": {"$ref": "#/definitions/blob_or_path"}},
            "required": ["source"],
        },
        "output_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
    })
}

impl World {
    fn new() -> Self {
        let (publisher, registry) = (key(), key());
        let mut roots = TrustRoots::default();
        let bound = names(&["ocr", "pdf.*"]);
        roots
            .trust(publisher.public(), &bound, AllNames::Refused)
            .unwrap();
        let trusted = TrustedRegistry {
            key: registry.public().clone(),
            validates: false,
        };
        roots.trust_registry("main", trusted).unwrap();
        Self {
            publisher,
            registry,
            roots,
            revoked: Revocations::default(),
            manifest: manifest(),
        }
    }

    /// The manifest, signed by its publisher, in a form without blanks.
    fn fetched(&self) -> Fetched {
        self.signed(&[sign_manifest(&self.manifest, &self.publisher).unwrap()])
    }

    fn signed(&self, by: &[Signature]) -> Fetched {
        let mut signatures = Signatures::default();
        for signature in by {
            signatures.add(signature.clone()).unwrap();
        }
        let signatures = serde_json::to_value(&signatures).unwrap();
        Fetched {
            bytes: document::canonical(&self.manifest).unwrap(),
            signatures: document::canonical(&signatures).unwrap(),
            from: "a test".to_owned(),
        }
    }

    fn expected(&self) -> Expected {
        Expected {
            id: "ocr".parse().unwrap(),
            version: None,
            digest: None,
            registry: Some("main".to_owned()),
            purpose: Purpose::Install,
        }
    }

    fn verify(&self, fetched: Fetched) -> Result<VerifiedManifest, VerifyError> {
        verify(fetched, &self.roots, &self.revoked, &self.expected())
    }

    fn refuse(&self, fetched: Fetched) -> VerifyError {
        self.verify(fetched).unwrap_err()
    }

    fn revoke(&mut self, thing: RevokedThing) {
        let list = RevocationList {
            number: 1,
            issued_at: 1,
            expires_at: None,
            revoked: vec![Revocation {
                thing,
                reason: "it leaks".to_owned(),
            }],
        };
        let judge = Judge {
            registry: "main",
            roots: &self.roots,
            now: 1,
        };
        let signed = list.sign(&self.registry).unwrap();
        self.revoked.accept(&signed, &judge).unwrap();
    }

    /// Adds what the registry says, and its signature if it means it.
    fn validated(&mut self, by: Option<&SigningKey>) -> Fetched {
        self.manifest["validated_at"] = json!("2026-04-01");
        self.manifest["validated_by"] = json!("the-team");
        let mut signatures = vec![sign_manifest(&self.manifest, &self.publisher).unwrap()];
        signatures.extend(by.map(|key| countersign(&self.manifest, key).unwrap()));
        self.signed(&signatures)
    }
}

#[test]
fn a_manifest_by_a_trusted_key_is_verified() {
    let world = World::new();
    let verified = world.verify(world.fetched()).unwrap();
    assert_eq!(verified.key, world.publisher.public().id());
    assert_eq!(verified.validated_by, None);
    assert_eq!(verified.digest, document::digest(&world.manifest).unwrap());
    assert_eq!(verified.document, world.manifest);
    assert_eq!(verified.manifest.description, world.manifest["description"]);
    assert_eq!(
        (verified.manifest.id.as_str(), verified.from.as_str()),
        ("ocr", "a test")
    );
    assert_eq!(verified.manifest.version.to_string(), "1.2.0");
    // How it is written makes no difference.
    let mut fetched = world.fetched();
    let pretty = serde_json::to_string_pretty(&world.manifest).unwrap();
    fetched.bytes = format!("// for people\n{pretty}").into_bytes();
    assert_eq!(world.verify(fetched).unwrap().digest, verified.digest);
}
