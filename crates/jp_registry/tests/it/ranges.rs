//! Ranges of versions: which version is taken, and what an update keeps to.

use jp_registry::{InstallError, Installed, Installer, Revocation, RevokedThing};
use tempfile::TempDir;

use crate::support::{Home, Shop, locked, ocr, spec};

/// A registry with some versions of `ocr`, a user, and a workspace that asks for a range.
pub(crate) struct World {
    pub(crate) shop: Shop,
    pub(crate) home: Home,
    pub(crate) workspace: TempDir,
}

impl World {
    pub(crate) fn new(versions: &[&str]) -> Self {
        let shop = Shop::new();
        for version in versions {
            shop.publish(&ocr(version));
        }
        let home = Home::trusting(&shop);
        Self {
            shop,
            home,
            workspace: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn installer(&self, wanted: &[&str]) -> Installer<'static> {
        let mut installer = self
            .home
            .installer(self.workspace.path(), self.shop.source());
        installer.wanted = wanted.iter().map(|text| spec(text)).collect();
        installer
    }

    fn revoke(&self, versions: &str) {
        let thing = RevokedThing::Versions {
            id: "ocr".parse().unwrap(),
            versions: versions.parse().unwrap(),
        };
        let reason = "it leaks".to_owned();
        self.shop
            .open()
            .revoke(Revocation { thing, reason })
            .unwrap();
    }

    fn deprecate(&self, versions: &str) {
        let (id, versions) = ("ocr".parse().unwrap(), versions.parse().unwrap());
        self.shop
            .open()
            .deprecate(&id, &versions, Some("broken"))
            .unwrap();
    }

    pub(crate) fn locked(&self) -> String {
        locked(self.workspace.path(), "ocr").unwrap_or_default()
    }

    /// Returns the version that a new workspace gets.
    fn fresh(&self, text: &str) -> Result<String, InstallError> {
        let workspace = tempfile::tempdir().unwrap();
        let installer = self.home.installer(workspace.path(), self.shop.source());
        let done = installer.install(&spec(text))?;
        Ok(done.tool.version.to_string())
    }
}

pub(crate) fn only(installer: &Installer<'_>) -> Result<Installed, InstallError> {
    installer.update(&[]).unwrap().remove(0).1
}

pub(crate) fn lock(installer: &Installer<'_>) -> Result<Installed, InstallError> {
    installer.lock().unwrap().remove(0).1
}

pub(crate) const ALL: [&str; 6] = ["0.9.0", "1.0.0", "1.2.0", "1.3.0", "2.0.0", "2.1.0-rc.1"];

#[test]
fn the_newest_version_that_fits_is_taken() {
    let world = World::new(&ALL);
    let check = |text: &str| world.fresh(text).unwrap();
    assert_eq!(check("ocr"), "2.0.0");
    assert_eq!(check("ocr@*"), "2.0.0");
    assert_eq!(check("ocr@1"), "1.3.0");
    assert_eq!(check("ocr@~1.2"), "1.2.0");
    assert_eq!(check("ocr@1.2"), "1.3.0");
    assert_eq!(check("ocr@1.2.0"), "1.2.0");
    assert_eq!(check("ocr@=1.2.0"), "1.2.0");
    assert_eq!(check("ocr@>=0.9, <1.3"), "1.2.0");
    assert_eq!(check("ocr@>=2"), "2.0.0");
    assert_eq!(check("ocr@^2.1.0-rc.1"), "2.1.0-rc.1");
    assert_eq!(check("ocr@2.1.0-rc.1"), "2.1.0-rc.1");
}

#[test]
fn what_was_revoked_is_passed_over_and_what_is_deprecated_is_the_last_choice() {
    let world = World::new(&ALL);
    let check = |text: &str| world.fresh(text).unwrap();
    world.revoke("=1.3.0");
    assert_eq!(check("ocr@1"), "1.2.0");
    world.deprecate("=1.2.0");
    assert_eq!(check("ocr@1"), "1.0.0");
    world.deprecate("=1.0.0");
    assert_eq!(check("ocr@1"), "1.2.0");
    world.deprecate("=2.0.0");
    assert_eq!(check("ocr"), "0.9.0");
    world.revoke("<3");
    let error = world.fresh("ocr").unwrap_err();
    assert!(matches!(error, InstallError::Revoked { .. }), "{error}");
}

#[test]
fn where_no_version_fits_the_error_says_which_there_are_and_what_to_type() {
    let world = World::new(&ALL);
    world.revoke("=1.3.0");
    let error = world.fresh("ocr@3").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no version of `ocr` fits `^3`: `main` has 2.1.0-rc.1, 2.0.0, 1.3.0 (revoked: it leaks), \
         1.2.0, 1.0.0, 0.9.0"
    );
    assert_eq!(error.hint().unwrap(), "`jp tool install ocr@2.0.0`");
    let error = lock(&world.installer(&["ocr@~1.3"])).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("no version of `ocr` fits `~1.3` of `[tooling]`: "),
        "{text}"
    );
    assert_eq!(
        error.hint().unwrap(),
        "write `ocr = \"2.0.0\"` under `[tooling]` (`\"ocr@2.0.0\"` in a `locara.json`), then \
         `jp tool lock`"
    );
    assert_eq!(world.locked(), "");
    for patch in 0..9 {
        world.shop.publish(&ocr(&format!("0.1.{patch}")));
    }
    let text = world.fresh("ocr@3").unwrap_err().to_string();
    assert!(
        text.ends_with("0.9.0, 0.1.8, 0.1.7, 7 older ones"),
        "{text}"
    );
}

