//! A signature is of one document, of one kind, by one key.

use serde_json::{Value, json};

use super::{Domain, MAX_BYTES, Role, Signature, SignatureError, Signatures};
use crate::{
    FormatError,
    format::Kind,
    testing::{SigningKey, countersign, sign, sign_manifest, verify},
};

fn manifest() -> Value {
    json!({"id": "ocr", "version": "1.2.0", "validated_at": "2026-04-01", "validated_by": "us"})
}

#[test]
fn a_signature_of_one_kind_is_none_of_another() {
    let key = SigningKey::new();
    let value = json!({"number": 1});
    for made in Domain::ALL {
        let signature = sign(made, &value, &key).unwrap();
        for asked in Domain::ALL {
            let good = verify(asked, &value, key.public(), &signature);
            assert_eq!(good, made == asked, "{made:?} as {asked:?}");
        }
    }
}

#[test]
fn the_publisher_signs_all_but_what_the_registry_adds() {
    let key = SigningKey::new();
    let signed = sign_manifest(&manifest(), &key).unwrap();
    assert_eq!(
        (signed.role, signed.key),
        (Role::Publisher, key.public().id())
    );
    let good = |value: &Value| verify(Domain::Manifest, value, key.public(), &signed.value);
    assert!(good(&manifest()));
    assert!(
        good(&json!({"version": "1.2.0", "id": "ocr"})),
        "without what is added"
    );
    assert!(!good(&json!({"id": "ocr", "version": "1.2.1"})));
    assert!(!good(&json!({"id": "ocr", "version": "1.2.0", "x": 1})));
    // Only at the top: below, it is the publisher's like anything else.
    assert!(!good(
        &json!({"id": "ocr", "version": "1.2.0", "x": {"validated_at": ""}})
    ));
}

#[test]
fn the_registry_signs_the_whole() {
    let key = SigningKey::new();
    let signed = countersign(&manifest(), &key).unwrap();
    assert_eq!(signed.role, Role::Registry);
    let good = |value: &Value| verify(Domain::Validation, value, key.public(), &signed.value);
    assert!(good(&manifest()));
    let mut other = manifest();
    other["validated_at"] = json!("2026-04-02");
    assert!(!good(&other));
    assert!(!good(&json!({"id": "ocr", "version": "1.2.0"})));
}

#[test]
fn only_an_object_is_a_manifest() {
    let key = SigningKey::new();
    let no_manifest = FormatError::from(SignatureError::NoManifest);
    assert_eq!(sign_manifest(&json!([]), &key).unwrap_err(), no_manifest);
    assert_eq!(countersign(&json!("x"), &key).unwrap_err(), no_manifest);
}

#[test]
fn a_signature_file_reads_back() {
    let mut file = Signatures::default();
    for _ in 0..2 {
        let key = SigningKey::new();
        file.add(sign_manifest(&manifest(), &key).unwrap()).unwrap();
        file.add(sign_manifest(&manifest(), &key).unwrap()).unwrap();
        file.add(countersign(&manifest(), &key).unwrap()).unwrap();
    }
    assert_eq!(Signatures::read(&file.to_bytes()).unwrap(), file);
    assert_eq!(file.by(Role::Publisher).count(), 2, "one by each key");
    assert_eq!(file.signatures.len(), 4);
}

fn file_of(signatures: &[Signature]) -> Vec<u8> {
    serde_json::to_vec(&json!({"signatures": signatures})).unwrap()
}

#[test]
fn too_many_and_repeated_signatures_are_refused() {
    let make = || sign_manifest(&manifest(), &SigningKey::new()).unwrap();
    let many: Vec<Signature> = (0..17).map(|_| make()).collect();
    let refused = Signatures::read(&file_of(&many)).unwrap_err();
    assert!(
        matches!(
            refused.kind(),
            Kind::Signature(SignatureError::TooMany { count: 17 })
        ),
        "{refused}"
    );
    let mut full = Signatures::read(&file_of(&many[..16])).unwrap();
    assert!(matches!(
        full.add(make()).unwrap_err().kind(),
        Kind::Signature(SignatureError::TooMany { .. })
    ));
    let twice = [many[0].clone(), many[0].clone()];
    let refused = Signatures::read(&file_of(&twice)).unwrap_err();
    assert!(
        matches!(
            refused.kind(),
            Kind::Signature(SignatureError::Twice { .. })
        ),
        "{refused}"
    );
}

#[test]
fn anything_else_in_a_signature_file_is_refused() {
    let key = "00".repeat(16);
    let value = data_encoding::BASE64.encode(&[0; 64]);
    let one = |extra: &str| {
        format!(
            r#"{{"signatures":[{{"role":"publisher","key":"{key}","value":"{value}"{extra}}}]}}"#
        )
    };
    assert!(Signatures::read(one("").as_bytes()).is_ok());
    let bad = [
        one(r#","x":1"#),
        one("").replace("publisher", "Publisher"),
        one("").replace("A==", "B=="),
        one("").replace("==", ""),
        one("").replace(&key, "00"),
        r#"{"signatures":[],"x":1}"#.to_owned(),
        r#"{"signatures":[],"signatures":[]}"#.to_owned(),
        "[]".to_owned(),
        " ".repeat(MAX_BYTES + 1),
    ];
    for text in bad {
        assert!(Signatures::read(text.as_bytes()).is_err(), "{text:.100}");
    }
}
