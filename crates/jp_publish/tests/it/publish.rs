//! Publishing: what is refused, what is written, and what a crash leaves.

use std::fs;

use jp_disk::{Disk, Torn};
use jp_publish::{PublishError, Registry, SigningKey, Submission};
use jp_registry::{
    ArtifactRef, Digest, Domain, Fetched, IndexContent, Owner, Revocation, RevocationList,
    RevokedThing, Role, Rotations, Signatures, Source, ToolId, parse_document,
};
use semver::{Version, VersionReq};
use serde::de::DeserializeOwned;

use crate::{
    BYTES,
    kit::{Shop, manifest},
    shop,
};

/// Reads a list that the registry's key signed.
fn read<T: DeserializeOwned>(shop: &Shop, domain: Domain, fetched: Option<Fetched>) -> T {
    let fetched = fetched.unwrap();
    let value = parse_document(&fetched.bytes, 1 << 20).unwrap();
    let signatures = Signatures::read(&fetched.signatures).unwrap();
    let key = shop.registry_key.public();
    let mut by = signatures.by(Role::Registry);
    assert!(by.any(|signature| signature.is_by(key, domain, &value)));
    serde_json::from_value(value).unwrap()
}

fn index(shop: &Shop) -> IndexContent {
    read(shop, Domain::Index, shop.source().index().unwrap())
}

fn newest(shop: &Shop) -> String {
    let id = "ocr".parse().unwrap();
    let newest = index(shop).tools[&id].newest.to_string();
    let fetched = shop.source().manifest(&id, None).unwrap();
    let value = parse_document(&fetched.bytes, 1 << 20).unwrap();
    assert_eq!(value["version"], newest.as_str());
    newest
}

#[test]
fn versions_stand_side_by_side_and_the_newest_only_grows() {
    let shop = Shop::new();
    assert_eq!(index(&shop).number, 1);
    for (version, expected) in [
        ("1.0.0-rc.1", "1.0.0-rc.1"),
        ("1.0.0", "1.0.0"),
        ("2.0.0-rc.1", "1.0.0"),
        ("2.0.0", "2.0.0"),
        ("1.0.1", "2.0.0"),
    ] {
        let published = shop.publish(version, version.as_bytes());
        assert_eq!(newest(&shop), expected, "{version}");
        assert_eq!(published.newest, expected == version);
        let verified = shop.verified(&shop.source(), version);
        assert_eq!(verified.digest, published.manifest);
        assert_eq!(verified.validated_by, Some(shop.registry_key.public().id()));
        let version: Version = version.parse().unwrap();
        let entry = index(&shop);
        let entry = entry.tools[&published.id].versions[&version].clone();
        assert_eq!(entry.manifest, published.manifest);
    }
    assert_eq!(index(&shop).number, 6);
}

#[test]
fn a_version_is_published_once() {
    let shop = shop();
    let again = shop.publish("1.0.0", BYTES);
    assert!(again.already && again.newest);
    assert_eq!(index(&shop).number, 2, "nothing has changed");
    let other = manifest("1.0.0", b"another");
    let found = shop.publish_on(Disk::real(), &other, b"another");
    assert!(
        matches!(found, Err(PublishError::VersionTaken { .. })),
        "{found:?}"
    );
    assert_eq!(index(&shop).number, 2);
}

#[test]
fn another_key_can_vouch_for_a_version_that_is_there() {
    let shop = shop();
    let (heir, manifest) = (SigningKey::generate().unwrap(), manifest("1.0.0", BYTES));
    let mut signatures = Signatures::default();
    let made = jp_publish::sign_manifest(&manifest, &heir).unwrap();
    signatures.add(made).unwrap();
    let again = shop.open().publish(&Submission {
        manifest: &manifest,
        signatures: &signatures,
        artifact: &shop.file(BYTES),
        publisher: Some(heir.public()),
        validated: None,
    });
    assert!(again.unwrap().already);
    let id = "ocr".parse().unwrap();
    for version in [None, Some(&Version::new(1, 0, 0))] {
        let fetched = shop.source().manifest(&id, version).unwrap();
        let found = Signatures::read(&fetched.signatures).unwrap();
        let keys: Vec<_> = found.by(Role::Publisher).map(|one| one.key).collect();
        assert_eq!(keys, [shop.publisher.public().id(), heir.public().id()]);
        assert_eq!(found.by(Role::Registry).count(), 1);
    }
    shop.verified(&shop.source(), "1.0.0");
}

