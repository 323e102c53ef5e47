//! More than one registry, registries without an index, models, and two installers at once.

use std::{fs, io::Write, sync::Barrier, thread};

use jp_registry::{
    About, ArtifactRef, Delivery, Digest, FetchError, Fetched, InstallError, Lock, Mode, ModelId,
    Registry, Source, ToolId, TrustedRegistry, Warning,
};
use semver::Version;
use serde_json::{Value, json};

use crate::support::{Home, Shop, locked, ocr, signed_index, spec, tool, wasm};

/// A registry of a kind that has neither an index nor revocations.
pub(crate) struct WithoutIndex(pub(crate) Box<dyn Source>);

impl Source for WithoutIndex {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn about(&self) -> Result<About, FetchError> {
        self.0.about()
    }

    fn index(&self) -> Result<Option<Fetched>, FetchError> {
        Ok(None)
    }

    fn revocations(&self) -> Result<Option<Fetched>, FetchError> {
        Ok(None)
    }

    fn rotations(&self) -> Result<Option<Vec<u8>>, FetchError> {
        Ok(None)
    }

    fn manifest(&self, id: &ToolId, version: Option<&Version>) -> Result<Fetched, FetchError> {
        self.0.manifest(id, version)
    }

    fn model(&self, id: &ModelId) -> Result<Fetched, FetchError> {
        self.0.model(id)
    }

    fn artifact(
        &self,
        artifact: &ArtifactRef<'_>,
        from: u64,
        sink: &mut dyn Write,
    ) -> Result<Delivery, FetchError> {
        self.0.artifact(artifact, from, sink)
    }
}

#[test]
fn a_registry_without_an_index_never_leads_back_to_an_older_version() {
    let shop = Shop::with_ocr();
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    let source = || Box::new(WithoutIndex(shop.source()));
    let installer = home.installer(workspace.path(), source());
    let newest = fs::read(shop.file("registry/tools/ocr.json")).unwrap();
    let signatures = fs::read(shop.file("registry/tools/ocr.json.sig")).unwrap();
    shop.publish(&ocr("1.1.0"));
    installer.install(&spec("ocr")).unwrap();
    assert_eq!(locked(workspace.path(), "ocr").unwrap(), "1.1.0");
    fs::write(shop.file("registry/tools/ocr.json"), newest).unwrap();
    fs::write(shop.file("registry/tools/ocr.json.sig"), signatures).unwrap();
    let done = installer.update(&[]).unwrap().remove(0).1.unwrap();
    assert!(!done.is_change());
    shop.publish(&ocr("1.2.0"));
    let done = installer.update(&[]).unwrap().remove(0).1.unwrap();
    assert_eq!(done.tool.version.to_string(), "1.2.0");
}

#[test]
fn of_two_registries_that_offer_a_tool_neither_is_guessed() {
    let (shop, other) = (Shop::with_ocr(), Shop::with_ocr());
    other.publish(&tool("pdf.split", "1.0.0"));
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    home.trust(|roots| {
        let key = other.key.public().clone();
        let registry = TrustedRegistry {
            key,
            validates: false,
        };
        roots.trust_registry("other", registry).unwrap();
    });
    let mut installer = home.installer(workspace.path(), shop.source());
    installer.registries.push(Registry {
        name: "other".into(),
        source: other.source(),
    });
    let error = installer.install(&spec("ocr")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`ocr` is offered by main and other: say which one"
    );
    // The key decides, not the place: nobody trusts this publisher for `ocr`.
    let error = installer
        .install(&spec("ocr").from_registry("other"))
        .unwrap_err();
    assert!(matches!(error, InstallError::Verify(_)), "{error}");
    installer
        .install(&spec("ocr").from_registry("main"))
        .unwrap();
    let error = installer.install(&spec("pdf.spilt")).unwrap_err();
    assert_eq!(error.hint().unwrap(), "did you mean `pdf.split`?");
    // One that cannot be asked is not replaced by one that can.
    fs::remove_dir_all(shop.path()).unwrap();
    assert!(installer.install(&spec("pdf.split")).is_err());
    let error = installer.install(&spec("ocr@1.0.0").from_registry("nowhere"));
    assert!(matches!(error, Err(InstallError::UnknownRegistry { .. })));
}

