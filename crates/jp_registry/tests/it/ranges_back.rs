//! Ranges that lead back to an older version, that a lock file does not fit, and that a registry
//! cannot answer.

use std::{cell::RefCell, fs};

use jp_registry::{Change, Decision, InstallError, Installed, Installer, Mode, Reason, Warning};

use crate::{
    ranges::{ALL, World, lock, only},
    registries::WithoutIndex,
    support::{accept, spec, stopped},
};

fn install(installer: &Installer<'_>) -> Result<Installed, InstallError> {
    installer.install(&spec("ocr"))
}

/// A way to a version that nobody typed out.
type Way = fn(&Installer<'_>) -> Result<Installed, InstallError>;

const WAYS: [Way; 3] = [only, lock, install];

fn goes_back(done: &Installed) -> bool {
    let back = |warning: &Warning| matches!(warning, Warning::Downgrade { .. });
    done.warnings.iter().any(back)
}

#[test]
fn a_range_leads_back_to_an_older_version_only_when_a_person_accepts_it() {
    let world = World::new(&ALL);
    world.installer(&[]).install(&spec("ocr")).unwrap();
    assert_eq!(world.locked(), "2.0.0");
    let asked = RefCell::new(Vec::new());
    let mut installer = world.installer(&["ocr@1"]);
    installer.decide = Box::new(|change| {
        if let Change::Tool { back, .. } = change {
            asked.borrow_mut().push(back.unwrap().to_owned());
        }
        Decision::Refuse
    });
    let (found, _) = installer.outdated(None).unwrap();
    assert!(found[0].is_due() && !found[0].fits, "{found:?}");
    for attempt in WAYS {
        let error = attempt(&installer).unwrap_err();
        assert_eq!(stopped(&error).reasons, [Reason::Older]);
        assert!(error.to_string().contains("go back"), "{error}");
        assert_eq!(world.locked(), "2.0.0");
    }
    assert_eq!(*asked.borrow(), ["`^1` of `[tooling]`"; 3]);
    drop(installer);
    for attempt in WAYS {
        let mut installer = world.installer(&["ocr@1"]);
        installer.decide = Box::new(accept);
        assert!(goes_back(&attempt(&installer).unwrap()));
        assert_eq!(world.locked(), "1.3.0");
        installer.wanted.clear();
        installer.install(&spec("ocr@2.0.0")).unwrap();
    }
    // A range that is typed leads back no more quietly; a version that is typed out does.
    let installer = world.installer(&[]);
    let error = installer.install(&spec("ocr@1")).unwrap_err();
    assert_eq!(stopped(&error).reasons, [Reason::Older]);
    assert!(goes_back(&installer.install(&spec("ocr@1.2.0")).unwrap()));
}

#[test]
fn locked_refuses_a_version_that_does_not_fit_and_says_both() {
    let world = World::new(&ALL);
    world.installer(&[]).install(&spec("ocr@2.0.0")).unwrap();
    let path = world.workspace.path().join("jp.lock");
    let before = fs::read(&path).unwrap();
    let mut installer = world.installer(&["ocr@1"]);
    installer.decide = Box::new(accept);
    installer.mode = Mode::Locked;
    // It is known without asking anybody.
    fs::remove_dir_all(world.shop.path()).unwrap();
    for attempt in WAYS {
        assert_eq!(
            attempt(&installer).unwrap_err().to_string(),
            "`jp.lock` would have to change, which `--locked` refuses: it has `ocr` in version \
             2.0.0, which does not fit `^1` of `[tooling]`"
        );
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_registry_that_lists_no_versions_takes_one_version_or_any_and_no_other_range() {
    let world = World::new(&["1.0.0", "1.1.0"]);
    let installer = |wanted: &[&str]| {
        let source = Box::new(WithoutIndex(world.shop.source()));
        let mut installer = world.home.installer(world.workspace.path(), source);
        installer.wanted = wanted.iter().map(|text| spec(text)).collect();
        installer.decide = Box::new(accept);
        installer
    };
    let error = installer(&[]).install(&spec("ocr@1")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`main` does not say which versions of `ocr` it has, so none can be chosen that fits `^1`"
    );
    assert_eq!(
        error.hint().unwrap(),
        "name one version, such as 1.2.0: `jp tool install ocr@1.2.0`"
    );
    assert_eq!(world.locked(), "");
    installer(&["ocr@=1.0.0"]).install(&spec("ocr")).unwrap();
    assert_eq!(world.locked(), "1.0.0");
    assert!(!only(&installer(&["ocr@=1.0.0"])).unwrap().is_change());
    only(&installer(&["ocr@*"])).unwrap();
    assert_eq!(world.locked(), "1.1.0");
    let error = only(&installer(&["ocr@1"])).unwrap_err();
    assert!(matches!(error, InstallError::NoVersions { .. }), "{error}");
    only(&installer(&["ocr@=1.0.0"])).unwrap();
    assert_eq!(world.locked(), "1.0.0");
}
