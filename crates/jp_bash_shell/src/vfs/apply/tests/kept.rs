//! What an applied tree is like, and what a recovery never loses.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use jp_bash_system::{Follow, OpenHow};

use super::super::disk::Call;
use super::world::{host_picture, overlay_picture};
use super::*;
use crate::vfs::Opened;

fn mode(dir: &Path, path: &str) -> u32 {
    fs::symlink_metadata(dir.join(path)).unwrap().mode() & 0o7777
}

#[test]
fn directories_files_and_links_replace_each_other() {
    let (dir, mut files) = overlay();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("file"), "1").unwrap();
    symlink("a", path("link")).unwrap();
    fs::create_dir(path("empty")).unwrap();
    // Each kind becomes each other one.
    files.unlink("/w/a").unwrap();
    files.mkdir("/w/a").unwrap();
    files.put("/w/a/x", "in a").unwrap();
    files.unlink("/w/file").unwrap();
    files.symlink("a/x", "/w/file").unwrap();
    files.unlink("/w/link").unwrap();
    files.put("/w/link", "a file").unwrap();
    files.remove_all("/w/inner");
    files.put("/w/inner", "a file").unwrap();
    files.rmdir("/w/empty").unwrap();
    files.symlink("inner", "/w/empty").unwrap();
    let wanted = overlay_picture(&mut files);
    files.apply_to(dir.path()).unwrap();
    assert_eq!(host_picture(dir.path()), wanted);
    assert_eq!(text(dir.path(), "file"), "in a");
    assert_eq!(text(dir.path(), "empty"), "a file");
    let diff = files.call(|vfs, caller| vfs.diff(caller, b"/w")).unwrap();
    assert_eq!(diff, []);
}

#[test]
fn a_link_becomes_a_directory_without_touching_what_it_led_to() {
    let (dir, mut files) = overlay();
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("kept"), "kept").unwrap();
    symlink(other.path(), dir.path().join("link")).unwrap();
    files.unlink("/w/link").unwrap();
    files.mkdir("/w/link").unwrap();
    files.put("/w/link/x", "1").unwrap();
    files.apply_to(dir.path()).unwrap();
    assert_eq!(text(dir.path(), "link/x"), "1");
    assert_eq!(text(other.path(), "kept"), "kept");
    assert!(!other.path().join("x").exists());
}

#[test]
fn a_changed_mode_keeps_the_file_and_its_other_names() {
    let (dir, mut files) = overlay();
    fs::hard_link(dir.path().join("a"), dir.path().join("twin")).unwrap();
    let before = fs::metadata(dir.path().join("a")).unwrap();
    files.chmod("/w/a", 0o700).unwrap();
    files.chmod("/w/inner", 0o711).unwrap();
    files.chmod("/w", 0o750).unwrap();
    files.apply_to(dir.path()).unwrap();
    let after = fs::metadata(dir.path().join("a")).unwrap();
    assert_eq!((after.ino(), after.nlink()), (before.ino(), 2));
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    let modes = ["a", "inner", ""].map(|path| mode(dir.path(), path));
    assert_eq!(modes, [0o700, 0o711, 0o750]);
}

#[test]
fn a_changed_file_leaves_its_other_names_on_the_host_as_they_were() {
    let (dir, mut files) = overlay();
    fs::hard_link(dir.path().join("a"), dir.path().join("twin")).unwrap();
    files.put("/w/a", "mine").unwrap();
    files.apply_to(dir.path()).unwrap();
    assert_eq!(text(dir.path(), "a"), "mine");
    assert_eq!(text(dir.path(), "twin"), "host");
}

#[test]
fn names_that_the_script_linked_share_one_file_on_the_host() {
    let (dir, mut files) = overlay();
    files.link("/w/a", "/w/inner/twin").unwrap();
    files.apply_to(dir.path()).unwrap();
    let ino = |path: &str| fs::metadata(dir.path().join(path)).unwrap().ino();
    assert_eq!(ino("a"), ino("inner/twin"));
    let diff = files.call(|vfs, caller| vfs.diff(caller, b"/w")).unwrap();
    assert_eq!(diff, []);
    assert_eq!(files.text("/w/inner/twin").unwrap(), "host");
}

