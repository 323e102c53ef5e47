//! Random trees on the host, random changes in the overlay, and what either looks like.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use jp_bash_system::{FileKind, Follow, SetTime, Timestamp};

use super::*;

/// A path with kind, mode, content and time of change; a directory has no time, a link no mode.
pub(super) type Picture = BTreeMap<Vec<u8>, (char, u32, Vec<u8>, (i64, u32))>;

/// Numbers that look random and are the same each time.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn name(&mut self) -> String {
        let names = ["a", "b", "c", "d e", "-f", "ü\n"];
        names[usize::try_from(self.roll(6)).unwrap()].to_owned()
    }

    fn path(&mut self) -> String {
        let depth = 1 + self.roll(3);
        let names: Vec<_> = (0..depth).map(|_| self.name()).collect();
        names.join("/")
    }

    fn text(&mut self) -> String {
        let length = usize::try_from(self.roll(20)).unwrap();
        "0123456789abcdefghij"[..length].to_owned()
    }
}

/// Makes a random tree on the host.
pub(super) fn plant(dir: &Path, dice: &mut Dice) {
    for _ in 0..14 {
        let path = dir.join(dice.path());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).ok();
        }
        match dice.roll(5) {
            0 => fs::create_dir_all(&path).ok(),
            1 => symlink(dice.text() + "x", &path).ok(),
            _ => fs::write(&path, dice.text()).ok(),
        };
        let mode = [0o644, 0o600, 0o755, 0o711][usize::try_from(dice.roll(4)).unwrap()];
        if fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_symlink()) {
            let mode = if path.is_dir() { mode | 0o700 } else { mode };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

/// Makes random changes in the overlay; those that make no sense fail.
pub(super) fn scribble(files: &mut Files, dice: &mut Dice) {
    for _ in 0..12 {
        let path = format!("/w/{}", dice.path());
        let other = format!("/w/{}", dice.path());
        match dice.roll(9) {
            0 | 1 => files.put(&path, &dice.text()).ok(),
            2 => files.mkdir(&path).ok(),
            3 => {
                files.remove_all(&path);
                None
            }
            4 | 5 => files.rename(&path, &other).ok(),
            6 => files.symlink(&dice.text(), &path).ok(),
            7 => files.link(&path, &other).ok(),
            _ => {
                let at = SetTime::At(Timestamp {
                    secs: 1_600_000_000,
                    nanos: 7,
                });
                files
                    .call(|vfs, caller| {
                        vfs.set_times(caller, path.as_bytes(), SetTime::Keep, at, Follow::No)
                    })
                    .ok();
                files.chmod(&other, 0o750).ok()
            }
        };
    }
}

/// Returns what the host has, the staging area apart.
pub(super) fn host_picture(dir: &Path) -> Picture {
    let mut picture = Picture::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(at) = todo.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".jp-apply") {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            let mode = meta.mode() & 0o7777;
            let time = (meta.mtime(), u32::try_from(meta.mtime_nsec()).unwrap());
            let name = path.strip_prefix(dir).unwrap().as_os_str().as_bytes();
            let found = if meta.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                ('l', 0, target.as_os_str().as_bytes().to_vec(), time)
            } else if meta.is_dir() {
                todo.push(path.clone());
                ('d', mode, Vec::new(), (0, 0))
            } else {
                ('f', mode, fs::read(&path).unwrap(), time)
            };
            picture.insert(name.to_vec(), found);
        }
    }
    picture
}

/// Returns what the script sees in the overlay.
pub(super) fn overlay_picture(files: &mut Files) -> Picture {
    let mut picture = Picture::new();
    let mut todo = vec![b"/w".to_vec()];
    while let Some(at) = todo.pop() {
        let listed = files.call(|vfs, caller| vfs.read_dir(caller, &at)).unwrap();
        for entry in listed {
            let path = [at.as_slice(), b"/", &entry.name].concat();
            let stat = files
                .call(|vfs, caller| vfs.stat(caller, &path, Follow::No))
                .unwrap();
            let time = (stat.mtime.secs, stat.mtime.nanos);
            let found = match stat.kind {
                FileKind::Symlink => {
                    let target = files.call(|vfs, caller| vfs.readlink(caller, &path));
                    ('l', 0, target.unwrap(), time)
                }
                FileKind::Directory => {
                    todo.push(path.clone());
                    ('d', stat.mode, Vec::new(), (0, 0))
                }
                _ => {
                    let text = files.text(std::str::from_utf8(&path).unwrap()).unwrap();
                    ('f', stat.mode, text.into_bytes(), time)
                }
            };
            picture.insert(path[3..].to_vec(), found);
        }
    }
    picture
}
