//! A registry in a directory, with its keys and its publisher, and a user who trusts both.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use jp_disk::Disk;
use jp_llm::registry::RegistryTools;
use jp_policy::{Access, Ambient, Capabilities, Ceilings, FileRule, Files, GuestPath, Policy};
use jp_publish::{SigningKey, Submission};
use jp_registry::{
    AllNames, Decision, Digest, InstallError, Installer, Mode, Places, Registry, Signatures,
    Source, StaticSource, Store, TrustRoots, TrustedRegistry,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::Desk;

/// The clock of all tests.
pub(crate) const NOW: u64 = 1_790_000_000;

/// The registry, as its users know it.
pub(crate) const MAIN: &str = "main";

/// A registry and a publisher.
pub(crate) struct Shop {
    dir: TempDir,
    key: SigningKey,
    pub(crate) publisher: SigningKey,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let shop = Self {
            dir: tempfile::tempdir().unwrap(),
            key: SigningKey::generate().unwrap(),
            publisher: SigningKey::generate().unwrap(),
        };
        jp_publish::Registry::init(shop.dir.path(), MAIN, &shop.key, NOW).unwrap();
        shop
    }

    /// Publishes a tool whose body is a guest of the test kit, under the guest's name.
    pub(crate) fn publish(&self, guest: &str, more: &Value) {
        self.publish_as(guest, guest, more);
    }

    /// Publishes a tool whose body is a guest of the test kit.
    pub(crate) fn publish_as(&self, id: &str, guest: &str, more: &Value) {
        self.publish_file(id, jp_test::guest(guest), more);
    }

    /// Publishes any file as a tool.
    pub(crate) fn publish_file(&self, name: &str, file: &Path, more: &Value) {
        let bytes = fs::read(file).unwrap();
        let manifest = manifest(name, &bytes, more);
        let submission = Submission {
            manifest: &manifest,
            signatures: &self.signed(&manifest),
            artifact: file,
            publisher: Some(self.publisher.public()),
            validated: None,
        };
        self.open().publish(&submission).unwrap();
    }

    /// Publishes a model, and returns how a tool pins it.
    pub(crate) fn publish_model(&self, id: &str, bytes: &[u8]) -> String {
        let sha256 = Digest::of(bytes).to_string();
        let artifact = json!({"format": "gguf", "sha256": sha256});
        let manifest = json!({
            "id": id, "version": "1.0.0", "license": "MIT", "size_bytes": bytes.len(),
            "artifacts": {"any": artifact},
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        self.open().add_model(&manifest, &[file.path()]).unwrap();
        format!("{id}@sha256:{sha256}")
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn open(&self) -> jp_publish::Registry<'_> {
        jp_publish::Registry::open(self.dir.path(), &self.key, NOW).unwrap()
    }

    pub(crate) fn signed(&self, manifest: &Value) -> Signatures {
        let mut signatures = Signatures::default();
        let signature = jp_publish::sign_manifest(manifest, &self.publisher).unwrap();
        signatures.add(signature).unwrap();
        signatures
    }

    pub(crate) fn source(&self) -> StaticSource {
        StaticSource::in_dir(self.dir.path())
    }

    /// Returns what a user writes down who trusts the registry.
    pub(crate) fn trusted_registry(&self) -> TrustedRegistry {
        let key = self.key.public().clone();
        let validates = false;
        TrustedRegistry { key, validates }
    }

    /// Lets the user of a desk trust registry and publisher.
    pub(crate) fn trusted_by(&self, desk: &Desk) {
        trust(desk, |roots| {
            roots.trust_registry(MAIN, self.trusted_registry()).unwrap();
            let names = ["files", "reader", "environment", "echo", "bash"];
            let names = names.map(|name| name.parse().unwrap());
            let key = self.publisher.public();
            roots.trust(key, &names, AllNames::Refused).unwrap();
        });
    }

    /// Installs a tool into the workspace of a desk, whose user trusts registry and publisher.
    pub(crate) fn installed(&self, mut desk: Desk, spec: &str) -> Desk {
        self.trusted_by(&desk);
        let installer = self.installer(&desk);
        installer.install(&spec.parse().unwrap()).unwrap();
        read_again(&mut desk);
        desk
    }

    /// Makes the installer of a desk, which refuses every change that must be accepted.
    pub(crate) fn installer(&self, desk: &Desk) -> Installer<'static> {
        let all = FileRule {
            path: GuestPath::new("/").unwrap(),
            access: Access::ReadWrite,
        };
        let everything = Policy {
            capabilities: Capabilities {
                files: Files::new([all]),
                selected: Some(Access::ReadWrite),
                env: ["GREETING".parse().unwrap()].into(),
                ambient: Ambient::default(),
                ..Capabilities::default()
            },
            ceilings: Ceilings::default(),
        };
        Installer {
            places: places(desk),
            disk: Disk::real(),
            store: store(desk),
            registries: vec![Registry {
                name: MAIN.to_owned(),
                source: Box::new(self.source()),
            }],
            host: everything.clone(),
            app: everything,
            is_known: jp_llm::is_known_call,
            form: jp_llm::form_of,
            builtins: Vec::new(),
            wanted: Vec::new(),
            now: NOW,
            mode: Mode::Normal,
            decide: Box::new(|_| Decision::Refuse),
            progress: Box::new(|_, _, _| {}),
        }
    }

    /// Lets a desk fetch from the registry what it does not have.
    pub(crate) fn online(&self, desk: &mut Desk) {
        online(desk, Arc::new(self.source()));
    }
}

/// Lets a desk fetch what it does not have.
pub(crate) fn online(desk: &mut Desk, source: Arc<dyn Source>) {
    let mut tools = tools(desk);
    tools.sources = BTreeMap::from([(MAIN.to_owned(), source)]);
    desk.rebuild(|host| host.registry(Some(Arc::new(tools))));
}

pub(crate) fn manifest(id: &str, bytes: &[u8], more: &Value) -> Value {
    let mut manifest = json!({
        "id": id,
        "version": "1.0.0",
        "displayName": "A guest of the tests",
        "description": "Does what its arguments say.",
        "license": "Apache-2.0",
        "artifact": {"sha256": Digest::of(bytes).to_string(), "size_bytes": bytes.len()},
        "wasi_imports": {"fs": {"scope": "$TOOL_TEMP"}, "stdio": "read-write"},
        "input_schema": {"type": "object", "properties": {
            "do": {"type": "array"}, "source": {"$ref": "#/definitions/blob_or_path"},
        }},
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        manifest[key] = value.clone();
    }
    manifest
}

pub(crate) fn places(desk: &Desk) -> Places {
    Places::new(&desk.root, &desk.held().join("data"))
}

pub(crate) fn store(desk: &Desk) -> Store {
    Store::open(&desk.held().join("store")).unwrap()
}

pub(crate) fn tools(desk: &Desk) -> RegistryTools {
    let mut tools = RegistryTools::open(&places(desk), store(desk)).unwrap();
    tools.now = || NOW;
    tools
}

/// Reads the lock file and what the user knows again, as the next command would.
pub(crate) fn read_again(desk: &mut Desk) {
    let tools = tools(desk);
    desk.rebuild(|host| host.registry(Some(Arc::new(tools))));
}

pub(crate) fn trust(desk: &Desk, change: impl FnOnce(&mut TrustRoots)) {
    let keys = desk.held().join("data/keys.json");
    fs::create_dir_all(keys.parent().unwrap()).unwrap();
    let changed = TrustRoots::change(&keys, |roots| {
        change(roots);
        Ok::<_, InstallError>(())
    });
    changed.unwrap();
}

/// Returns where the store of a desk keeps what has a sha256, whether or not it is there.
pub(crate) fn object(desk: &Desk, sha256: &str) -> PathBuf {
    let objects = desk.held().join("store/objects");
    objects.join(&sha256[..2]).join(sha256)
}

/// Returns the files that the store of a desk has, complete or on their way.
pub(crate) fn stored(desk: &Desk) -> Vec<String> {
    let mut all = names(&desk.held().join("store/partial"));
    for dir in names(&desk.held().join("store/objects")) {
        all.extend(names(&desk.held().join("store/objects").join(dir)));
    }
    all
}

/// Returns the names in a directory that is there.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.collect()
}