#[test]
fn set_id_bits_are_left_out_and_named_unless_they_are_asked_for() {
    for asked in [false, true] {
        let (dir, mut files) = overlay();
        fs::set_permissions(dir.path().join("inner"), fs::Permissions::from_mode(0o2755)).unwrap();
        files.put("/w/new", "x").unwrap();
        files.chmod("/w/new", 0o4755).unwrap();
        files.chmod("/w/a", 0o6755).unwrap();
        files.mkdir("/w/d").unwrap();
        files.chmod("/w/d", 0o3777).unwrap();
        // What the host has already stays.
        files.chmod("/w/inner", 0o2775).unwrap();
        let applied = files.apply_with(dir.path(), asked).unwrap();
        let modes = ["new", "a", "d", "inner"].map(|path| mode(dir.path(), path));
        if asked {
            assert_eq!(modes, [0o4755, 0o6755, 0o3777, 0o2775]);
            assert!(applied.without_set_id.is_empty());
        } else {
            assert_eq!(modes, [0o755, 0o755, 0o1777, 0o2775]);
            assert_eq!(
                applied.without_set_id,
                [b"a".to_vec(), b"d".to_vec(), b"new".to_vec()]
            );
        }
    }
}

#[test]
fn a_changed_file_loses_the_set_id_bits_it_had() {
    let (dir, mut files) = overlay();
    let path = dir.path().join("a");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    files.put("/w/a", "mine").unwrap();
    let applied = files.apply_to(dir.path()).unwrap();
    assert_eq!(mode(dir.path(), "a"), 0o755);
    assert_eq!(applied.without_set_id, [b"a".to_vec()]);
}

#[test]
fn directories_that_shut_everybody_out_are_applied_and_removed() {
    let (dir, mut files) = overlay();
    files.mkdir("/w/d").unwrap();
    files.mkdir("/w/d/e").unwrap();
    files.put("/w/d/e/f", "x").unwrap();
    files.chmod("/w/d/e", 0o000).unwrap();
    files.chmod("/w/d", 0o500).unwrap();
    files.apply_to(dir.path()).unwrap();
    assert_eq!((mode(dir.path(), "d"), mode(dir.path(), "d/e")), (0o500, 0));
    files.chmod("/w/d", 0o700).unwrap();
    files.chmod("/w/d/e", 0o700).unwrap();
    files.put("/w/d/e/f", "y").unwrap();
    files.apply_to(dir.path()).unwrap();
    assert_eq!(text(dir.path(), "d/e/f"), "y");
    files.remove_all("/w/d");
    files.apply_to(dir.path()).unwrap();
    assert!(!dir.path().join("d").exists() && !has_area(dir.path()));
}

#[test]
fn a_hole_of_terabytes_is_applied_as_a_hole() {
    let (dir, mut files) = overlay();
    files.call(|vfs, caller| {
        let how = OpenHow::WRITE;
        let Ok(Opened::File(handle)) = vfs.open(caller, b"/w/sparse", how) else {
            panic!("not opened");
        };
        vfs.write_at(caller, handle, 0, b"start").unwrap();
        vfs.write_at(caller, handle, 1 << 41, b"end").unwrap();
        vfs.truncate(caller, handle, (1 << 41) + 10).unwrap();
        vfs.close(handle, caller.quota);
    });
    files.apply_to(dir.path()).unwrap();
    let meta = fs::metadata(dir.path().join("sparse")).unwrap();
    assert_eq!(meta.len(), (1 << 41) + 10);
    assert!(meta.blocks() < 10_000, "{}", meta.blocks());
    let file = fs::File::open(dir.path().join("sparse")).unwrap();
    let mut bytes = [1; 5];
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, (1 << 41) - 1).unwrap();
    assert_eq!(&bytes, b"\0end\0");
}

