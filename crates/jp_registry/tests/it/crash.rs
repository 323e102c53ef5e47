//! The machine stops at every single write, rename, fsync and removal of an install and of an
//! update: afterwards there is the old version or the new one, whole, and trying again works. So it
//! does while the trusted keys change, and what registries last said.

use std::path::Path;

use crate::support::{Home, MAIN, Shop, accept, locked, ocr, spec, walk, wasm};
use jp_disk::{Disk, Torn};
use jp_publish::SigningKey;
use jp_registry::{
    Domain, InstallError, Installer, Known, Lock, Mode, Revocation, RevokedThing, Role, Signatures,
};
use serde_json::Value;

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
    assert_eq!(ready.verified.manifest.version.to_string(), version);
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
    new["wasi_imports"]["calls"] = serde_json::json!(["http.request"]);
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

/// What a user knows of a registry: the numbers of its lists, the one that was noted, and its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Learnt {
    index: u64,
    revocations: u64,
    noted: u64,
    has_new_key: bool,
}

impl Learnt {
    /// Reads it as the next process does. Every file is whole, and none is missed that is there.
    fn of(home: &Home, new: &SigningKey) -> Self {
        let places = jp_registry::Places::new(home.dir.path(), home.dir.path());
        let Known { roots, .. } = places.known().unwrap();
        let read = |path: &Path| -> Value {
            serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
        };
        let index = read(&places.data.join("registries").join(MAIN).join("index.json"));
        let text = |field: &str| index[field].as_str().unwrap().as_bytes();
        let document = serde_json::from_slice(text("document")).unwrap();
        let signatures = Signatures::read(text("signatures")).unwrap();
        let key = &roots.registry(MAIN).unwrap().key;
        let mut signatures = signatures.by(Role::Registry);
        assert!(signatures.all(|one| one.is_by(key, Domain::Index, &document)));
        assert_eq!(document["number"], index["number"]);
        let revocations = &read(&places.revocations())["registries"][MAIN]["seen"];
        let found = Self {
            index: index["number"].as_u64().unwrap(),
            revocations: revocations["number"].as_u64().unwrap(),
            noted: read(&places.keys)["revocations"][MAIN].as_u64().unwrap(),
            has_new_key: roots.publishers().any(|(key, _)| *key == new.public().id()),
        };
        assert!(found.noted <= found.revocations, "{found:?} has lost some");
        found
    }

    /// Tells whether each part is as in one or the other.
    fn is_between(&self, old: &Self, new: &Self) -> bool {
        let is = |part: fn(&Self) -> u64| [part(old), part(new)].contains(&part(self));
        is(|one| one.index) && is(|one| one.revocations) && is(|one| one.noted)
    }
}

/// Returns a user with the same files.
fn copy(home: &Home) -> Home {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    walk(home.dir.path(), &mut files);
    for file in files {
        let to = dir.path().join(file.strip_prefix(home.dir.path()).unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(&file, &to).unwrap();
    }
    Home { dir }
}

#[test]
fn a_crash_anywhere_while_a_registry_is_asked_leaves_what_was_known_or_what_is_new() {
    let (shop, new) = (Shop::with_ocr(), SigningKey::generate().unwrap());
    let (before, workspace) = prepare(Some("1.0.0"), &shop);
    let old = Learnt::of(&before, &new);
    // Everything that a registry can say has changed: what is offered, what is revoked, whose key it is.
    shop.publish(&ocr("1.1.0"));
    let thing = RevokedThing::Key(SigningKey::generate().unwrap().public().id());
    let reason = "it was stolen".to_owned();
    shop.open().revoke(Revocation { thing, reason }).unwrap();
    let names = vec!["ocr".parse().unwrap()];
    let statement = jp_publish::sign_rotation(&shop.publisher, new.public().clone(), names, 1);
    shop.open().add_rotation(statement.unwrap()).unwrap();
    let ask = |home: &Home, disk: &Disk| {
        let installer = failing(home, workspace.path(), &shop, disk);
        installer.outdated(None).map(drop)
    };
    let asked = copy(&before);
    ask(&asked, &Disk::real()).unwrap();
    let all = Learnt::of(&asked, &new);
    assert!(all.index > old.index && all.revocations > old.revocations);
    assert!(all.noted == all.revocations && all.has_new_key && !old.has_new_key);
    for torn in [Torn::Nothing, Torn::Half] {
        for after in 0.. {
            let home = copy(&before);
            let done = ask(&home, &Disk::failing_after(after, torn));
            let found = Learnt::of(&home, &new);
            assert!(
                found.is_between(&old, &all),
                "{found:?} after {after} operations"
            );
            if done.is_ok() {
                assert_eq!(found, all);
                // Two lists, and the keys twice: each locked, written, synced and renamed.
                assert!(after >= 20, "{after}");
                break;
            }
            ask(&home, &Disk::real()).unwrap();
            assert_eq!(Learnt::of(&home, &new), all, "after {after} operations");
            let litter = |path: &&String| path.contains(".new");
            assert_eq!(home.files().iter().find(litter), None);
        }
    }
}
