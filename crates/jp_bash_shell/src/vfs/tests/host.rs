//! Directories of the host: escapes, write-through, overlays.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use jp_bash_system::{FileKind, Follow};

use super::super::*;
use super::{Files, NOW, no};

fn mounted(mode: HostMode) -> (tempfile::TempDir, Files) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("inner")).unwrap();
    fs::write(dir.path().join("a"), "host").unwrap();
    fs::write(dir.path().join("inner/b"), "below").unwrap();
    let inside = dir.path().join("inner").canonicalize().unwrap();
    assert!(inside.is_dir());
    let files = mount(&dir, mode);
    (dir, files)
}

fn mount(dir: &tempfile::TempDir, mode: HostMode) -> Files {
    let mut files = Files::new();
    let host = HostDir::open(dir.path()).unwrap();
    files
        .call(|vfs, caller| vfs.mount(caller, b"/mnt/w", Mount::Host(host, mode)))
        .unwrap();
    files
}

fn shown(changes: &[Change]) -> Vec<String> {
    changes
        .iter()
        .map(|change| {
            let letter = match change.kind {
                ChangeKind::Added => 'A',
                ChangeKind::Modified => 'M',
                ChangeKind::Deleted => 'D',
            };
            format!("{letter} {}", String::from_utf8_lossy(&change.path))
        })
        .collect()
}

impl Files {
    fn diff(&mut self) -> Vec<String> {
        shown(
            &self
                .call(|vfs, caller| vfs.diff(caller, b"/mnt/w"))
                .unwrap(),
        )
    }

    fn apply(&mut self, dir: &tempfile::TempDir) -> Result<Vec<String>, ApplyError> {
        let host = HostDir::open(dir.path()).unwrap();
        let options = ApplyOptions::default();
        self.call(|vfs, caller| vfs.apply(caller, b"/mnt/w", &host, options))
            .map(|applied| shown(&applied.changes))
    }
}

#[test]
fn a_read_only_mount_shows_files_and_refuses_every_change() {
    let (dir, mut files) = mounted(HostMode::ReadOnly);
    assert_eq!(files.list("/mnt").unwrap(), "w");
    assert_eq!(files.list("/mnt/w").unwrap(), "a inner");
    assert_eq!(files.text("/mnt/w/inner/b").unwrap(), "below");
    assert_eq!(files.list("/mnt/w/..").unwrap(), "w");
    assert_eq!(files.put("/mnt/w/a", "x"), no(Errno::RoFs));
    assert_eq!(files.put("/mnt/w/new", "x"), no(Errno::RoFs));
    assert_eq!(files.mkdir("/mnt/w/d"), no(Errno::RoFs));
    assert_eq!(files.unlink("/mnt/w/a"), no(Errno::RoFs));
    assert_eq!(files.rename("/mnt/w/a", "/mnt/w/c"), no(Errno::RoFs));
    assert_eq!(files.chmod("/mnt/w/a", 0o777), no(Errno::RoFs));
    assert_eq!(files.symlink("x", "/mnt/w/s"), no(Errno::RoFs));
    assert_eq!(files.rename("/mnt/w/a", "/tmp/a"), no(Errno::XDev));
    let stat = files.stat("/mnt/w/a", Follow::Yes).unwrap();
    assert_eq!((stat.uid, stat.size), (1000, 4));
    // What changes on the host is seen at once.
    fs::write(dir.path().join("a"), "changed").unwrap();
    assert_eq!(files.text("/mnt/w/a").unwrap(), "changed");
    fs::remove_file(dir.path().join("a")).unwrap();
    assert_eq!(files.text("/mnt/w/a"), no(Errno::NoEnt));
}

#[test]
fn symlinks_of_the_host_resolve_in_the_virtual_tree_only() {
    let (dir, mut files) = mounted(HostMode::ReadWrite);
    symlink("/etc/passwd", dir.path().join("abs")).unwrap();
    symlink("../../../../../../etc/passwd", dir.path().join("up")).unwrap();
    symlink("/etc", dir.path().join("etc")).unwrap();
    symlink("inner", dir.path().join("rel")).unwrap();
    symlink("/outside", dir.path().join("dangling")).unwrap();
    for path in ["abs", "up", "etc/passwd"] {
        let text = files.text(&format!("/mnt/w/{path}")).unwrap();
        assert!(text.contains("user:x:1000"), "{path}: {text}");
    }
    assert_eq!(files.text("/mnt/w/rel/b").unwrap(), "below");
    // Writing through it makes the file in the session, not on the host.
    files.put("/mnt/w/dangling", "mine").unwrap();
    assert_eq!(files.text("/outside").unwrap(), "mine");
    assert!(!std::path::Path::new("/outside").exists());
    assert_eq!(files.list("/mnt/w/../../mnt/w/inner/../..").unwrap(), "w");
}

