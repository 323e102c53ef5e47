//! What is refused, by name, before anything is touched.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use jp_bash_system::OpenHow;

use super::world::host_picture;
use super::*;

#[test]
fn a_fifo_is_refused_by_name_and_nothing_is_touched() {
    let (dir, mut files) = overlay();
    let before = host_picture(dir.path());
    files.put("/w/a", "mine").unwrap();
    files.unlink("/w/inner/b").unwrap();
    files
        .call(|vfs, caller| vfs.mkfifo(caller, b"/w/inner/b", 0o644))
        .unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(error.to_string(), "inner/b is a FIFO");
    assert_eq!(refused(error), ["inner/b"]);
    assert_eq!(host_picture(dir.path()), before);
    assert!(!has_area(dir.path()));
}

#[test]
fn a_socket_in_a_directory_that_the_script_removed_is_refused_by_name() {
    let (dir, mut files) = overlay();
    let _socket = UnixListener::bind(dir.path().join("inner/socket")).unwrap();
    files.remove_all("/w/inner");
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(refused(error), ["inner/socket"]);
    assert_eq!(text(dir.path(), "inner/b"), "below");
}

#[test]
fn names_in_messages_stay_on_one_line() {
    let (dir, mut files) = overlay();
    files
        .call(|vfs, caller| vfs.mkfifo(caller, b"/w/x\nerror: y\x1b\xff", 0o644))
        .unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(error.to_string(), "x\\nerror: y\\u{1b}\\xff is a FIFO");
}

#[test]
fn a_file_that_appeared_where_the_script_makes_one_is_a_conflict() {
    let (dir, mut files) = overlay();
    files.put("/w/new", "mine").unwrap();
    files.mkdir("/w/d").unwrap();
    files.put("/w/d/x", "mine").unwrap();
    fs::write(dir.path().join("new"), "theirs").unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(conflicts(error), ["d", "new"]);
    assert_eq!(text(dir.path(), "new"), "theirs");
}

#[test]
fn a_file_that_vanished_is_a_conflict_and_so_is_a_directory_that_was_replaced() {
    let (dir, mut files) = overlay();
    files.put("/w/a", "mine").unwrap();
    files.put("/w/inner/new", "mine").unwrap();
    fs::remove_file(dir.path().join("a")).unwrap();
    fs::rename(dir.path().join("inner"), dir.path().join("elsewhere")).unwrap();
    fs::create_dir(dir.path().join("inner")).unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(conflicts(error), ["a", "inner"]);
    assert!(!dir.path().join("inner/new").exists());
}

#[test]
fn a_file_that_changed_after_the_script_read_it_is_a_conflict() {
    let (dir, mut files) = overlay();
    assert_eq!(files.text("/w/a").unwrap(), "host");
    assert_eq!(files.text("/w/inner/b").unwrap(), "below");
    fs::write(dir.path().join("a"), "theirs").unwrap();
    fs::write(dir.path().join("inner/b"), "theirs").unwrap();
    // The script writes what it made of the old content, once into the file and once over it.
    files.put("/w/a", "host, and more").unwrap();
    files.put("/w/inner/tmp", "below, and more").unwrap();
    files.rename("/w/inner/tmp", "/w/inner/b").unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(conflicts(error), ["a", "inner/b"]);
    // Who reads it again knows it again.
    let mut files = mount(dir.path());
    files.text("/w/a").unwrap();
    fs::write(dir.path().join("a"), "newer").unwrap();
    files.text("/w/a").unwrap();
    files.put("/w/a", "mine").unwrap();
    files.apply_to(dir.path()).unwrap();
    assert_eq!(text(dir.path(), "a"), "mine");
}

#[test]
fn a_change_of_the_same_size_is_seen() {
    let (dir, mut files) = overlay();
    let path = dir.path().join("a");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    files.put("/w/a", "mine").unwrap();
    fs::write(&path, "toto").unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(conflicts(error), ["a"]);
}

#[test]
fn files_that_appeared_or_changed_in_a_removed_directory_are_conflicts() {
    let (dir, mut files) = overlay();
    files.remove_all("/w/inner");
    fs::write(dir.path().join("inner/deep/new"), "theirs").unwrap();
    fs::write(dir.path().join("inner/b"), "theirs").unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(conflicts(error), ["inner/b", "inner/deep/new"]);
    assert_eq!(text(dir.path(), "inner/b"), "theirs");
}

#[test]
fn what_appeared_in_a_moved_directory_moves_along() {
    let (dir, mut files) = overlay();
    files.rename("/w/inner", "/w/moved").unwrap();
    fs::write(dir.path().join("inner/new"), "theirs").unwrap();
    files.apply_to(dir.path()).unwrap();
    assert_eq!(text(dir.path(), "moved/new"), "theirs");
    assert_eq!(text(dir.path(), "moved/deep/c"), "deep");
    assert!(!dir.path().join("inner").exists());
}

