//! Applying: what is refused, what is kept, and that nothing is lost.

mod faults;
mod kept;
mod refused;
mod world;

use std::fs;
use std::path::Path;

use super::super::tests::Files;
use super::super::{HostDir, HostMode, Mount};
use super::*;

/// An overlay on a directory with `a`, `inner/b` and `inner/deep/c`.
fn overlay() -> (tempfile::TempDir, Files) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("inner/deep")).unwrap();
    fs::write(dir.path().join("a"), "host").unwrap();
    fs::write(dir.path().join("inner/b"), "below").unwrap();
    fs::write(dir.path().join("inner/deep/c"), "deep").unwrap();
    let files = mount(dir.path());
    (dir, files)
}

fn mount(dir: &Path) -> Files {
    let mut files = Files::new();
    let host = HostDir::open(dir).unwrap();
    files
        .call(|vfs, caller| vfs.mount(caller, b"/w", Mount::Host(host, HostMode::Overlay)))
        .unwrap();
    files
}

impl Files {
    fn apply_with(&mut self, dir: &Path, set_id: bool) -> Result<Applied, ApplyError> {
        let host = HostDir::open(dir).unwrap();
        let options = ApplyOptions { set_id };
        self.call(|vfs, caller| vfs.apply(caller, b"/w", &host, options))
    }

    fn apply_to(&mut self, dir: &Path) -> Result<Applied, ApplyError> {
        self.apply_with(dir, false)
    }

    /// Removes a tree, as `rm -r` does.
    fn remove_all(&mut self, path: &str) {
        if self.unlink(path).is_ok() {
            return;
        }
        let listed = self.call(|vfs, caller| vfs.read_dir(caller, path.as_bytes()));
        for entry in listed.unwrap_or_default() {
            let name = String::from_utf8(entry.name).unwrap();
            self.remove_all(&format!("{path}/{name}"));
        }
        self.rmdir(path).ok();
    }
}

fn conflicts(error: ApplyError) -> Vec<String> {
    let ApplyError::Conflict { paths } = error else {
        panic!("{error}");
    };
    let names = paths.into_iter().map(String::from_utf8);
    names.collect::<Result<_, _>>().unwrap()
}

fn refused(error: ApplyError) -> Vec<String> {
    let ApplyError::Refused { refused } = error else {
        panic!("{error}");
    };
    let names = refused.into_iter().map(|one| String::from_utf8(one.path));
    names.collect::<Result<_, _>>().unwrap()
}

fn text(dir: &Path, path: &str) -> String {
    fs::read_to_string(dir.join(path)).unwrap()
}

fn has_area(dir: &Path) -> bool {
    dir.join(".jp-apply").exists()
}