#[test]
fn install_and_update_keep_to_what_the_workspace_asks_for() {
    let world = World::new(&["1.0.0", "2.0.0"]);
    let installer = world.installer(&["ocr@1"]);
    installer.install(&spec("ocr")).unwrap();
    assert_eq!(world.locked(), "1.0.0");
    world.shop.publish(&ocr("1.1.0"));
    // What fits stays until it is updated.
    assert!(!installer.lock().unwrap()[0].1.as_ref().unwrap().is_change());
    let (found, _) = installer.outdated(None).unwrap();
    let text = |version: &Option<semver::Version>| version.as_ref().unwrap().to_string();
    assert_eq!(
        (text(&found[0].newer), text(&found[0].newest)),
        ("1.1.0".to_owned(), "2.0.0".to_owned())
    );
    assert!(found[0].is_due() && found[0].fits);
    assert!(only(&installer).unwrap().is_change());
    assert_eq!(world.locked(), "1.1.0");
    assert!(!only(&installer).unwrap().is_change());
    let (found, _) = installer.outdated(None).unwrap();
    assert!(!found[0].is_due(), "{found:?}");
    assert_eq!(text(&found[0].newest), "2.0.0");
    // A newer one that somebody warns of is not an update of one that nobody does.
    world.shop.publish(&ocr("1.2.0"));
    world.deprecate("=1.2.0");
    assert!(!only(&installer).unwrap().is_change());
    world.deprecate("=1.1.0");
    assert!(only(&installer).unwrap().is_change());
    assert_eq!(world.locked(), "1.2.0");
    // Under another name, too.
    let installer = world.installer(&["ocr@1", "old=ocr@~1.0"]);
    installer.lock().unwrap();
    world.shop.publish(&ocr("1.0.1"));
    for (name, outcome) in installer.update(&[]).unwrap() {
        outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    assert_eq!(locked(world.workspace.path(), "old").unwrap(), "1.0.1");
    // And if the workspace says nothing of it: what is listed as outdated is what is updated.
    let installer = world.installer(&["ocr@1"]);
    let (found, _) = installer.outdated(None).unwrap();
    let newer = found.iter().filter(|one| one.newer.is_some());
    let newer: Vec<&str> = newer.map(|one| one.tool.name.as_str()).collect();
    assert_eq!(newer, ["old"]);
    installer.update(&[]).unwrap();
    assert_eq!(locked(world.workspace.path(), "old").unwrap(), "2.0.0");
}

#[test]
fn what_is_typed_must_fit_what_the_workspace_asks_for() {
    let world = World::new(&ALL);
    let installer = world.installer(&["ocr@1"]);
    let error = installer.install(&spec("ocr@2.0.0")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`ocr` 2.0.0 does not fit `^1` of `[tooling]`: calls of it would be refused"
    );
    assert!(error.hint().unwrap().contains("ocr = \"2.0.0\""));
    let error = installer.install(&spec("ocr@2")).unwrap_err().to_string();
    assert!(
        error.contains("fits `^2` and `^1` of `[tooling]`"),
        "{error}"
    );
    installer.install(&spec("ocr@<1.3")).unwrap();
    assert_eq!(world.locked(), "1.2.0");
    // Another name is another matter.
    installer.install(&spec("new=ocr@2.0.0")).unwrap();
}
