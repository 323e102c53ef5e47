//! The key of the vault in a keyring: made there, missed there, never replaced.

use std::{
    fs, io,
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use jp_broker::{
    FileVault, KeyPlace, Keyring, KeyringError, SecretError, SecretStore, SessionKeyring,
};

use crate::{
    desk::{paths, secret},
    drawer::{Drawer, Trouble},
};

pub(crate) fn vault(dir: &Path, keyring: Arc<dyn Keyring>) -> FileVault {
    FileVault::new(paths(dir)).unwrap().with_keyring(keyring)
}

pub(crate) fn store(dir: &Path, keyring: Arc<dyn Keyring>) -> SecretStore {
    SecretStore::new(Arc::new(vault(dir, keyring)))
}

/// A vault without a keyring, as programs that ask for none have it.
pub(crate) fn plain(dir: &Path) -> SecretStore {
    SecretStore::new(Arc::new(FileVault::new(paths(dir)).unwrap()))
}

pub(crate) fn key_file(dir: &Path) -> Vec<u8> {
    fs::read(paths(dir).key).unwrap()
}

fn write_key(dir: &Path, bytes: &[u8]) {
    let key = paths(dir).key;
    fs::write(&key, bytes).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_new_key_lies_in_the_keyring_and_in_no_file() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    let ours = store(dir.path(), drawer.clone());
    assert_eq!(ours.list().unwrap(), []);
    assert_eq!(drawer.asked(), 0, "nobody is asked for nothing");
    ours.set(&secret("a", "value of a", &[])).unwrap();
    ours.set(&secret("b", "value of b", &[])).unwrap();

    let keys = drawer.keys();
    assert_eq!(keys.len(), 1);
    assert_eq!(keys[0].len(), 32);
    let file = key_file(dir.path());
    let text = String::from_utf8(file).unwrap();
    assert!(text.contains("in the keyring: "), "{text}");
    let mode = fs::metadata(paths(dir.path()).key).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    assert_eq!(
        vault(dir.path(), drawer.clone()).key_place().unwrap(),
        Some(KeyPlace::Keyring)
    );
    assert_eq!(store(dir.path(), drawer).list().unwrap().len(), 2);
    let none = plain(dir.path()).list();
    let off = KeyringError::Off;
    assert!(
        matches!(&none, Err(SecretError::KeyUnreachable { problem }) if *problem == off),
        "{none:?}"
    );
}

#[test]
fn without_a_keyring_that_takes_it_a_new_key_lies_in_a_file() {
    for problem in [
        KeyringError::NoBus,
        KeyringError::Locked,
        KeyringError::NoCollection,
        KeyringError::TimedOut {
            waited: Duration::from_secs(2),
        },
    ] {
        let dir = tempfile::tempdir().unwrap();
        let drawer = Drawer::with(Trouble::Always(problem.clone()));
        let ours = store(dir.path(), drawer.clone());
        ours.set(&secret("a", "value of a", &[])).unwrap();
        assert_eq!(key_file(dir.path()).len(), 32, "{problem}");
        // And there it stays, whatever becomes of the keyring.
        drawer.trouble(Trouble::None);
        ours.set(&secret("b", "value of b", &[])).unwrap();
        assert_eq!(key_file(dir.path()).len(), 32);
        assert_eq!(drawer.keys().len(), 0);
        assert_eq!(plain(dir.path()).list().unwrap().len(), 2);
    }
}

#[test]
fn a_keyring_that_loses_a_new_key_does_not_get_it() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::with(Trouble::Garbled));
    let ours = store(dir.path(), drawer.clone());
    ours.set(&secret("a", "value of a", &[])).unwrap();
    assert_eq!(key_file(dir.path()).len(), 32);
    assert_eq!(drawer.keys().len(), 0, "nothing is left behind");
}

#[test]
fn a_keyring_that_cannot_be_asked_later_is_an_error_and_nothing_is_lost() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    let ours = store(dir.path(), drawer.clone());
    ours.set(&secret("a", "value of a", &[])).unwrap();
    let before = (key_file(dir.path()), fs::read(paths(dir.path()).secrets));
    for (problem, way_out) in [
        (KeyringError::Locked, "unlock it"),
        (KeyringError::NoBus, "DBUS_SESSION_BUS_ADDRESS"),
        (
            KeyringError::NoService {
                reason: "nobody".to_owned(),
            },
            "start your keyring",
        ),
    ] {
        drawer.trouble(Trouble::Always(problem.clone()));
        let fresh = store(dir.path(), drawer.clone());
        let listed = fresh.list().unwrap_err().to_string();
        assert!(listed.contains("from the keyring"), "{listed}");
        assert!(listed.contains(&problem.to_string()), "{listed}");
        assert!(listed.contains(way_out), "{listed}");
        let set = fresh.set(&secret("b", "value of b", &[]));
        assert!(matches!(set, Err(SecretError::KeyUnreachable { .. })));
        assert!(
            fresh.scrubber().is_err(),
            "what cannot be scrubbed is not shown"
        );
        let after = (key_file(dir.path()), fs::read(paths(dir.path()).secrets));
        assert_eq!(before.0, after.0);
        assert_eq!(before.1.as_ref().unwrap(), &after.1.unwrap());
    }
    drawer.trouble(Trouble::None);
    assert_eq!(store(dir.path(), drawer).list().unwrap().len(), 1);
}

