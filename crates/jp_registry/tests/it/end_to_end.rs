//! The life of a tool: keys are made, three versions are published and served over HTTP, two
//! workspaces install and update it, it is deprecated and revoked, an old index is refused, and its
//! publisher takes a new key.

use std::{
    cell::RefCell,
    fs,
    path::Path,
    sync::Arc,
    thread::{self, JoinHandle},
};

use crate::support::{Home, Shop, accept, http::Plain, locked, ocr, spec, stopped, wasm};
use jp_publish::{Server, SigningKey};
use jp_registry::{
    Change, Decision, InstallError, Installer, Lock, Receipts, Revocation, RevokedThing, Source,
    StaticSource, VerifyError, Warning,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// The registry's own server, until it is dropped.
struct Served {
    url: String,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn new(dir: &Path) -> Self {
        let server = Server::bind("127.0.0.1:0", dir).unwrap();
        let url = format!("http://{}/", server.addr());
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(server.run(stopped)).unwrap();
        });
        Self {
            url,
            stop,
            thread: Some(thread),
        }
    }

    fn source(&self) -> Box<dyn Source> {
        Box::new(StaticSource::at_url(&self.url, Arc::new(Plain)).unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Publishes three versions: the second shows the same, the third asks for a host as well.
fn three_versions() -> Shop {
    let shop = Shop::with_ocr();
    shop.publish(&ocr("1.1.0"));
    let mut wider = ocr("2.0.0");
    wider["wasi_imports"]["net"] = json!(["api.example.com"]);
    wider["wasi_imports"]["calls"] = json!(["http.request"]);
    shop.publish(&wider);
    shop
}

fn only(installer: &Installer<'_>) -> Result<jp_registry::Installed, InstallError> {
    installer.update(&[]).unwrap().remove(0).1
}

#[test]
fn a_tool_from_its_first_key_to_its_last() {
    let shop = three_versions();
    let served = Served::new(shop.path());
    let home = Home::trusting(&shop);
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut first = home.installer(one.path(), served.source());
    let second = home.installer(two.path(), served.source());

    // Two workspaces share the bytes, and each has its own version.
    first.install(&spec("ocr@1.0.0")).unwrap();
    second.install(&spec("ocr@1.0.0")).unwrap();
    second.install(&spec("ocr-new=ocr@2.0.0")).unwrap();
    let objects = || {
        let files = home.files();
        files
            .iter()
            .filter(|path| path.contains("objects/"))
            .count()
    };
    assert_eq!(objects(), 2);
    assert_eq!(
        first.ensure("ocr").unwrap().verified.bytes().unwrap(),
        wasm("1.0.0")
    );
    let new = second.ensure("ocr-new").unwrap();
    assert_eq!(new.verified.bytes().unwrap(), wasm("2.0.0"));

    // 1.0.0 to 2.0.0 asks for more: stopped, shown, and then accepted.
    let (outdated, _) = first.outdated(None).unwrap();
    assert_eq!(outdated[0].newer.as_ref().unwrap().to_string(), "2.0.0");
    let error = only(&first).unwrap_err();
    let diff = stopped(&error).to_string();
    assert!(diff.contains("+ asks for: reach api.example.com"), "{diff}");
    assert_eq!(locked(one.path(), "ocr").unwrap(), "1.0.0");
    first.decide = Box::new(accept);
    assert!(only(&first).unwrap().is_change());
    assert_eq!(locked(one.path(), "ocr").unwrap(), "2.0.0");
    // The other workspace did not move.
    assert_eq!(locked(two.path(), "ocr").unwrap(), "1.0.0");

    deprecated(&shop, &second, two.path());
    revoked(&shop, &home, &second, two.path());
    rotated(&shop, &home, &served, one.path());
}

/// Version 1.0.0 is deprecated: it works, and everybody is told.
fn deprecated(shop: &Shop, installer: &Installer<'_>, workspace: &Path) {
    let (id, versions) = ("ocr".parse().unwrap(), "=1.0.0".parse().unwrap());
    let reason = Some("use 2.0.0 \u{1b}[31m");
    shop.open().deprecate(&id, &versions, reason).unwrap();
    let (outdated, _) = installer.outdated(None).unwrap();
    let old = outdated
        .iter()
        .find(|old| old.tool.name.as_str() == "ocr")
        .unwrap();
    assert!(old.deprecated.as_ref().unwrap().starts_with("use 2.0.0"));
    let installed = installer.install(&spec("ocr")).unwrap();
    let told = |warning: &&Warning| matches!(warning, Warning::Deprecated { .. });
    let warning = installed.warnings.iter().find(told).unwrap().to_string();
    assert!(warning.contains("is deprecated: use 2.0.0"), "{warning}");
    assert!(!warning.contains('\u{1b}'), "{warning:?}");
    let receipts = Receipts::open(&installer.places.receipts()).unwrap();
    let lock = Lock::open(&workspace.join("jp.lock")).unwrap();
    let receipt = receipts.get(&lock.get("ocr").unwrap().manifest).unwrap();
    assert!(receipt.deprecated.is_some(), "a listing knows it too");
}

/// Version 1.0.0 is revoked: it is refused from then on, online and offline.
fn revoked(shop: &Shop, home: &Home, installer: &Installer<'_>, workspace: &Path) {
    let thing = RevokedThing::Versions {
        id: "ocr".parse().unwrap(),
        versions: "=1.0.0".parse().unwrap(),
    };
    let reason = "it leaks".to_owned();
    let before = fs::read(shop.file("revocations.json")).unwrap();
    shop.open().revoke(Revocation { thing, reason }).unwrap();
    // Not known here yet: what is installed works.
    installer.ensure("ocr").unwrap();
    let (outdated, _) = installer.outdated(None).unwrap();
    let old = outdated
        .iter()
        .find(|old| old.tool.name.as_str() == "ocr")
        .unwrap();
    assert_eq!(old.revoked.as_deref(), Some("it leaks"));
    let error = installer.ensure("ocr").unwrap_err();
    assert!(matches!(error, InstallError::Revoked { .. }), "{error}");
    let places = &installer.places;
    let known = places.known().unwrap();
    let lock = Lock::open(&workspace.join("jp.lock")).unwrap();
    let receipts = Receipts::open(&places.receipts()).unwrap();
    let valid = receipts.valid(lock.get("ocr").unwrap(), &known.roots, &known.revoked);
    assert!(
        matches!(valid, Err(VerifyError::Revoked { .. })),
        "{valid:?}"
    );
    assert!(
        receipts
            .valid(lock.get("ocr-new").unwrap(), &known.roots, &known.revoked)
            .is_ok()
    );
    // An older list does not bring it back, nor does a list that is gone.
    let newer = fs::read(shop.file("revocations.json")).unwrap();
    let signatures = fs::read(shop.file("revocations.json.sig")).unwrap();
    fs::write(shop.file("revocations.json"), before).unwrap();
    assert!(installer.install(&spec("again=ocr@1.0.0")).is_err());
    fs::remove_file(shop.file("revocations.json")).unwrap();
    assert!(installer.install(&spec("again=ocr@1.0.0")).is_err());
    assert!(installer.ensure("ocr").is_err());
    fs::write(shop.file("revocations.json"), newer).unwrap();
    fs::write(shop.file("revocations.json.sig"), signatures).unwrap();
    let fresh = tempfile::tempdir().unwrap();
    let other = home.installer(fresh.path(), shop.source());
    let error = other.install(&spec("ocr@1.0.0")).unwrap_err().to_string();
    assert!(error.contains("it leaks"), "{error}");
    assert_eq!(locked(fresh.path(), "ocr"), None);
}

/// The publisher takes a new key: accepted by a person, it signs from then on, and the old one no
/// more; what the old one signed goes on working.
fn rotated(shop: &Shop, home: &Home, served: &Served, workspace: &Path) {
    let new = SigningKey::generate().unwrap();
    let names = vec!["ocr".parse().unwrap()];
    let statement = jp_publish::sign_rotation(&shop.publisher, new.public().clone(), names, 1);
    shop.open().add_rotation(statement.unwrap()).unwrap();
    let mut next = ocr("2.1.0");
    next["wasi_imports"]["net"] = json!(["api.example.com"]);
    next["wasi_imports"]["calls"] = json!(["http.request"]);
    shop.publish_by(&next, &new);
    let asked = RefCell::new(Vec::new());
    let mut installer = home.installer(workspace, served.source());
    let error = only(&installer).unwrap_err();
    assert!(matches!(error, InstallError::Verify(_)), "{error}");
    assert_eq!(locked(workspace, "ocr").unwrap(), "2.0.0");
    installer.decide = Box::new(|change| {
        asked.borrow_mut().push(match change {
            Change::Key { old, new, .. } => (*old, *new),
            Change::Tool { from, to, .. } => (from.key, to.key),
            Change::Mcp { .. } | Change::Custom { .. } => panic!("{change:?}"),
        });
        Decision::Accept
    });
    only(&installer).unwrap();
    let keys = (shop.publisher.public().id(), new.public().id());
    drop(installer);
    assert_eq!(
        *asked.borrow(),
        [keys, keys],
        "the key itself, and the tool it signed"
    );
    assert_eq!(locked(workspace, "ocr").unwrap(), "2.1.0");
    // The old key signs nothing new.
    let mut late = ocr("2.2.0");
    late["wasi_imports"]["net"] = json!(["api.example.com"]);
    late["wasi_imports"]["calls"] = json!(["http.request"]);
    shop.publish_by(&late, &shop.publisher);
    let mut installer = home.installer(workspace, served.source());
    installer.decide = Box::new(accept);
    let error = only(&installer).unwrap_err();
    assert!(matches!(error, InstallError::Verify(_)), "{error}");
    assert_eq!(locked(workspace, "ocr").unwrap(), "2.1.0");
    installer.ensure("ocr").unwrap();
}

#[test]
fn a_missing_artifact_is_fetched_when_it_is_locked_and_there_is_a_connection() {
    let shop = three_versions();
    let served = Served::new(shop.path());
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    home.installer(workspace.path(), served.source())
        .install(&spec("ocr@1.1.0"))
        .unwrap();
    // Another machine with the same workspace: nothing but the lock file is there.
    let elsewhere = Home::trusting(&shop);
    let mut installer = elsewhere.installer(workspace.path(), served.source());
    installer.mode = jp_registry::Mode::Offline;
    let error = installer.ensure("ocr").unwrap_err();
    assert!(matches!(error, InstallError::Offline { .. }), "{error}");
    installer.mode = jp_registry::Mode::Locked;
    let ready = installer.ensure("ocr").unwrap();
    assert_eq!(ready.verified.bytes().unwrap(), wasm("1.1.0"));
    let error = installer.ensure("pdf.split").unwrap_err();
    assert!(matches!(error, InstallError::NotLocked { .. }), "{error}");
    // From then on without a connection.
    drop(served);
    installer.mode = jp_registry::Mode::Offline;
    installer.ensure("ocr").unwrap();
    let hits = home
        .installer(workspace.path(), shop.source())
        .search("text")
        .unwrap();
    assert_eq!(hits[0].id.as_str(), "ocr");
    assert_eq!(hits[0].locked.as_ref().unwrap().to_string(), "1.1.0");
}