#[test]
fn an_artifact_that_is_not_the_manifests_is_refused() {
    let shop = Shop::new();
    for bytes in [b"a shady artifact".as_slice(), b"short"] {
        let found = shop.publish_on(Disk::real(), &manifest("1.0.0", BYTES), bytes);
        assert!(
            matches!(found, Err(PublishError::Artifact { .. })),
            "{found:?}"
        );
    }
    let left = fs::read_dir(shop.dir().join("artifacts")).unwrap().count();
    assert_eq!((left, index(&shop).number), (0, 1));
}

#[test]
fn unsigned_and_wrongly_signed_manifests_are_refused() {
    let shop = Shop::new();
    let (manifest, file) = (manifest("1.0.0", BYTES), shop.file(BYTES));
    let stranger = SigningKey::generate().unwrap();
    let publish = |signatures: &Signatures, key| {
        shop.open().publish(&Submission {
            manifest: &manifest,
            signatures,
            artifact: &file,
            publisher: key,
            validated: None,
        })
    };
    let none = publish(&Signatures::default(), None);
    assert!(matches!(none, Err(PublishError::Unsigned)), "{none:?}");
    let other = publish(&shop.signed(&manifest), Some(stranger.public()));
    assert!(matches!(other, Err(PublishError::BadSignature { .. })));
    let of_another = shop.signed(&crate::kit::manifest("1.0.1", BYTES));
    let wrong = publish(&of_another, Some(shop.publisher.public()));
    assert!(matches!(wrong, Err(PublishError::BadSignature { .. })));
    assert_eq!(index(&shop).number, 1);
}

#[test]
fn a_publisher_cannot_say_that_the_registry_looked_at_it() {
    let shop = Shop::new();
    let mut claimed = manifest("1.0.0", BYTES);
    claimed["validated_by"] = "the registry".into();
    claimed["validated_at"] = "2026-01-01".into();
    let submission = Submission {
        manifest: &claimed,
        signatures: &shop.signed(&claimed),
        artifact: &shop.file(BYTES),
        publisher: Some(shop.publisher.public()),
        validated: None,
    };
    shop.open().publish(&submission).unwrap();
    let fetched = shop.source().manifest(&"ocr".parse().unwrap(), None);
    let text = String::from_utf8(fetched.unwrap().bytes).unwrap();
    assert!(!text.contains("validated"), "{text}");
}

