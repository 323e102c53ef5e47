//! Tools that come with the workspace, in its lock file: what is locked is meant, and no other version
//! that a trusted key signed as well.

use std::{cell::RefCell, fs, path::Path, rc::Rc};

use jp_disk::{Disk, Torn};
use jp_publish::SigningKey;
use jp_registry::{
    Change, CustomTool, Decision, InstallError, Installed, Installer, Lock, LockedCustom, Mode,
    Reason,
};
use serde_json::{Value, json};

use crate::support::{Home, Shop, accept, ocr, signed, spec, wasm};

/// A workspace that brings `ocr` along, and a user who trusts its publisher.
struct App {
    shop: Shop,
    home: Home,
    dir: tempfile::TempDir,
}

impl App {
    fn new() -> Self {
        let shop = Shop::new();
        let app = Self {
            home: Home::trusting(&shop),
            dir: tempfile::tempdir().unwrap(),
            shop,
        };
        app.brings(&ocr("1.1.0"));
        app
    }

    /// Puts a signed version into the workspace.
    fn brings(&self, manifest: &Value) {
        self.brings_by(manifest, &self.shop.publisher);
    }

    fn brings_by(&self, manifest: &Value, key: &SigningKey) {
        let write = |name: &str, bytes: &[u8]| fs::write(self.path().join(name), bytes).unwrap();
        write("ocr.json", manifest.to_string().as_bytes());
        write("ocr.wasm", &wasm(manifest["version"].as_str().unwrap()));
        write("ocr.sig", &signed(manifest, key).to_bytes());
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn installer(&self) -> Installer<'static> {
        self.home.installer(self.path(), self.shop.source())
    }

    fn lock(&self, installer: &Installer<'_>) -> Result<Installed<LockedCustom>, InstallError> {
        let done = installer.lock_custom(self.path(), &[tool()]);
        done.unwrap().remove(0).1
    }

    fn locked(&self) -> Option<LockedCustom> {
        let lock = Lock::open(&self.path().join("jp.lock")).unwrap();
        lock.custom("ocr").cloned()
    }
}

fn tool() -> CustomTool {
    CustomTool {
        name: "ocr".parse().unwrap(),
        path: "ocr.wasm".into(),
        manifest: "ocr.json".into(),
        signature: "ocr.sig".to_owned(),
    }
}

#[test]
fn a_tool_of_the_workspace_is_locked_with_all_that_it_is() {
    let app = App::new();
    let done = app.lock(&app.installer()).unwrap();
    assert!(done.is_change() && done.before.is_none());
    assert!(!done.asks.is_empty());
    let locked = app.locked().unwrap();
    assert_eq!(locked, done.tool);
    assert_eq!(locked.version.to_string(), "1.1.0");
    assert_eq!(locked.sha256, jp_registry::Digest::of(&wasm("1.1.0")));
    assert_eq!(locked.key, app.shop.publisher.public().id());
    let text = fs::read(app.path().join("jp.lock")).unwrap();
    let mut again = app.installer();
    again.mode = Mode::Locked;
    assert!(!app.lock(&again).unwrap().is_change());
    assert_eq!(fs::read(app.path().join("jp.lock")).unwrap(), text);
}

#[test]
fn e48_another_signed_version_in_its_place_is_stopped_until_it_is_accepted() {
    type Edit = fn(&mut Value);
    let nothing: Edit = |_| {};
    let cases: [(&str, Edit, Reason, &str); 5] = [
        (
            "1.0.0",
            nothing,
            Reason::Older,
            "- version: 1.1.0\n+ version: 1.0.0",
        ),
        (
            "1.2.0",
            |m| m["description"] = "Extract text. Send it on.".into(),
            Reason::Shown,
            "+ description: Extract text. Send it on.",
        ),
        (
            "1.2.0",
            |m| m["input_schema"]["properties"]["token"] = json!({"type": "string"}),
            Reason::Shown,
            "+ input_schema.properties.token.type: string",
        ),
        (
            "1.2.0",
            |m| {
                m["wasi_imports"]["net"] = json!(["api.example.com"]);
                m["wasi_imports"]["calls"] = json!(["http.request"]);
            },
            Reason::Wider,
            "+ asks for: reach api.example.com",
        ),
        (
            "1.2.0",
            |m| m["limits"] = json!({"fuel": 5_000_000_000_u64}),
            Reason::Limits,
            "+ fuel: 5000000000",
        ),
    ];
    for (version, edit, reason, line) in cases {
        let app = App::new();
        app.lock(&app.installer()).unwrap();
        let before = app.locked();
        let mut other = ocr(version);
        edit(&mut other);
        app.brings(&other);
        let InstallError::StoppedPin { name, diff } = app.lock(&app.installer()).unwrap_err()
        else {
            panic!("{line}");
        };
        assert_eq!(name, "ocr");
        assert_eq!(diff.reasons, [reason], "{diff}");
        assert!(diff.to_string().contains(line), "{diff}");
        assert!(diff.to_string().contains("+ sha256: "), "{diff}");
        let mut unchanged = app.installer();
        unchanged.mode = Mode::Locked;
        let error = app.lock(&unchanged).unwrap_err();
        assert!(matches!(error, InstallError::Locked { .. }), "{error}");
        assert_eq!(app.locked(), before);
        let mut agreed = app.installer();
        agreed.decide = Box::new(accept);
        let done = app.lock(&agreed).unwrap();
        assert_eq!(done.before, before);
        assert_eq!(app.locked(), Some(done.tool));
    }
}