#[test]
fn who_stands_in_a_directory_still_does_after_an_apply() {
    let (dir, mut files) = overlay();
    files.rename("/w/inner", "/w/moved").unwrap();
    files.cwd = files
        .call(|vfs, caller| vfs.change_dir(caller, b"/w/moved/deep"))
        .unwrap();
    files.put("new", "1").unwrap();
    files.apply_to(dir.path()).unwrap();
    assert_eq!(files.list(".").unwrap(), "c new");
    files.put("new", "2").unwrap();
    let applied = files.apply_to(dir.path()).unwrap();
    assert_eq!(applied.changes.len(), 1);
    assert_eq!(text(dir.path(), "moved/deep/new"), "2");
    let stat = files.stat("new", Follow::No).unwrap();
    assert_eq!(stat.size, 1);
}

/// Dies at the call that follows so many moves.
struct DiesAfterMoves(std::cell::Cell<u32>);

impl Gate for DiesAfterMoves {
    fn before(&self, call: Call) -> io::Result<()> {
        match (self.0.get(), call) {
            (0, _) => Err(io::Error::from_raw_os_error(5)),
            (left, Call::Move | Call::Swap) => {
                self.0.set(left - 1);
                Ok(())
            }
            _ => Ok(()),
        }
    }
    fn after(&self, _call: Call) -> io::Result<()> {
        Ok(())
    }
}

/// Kills an apply after its first path was switched: `a` is new, the rest is old.
fn killed() -> (tempfile::TempDir, HostDir) {
    let (dir, mut files) = overlay();
    files.put("/w/a", "mine").unwrap();
    files.put("/w/inner/b", "mine").unwrap();
    let host = HostDir::open(dir.path()).unwrap();
    // The first move is that of the journal.
    let gate = DiesAfterMoves(2.into());
    let options = ApplyOptions::default();
    let error = files
        .call(|vfs, caller| vfs.apply_through(&gate, caller, b"/w", &host, options))
        .unwrap_err();
    assert!(matches!(error, ApplyError::Unfinished { .. }), "{error}");
    assert_eq!(text(dir.path(), "a"), "mine");
    assert_eq!(text(dir.path(), "inner/b"), "below");
    (dir, host)
}

#[test]
fn a_recovery_says_what_it_did_and_happens_once() {
    let (dir, host) = killed();
    assert_eq!(host.recover(), Ok(Some(Recovered::Undone)));
    assert_eq!(text(dir.path(), "a"), "host");
    assert_eq!(host.recover(), Ok(None));
}

#[test]
fn the_next_apply_recovers_first() {
    let (dir, _) = killed();
    let mut files = mount(dir.path());
    files.put("/w/new", "x").unwrap();
    let applied = files.apply_to(dir.path()).unwrap();
    assert_eq!(applied.recovered, Some(Recovered::Undone));
    assert_eq!(text(dir.path(), "a"), "host");
    assert_eq!(text(dir.path(), "new"), "x");
}

#[test]
fn what_somebody_wrote_since_the_kill_is_not_undone() {
    let (dir, host) = killed();
    fs::write(dir.path().join("a"), "theirs").unwrap();
    let paths = vec![b"a".to_vec()];
    assert_eq!(host.recover(), Err(RecoverError::Changed { paths }));
    assert_eq!(text(dir.path(), "a"), "theirs");
    // The old content is still there for whoever decides.
    assert_eq!(text(dir.path(), ".jp-apply/new/0"), "host");
}

#[test]
fn a_recovery_leaves_an_apply_alone_that_is_at_work() {
    let (dir, host) = killed();
    let lock = Disk::new(&Through).lock(host.dir()).unwrap().unwrap();
    let other = HostDir::open(dir.path()).unwrap();
    assert_eq!(other.recover(), Ok(None));
    assert!(has_area(dir.path()));
    drop(lock);
    assert_eq!(other.recover(), Ok(Some(Recovered::Undone)));
}
