//! What was revoked stays known: a list that was seen and is gone stops everything until a registry
//! was asked for it again. And what is new stays not hidden for ever: lists say how old they are.

use std::{fs, sync::Arc};

use jp_registry::{
    InstallError, Installer, Mode, Revocation, RevokedThing, StaticSource, VerifyError, Warning,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Home, MAIN, NOW, Shop, http::Plain, ocr, spec};

/// Two versions of a tool, of which the first is revoked, and a user who has both and knows it.
struct Scene {
    shop: Shop,
    home: Home,
    workspace: TempDir,
}

impl Scene {
    fn new() -> Self {
        let shop = Shop::with_ocr();
        shop.publish(&ocr("1.1.0"));
        let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
        let scene = Self {
            shop,
            home,
            workspace,
        };
        let installer = scene.installer();
        installer.install(&spec("old=ocr@1.0.0")).unwrap();
        installer.install(&spec("ocr@1.1.0")).unwrap();
        let thing = RevokedThing::Versions {
            id: "ocr".parse().unwrap(),
            versions: "=1.0.0".parse().unwrap(),
        };
        let reason = "it leaks".to_owned();
        scene
            .shop
            .open()
            .revoke(Revocation { thing, reason })
            .unwrap();
        installer.outdated(None).unwrap();
        scene
    }

    fn installer(&self) -> Installer<'static> {
        self.home
            .installer(self.workspace.path(), self.shop.source())
    }

    /// Uses a tool without asking anybody.
    fn use_offline(&self, name: &str) -> Result<(), InstallError> {
        let mut installer = self.installer();
        installer.mode = Mode::Offline;
        installer.ensure(name).map(drop)
    }
}

fn assert_lost(result: Result<(), InstallError>) {
    let error = result.unwrap_err();
    let is_lost = matches!(
        &error,
        InstallError::Verify(VerifyError::RevocationsLost { registry, .. }) if registry == MAIN
    );
    assert!(is_lost, "{error}");
    assert!(error.hint().unwrap().contains("`jp tool outdated`"));
}

#[test]
fn e59_a_list_of_revocations_that_was_removed_is_not_taken_for_an_empty_one() {
    let scene = Scene::new();
    scene.use_offline("ocr").unwrap();
    assert!(matches!(
        scene.use_offline("old"),
        Err(InstallError::Revoked { .. })
    ));
    let file = scene.installer().places.revocations();
    fs::remove_file(&file).unwrap();
    assert_lost(scene.use_offline("old"));
    assert_lost(scene.use_offline("ocr"));
    // The registry is asked, and everything is as it was.
    scene.installer().outdated(None).unwrap();
    scene.use_offline("ocr").unwrap();
    assert!(matches!(
        scene.use_offline("old"),
        Err(InstallError::Revoked { .. })
    ));
    // So does whatever else asks a registry.
    fs::remove_file(&file).unwrap();
    scene.installer().ensure("ocr").unwrap();
    assert!(file.exists());
}

#[test]
fn e59_an_old_copy_of_the_list_is_noticed_here_and_refused_from_a_registry() {
    let scene = Scene::new();
    let file = scene.installer().places.revocations();
    let (document, signatures) = ("revocations.json", "revocations.json.sig");
    let kept = fs::read(&file).unwrap();
    let served = [document, signatures].map(|name| fs::read(scene.shop.file(name)).unwrap());
    let thing = RevokedThing::Key(scene.shop.publisher.public().id());
    let reason = "it was stolen".to_owned();
    let newer = Revocation { thing, reason };
    scene.shop.open().revoke(newer).unwrap();
    scene.installer().outdated(None).unwrap();
    let revoked = scene.use_offline("ocr");
    assert!(
        matches!(revoked, Err(InstallError::Revoked { .. })),
        "{revoked:?}"
    );
    // The number says that a later one was seen, whoever brings the old one back.
    fs::write(&file, kept).unwrap();
    assert_lost(scene.use_offline("ocr"));
    fs::remove_file(&file).unwrap();
    for (name, bytes) in [document, signatures].iter().zip(served) {
        fs::write(scene.shop.file(name), bytes).unwrap();
    }
    let error = scene.installer().outdated(None).unwrap_err();
    let is_old = matches!(error, InstallError::List { .. });
    assert!(is_old, "{error}");
    let source = std::error::Error::source(&error).map(ToString::to_string);
    let text = format!("{error} {}", source.unwrap_or_default());
    assert!(text.contains("was seen already"), "{text}");
    assert_lost(scene.use_offline("ocr"));
    // Nor does it help to serve none.
    fs::remove_file(scene.shop.file(document)).unwrap();
    assert!(scene.installer().outdated(None).is_err());
}

#[test]
fn a_registry_that_cannot_be_reached_breaks_nothing_while_its_list_is_here() {
    let scene = Scene::new();
    // Nobody listens there.
    let source = StaticSource::at_url("http://127.0.0.1:1/", Arc::new(Plain)).unwrap();
    let installer = scene
        .home
        .installer(scene.workspace.path(), Box::new(source));
    let checked = installer.install(&spec("ocr@1.1.0")).unwrap();
    let silent = |warning: &Warning| matches!(warning, Warning::Unreachable { .. });
    assert!(checked.warnings.iter().any(silent));
    fs::remove_file(installer.places.revocations()).unwrap();
    assert_lost(installer.install(&spec("ocr@1.1.0")).map(drop));
}

#[test]
fn a_registry_that_is_trusted_no_more_is_not_waited_for() {
    let scene = Scene::new();
    fs::remove_file(scene.installer().places.revocations()).unwrap();
    assert_lost(scene.use_offline("ocr"));
    let file = scene.installer().places.keys;
    let mut roots: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    roots["registries"].as_object_mut().unwrap().clear();
    fs::write(&file, roots.to_string()).unwrap();
    scene.use_offline("ocr").unwrap();
}

#[test]
fn a_registry_that_holds_back_what_is_new_is_noticed_and_breaks_nothing() {
    const DAY: u64 = 24 * 60 * 60;
    let scene = Scene::new();
    let stale = |days: u64| {
        let mut installer = scene.installer();
        installer.now = NOW + days * DAY;
        let installed = installer.install(&spec("ocr@1.1.0")).unwrap();
        let (_, warnings) = installer.outdated(None).unwrap();
        let of = |all: &[Warning]| {
            let all = all
                .iter()
                .filter(|one| matches!(one, Warning::Stale { .. }));
            all.map(ToString::to_string).collect::<Vec<_>>()
        };
        (of(&installed.warnings), of(&warnings))
    };
    // Lists that do not say until when they hold are good for a year, and verify as they always did.
    let index = fs::read_to_string(scene.shop.file("index.json")).unwrap();
    assert!(!index.contains("expires_at"), "{index}");
    assert_eq!(stale(365), (vec![], vec![]));
    let (installed, asked) = stale(366);
    assert_eq!(installed.len(), 1, "only the revocations were asked for");
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|text| text.contains("366 days old")));
    // A registry that says so is expected to renew them.
    scene.shop.open().renew(Some(7 * DAY)).unwrap();
    assert_eq!(stale(7), (vec![], vec![]));
    assert_eq!(stale(8).1.len(), 2);
    let later = jp_publish::Registry::open(scene.shop.path(), &scene.shop.key, NOW + 8 * DAY);
    later.unwrap().renew(None).unwrap();
    assert_eq!(stale(15), (vec![], vec![]));
    assert_eq!(stale(16).1.len(), 2, "they hold as long as those before");
}