#[test]
fn a_key_that_is_gone_from_the_keyring_is_never_replaced() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    let set = |name: &str| {
        let store = store(dir.path(), drawer.clone());
        store.set(&secret(name, "some value", &[]))
    };
    set("a").unwrap();
    let mark = key_file(dir.path());
    drawer.clear();
    let error = set("b").unwrap_err();
    assert!(
        matches!(error, SecretError::KeyNotInKeyring { .. }),
        "{error:?}"
    );
    let key = paths(dir.path()).key;
    assert!(error.to_string().contains(&*key.to_string_lossy()));
    assert_eq!(key_file(dir.path()), mark);
    assert!(drawer.keys().is_empty(), "no new key");

    // The way out that the error names.
    fs::remove_file(&key).unwrap();
    fs::remove_file(paths(dir.path()).secrets).unwrap();
    set("b").unwrap();
    assert_eq!(drawer.keys().len(), 1);
}

#[test]
fn a_line_that_is_none_of_ours_reaches_no_keyring() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    let ours = store(dir.path(), drawer.clone());
    ours.set(&secret("a", "value of a", &[])).unwrap();
    let mark = String::from_utf8(key_file(dir.path())).unwrap();
    let asked = drawer.asked();
    for hostile in [
        mark.trim_end().to_owned(),
        mark.replace('\n', "\n\n"),
        mark.replace(": ", ": *"),
        format!("{mark}{mark}"),
        mark.replace("keyring", "keyr\u{131}ng"),
        "x".repeat(4000),
        String::new(),
    ] {
        write_key(dir.path(), hostile.as_bytes());
        let found = store(dir.path(), drawer.clone()).list();
        assert!(
            matches!(found, Err(SecretError::Tampered { .. })),
            "{hostile:?} {found:?}"
        );
        let set = store(dir.path(), drawer.clone()).set(&secret("b", "value of b", &[]));
        assert!(set.is_err());
        assert_eq!(
            key_file(dir.path()),
            hostile.as_bytes(),
            "nothing is written over it"
        );
    }
    write_key(dir.path(), &vec![b'x'; 1 << 20]);
    assert!(store(dir.path(), drawer.clone()).list().is_err());
    assert_eq!(drawer.asked(), asked);

    // A line of ours that names another key finds none.
    let (rest, id) = mark.trim_end().rsplit_once(' ').unwrap();
    let other: String = id.chars().rev().collect();
    write_key(dir.path(), format!("{rest} {other}\n").as_bytes());
    let found = store(dir.path(), drawer).list();
    assert!(matches!(found, Err(SecretError::KeyNotInKeyring { .. })));
}

#[test]
fn whoever_writes_the_file_first_has_the_key() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    let path = dir.path().to_owned();
    drawer.before_put(move || {
        fs::create_dir_all(paths(&path).key.parent().unwrap()).unwrap();
        let parent = paths(&path).key.parent().unwrap().to_owned();
        fs::set_permissions(parent, fs::Permissions::from_mode(0o700)).unwrap();
        write_key(&path, &[7; 32]);
    });
    let ours = store(dir.path(), drawer.clone());
    ours.set(&secret("a", "value of a", &[])).unwrap();
    assert_eq!(key_file(dir.path()), [7; 32]);
    assert!(drawer.keys().is_empty(), "ours is taken back");
    assert_eq!(plain(dir.path()).list().unwrap().len(), 1);
}

#[test]
fn sixteen_writers_at_once_make_one_key() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    std::thread::scope(|scope| {
        for number in 0..16 {
            let store = store(dir.path(), drawer.clone());
            scope.spawn(move || {
                let name = format!("s{number}");
                store.set(&secret(&name, "some value", &[])).unwrap();
            });
        }
    });
    assert_eq!(drawer.keys().len(), 1);
    assert_eq!(store(dir.path(), drawer).list().unwrap().len(), 16);
}

/// Far less than a bus would be waited for that nobody bounds.
const BUS_PATIENCE: Duration = Duration::from_secs(300);

/// Sets a secret with the keyring on a bus at an address; returns how long it took.
fn set_with_bus(dir: &Path, address: Option<&str>) -> Duration {
    let store = store(dir, Arc::new(SessionKeyring::new(address)));
    let start = Instant::now();
    store.set(&secret("a", "value of a", &[])).unwrap();
    assert_eq!(key_file(dir).len(), 32);
    start.elapsed()
}

#[test]
fn a_session_without_a_bus_has_its_key_in_a_file() {
    for address in [
        None,
        Some("unix:path=/nonexistent/bus"),
        Some("autolaunch:"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let took = set_with_bus(dir.path(), address);
        assert!(took < BUS_PATIENCE, "{address:?} {took:?}");
    }
}

#[test]
fn an_address_that_names_a_program_starts_none() {
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("made");
    let address = format!("unixexec:path=/bin/touch,argv1={}", made.display());
    set_with_bus(dir.path(), Some(&address));
    assert!(!made.exists());
}

#[test]
fn a_bus_that_says_nothing_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("bus");
    let listener = UnixListener::bind(&socket).unwrap();
    // Accepts, and keeps what it accepted.
    let held = std::thread::spawn(move || listener.accept());
    let took = set_with_bus(dir.path(), Some(&format!("unix:path={}", socket.display())));
    assert!(took < BUS_PATIENCE, "{took:?}");
    drop(held);
}

#[test]
fn a_bus_that_talks_nonsense_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("bus");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut nonsense = io::Read::take(io::repeat(b'x'), 1 << 20);
            let _ = io::copy(&mut nonsense, &mut stream);
        }
    });
    let took = set_with_bus(dir.path(), Some(&format!("unix:path={}", socket.display())));
    assert!(took < BUS_PATIENCE, "{took:?}");
}
