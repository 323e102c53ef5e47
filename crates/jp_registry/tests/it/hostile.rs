//! A registry that lies: everything it can get wrong is refused with its reason, and nothing of it
//! stays. Each case then finds that an honest answer installs.

use std::fs;

use crate::support::{
    Home, Shop, locked, ocr,
    server::{Reply, Server},
    signed, spec, wasm,
};
use jp_publish::SigningKey;
use jp_registry::{AllNames, Digest, InstallError, Lock};
use serde_json::Value;

const MANIFEST: &str = "registry/tools/ocr/1.1.0.json";

pub(crate) struct Scene {
    pub(crate) shop: Shop,
    home: Home,
    pub(crate) server: Server,
    workspace: tempfile::TempDir,
    artifact: String,
}

/// Makes a registry with two versions of `ocr` behind a server, and a user of it.
pub(crate) fn scene() -> Scene {
    let shop = Shop::with_ocr();
    shop.publish(&ocr("1.1.0"));
    Scene {
        home: Home::trusting(&shop),
        server: Server::new(shop.path().to_owned()),
        workspace: tempfile::tempdir().unwrap(),
        artifact: format!("artifacts/{}.wasm", Digest::of(&wasm("1.1.0"))),
        shop,
    }
}

impl Scene {
    pub(crate) fn install(&self, text: &str) -> Result<(), InstallError> {
        let source = self.server.source();
        let installer = self.home.installer(self.workspace.path(), source);
        installer.install(&spec(text)).map(drop)
    }

    /// Checks that a lie is refused for a reason, leaves nothing, and that the truth installs.
    pub(crate) fn refused(&self, reason: &str) {
        let error = self.install("ocr").unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert!(!error.contains(char::is_control), "{error:?}");
        assert_eq!(locked(self.workspace.path(), "ocr"), None);
        let left = fs::read_dir(self.workspace.path()).unwrap().count();
        assert_eq!(left, 0, "nothing is in the workspace");
        let visible = |path: &String| {
            let parts = ["objects/", "manifests/", "receipts", ".new"];
            parts.iter().any(|part| path.contains(part))
        };
        let files = self.home.files();
        let found = files.iter().find(|path| visible(path));
        assert_eq!(found, None, "{error}");
        self.server.repent();
        self.install("ocr").unwrap();
        assert_eq!(locked(self.workspace.path(), "ocr").unwrap(), "1.1.0");
        let files = self.home.files();
        assert!(
            !files.iter().any(|path| path.contains("partial/")),
            "{files:?}"
        );
    }
}

/// Makes one lie, and checks that it is refused.
fn lie(path: impl Fn(&Scene) -> String, reply: impl Fn(&Scene) -> Reply, reason: &str) {
    let scene = scene();
    scene.server.lie(&path(&scene), reply(&scene));
    scene.refused(reason);
}

fn artifact(scene: &Scene) -> String {
    scene.artifact.clone()
}

fn manifest(_: &Scene) -> String {
    MANIFEST.to_owned()
}

#[test]
fn e59_an_artifact_of_other_bytes_is_refused() {
    let other = |_: &Scene| {
        let mut bytes = wasm("1.1.0");
        bytes.reverse();
        Reply::Bytes(bytes)
    };
    lie(artifact, other, "has the wrong sha256");
}

#[test]
fn an_artifact_of_another_size_is_refused() {
    let longer = |_: &Scene| Reply::Bytes([wasm("1.1.0"), vec![0]].concat());
    lie(artifact, longer, "too large");
    let shorter = |_: &Scene| Reply::Bytes(wasm("1.1.0")[1..].to_vec());
    lie(artifact, shorter, "ended after");
}

#[test]
fn a_truncated_artifact_is_refused_and_resumed() {
    let scene = scene();
    scene
        .server
        .lie(&scene.artifact, Reply::Half(wasm("1.1.0")));
    scene.refused("ended after");
    let asked = scene.server.asked();
    let times = asked.iter().filter(|path| **path == scene.artifact);
    assert_eq!(times.count(), 2, "once in half, and once for the rest");
}

#[test]
fn e59_bodies_without_an_end_are_cut_off() {
    lie(artifact, |_| Reply::Endless, "too large");
    for path in [
        MANIFEST,
        "registry/tools/ocr/1.1.0.json.sig",
        "index.json",
        "revocations.json",
    ] {
        lie(|_| path.to_owned(), |_| Reply::Endless, "too large");
    }
}

#[test]
fn a_manifest_of_100_mb_is_refused() {
    let huge = |_: &Scene| Reply::Bytes(vec![b' '; 100_000_000]);
    lie(manifest, huge, "too large");
}

#[test]
fn redirects_to_elsewhere_are_refused() {
    let away = |_: &Scene| Reply::Redirect("http://169.254.169.254/latest".to_owned());
    for path in [manifest, artifact, |_: &Scene| "index.json".to_owned()] {
        lie(path, away, "redirects elsewhere");
    }
}

#[test]
fn e59_a_signature_by_another_key_is_refused() {
    let signature = |_: &Scene| format!("{MANIFEST}.sig");
    let stranger = |scene: &Scene| {
        let file = fs::read(scene.shop.file(MANIFEST)).unwrap();
        let manifest: Value = serde_json::from_slice(&file).unwrap();
        let stranger = SigningKey::generate().unwrap();
        Reply::Bytes(signed(&manifest, &stranger).to_bytes())
    };
    lie(signature, stranger, "key");
    // Signed, by a trusted key, for other bytes.
    let other =
        |scene: &Scene| Reply::Bytes(signed(&ocr("1.0.0"), &scene.shop.publisher).to_bytes());
    lie(signature, other, "sign");
    lie(
        signature,
        |_| Reply::Bytes(b"{\"signatures\": []}".to_vec()),
        "sign",
    );
    lie(signature, |_| Reply::Status(404), "1.1.0.json.sig");
}