#[test]
fn a_directory_swapped_for_a_symlink_leads_nowhere() {
    let (dir, mut files) = mounted(HostMode::ReadWrite);
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("b"), "secret").unwrap();
    // The session stands in the directory when the host replaces it.
    files.cwd = files
        .call(|vfs, caller| vfs.change_dir(caller, b"/mnt/w/inner"))
        .unwrap();
    assert_eq!(files.text("b").unwrap(), "below");
    fs::remove_dir_all(dir.path().join("inner")).unwrap();
    symlink(secret.path(), dir.path().join("inner")).unwrap();
    assert!(files.text("b").is_err());
    assert!(files.put("b", "x").is_err());
    assert!(files.put("new", "x").is_err());
    assert!(files.list(".").is_err());
    assert!(files.unlink("b").is_err());
    assert_eq!(
        fs::read_to_string(secret.path().join("b")).unwrap(),
        "secret"
    );
    assert_eq!(fs::read_dir(secret.path()).unwrap().count(), 1);
}

#[test]
fn special_files_of_the_host_are_neither_listed_nor_opened() {
    let (dir, mut files) = mounted(HostMode::ReadOnly);
    let socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
    assert_eq!(files.list("/mnt/w").unwrap(), "a inner");
    assert_eq!(files.text("/mnt/w/socket"), no(Errno::Perm));
    drop(socket);
}