#[test]
fn more_than_the_disk_holds_is_refused_with_the_numbers() {
    let (dir, mut files) = overlay();
    let big = fs::File::create(dir.path().join("big")).unwrap();
    big.set_len(8 << 40).unwrap();
    files.rename("/w/big", "/w/moved").unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert!(
        matches!(error, ApplyError::Space { needed, free } if needed >= 8 << 40 && free < needed),
        "{error}"
    );
    assert!(dir.path().join("big").exists());
}

#[test]
fn an_apply_beside_another_one_is_refused() {
    let (dir, mut files) = overlay();
    files.put("/w/a", "mine").unwrap();
    let other = HostDir::open(dir.path()).unwrap();
    let lock = Disk::new(&Through).lock(other.dir()).unwrap().unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(error, ApplyError::Busy);
    assert_eq!(text(dir.path(), "a"), "host");
    drop(lock);
    files.apply_to(dir.path()).unwrap();
    assert_eq!(text(dir.path(), "a"), "mine");
}

#[test]
fn a_directory_that_was_swapped_for_a_link_leads_nowhere() {
    let (dir, mut files) = overlay();
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("b"), "secret").unwrap();
    files.put("/w/inner/b", "mine").unwrap();
    files.put("/w/inner/new", "mine").unwrap();
    fs::rename(dir.path().join("inner"), dir.path().join("real")).unwrap();
    for target in [secret.path(), Path::new("real")] {
        symlink(target, dir.path().join("inner")).unwrap();
        let error = files.apply_to(dir.path()).unwrap_err();
        assert_eq!(conflicts(error), ["inner"]);
        fs::remove_file(dir.path().join("inner")).unwrap();
    }
    assert_eq!(text(secret.path(), "b"), "secret");
    assert_eq!(text(dir.path(), "real/b"), "below");
}

#[test]
fn no_script_sees_or_makes_the_staging_area() {
    let (dir, mut files) = overlay();
    let area = dir.path().join(".jp-apply");
    fs::create_dir(&area).unwrap();
    fs::write(area.join("journal"), "x").unwrap();
    let read = |files: &mut Files, path: &str| {
        files.call(|vfs, caller| vfs.open(caller, path.as_bytes(), OpenHow::READ))
    };
    for mode in [HostMode::ReadOnly, HostMode::ReadWrite, HostMode::Overlay] {
        let mut files = Files::new();
        let host = HostDir::open(dir.path()).unwrap();
        files
            .call(|vfs, caller| vfs.mount(caller, b"/w", Mount::Host(host, mode)))
            .unwrap();
        assert_eq!(files.list("/w").unwrap(), "a inner");
        assert!(read(&mut files, "/w/.jp-apply/journal").is_err());
        if mode == HostMode::ReadWrite {
            assert!(files.put("/w/.jp-apply/journal", "y").is_err());
            assert!(files.mkdir("/w/inner/.jp-apply").is_err());
            assert!(files.rename("/w/a", "/w/.jp-apply").is_err());
        }
    }
    fs::remove_dir_all(&area).unwrap();
    files.mkdir("/w/inner/.jp-apply").unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(refused(error), ["inner/.jp-apply"]);
}

#[test]
fn a_staging_area_of_a_stranger_is_not_obeyed() {
    let (dir, mut files) = overlay();
    let host = HostDir::open(dir.path()).unwrap();
    let area = dir.path().join(".jp-apply");
    // As a clone or an archive would bring it: open to others, or with a journal of another directory.
    fs::create_dir_all(area.join("old")).unwrap();
    fs::create_dir(area.join("new")).unwrap();
    let journal = Journal {
        switches: vec![Switch {
            slot: 0,
            path: b"a".to_vec(),
            old: None,
            new: None,
        }],
        ..Journal::default()
    };
    fs::write(area.join("journal"), journal.to_text()).unwrap();
    fs::set_permissions(&area, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(host.recover(), Err(RecoverError::Foreign));
    fs::set_permissions(&area, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(host.recover(), Err(RecoverError::Foreign));
    fs::write(area.join("journal"), "nonsense").unwrap();
    assert_eq!(host.recover(), Err(RecoverError::Journal));
    files.put("/w/a", "mine").unwrap();
    let error = files.apply_to(dir.path()).unwrap_err();
    assert_eq!(error, ApplyError::Unrecovered(RecoverError::Journal));
    assert_eq!(text(dir.path(), "a"), "host");
}
