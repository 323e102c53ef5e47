//! Temporary files of the living and of the dead.

use std::{fs, io::Write as _, os::unix::fs::PermissionsExt as _, path::Path, thread};

use super::*;

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_temporary_file_is_its_owners_and_goes_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let made = Temporary::create(dir.path(), "jp-", ".json").unwrap();
    let mode = fs::metadata(made.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let name = made.path().file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("jp-") && name.ends_with(".json"), "{name}");
    drop(made);
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_sweep_takes_what_the_dead_left_and_nothing_of_the_living() {
    let dir = tempfile::tempdir().unwrap();
    let living = Temporary::create(dir.path(), "jp-", "").unwrap();
    let mut dead = Temporary::create(dir.path(), "jp-", "").unwrap();
    // As when it was killed: the name stays, the lock goes.
    dead.kept = true;
    drop(dead);
    fs::write(dir.path().join("other"), "").unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("mine"), "mine").unwrap();
    std::os::unix::fs::symlink(outside.path().join("mine"), dir.path().join("jp-link")).unwrap();
    fs::create_dir(dir.path().join("jp-dir")).unwrap();
    assert_eq!(names(dir.path()).len(), 5);
    assert_eq!(Temporary::sweep(dir.path(), "jp-", Duration::ZERO), 1);
    assert!(living.path().exists());
    assert_eq!(names(dir.path()).len(), 4);
    assert_eq!(fs::read(outside.path().join("mine")).unwrap(), b"mine");
    assert_eq!(
        Temporary::sweep(&dir.path().join("none"), "jp-", Duration::ZERO),
        0
    );
}

#[test]
fn a_sweep_never_takes_a_file_that_is_being_made() {
    let dir = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        let makers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let made = Temporary::create(dir.path(), "jp-", "").unwrap();
                        made.file().write_all(b"x").unwrap();
                        assert!(made.path().exists());
                    }
                })
            })
            .collect();
        while makers.iter().any(|maker| !maker.is_finished()) {
            Temporary::sweep(dir.path(), "jp-", Duration::ZERO);
        }
    });
    assert!(names(dir.path()).is_empty());
}

#[test]
fn the_next_write_removes_what_a_killed_one_left() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".new-0123"), "half a key").unwrap();
    assert!(create_private(&dir.path().join("key"), b"whole").unwrap());
    assert_eq!(names(dir.path()), ["key"]);
    fs::write(dir.path().join(".new-0123"), "half").unwrap();
    store_private(&dir.path().join("code"), &[b"who", b"le"]).unwrap();
    assert_eq!(names(dir.path()), ["code", "key"]);
    assert_eq!(fs::read(dir.path().join("code")).unwrap(), b"whole");
}

#[test]
fn a_file_that_is_there_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("made/key");
    assert!(create_private(&path, b"one").unwrap());
    assert!(!create_private(&path, b"two").unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"one");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(names(path.parent().unwrap()), ["key"]);
}

#[test]
fn of_many_writers_one_is_first_and_none_sees_half() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    let firsts = thread::scope(|scope| {
        let writers: Vec<_> = (0..16_u8)
            .map(|n| {
                scope.spawn({
                    let path = &path;
                    move || create_private(path, &[n; 4096]).unwrap()
                })
            })
            .collect();
        let written = writers.into_iter().map(|writer| writer.join().unwrap());
        written.filter(|first| *first).count()
    });
    assert_eq!(firsts, 1);
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() == 4096 && bytes.iter().all(|byte| *byte == bytes[0]));
    assert_eq!(names(dir.path()), ["key"]);
}

#[test]
fn what_was_changed_lately_may_still_be_somebodys() {
    let dir = tempfile::tempdir().unwrap();
    let (lately, long_ago) = (dir.path().join("jp-new"), dir.path().join("jp-old"));
    let day = Duration::from_secs(24 * 60 * 60);
    for path in [&lately, &long_ago] {
        fs::write(path, "arguments").unwrap();
    }
    let file = File::options().write(true).open(&long_ago).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    drop(file);
    assert_eq!(Temporary::sweep(dir.path(), "jp-", day), 1);
    assert_eq!(names(dir.path()), ["jp-new"]);
}