#[test]
fn models_are_fetched_with_the_tool_that_pins_them() {
    let shop = Shop::new();
    let bytes = b"a very small model".to_vec();
    let sha256 = Digest::of(&bytes);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &bytes).unwrap();
    let model = json!({
        "id": "glm-ocr-1.5-q8", "version": "1.5.0", "license": "MIT", "size_bytes": bytes.len(),
        "artifacts": {"llamacpp": {"format": "gguf", "sha256": sha256.to_string()}},
    });
    shop.open().add_model(&model, &[file.path()]).unwrap();
    let mut manifest = ocr("1.0.0");
    manifest["model_dependencies"] = json!([format!("glm-ocr-1.5-q8@sha256:{sha256}")]);
    shop.publish(&manifest);
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    let mut installer = home.installer(workspace.path(), shop.source());
    let error = installer.install(&spec("ocr")).unwrap_err();
    assert!(
        error
            .hint()
            .unwrap()
            .contains("/models/glm-ocr-1.5-q8:read"),
        "{error}"
    );
    for policy in [&mut installer.host, &mut installer.app] {
        let models = jp_policy::GuestPath::new("/models").unwrap();
        let all = policy.capabilities.clone();
        policy.capabilities = all.with_files(models, jp_policy::Access::Read);
    }
    // Other bytes in its place: nothing is installed.
    let place = shop.file(&format!("artifacts/{sha256}"));
    fs::write(&place, b"a very evil! model").unwrap();
    assert!(installer.install(&spec("ocr")).is_err());
    assert_eq!(locked(workspace.path(), "ocr"), None);
    fs::write(&place, &bytes).unwrap();
    installer.install(&spec("ocr")).unwrap();
    installer.mode = Mode::Offline;
    let ready = installer.ensure("ocr").unwrap();
    assert_eq!(ready.models[0].read(1000).unwrap(), bytes);
}

#[test]
fn installers_at_the_same_time_lose_nothing_of_each_other() {
    let shop = Shop::new();
    let ids: Vec<String> = (0..8).map(|number| format!("pdf.part{number}")).collect();
    for id in &ids {
        shop.publish(&tool(id, "1.0.0"));
    }
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    let start = Barrier::new(ids.len());
    thread::scope(|scope| {
        for id in &ids {
            let (home, shop, start) = (&home, &shop, &start);
            let workspace = workspace.path();
            scope.spawn(move || {
                let installer = home.installer(workspace, shop.source());
                start.wait();
                for _ in 0..3 {
                    installer.install(&spec(id)).unwrap();
                    installer.remove(&id.parse().unwrap()).unwrap();
                }
                installer.install(&spec(id)).unwrap();
            });
        }
    });
    let lock = Lock::open(&workspace.path().join("jp.lock")).unwrap();
    assert_eq!(lock.tools().len(), ids.len());
    let receipts = home
        .installer(workspace.path(), shop.source())
        .places
        .receipts();
    let receipts = jp_registry::Receipts::open(&receipts).unwrap();
    let mut locked = lock.tools();
    assert!(locked.all(|tool| receipts.get(&tool.manifest).is_some()));
}

#[test]
fn publishers_at_the_same_time_lose_nothing_of_each_other() {
    let shop = Shop::new();
    let ids: Vec<String> = (0..8).map(|number| format!("pdf.part{number}")).collect();
    let start = Barrier::new(ids.len());
    thread::scope(|scope| {
        for id in &ids {
            let (shop, start) = (&shop, &start);
            scope.spawn(move || {
                start.wait();
                shop.publish(&tool(id, "1.0.0"));
            });
        }
    });
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    let installer = home.installer(workspace.path(), shop.source());
    for id in &ids {
        installer.install(&spec(id)).unwrap();
    }
}