#[test]
fn e59_a_valid_signature_by_a_key_that_is_trusted_for_other_names_is_refused() {
    let shop = Shop::new();
    let home = Home::trusting(&shop);
    let other = SigningKey::generate().unwrap();
    home.trust(|roots| {
        let names = ["mail".parse().unwrap()];
        roots
            .trust(other.public(), &names, AllNames::Refused)
            .unwrap();
    });
    shop.publish_by(&ocr("1.0.0"), &other);
    let workspace = tempfile::tempdir().unwrap();
    let installer = home.installer(workspace.path(), shop.source());
    let error = installer.install(&spec("ocr")).unwrap_err();
    assert!(matches!(error, InstallError::Verify(_)), "{error}");
    assert!(error.to_string().contains("ocr"), "{error}");
    assert_eq!(locked(workspace.path(), "ocr"), None);
}

#[test]
fn e59_an_older_version_in_place_of_the_newest_is_refused() {
    let old = |end: &'static str| {
        move |scene: &Scene| {
            let path = format!("registry/tools/ocr/1.0.0.json{end}");
            Reply::Bytes(fs::read(scene.shop.file(&path)).unwrap())
        }
    };
    let scene = scene();
    scene.server.lie(MANIFEST, old("")(&scene));
    scene
        .server
        .lie(&format!("{MANIFEST}.sig"), old(".sig")(&scene));
    scene.refused("1.0.0");
}

#[test]
fn e59_an_older_index_is_refused_once_a_newer_one_was_seen() {
    let shop = Shop::with_ocr();
    let read = |path: &str| Reply::Bytes(fs::read(shop.file(path)).unwrap());
    let (index, signatures) = (read("index.json"), read("index.json.sig"));
    shop.publish(&ocr("1.1.0"));
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    let server = Server::new(shop.path().to_owned());
    let installer = home.installer(workspace.path(), server.source());
    installer.install(&spec("ocr")).unwrap();
    server.lie("index.json", index);
    server.lie("index.json.sig", signatures);
    let error = installer.install(&spec("old=ocr")).unwrap_err();
    assert!(error.to_string().contains("was seen already"), "{error}");
    assert!(error.hint().is_some());
    let updated = installer.update(&[]).unwrap();
    assert!(updated[0].1.is_err());
    assert_eq!(locked(workspace.path(), "ocr").unwrap(), "1.1.0");
    // What is installed goes on working.
    installer.ensure("ocr").unwrap();
}

#[test]
fn e59_a_manifest_swapped_for_another_one_that_its_publisher_signed_is_refused() {
    let scene = scene();
    let mut swapped = ocr("1.1.0");
    swapped["description"] = "Extract text, and send it.".into();
    let signatures = signed(&swapped, &scene.shop.publisher).to_bytes();
    scene
        .server
        .lie(MANIFEST, Reply::Bytes(swapped.to_string().into_bytes()));
    scene
        .server
        .lie(&format!("{MANIFEST}.sig"), Reply::Bytes(signatures));
    scene.refused("index");
}

#[test]
fn e59_a_manifest_that_changes_between_two_requests_is_requested_once() {
    let scene = scene();
    let honest = fs::read(scene.shop.file(MANIFEST)).unwrap();
    let mut swapped = ocr("1.1.0");
    swapped["artifact"]["sha256"] = Digest::of(b"evil").to_string().into();
    let swapped = swapped.to_string().into_bytes();
    let both = vec![Reply::Bytes(honest), Reply::Bytes(swapped)];
    scene.server.lie(MANIFEST, Reply::InTurn(both));
    scene.install("ocr").unwrap();
    let asked = scene.server.asked();
    assert_eq!(asked.iter().filter(|path| *path == MANIFEST).count(), 1);
    let lock = Lock::open(&scene.workspace.path().join("jp.lock")).unwrap();
    assert_eq!(lock.get("ocr").unwrap().sha256, Digest::of(&wasm("1.1.0")));
}

#[test]
fn e59_an_artifact_swapped_after_the_manifest_was_verified_is_refused() {
    // Both are signed and served by the registry, each for its own version.
    lie(artifact, |_| Reply::Bytes(wasm("1.0.0")), "sha256");
}

#[test]
fn a_lock_file_decides_over_a_registry_that_moved_a_version() {
    let scene = scene();
    scene.install("ocr").unwrap();
    let other = Home::trusting(&scene.shop);
    let mut moved = ocr("1.1.0");
    moved["description"] = "Another text.".into();
    let signatures = signed(&moved, &scene.shop.publisher).to_bytes();
    scene
        .server
        .lie(MANIFEST, Reply::Bytes(moved.to_string().into_bytes()));
    scene
        .server
        .lie(&format!("{MANIFEST}.sig"), Reply::Bytes(signatures));
    let installer = other.installer(scene.workspace.path(), scene.server.source());
    let error = installer.ensure("ocr").unwrap_err().to_string();
    assert!(error.contains("lock"), "{error}");
}

#[test]
fn an_index_that_nobody_or_somebody_else_signed_is_refused() {
    lie(
        |_| "index.json.sig".to_owned(),
        |_| Reply::Bytes(b"{\"signatures\": []}".to_vec()),
        "not signed",
    );
    let forged = |scene: &Scene| {
        let text = fs::read_to_string(scene.shop.file("index.json")).unwrap();
        Reply::Bytes(text.replace("1.0.0", "0.9.0").into_bytes())
    };
    lie(|_| "index.json".to_owned(), forged, "not what its key");
}
