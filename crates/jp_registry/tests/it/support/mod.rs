//! A registry with its keys, a user with theirs, and a way between the two over HTTP.

pub(crate) mod http;
pub(crate) mod server;

use std::{
    fs,
    path::{Path, PathBuf},
};

use jp_disk::Disk;
use jp_policy::{Access, Brokered, Capabilities, GuestPath, Net, Policy};
use jp_publish::{SigningKey, Submission};
use jp_registry::{
    AllNames, Change, Decision, Diff, Digest, Domain, Installer, Lock, Mode, Places, Registry,
    Role, Signature, Signatures, Source, Spec, StaticSource, Store, TrustRoots, TrustedRegistry,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The clock of all tests.
pub(crate) const NOW: u64 = 1_790_000_000;

/// The registry, as its users know it.
pub(crate) const MAIN: &str = "main";

/// A registry and a publisher.
pub(crate) struct Shop {
    pub(crate) dir: TempDir,
    pub(crate) key: SigningKey,
    pub(crate) publisher: SigningKey,
}

impl Shop {
    /// Makes a registry without tools.
    pub(crate) fn new() -> Self {
        let shop = Self {
            dir: tempfile::tempdir().unwrap(),
            key: SigningKey::generate().unwrap(),
            publisher: SigningKey::generate().unwrap(),
        };
        jp_publish::Registry::init(shop.path(), MAIN, &shop.key, NOW).unwrap();
        shop
    }

    /// Makes a registry with version 1.0.0 of `ocr`.
    pub(crate) fn with_ocr() -> Self {
        let shop = Self::new();
        shop.publish(&ocr("1.0.0"));
        shop
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn open(&self) -> jp_publish::Registry<'_> {
        jp_publish::Registry::open(self.path(), &self.key, NOW).unwrap()
    }

    pub(crate) fn source(&self) -> Box<dyn Source> {
        Box::new(StaticSource::in_dir(self.path()))
    }

    /// Publishes a manifest, with the artifact that [`wasm`] makes for it.
    pub(crate) fn publish(&self, manifest: &Value) {
        self.publish_by(manifest, &self.publisher);
    }

    pub(crate) fn publish_by(&self, manifest: &Value, publisher: &SigningKey) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), wasm(manifest["version"].as_str().unwrap())).unwrap();
        let submission = Submission {
            manifest,
            signatures: &signed(manifest, publisher),
            artifact: file.path(),
            publisher: Some(publisher.public()),
            validated: None,
        };
        self.open().publish(&submission).unwrap();
    }

    /// Returns the place of a file in the registry.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }
}

/// Signs an index as a registry that may be hostile; returns its file of signatures.
pub(crate) fn signed_index(index: &Value, key: &SigningKey) -> Vec<u8> {
    let mut signatures = Signatures::default();
    let value = jp_publish::sign(Domain::Index, index, key).unwrap();
    let (role, key) = (Role::Registry, key.public().id());
    signatures.add(Signature { role, key, value }).unwrap();
    signatures.to_bytes()
}

pub(crate) fn signed(manifest: &Value, publisher: &SigningKey) -> Signatures {
    let mut signatures = Signatures::default();
    let signature = jp_publish::sign_manifest(manifest, publisher).unwrap();
    signatures.add(signature).unwrap();
    signatures
}

/// Returns the bytes of a version of a tool. They are stored and hashed here, never run.
pub(crate) fn wasm(version: &str) -> Vec<u8> {
    let mut bytes = b"\0asm\x01\0\0\0".to_vec();
    bytes.extend(version.bytes().cycle().take(70_000));
    bytes
}

/// Returns the manifest of a version of `ocr`, which asks for nothing special.
pub(crate) fn ocr(version: &str) -> Value {
    tool("ocr", version)
}

pub(crate) fn tool(id: &str, version: &str) -> Value {
    let bytes = wasm(version);
    json!({
        "id": id,
        "version": version,
        "displayName": "Optical character recognition",
        "description": "Extract text from images.",
        "license": "Apache-2.0",
        "artifact": {"sha256": Digest::of(&bytes).to_string(), "size_bytes": bytes.len()},
        "wasi_imports": {"fs": {"scope": "$TOOL_TEMP"}, "stdio": "read-write"},
        "input_schema": {
            "type": "object",
            "properties": {"language": {"type": "string"}},
        },
        "output_schema": {"type": "object"},
    })
}