#[test]
fn what_the_key_did_not_sign_is_not_signed_again() {
    let shop = shop();
    let path = shop.dir().join("index.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("1.0.0", "9.0.0")).unwrap();
    let found = shop.publish_on(Disk::real(), &manifest("1.1.0", BYTES), BYTES);
    assert!(
        matches!(found, Err(PublishError::NotOwn { .. })),
        "{found:?}"
    );

    let stranger = SigningKey::generate().unwrap();
    let found = Registry::open(&shop.dir(), &stranger, 1).map(drop);
    assert!(matches!(found, Err(PublishError::OtherKey { .. })));
    let found = Registry::init(&shop.dir(), "local", &stranger, 1).map(drop);
    assert!(matches!(found, Err(PublishError::Exists { .. })));
    let found = Registry::open(&shop.temp.path().join("no"), &stranger, 1).map(drop);
    assert!(matches!(found, Err(PublishError::NoRegistry { .. })));
}

#[test]
fn versions_are_deprecated_and_taken_back() {
    let shop = shop();
    shop.publish("2.0.0", b"two");
    let id = "ocr".parse().unwrap();
    let old: VersionReq = "<2".parse().unwrap();
    assert_eq!(shop.open().deprecate(&id, &old, Some("old")).unwrap(), 1);
    let deprecated = |version: &str| {
        let index = index(&shop);
        let version: Version = version.parse().unwrap();
        index.tools[&id].versions[&version].deprecated.clone()
    };
    assert_eq!(deprecated("1.0.0").as_deref(), Some("old"));
    assert_eq!(deprecated("2.0.0"), None);
    assert_eq!(shop.open().deprecate(&id, &old, None).unwrap(), 1);
    assert_eq!(deprecated("1.0.0"), None);
    let unknown: VersionReq = ">5".parse().unwrap();
    let found = shop.open().deprecate(&id, &unknown, Some("old"));
    assert!(matches!(found, Err(PublishError::Unknown { .. })));

    for (id, versions) in [("ocr", ">5"), ("orc", "=1.0.0")] {
        let thing = RevokedThing::Versions {
            id: id.parse().unwrap(),
            versions: versions.parse().unwrap(),
        };
        let reason = "misspelt".to_owned();
        let found = shop.open().revoke(Revocation { thing, reason });
        assert!(matches!(found, Err(PublishError::Unknown { .. })), "{id}");
    }
    let thing = RevokedThing::Artifact(Digest::of(BYTES));
    let reason = "stolen".to_owned();
    let stolen = Revocation { thing, reason };
    shop.open().revoke(stolen.clone()).unwrap();
    let fetched = shop.source().revocations().unwrap();
    let list: RevocationList = read(&shop, Domain::Revocations, fetched);
    assert_eq!(list.revoked, [stolen]);
}

#[test]
fn rotated_keys_are_passed_on() {
    let shop = shop();
    let new = SigningKey::generate().unwrap();
    let names = vec!["ocr".parse().unwrap()];
    let made = jp_publish::sign_rotation(&shop.publisher, new.public().clone(), names, 1).unwrap();
    shop.open().add_rotation(made.clone()).unwrap();
    shop.open().add_rotation(made.clone()).unwrap();
    let bytes = shop.source().rotations().unwrap().unwrap();
    let rotations = Rotations::read(&bytes).unwrap();
    assert_eq!(rotations.rotations, [made]);
}

#[test]
fn a_crash_at_any_point_of_publishing_leaves_the_old_registry_or_the_new_one() {
    let new = manifest("2.0.0", b"two");
    let (before, mut left) = (shop(), Vec::new());
    for after in 0.. {
        let shop = before.copy();
        let disk = Disk::failing_after(after, Torn::Half);
        let done = shop.publish_on(disk, &new, b"two");
        // Every reader finds a registry that fits together.
        left.push(newest(&shop));
        check_whole(&shop);
        if done.is_ok() {
            break;
        }
        // And whoever publishes next gets through.
        if after % 4 == 0 {
            shop.publish("2.0.0", b"two");
            assert_eq!(newest(&shop), "2.0.0");
            let hidden = fs::read_dir(shop.dir()).unwrap().flatten();
            let names = hidden.map(|entry| entry.file_name().into_string().unwrap());
            let hidden: Vec<String> = names.filter(|name| name.starts_with('.')).collect();
            assert_eq!(hidden, [".lock"]);
        }
    }
    let count = |version: &str| left.iter().filter(|found| *found == version).count();
    let (old, new) = (count("1.0.0"), count("2.0.0"));
    assert!(old > 10 && new > 10 && old + new == left.len(), "{left:?}");
}

#[test]
fn a_change_that_failed_is_no_part_of_the_next_one() {
    let before = shop();
    let place = "registry/tools/ocr/5.0.0.json";
    for after in 12.. {
        let shop = before.copy();
        let disk = Disk::failing_after(after, Torn::Half);
        let failed = shop.publish_on(disk, &manifest("5.0.0", BYTES), BYTES);
        failed.unwrap_err();
        if shop.dir().join(".pending.new").join(place).exists() {
            shop.publish("2.0.0", b"two");
            assert!(!shop.dir().join(place).exists());
            assert_eq!(newest(&shop), "2.0.0");
            return;
        }
    }
}

/// Checks that all that the index lists is there and right.
fn check_whole(shop: &Shop) {
    let (source, index) = (shop.source(), index(shop));
    let id: ToolId = "ocr".parse().unwrap();
    let tool = &index.tools[&id];
    for (version, entry) in &tool.versions {
        let verified = shop.verified(&source, &version.to_string());
        assert_eq!(verified.digest, entry.manifest);
        let artifact = ArtifactRef {
            owner: Owner::Tool(&verified.manifest.id, version),
            sha256: verified.manifest.artifact.sha256,
            size: Some(verified.manifest.artifact.size_bytes),
            url: None,
        };
        let mut bytes = Vec::new();
        source.artifact(&artifact, 0, &mut bytes).unwrap();
        assert_eq!(Digest::of(&bytes), artifact.sha256);
    }
}
