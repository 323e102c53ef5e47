//! Files that are replaced whole, on machines that stop.

use std::fs;

use super::{Disk, PRIVATE, Torn, read};

#[test]
fn a_crash_at_any_operation_leaves_the_old_bytes_or_the_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    Disk::real().replace(&path, b"old old", PRIVATE).unwrap();
    let mut crashes = 0;
    for torn in [Torn::Nothing, Torn::Half] {
        for after in 0.. {
            Disk::real().replace(&path, b"old old", PRIVATE).unwrap();
            let disk = Disk::failing_after(after, torn);
            let done = disk.replace(&path, b"new new", PRIVATE);
            let found = fs::read(&path).unwrap();
            assert!(found == b"old old" || found == b"new new", "{found:?}");
            if done.is_ok() {
                assert_eq!(found, b"new new");
                break;
            }
            crashes += 1;
        }
    }
    assert!(crashes >= 10, "{crashes}");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "the next write removes what a crash left");
}

#[test]
fn a_link_in_place_of_the_fresh_file_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    let victim = dir.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink(&victim, dir.path().join(".state.new")).unwrap();
    Disk::real().replace(&path, b"new", PRIVATE).unwrap();
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
}

#[test]
fn only_ordinary_files_of_the_expected_size_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    assert!(read(&path, 3).unwrap().is_none());
    fs::write(&path, "four").unwrap();
    assert!(read(&path, 3).is_err());
    assert_eq!(read(&path, 4).unwrap().unwrap(), b"four");
    let fifo = dir.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert!(read(&fifo, 4).is_err());
    assert!(read(dir.path(), 4).is_err());
}
