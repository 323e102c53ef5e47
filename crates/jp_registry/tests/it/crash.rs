//! The machine stops at every single write, rename, fsync and removal of an install and of an
//! update: afterwards there is the old version or the new one, whole, and trying again works.

use std::path::Path;

use crate::support::{Home, Shop, accept, locked, ocr, spec, wasm};
use jp_registry::{
    Disk, InstallError, Installer, Lock,
    disk::Torn,
    install::{Known, Mode},
};

/// Returns an installer whose machine stops after some operations.
fn failing(home: &Home, workspace: &Path, shop: &Shop, disk: &Disk) -> Installer<'static> {
    let mut installer = home.installer(workspace, shop.source());
    installer.store = home.store().with_disk(disk.clone());
    installer.disk = disk.clone();
    installer.decide = Box::new(accept);
    installer
}

/// Looks at what a crash left, as the next process does: the tool, if any, is whole and verified
/// without asking anybody.
fn reopened(home: &Home, workspace: &Path, shop: &Shop) -> Option<String> {
    let version = locked(workspace, "ocr")?;
    let mut installer = home.installer(workspace, shop.source());
    installer.mode = Mode::Offline;
    let ready = installer.ensure("ocr").unwrap();
    assert_eq!(ready.tool().version.to_string(), version);
    assert_eq!(ready.verified.bytes().unwrap(), wasm(&version));
    let lock = Lock::open(&workspace.join("jp.lock")).unwrap();
    let receipts = jp_registry::Receipts::open(&installer.places.receipts()).unwrap();
    let Known { roots, revoked, .. } = installer.places.known().unwrap();
    let receipt = receipts.valid(lock.get("ocr").unwrap(), &roots, &revoked);
    assert_eq!(receipt.unwrap().version.to_string(), version);
    Some(version)
}

/// Runs a change once for each operation it has, with the machine stopping there; returns how many
/// it has.
fn stop_everywhere(
    old: Option<&str>,
    new: &str,
    torn: Torn,
    shop: &Shop,
    change: impl Fn(&Installer<'_>) -> Result<(), InstallError>,
) -> u64 {
    for after in 0.. {
        let (home, workspace) = prepare(old, shop);
        let disk = Disk::failing_after(after, torn);
        let done = change(&failing(&home, workspace.path(), shop, &disk));
        let found = reopened(&home, workspace.path(), shop);
        if done.is_ok() {
            assert_eq!(found.as_deref(), Some(new));
            return after;
        }
        let whole = found.as_deref() == old || found.as_deref() == Some(new);
        assert!(whole, "{found:?} after {after} operations");
        let again = change(&failing(&home, workspace.path(), shop, &Disk::real()));
        again.unwrap_or_else(|error| panic!("after {after} operations: {error}"));
        let found = reopened(&home, workspace.path(), shop);
        assert_eq!(found.as_deref(), Some(new), "after {after} operations");
        assert_no_litter(&home, workspace.path());
    }
    unreachable!()
}

fn assert_no_litter(home: &Home, workspace: &Path) {
    let half = |path: &&String| path.contains(".new") || path.contains("partial/");
    let files = home.files();
    assert_eq!(files.iter().find(half), None);
    let left: Vec<_> = std::fs::read_dir(workspace).unwrap().collect();
    assert_eq!(left.len(), 1, "only jp.lock: {left:?}");
}

fn install(installer: &Installer<'_>) -> Result<(), InstallError> {
    installer.install(&spec("ocr")).map(drop)
}

fn update(installer: &Installer<'_>) -> Result<(), InstallError> {
    let outcomes = installer.update(&[])?;
    outcomes
        .into_iter()
        .try_for_each(|(_, done)| done.map(drop))
}

/// Makes a user and a workspace with a version of `ocr`, or without one.
fn prepare(version: Option<&str>, shop: &Shop) -> (Home, tempfile::TempDir) {
    let home = Home::trusting(shop);
    let workspace = tempfile::tempdir().unwrap();
    if let Some(version) = version {
        let installer = home.installer(workspace.path(), shop.source());
        installer.install(&spec(&format!("ocr@{version}"))).unwrap();
    }
    (home, workspace)
}

/// Makes a registry with two versions, of which the second shows and asks for something else.
fn two_versions() -> Shop {
    let shop = Shop::with_ocr();
    let mut new = ocr("1.1.0");
    new["description"] = "Extract text from images and PDFs.".into();
    new["wasi_imports"]["net"] = serde_json::json!(["api.example.com"]);
    shop.publish(&new);
    shop
}

#[test]
fn a_crash_anywhere_in_an_install_leaves_nothing_or_the_whole_tool() {
    let shop = two_versions();
    for torn in [Torn::Nothing, Torn::Half] {
        let operations = stop_everywhere(None, "1.1.0", torn, &shop, install);
        // The store, the manifest, the receipt and the lock file have at least a write each.
        assert!(operations >= 20, "{operations}");
    }
}

#[test]
fn a_crash_anywhere_in_an_update_leaves_the_old_version_or_the_new_one() {
    let shop = two_versions();
    for torn in [Torn::Nothing, Torn::Half] {
        let operations = stop_everywhere(Some("1.0.0"), "1.1.0", torn, &shop, update);
        assert!(operations >= 18, "{operations}");
    }
}

#[test]
fn a_crash_anywhere_in_a_removal_leaves_the_tool_or_nothing() {
    let shop = Shop::with_ocr();
    for after in 0.. {
        let (home, workspace) = prepare(Some("1.0.0"), &shop);
        let disk = Disk::failing_after(after, Torn::Half);
        let installer = failing(&home, workspace.path(), &shop, &disk);
        let done = installer.remove(&"ocr".parse().unwrap());
        let found = reopened(&home, workspace.path(), &shop);
        assert!(found.is_none() || found.as_deref() == Some("1.0.0"));
        if done.is_ok() {
            assert!(found.is_none() && after >= 5, "{after}");
            return;
        }
    }
}