/// A user: trusted keys, the store and what was verified.
pub(crate) struct Home {
    pub(crate) dir: TempDir,
}

impl Home {
    /// Makes a user who trusts a registry, and its publisher for `ocr` and `pdf.*`.
    pub(crate) fn trusting(shop: &Shop) -> Self {
        let home = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        home.trust(|roots| {
            let key = shop.key.public().clone();
            roots
                .trust_registry(
                    MAIN,
                    TrustedRegistry {
                        key,
                        validates: false,
                    },
                )
                .unwrap();
            let names = ["ocr", "pdf.*"].map(|name| name.parse().unwrap());
            let key = shop.publisher.public();
            roots.trust(key, &names, AllNames::Refused).unwrap();
        });
        home
    }

    pub(crate) fn trust(&self, change: impl FnOnce(&mut TrustRoots)) {
        let keys = self.dir.path().join("keys.json");
        let changed = TrustRoots::change(&keys, |roots| {
            change(roots);
            Ok::<_, jp_registry::InstallError>(())
        });
        changed.unwrap();
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.dir.path().join("store")).unwrap()
    }

    /// Returns an installer for a workspace, which refuses every change that must be accepted.
    pub(crate) fn installer(
        &self,
        workspace: &Path,
        source: Box<dyn Source>,
    ) -> Installer<'static> {
        let registry = Registry {
            name: MAIN.to_owned(),
            source,
        };
        Installer {
            places: Places::new(workspace, self.dir.path()),
            disk: Disk::real(),
            store: self.store(),
            registries: vec![registry],
            host: policy(),
            app: policy(),
            is_known: |_| true,
            form: |_| jp_policy::Form::Module,
            builtins: vec!["bash".into(), "read_file".into()],
            wanted: Vec::new(),
            now: NOW,
            mode: Mode::Normal,
            decide: Box::new(|_| Decision::Refuse),
            progress: Box::new(|_, _, _| {}),
        }
    }

    /// Returns the files below the store and the data, by their paths, without locks.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut all = Vec::new();
        walk(self.dir.path(), &mut all);
        let mut all: Vec<String> = all
            .iter()
            .map(|path| path.strip_prefix(self.dir.path()).unwrap())
            .map(|path| path.display().to_string())
            .filter(|path| !path.ends_with(".lock"))
            .collect();
        all.sort();
        all
    }
}

/// Finds the files below a directory.
pub(crate) fn walk(dir: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => walk(&path, all),
            false => all.push(path),
        }
    }
}

/// Allows the tool's own directory, chosen files, one host, and the call that reaches it.
pub(crate) fn policy() -> Policy {
    let capabilities = Capabilities {
        selected: Some(Access::Read),
        net: Net::hosts(["api.example.com".parse().unwrap()]),
        brokered: Brokered::new(["http.request".parse().unwrap()]),
        ..Capabilities::default()
    };
    let tmp = GuestPath::new("/tmp").unwrap();
    Policy {
        capabilities: capabilities.with_files(tmp, Access::ReadWrite),
        ..Policy::default()
    }
}

pub(crate) fn accept(_: &Change<'_>) -> Decision {
    Decision::Accept
}

pub(crate) fn spec(text: &str) -> Spec {
    text.parse().unwrap()
}

/// Returns the locked version of a name in a workspace.
pub(crate) fn locked(workspace: &Path, name: &str) -> Option<String> {
    let lock = Lock::open(&workspace.join("jp.lock")).unwrap();
    lock.get(name).map(|tool| tool.version.to_string())
}

/// Returns the text of what was stopped.
pub(crate) fn stopped(error: &jp_registry::InstallError) -> &Diff {
    match error {
        jp_registry::InstallError::Stopped { diff, .. } => diff,
        other => panic!("{other}"),
    }
}
