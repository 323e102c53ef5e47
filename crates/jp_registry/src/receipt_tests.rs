//! Receipts: kept beside those of others, bounded, and worth nothing once trust is gone.

use super::{MAX_RECEIPTS, Receipt, Receipts, VerifyError, drop_oldest};
use crate::{
    Digest,
    disk::Disk,
    lock::LockedTool,
    revocation::Revocations,
    testing::SigningKey,
    trust::{AllNames, TrustRoots, TrustedRegistry},
};

fn receipt(at: u64) -> Receipt {
    Receipt {
        id: "ocr".parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        key: "0123456789abcdef0123456789abcdef".parse().unwrap(),
        sha256: Digest::of(b"wasm"),
        shown: Digest::of(b"shown"),
        capabilities: Digest::of(b"capabilities"),
        registry: "main".into(),
        summary: "Reads text.".into(),
        deprecated: None,
        verified_at: at,
    }
}

#[test]
fn two_who_opened_the_file_keep_each_others_receipts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("registry/receipts.json");
    let (disk, mut one, mut two) = (
        Disk::real(),
        Receipts::open(&path).unwrap(),
        Receipts::open(&path).unwrap(),
    );
    one.add(&disk, Digest::of(b"1"), receipt(1)).unwrap();
    two.add(&disk, Digest::of(b"2"), receipt(2)).unwrap();
    let read = Receipts::open(&path).unwrap();
    assert_eq!(read.receipts.len(), 2);
    assert_eq!(read.get(&Digest::of(b"1")), Some(&receipt(1)));
}

#[test]
fn a_damaged_file_is_an_error_to_read_and_started_anew_by_writing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("receipts.json");
    for damage in [
        "",
        "{",
        "{\"version\":2,\"receipts\":{}}",
        "{\"version\":1,\"receipts\":{\"x\":1}}",
    ] {
        std::fs::write(&path, damage).unwrap();
        let error = Receipts::open(&path).unwrap_err().to_string();
        assert!(error.contains("invalid file of receipts"), "{error}");
    }
    let mut fresh = Receipts {
        path: path.clone(),
        receipts: std::collections::BTreeMap::new(),
    };
    fresh
        .add(&Disk::real(), Digest::of(b"1"), receipt(1))
        .unwrap();
    assert_eq!(Receipts::open(&path).unwrap(), fresh);
}

#[test]
fn the_oldest_make_room_and_a_long_summary_is_cut() {
    let mut many = (0..MAX_RECEIPTS + 3)
        .map(|at| {
            (
                Digest::of(&at.to_le_bytes()),
                receipt(u64::try_from(at).unwrap()),
            )
        })
        .collect();
    drop_oldest(&mut many);
    assert_eq!(many.len(), MAX_RECEIPTS);
    assert!(many.values().all(|receipt| receipt.verified_at >= 3));
    let dir = tempfile::tempdir().unwrap();
    let mut receipts = Receipts::open(&dir.path().join("receipts.json")).unwrap();
    let summary = "é".repeat(1000);
    let long = Receipt {
        summary,
        ..receipt(1)
    };
    receipts.add(&Disk::real(), Digest::of(b"1"), long).unwrap();
    let kept = &receipts.get(&Digest::of(b"1")).unwrap().summary;
    assert!(kept.ends_with("é…") && kept.len() < 310, "{kept}");
}

#[test]
fn a_receipt_counts_only_for_what_was_verified_under_a_trusted_key() {
    let dir = tempfile::tempdir().unwrap();
    let mut receipts = Receipts::open(&dir.path().join("receipts.json")).unwrap();
    let signer = SigningKey::new();
    let key = signer.public().id();
    let manifest = Digest::of(b"manifest");
    let fresh = Receipt { key, ..receipt(1) };
    let tool = LockedTool {
        name: "ocr".parse().unwrap(),
        id: fresh.id.clone(),
        version: fresh.version.clone(),
        registry: "main".into(),
        sha256: fresh.sha256,
        manifest,
        key,
        shown: fresh.shown,
        capabilities: fresh.capabilities,
        models: Vec::new(),
    };
    let (mut roots, none) = (TrustRoots::default(), Revocations::default());
    let missing = receipts.valid(&tool, &roots, &none);
    assert!(matches!(missing, Err(VerifyError::NeverVerified { .. })));
    receipts.add(&Disk::real(), manifest, fresh).unwrap();
    let unknown = receipts.valid(&tool, &roots, &none);
    assert!(matches!(unknown, Err(VerifyError::NotTrusted { .. })));
    let names = ["pdf.*".parse().unwrap()];
    roots
        .trust(signer.public(), &names, AllNames::Refused)
        .unwrap();
    let other_names = receipts.valid(&tool, &roots, &none);
    assert!(matches!(other_names, Err(VerifyError::NotTrusted { .. })));
    let names = ["ocr".parse().unwrap()];
    roots
        .trust(signer.public(), &names, AllNames::Refused)
        .unwrap();
    receipts.valid(&tool, &roots, &none).unwrap();
    for change in [
        |tool: &mut LockedTool| tool.sha256 = Digest::of(b"x"),
        |tool: &mut LockedTool| tool.shown = Digest::of(b"x"),
        |tool: &mut LockedTool| tool.capabilities = Digest::of(b"x"),
        |tool: &mut LockedTool| tool.id = "pdf.x".parse().unwrap(),
        |tool: &mut LockedTool| tool.version.major = 9,
        |tool: &mut LockedTool| tool.registry = "unknown".to_owned(),
    ] {
        let mut other = tool.clone();
        change(&mut other);
        let differs = receipts.valid(&other, &roots, &none);
        assert!(matches!(differs, Err(VerifyError::LockDiffers { .. })));
    }
    // Another registry may offer the same; but not to get around what the first one is trusted for.
    let mirrored = LockedTool {
        registry: "mirror".to_owned(),
        ..tool.clone()
    };
    let mut trust = |name: &str, validates| {
        let key = SigningKey::new().public().clone();
        let registry = TrustedRegistry { key, validates };
        roots.trust_registry(name, registry).unwrap();
        receipts.valid(&mirrored, &roots, &none).is_ok()
    };
    assert!(trust("mirror", false));
    assert!(!trust("main", true));
    roots.revoke(&key, "it was lost");
    let revoked = receipts.valid(&tool, &roots, &none);
    assert!(matches!(revoked, Err(VerifyError::Revoked { .. })));
}