#[test]
fn a_registry_that_withdraws_a_version_leads_nobody_back() {
    let shop = Shop::with_ocr();
    let before = fs::read_to_string(shop.file("index.json")).unwrap();
    shop.publish(&ocr("1.1.0"));
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    let installer = home.installer(workspace.path(), shop.source());
    installer.install(&spec("ocr")).unwrap();
    // Signed anew, with a higher number: this is no rollback, and still none for the workspace.
    let mut index: Value = serde_json::from_str(&before).unwrap();
    index["number"] = 12.into();
    fs::write(shop.file("index.json"), index.to_string()).unwrap();
    fs::write(shop.file("index.json.sig"), signed_index(&index, &shop.key)).unwrap();
    let done = installer.update(&[]).unwrap().remove(0).1.unwrap();
    assert!(!done.is_change());
    assert_eq!(locked(workspace.path(), "ocr").unwrap(), "1.1.0");
    // A person may go back, and is told.
    let done = installer.install(&spec("ocr@1.0.0")).unwrap();
    let told = |warning: &Warning| matches!(warning, Warning::Downgrade { .. });
    assert!(done.warnings.iter().any(told), "{:?}", done.warnings);
}

#[test]
fn a_lock_file_that_lies_about_its_manifest_is_refused() {
    let shop = Shop::with_ocr();
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    let installer = home.installer(workspace.path(), shop.source());
    installer.install(&spec("ocr")).unwrap();
    let path = workspace.path().join("jp.lock");
    let good = fs::read_to_string(&path).unwrap();
    let lock = Lock::open(&path).unwrap();
    let tool = lock.get("ocr").unwrap();
    let other = Digest::of(b"other").to_string();
    for digest in [tool.sha256, tool.shown, tool.capabilities, tool.manifest] {
        fs::write(&path, good.replace(&digest.to_string(), &other)).unwrap();
        assert!(installer.ensure("ocr").is_err(), "{digest}");
        assert!(installer.install(&spec("ocr")).is_err(), "{digest}");
    }
    let key = shop.key.public().id().to_string();
    fs::write(&path, good.replace(&tool.key.to_string(), &key)).unwrap();
    assert!(installer.ensure("ocr").is_err());
    fs::write(&path, good).unwrap();
    let bytes = installer.ensure("ocr").unwrap().verified.bytes().unwrap();
    assert_eq!(bytes, wasm("1.0.0"));
    // A key that is not trusted any more lets nothing run.
    home.trust(|roots| assert!(roots.forget(&shop.publisher.public().id())));
    assert!(installer.ensure("ocr").is_err());
}

#[test]
fn nobody_is_asked_about_a_key_that_is_refused_and_nothing_changes() {
    let shop = Shop::with_ocr();
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    let mut installer = home.installer(workspace.path(), shop.source());
    installer.decide = Box::new(|change| panic!("{change:?}"));
    // A statement by a stranger about the publisher's key.
    let stranger = jp_publish::SigningKey::generate().unwrap();
    let names = vec!["ocr".parse().unwrap()];
    let key = stranger.public().clone();
    let made = jp_publish::sign_rotation(&stranger, key, names, 1).unwrap();
    let mut text = serde_json::to_value(&made).unwrap();
    text["statement"]["old"] = shop.publisher.public().id().to_string().into();
    let list = json!({ "rotations": [text] }).to_string();
    fs::write(shop.file("rotations.json"), list).unwrap();
    let installed = installer.install(&spec("ocr")).unwrap();
    let told = installed
        .warnings
        .iter()
        .any(|w| w.to_string().contains("invalid statement"));
    assert!(told, "{:?}", installed.warnings);
}
