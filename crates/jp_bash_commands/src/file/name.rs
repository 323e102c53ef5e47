//! Parts of paths, and of users' names.

use jp_bash_system::System;

/// Returns the last component, without slashes behind it; `/` for a path of slashes only.
pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    let trimmed = without_slashes(path);
    match memchr::memrchr(b'/', trimmed) {
        Some(at) if trimmed.len() > 1 => trimmed.get(at + 1..).unwrap_or_default(),
        _ => trimmed,
    }
}

/// Returns everything before the last component, as `dirname`.
pub(crate) fn dir_name(path: &[u8]) -> &[u8] {
    let trimmed = without_slashes(path);
    match memchr::memrchr(b'/', trimmed) {
        None => b".",
        Some(at) => without_slashes(
            trimmed
                .get(..at)
                .filter(|dir| !dir.is_empty())
                .unwrap_or(b"/"),
        ),
    }
}

/// Cuts slashes at the end, but leaves one of a path that has nothing else.
pub(crate) fn without_slashes(path: &[u8]) -> &[u8] {
    let len = path.iter().rposition(|b| *b != b'/').map_or(1, |at| at + 1);
    path.get(..usize::min(len, path.len())).unwrap_or_default()
}

/// Joins a directory and a name with one slash.
pub(crate) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(dir.len() + 1 + name.len());
    path.extend_from_slice(dir);
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Returns the name of a user, or the number.
pub(crate) fn user_name(sys: &dyn System, uid: u32) -> Vec<u8> {
    match uid {
        uid if uid == sys.uid() => sys.user(),
        0 => b"root".to_vec(),
        uid => uid.to_string().into_bytes(),
    }
}

/// Returns the name of a group: the user's own has the user's name.
pub(crate) fn group_name(sys: &dyn System, gid: u32) -> Vec<u8> {
    match gid {
        gid if gid == sys.gid() => sys.user(),
        0 => b"root".to_vec(),
        gid => gid.to_string().into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_as_basename_and_dirname_do() {
        for (path, dir, base) in [
            (&b"/usr/bin/ls"[..], &b"/usr/bin"[..], &b"ls"[..]),
            (b"ls", b".", b"ls"),
            (b"/", b"/", b"/"),
            (b"//", b"/", b"/"),
            (b"/a", b"/", b"a"),
            (b"a/b//", b"a", b"b"),
            (b"a//b", b"a", b"b"),
            (b"", b".", b""),
        ] {
            assert_eq!((dir_name(path), base_name(path)), (dir, base));
        }
    }
}
