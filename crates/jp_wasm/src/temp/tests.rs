//! Directories of calls: made, wiped, and swept after a crash.

use std::{
    fs,
    mem::ManuallyDrop,
    os::unix::fs::{PermissionsExt, symlink},
    sync::atomic::{AtomicBool, Ordering},
};

use super::*;

fn entries(base: &Path) -> usize {
    fs::read_dir(base).unwrap().count()
}

fn create(base: &Path) -> ToolTemp {
    ToolTemp::create(base, TempQuota::default()).unwrap()
}

/// Leaves a directory behind as a process does that was killed: unlocked, but all there.
fn abandon(temp: ToolTemp) -> PathBuf {
    let temp = ManuallyDrop::new(temp);
    rustix::fs::flock(&temp.lock, FlockOperation::Unlock).unwrap();
    temp.path().to_owned()
}

#[test]
fn a_directory_is_private_and_goes_with_its_owner() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().join("made/too");
    let (one, two) = (create(&base), create(&base));
    assert_ne!(one.path(), two.path());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(one.path()), mode(&base)), (0o700, 0o700));
    assert_eq!(entries(&base), 4);
    drop(one);
    assert!(two.path().exists());
    assert_eq!(entries(&base), 2);
    drop(two);
    assert_eq!(entries(&base), 0);
}

#[test]
fn a_deep_linked_and_read_only_tree_is_wiped_and_nothing_else() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let temp = create(dir.path());
    // Deeper than any path may be long, and than a process may have files open.
    let mut at = temp.dir.try_clone().unwrap();
    for level in 0..2_100 {
        rustix::fs::mkdirat(&at, "1", Mode::RWXU).unwrap();
        if level % 100 == 0 {
            rustix::fs::mkdirat(&at, "2", Mode::RWXU).unwrap();
            rustix::fs::symlinkat(outside.path(), &at, "out").unwrap();
        }
        at = wipe::open_below(&at, "1".as_ref()).unwrap();
    }
    for name in ["3", "locked", "locked/in"] {
        fs::create_dir(temp.path().join(name)).unwrap();
    }
    for name in ["4", "3/file", "locked/file", "locked/in/file"] {
        fs::write(temp.path().join(name), "x").unwrap();
    }
    symlink("/", temp.path().join("root")).unwrap();
    for (name, mode) in [("locked/in", 0o000), ("locked", 0o500)] {
        let closed = fs::Permissions::from_mode(mode);
        fs::set_permissions(temp.path().join(name), closed).unwrap();
    }
    drop(temp);
    assert_eq!(entries(dir.path()), 0);
    assert_eq!(entries(outside.path()), 1);
}

#[test]
fn a_sweep_takes_what_was_abandoned_and_leaves_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path();
    let living = create(base);
    fs::write(living.path().join("mine"), "mine").unwrap();
    let (gone, no_lock) = (abandon(create(base)), abandon(create(base)));
    fs::write(gone.join("left"), "left").unwrap();
    fs::remove_file(no_lock.with_extension("lock")).unwrap();
    let lonely = base.join(format!("{}.lock", new_name().unwrap()));
    fs::write(&lonely, "").unwrap();
    for foreign in [
        "call-1",
        "notes",
        "call-1.lock",
        "call-zz000000000000000000000000000000",
    ] {
        fs::create_dir(base.join(foreign)).unwrap();
    }
    let link = base.join(new_name().unwrap());
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    symlink(outside.path(), &link).unwrap();

    assert_eq!(ToolTemp::sweep(base).unwrap(), 3);
    assert!(!gone.exists() && !no_lock.exists() && !lonely.exists());
    assert_eq!(
        fs::read_to_string(living.path().join("mine")).unwrap(),
        "mine"
    );
    assert!(base.join("notes").exists() && base.join("call-1").exists());
    assert_eq!(entries(outside.path()), 1);
    assert_eq!(ToolTemp::sweep(base).unwrap(), 0);
    assert_eq!(ToolTemp::sweep(&base.join("none")).unwrap(), 0);
}

#[test]
fn sweeping_never_takes_what_somebody_just_made() {
    let dir = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let makers: Vec<_> = (0..3)
            .map(|_| {
                threads.spawn(|| {
                    for _ in 0..100 {
                        let temp = create(dir.path());
                        let file = temp.path().join("file");
                        fs::write(&file, "mine").unwrap();
                        std::thread::yield_now();
                        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
                    }
                })
            })
            .collect();
        threads.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                ToolTemp::sweep(dir.path()).unwrap();
            }
        });
        let ended: Vec<_> = makers.into_iter().map(|maker| maker.join()).collect();
        stop.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
    });
    assert_eq!(entries(dir.path()), 0);
}

#[test]
fn nothing_is_added_once_the_directory_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let temp = create(dir.path());
    let quota = Arc::clone(&temp.quota);
    assert!(quota.lock().take(1, 1).is_ok());
    drop(temp);
    assert!(quota.lock().take(1, 0).is_err() && quota.lock().take(0, 1).is_err());
}
