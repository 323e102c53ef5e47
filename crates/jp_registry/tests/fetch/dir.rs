//! Registries in directories: nothing outside is read, and nothing that is no file.

use std::{fs, os::unix::fs::symlink, time::Duration};

use jp_registry::{FetchError, Source, StaticSource};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{BYTES, kit::no_progress, shop};

#[test]
fn a_registry_in_a_directory_serves_all_its_documents() {
    let shop = shop();
    let source = shop.source();
    let about = source.about().unwrap();
    assert_eq!(about.name, "local");
    assert_eq!(about.key, shop.registry_key.public().to_string());
    assert!(source.index().unwrap().is_some());
    assert!(source.revocations().unwrap().is_some());
    assert_eq!(source.rotations().unwrap(), None);
    let id = "ocr".parse().unwrap();
    let newest = source.manifest(&id, None).unwrap();
    let named = source
        .manifest(&id, Some(&"1.0.0".parse().unwrap()))
        .unwrap();
    assert_eq!(newest.bytes, named.bytes);
    let manifest = shop.verified(&source, "1.0.0");
    let found = shop
        .store()
        .artifact(&manifest, &source, &mut no_progress());
    assert_eq!(found.unwrap().bytes().unwrap(), BYTES);
    let missing = source.manifest(&"other".parse().unwrap(), None);
    assert!(matches!(missing, Err(FetchError::NotFound { .. })));
    let nowhere = StaticSource::in_dir(&shop.temp.path().join("nowhere"));
    // As a server that does not answer: what is known of it still counts.
    assert!(nowhere.index().unwrap_err().is_unreachable());
    assert!(nowhere.revocations().unwrap_err().is_unreachable());
}

#[test]
fn links_pipes_and_directories_are_no_documents() {
    let shop = shop();
    let place = shop.dir().join("index.json");
    let secret = shop.temp.path().join("secret");
    fs::write(&secret, "mine").unwrap();
    let replace = |make: &dyn Fn()| {
        let _ = fs::remove_file(&place);
        make();
        // A FIFO without a writer would block for ever: the test must end by itself.
        let (sender, found) = std::sync::mpsc::channel();
        let source = shop.source();
        std::thread::spawn(move || sender.send(source.index()));
        let found = found.recv_timeout(Duration::from_secs(10)).unwrap();
        let error = found.unwrap_err();
        assert!(matches!(error, FetchError::Io { .. }), "{error}");
    };
    replace(&|| symlink(&secret, &place).unwrap());
    replace(&|| symlink("/dev/zero", &place).unwrap());
    let mode = Mode::from_raw_mode(0o600);
    replace(&|| mknodat(CWD, &place, FileType::Fifo, mode, 0).unwrap());
    replace(&|| fs::create_dir(&place).unwrap());
}

#[test]
fn a_linked_directory_leads_nowhere() {
    let shop = shop();
    let tools = shop.dir().join("registry/tools");
    let moved = shop.temp.path().join("moved");
    fs::rename(&tools, &moved).unwrap();
    symlink(&moved, &tools).unwrap();
    let found = shop.source().manifest(&"ocr".parse().unwrap(), None);
    assert!(matches!(found, Err(FetchError::Io { .. })), "{found:?}");
}

#[test]
fn a_large_document_is_not_read() {
    let shop = shop();
    let file = fs::File::create(shop.dir().join("registry.json")).unwrap();
    file.set_len(1 << 40).unwrap();
    let found = shop.source().about();
    assert!(
        matches!(found, Err(FetchError::TooLarge { max: 65_536, .. })),
        "{found:?}"
    );
}

#[test]
fn what_a_registry_says_of_itself_is_read_strictly() {
    let shop = shop();
    for text in [
        "",
        "[]",
        r#"{"schema": "jp-registry/v2", "name": "x", "key": "y"}"#,
        r#"{"schema": "jp-registry/v1", "name": "x"}"#,
        r#"{"schema": "jp-registry/v1", "name": "x", "key": "y", "key": "z"}"#,
        r#"{"schema": "jp-registry/v1", "name": "x", "key": "y", "more": 1}"#,
    ] {
        fs::write(shop.dir().join("registry.json"), text).unwrap();
        let found = shop.source().about();
        assert!(matches!(found, Err(FetchError::Invalid { .. })), "{text}");
    }
}