#[test]
fn a_writable_mount_writes_through() {
    let (dir, mut files) = mounted(HostMode::ReadWrite);
    files.put("/mnt/w/a", "new").unwrap();
    files.mkdir("/mnt/w/d").unwrap();
    files.put("/mnt/w/d/f", "x").unwrap();
    files.rename("/mnt/w/d", "/mnt/w/e").unwrap();
    files.symlink("/etc/passwd", "/mnt/w/s").unwrap();
    files.link("/mnt/w/a", "/mnt/w/hard").unwrap();
    files.chmod("/mnt/w/a", 0o600).unwrap();
    files.unlink("/mnt/w/inner/b").unwrap();
    files.rmdir("/mnt/w/inner").unwrap();
    let path = |name: &str| dir.path().join(name);
    assert_eq!(fs::read_to_string(path("hard")).unwrap(), "new");
    assert_eq!(fs::read_to_string(path("e/f")).unwrap(), "x");
    assert_eq!(files.text("/mnt/w/e/f").unwrap(), "x");
    assert_eq!(
        fs::read_link(path("s")).unwrap().to_str(),
        Some("/etc/passwd")
    );
    let mode = fs::metadata(path("a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!path("inner").exists());
    assert_eq!(files.list("/mnt/w").unwrap(), "a e hard s");
    assert_eq!(files.link("/etc/passwd", "/mnt/w/p"), no(Errno::XDev));
}

#[test]
fn an_overlay_leaves_the_host_alone_and_lists_what_changed() {
    let (dir, mut files) = mounted(HostMode::Overlay);
    files.put("/mnt/w/a", "mine").unwrap();
    files.put("/mnt/w/new", "x").unwrap();
    files.unlink("/mnt/w/inner/b").unwrap();
    files.mkdir("/mnt/w/d").unwrap();
    files.put("/mnt/w/d/f", "x").unwrap();
    assert_eq!(files.text("/mnt/w/a").unwrap(), "mine");
    assert_eq!(files.list("/mnt/w/inner").unwrap(), "");
    assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "host");
    assert!(dir.path().join("inner/b").exists());
    assert_eq!(files.diff(), ["M a", "A d", "A d/f", "D inner/b", "A new"]);
    files.put("/mnt/w/inner/b", "again").unwrap();
    files.unlink("/mnt/w/new").unwrap();
    assert_eq!(files.diff(), ["M a", "A d", "A d/f", "M inner/b"]);
    files.rename("/mnt/w/inner", "/mnt/w/moved").unwrap();
    assert_eq!(files.list("/mnt/w").unwrap(), "a d moved");
    assert_eq!(
        files.diff(),
        [
            "M a",
            "A d",
            "A d/f",
            "D inner",
            "D inner/b",
            "A moved",
            "A moved/b"
        ]
    );
}

#[test]
fn copy_up_keeps_mode_and_a_removed_directory_stays_empty_when_made_again() {
    let (dir, mut files) = mounted(HostMode::Overlay);
    fs::set_permissions(dir.path().join("a"), fs::Permissions::from_mode(0o750)).unwrap();
    let before = files.stat("/mnt/w/a", Follow::Yes).unwrap();
    files.call(|vfs, caller| {
        let Ok(Opened::File(handle)) =
            vfs.open(caller, b"/mnt/w/a", jp_bash_system::OpenHow::APPEND)
        else {
            panic!("not opened");
        };
        vfs.append(caller, handle, b"!").unwrap();
        vfs.close(handle, caller.quota);
    });
    let after = files.stat("/mnt/w/a", Follow::Yes).unwrap();
    assert_eq!(files.text("/mnt/w/a").unwrap(), "host!");
    assert_eq!((after.mode, after.ino), (before.mode, before.ino));
    assert_eq!(after.mtime, NOW);
    files.unlink("/mnt/w/inner/b").unwrap();
    files.rmdir("/mnt/w/inner").unwrap();
    files.mkdir("/mnt/w/inner").unwrap();
    assert_eq!(files.list("/mnt/w/inner").unwrap(), "");
    assert_eq!(
        files.stat("/mnt/w/inner", Follow::No).unwrap().kind,
        FileKind::Directory
    );
    assert_eq!(files.diff(), ["M a", "D inner/b"]);
}

#[test]
fn applied_changes_are_on_the_host_and_no_longer_changes() {
    let (dir, mut files) = mounted(HostMode::Overlay);
    files.put("/mnt/w/a", "mine").unwrap();
    files.rename("/mnt/w/inner", "/mnt/w/moved").unwrap();
    files.symlink("a", "/mnt/w/s").unwrap();
    let done = files.apply(&dir).unwrap();
    assert_eq!(
        done,
        ["M a", "D inner", "D inner/b", "A moved", "A moved/b", "A s"]
    );
    let path = |name: &str| dir.path().join(name);
    assert_eq!(fs::read_to_string(path("a")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(path("moved/b")).unwrap(), "below");
    assert!(!path("inner").exists());
    assert_eq!(fs::read_link(path("s")).unwrap().to_str(), Some("a"));
    assert_eq!(files.diff(), Vec::<String>::new());
    assert_eq!(files.text("/mnt/w/moved/b").unwrap(), "below");
    files.put("/mnt/w/moved/b", "more").unwrap();
    assert_eq!(files.diff(), ["M moved/b"]);
}

#[test]
fn a_host_that_changed_meanwhile_is_a_conflict_and_nothing_is_written() {
    let (dir, mut files) = mounted(HostMode::Overlay);
    files.put("/mnt/w/a", "mine").unwrap();
    files.put("/mnt/w/new", "x").unwrap();
    files.unlink("/mnt/w/inner/b").unwrap();
    fs::write(dir.path().join("a"), "someone else").unwrap();
    fs::write(dir.path().join("inner/b"), "someone else").unwrap();
    let error = files.apply(&dir).unwrap_err();
    let ApplyError::Conflict { paths } = error else {
        panic!("{error}");
    };
    assert_eq!(paths, [b"a".to_vec(), b"inner/b".to_vec()]);
    assert!(!dir.path().join("new").exists());
    assert_eq!(
        fs::read_to_string(dir.path().join("a")).unwrap(),
        "someone else"
    );
}

#[test]
fn nothing_is_mounted_where_it_would_never_be_seen() {
    let (dir, mut files) = mounted(HostMode::ReadOnly);
    for path in ["/mnt/w", "/", "/dev", "/bin", "/usr/bin"] {
        let host = HostDir::open(dir.path()).unwrap();
        let what = Mount::Host(host, HostMode::ReadWrite);
        let mounted = files.call(|vfs, caller| vfs.mount(caller, path.as_bytes(), what));
        assert_eq!(mounted, no(Errno::Busy), "{path}");
    }
}