#[test]
fn a_newer_version_that_shows_and_asks_the_same_needs_nobody_s_yes() {
    let app = App::new();
    app.lock(&app.installer()).unwrap();
    app.brings(&ocr("1.2.0"));
    let done = app.lock(&app.installer()).unwrap();
    assert!(done.is_change());
    assert_eq!(app.locked().unwrap().version.to_string(), "1.2.0");
}

#[test]
fn another_key_or_an_unknown_past_is_a_person_s_to_accept() {
    let app = App::new();
    app.lock(&app.installer()).unwrap();
    let other = SigningKey::generate().unwrap();
    app.home.trust(|roots| {
        let names = ["ocr".parse().unwrap()];
        let all = jp_registry::AllNames::Refused;
        roots.trust(other.public(), &names, all).unwrap();
    });
    app.brings_by(&ocr("1.1.0"), &other);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let mut asking = app.installer();
    asking.decide = Box::new({
        let seen = Rc::clone(&seen);
        move |change| {
            let Change::Custom { from, to, diff } = change else {
                panic!("{change:?}");
            };
            assert_ne!(from.key, to.key);
            seen.borrow_mut().extend(diff.reasons.clone());
            Decision::Refuse
        }
    });
    app.lock(&asking).unwrap_err();
    assert_eq!(*seen.borrow(), [Reason::Key]);
    // On another machine only the digests of what was accepted are known.
    app.brings(&ocr("1.2.0"));
    fs::remove_dir_all(app.home.dir.path().join("registry/custom")).unwrap();
    let InstallError::StoppedPin { diff, .. } = app.lock(&app.installer()).unwrap_err() else {
        panic!("it was locked");
    };
    assert_eq!(diff.reasons, [Reason::Unknown], "{diff}");
    assert!(
        diff.to_string()
            .contains("- version: 1.1.0\n+ version: 1.2.0")
    );
}

#[test]
fn a_name_is_of_a_registry_or_of_the_workspace_and_never_changes_sides_unseen() {
    let app = App::new();
    app.lock(&app.installer()).unwrap();
    app.shop.publish(&ocr("3.0.0"));
    let error = app.installer().install(&spec("ocr")).unwrap_err();
    assert!(matches!(error, InstallError::OtherKind { .. }), "{error}");
    assert!(error.hint().unwrap().contains("jp tool remove ocr"));
    let removed = app.installer().remove(&"ocr".parse().unwrap()).unwrap();
    assert_eq!(removed.to_string(), "1.1.0");
    app.installer().install(&spec("ocr")).unwrap();
    let error = app.lock(&app.installer()).unwrap_err();
    assert!(matches!(error, InstallError::OtherKind { .. }), "{error}");
}

#[test]
fn what_does_not_come_with_the_workspace_any_more_is_forgotten_unless_locked() {
    let app = App::new();
    app.lock(&app.installer()).unwrap();
    assert!(app.installer().forget_custom(&[tool()]).unwrap().is_empty());
    let mut unchanged = app.installer();
    unchanged.mode = Mode::Locked;
    assert!(unchanged.forget_custom(&[]).is_err());
    // A name that is wanted of a registry now is not given away without a word.
    let mut wanting = app.installer();
    wanting.wanted = vec![spec("ocr")];
    assert!(wanting.forget_custom(&[]).unwrap().is_empty());
    assert_eq!(app.installer().forget_custom(&[]).unwrap().len(), 1);
    assert_eq!(app.locked(), None);
}

#[test]
fn a_crash_anywhere_in_locking_leaves_the_old_entry_or_the_new_one() {
    let app = App::new();
    app.lock(&app.installer()).unwrap();
    let old = app.locked().unwrap();
    app.brings(&ocr("1.2.0"));
    // More operations than it has: a change that never succeeds is not tried for ever.
    for after in 0..100 {
        let mut failing = app.installer();
        failing.disk = Disk::failing_after(after, Torn::Half);
        let done = app.lock(&failing);
        let found = app.locked().unwrap();
        let Ok(done) = done else {
            assert!(found == old || found.version.minor == 2, "{found:?}");
            continue;
        };
        assert_eq!(found, done.tool);
        assert!(after >= 5, "{after}");
        return;
    }
    panic!("it never succeeded");
}

#[test]
fn a_lock_file_that_contradicts_its_own_manifest_is_told_field_by_field() {
    let app = App::new();
    app.lock(&app.installer()).unwrap();
    let path = app.path().join("jp.lock");
    let text = fs::read_to_string(&path).unwrap();
    let shown = app.locked().unwrap().shown.to_string();
    let other = jp_registry::Digest::of(b"other").to_string();
    fs::write(&path, text.replace(&shown, &other)).unwrap();
    let InstallError::StoppedPin { diff, .. } = app.lock(&app.installer()).unwrap_err() else {
        panic!("it was locked");
    };
    let told = format!("- what the model sees: {other}\n+ what the model sees: {shown}\n");
    assert_eq!(diff.to_string(), told);
}
