//! Reads the kernel's list of mounts: which of them are in the new root and how they are mounted. It
//! changes nothing.

use std::{
    collections::HashSet,
    ffi::OsString,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use nix::mount::MsFlags;

/// A mount below the new root.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Relative to the new root; empty for the root itself.
    pub(super) path: PathBuf,
    /// The flags it has; those a less privileged namespace must not take away are among them.
    pub(super) flags: MsFlags,
}

/// Finds the mounts at and below `root` in the text of `/proc/self/mountinfo`.
///
/// Goes by the numbers, since mounts that `root` covers have the same paths.
pub(super) fn below(root: &Path, mountinfo: &[u8]) -> Vec<Mount> {
    let lines: Vec<Line> = mountinfo
        .split(|byte| *byte == b'\n')
        .filter_map(Line::parse)
        .collect();
    let Some(top) = lines.iter().rfind(|line| line.path == root) else {
        return Vec::new();
    };
    let mut inside = HashSet::from([top.id]);
    // The list is not in any order, so it is gone through until nothing is added.
    loop {
        let before = inside.len();
        inside.extend(
            lines
                .iter()
                .filter(|line| inside.contains(&line.parent))
                .map(|line| line.id)
                .collect::<Vec<_>>(),
        );
        if inside.len() == before {
            break;
        }
    }
    let found = lines.iter().filter(|line| inside.contains(&line.id));
    found
        .filter_map(|line| {
            let path = line.path.strip_prefix(root).ok()?.to_owned();
            Some(Mount {
                path,
                flags: line.flags,
            })
        })
        .collect()
}

struct Line {
    id: u64,
    parent: u64,
    path: PathBuf,
    flags: MsFlags,
}

impl Line {
    /// `id parent device root path options ...`, see proc_pid_mountinfo(5).
    fn parse(line: &[u8]) -> Option<Self> {
        let mut words = line.split(|byte| *byte == b' ');
        let mut number = || std::str::from_utf8(words.next()?).ok()?.parse().ok();
        let (id, parent) = (number()?, number()?);
        let path = PathBuf::from(OsString::from_vec(unescape(words.nth(2)?)));
        Some(Self {
            id,
            parent,
            path,
            flags: flags(words.next()?),
        })
    }
}

fn flags(options: &[u8]) -> MsFlags {
    let mut flags = MsFlags::empty();
    for option in options.split(|byte| *byte == b',') {
        flags |= match option {
            b"ro" => MsFlags::MS_RDONLY,
            b"nosuid" => MsFlags::MS_NOSUID,
            b"nodev" => MsFlags::MS_NODEV,
            b"noexec" => MsFlags::MS_NOEXEC,
            b"noatime" => MsFlags::MS_NOATIME,
            b"nodiratime" => MsFlags::MS_NODIRATIME,
            b"relatime" => MsFlags::MS_RELATIME,
            _ => MsFlags::empty(),
        };
    }
    if !flags.intersects(MsFlags::MS_NOATIME | MsFlags::MS_RELATIME) {
        flags |= MsFlags::MS_STRICTATIME;
    }
    flags
}

/// Undoes the kernel's `\040` for a space and the like.
fn unescape(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, tail @ ..] = rest {
        if let [
            b'\\',
            a @ b'0'..=b'3',
            b @ b'0'..=b'7',
            c @ b'0'..=b'7',
            after @ ..,
        ] = rest
        {
            out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
            rest = after;
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mounts_in_the_new_root_are_found() {
        let text = b"20 1 8:1 / / rw,relatime - ext4 /dev/sda rw\n\
            31 20 0:9 / /tmp rw,noatime - tmpfs old rw\n\
            32 31 0:10 / /tmp/covered rw - tmpfs x rw\n\
            44 43 8:1 /b /tmp/a\\040b/c rw,nosuid,nodev,noatime shared:1 - ext4 /dev/sda rw\n\
            40 31 0:20 / /tmp rw,nosuid - tmpfs new rw\n\
            43 40 8:1 /a /tmp/a\\040b ro - ext4 /dev/sda rw\n";
        let found = below(Path::new("/tmp"), text);
        let paths: Vec<_> = found
            .iter()
            .map(|mount| mount.path.to_str().unwrap())
            .collect();
        assert_eq!(paths, ["a b/c", "", "a b"]);
        assert_eq!(
            found[0].flags,
            MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOATIME
        );
        assert_eq!(found[2].flags, MsFlags::MS_RDONLY | MsFlags::MS_STRICTATIME);
    }
}
