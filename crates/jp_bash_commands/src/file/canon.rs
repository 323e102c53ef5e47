//! Absolute paths without symlinks, `.` and `..`.

use jp_bash_system::{Errno, FileKind, Follow, Stop, System, failed};

use super::name::join;

/// What of a path must exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exists {
    All,
    AllButLast,
    Nothing,
}

/// When symlinks are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Follow,
    Keep,
}

/// Resolves a path from the working directory.
pub(crate) fn canonicalize(
    sys: &mut dyn System,
    path: &[u8],
    exists: Exists,
    links: Links,
) -> Result<Result<Vec<u8>, Errno>, Stop> {
    if path.is_empty() {
        return Ok(Err(Errno::NoEnt));
    }
    let mut done = if path.starts_with(b"/") {
        b"/".to_vec()
    } else {
        sys.cwd()
    };
    // Components that are still to do, the next one last.
    let mut todo: Vec<Vec<u8>> = components(path);
    let slash = path.last() == Some(&b'/');
    let mut followed = 0;
    while let Some(name) = todo.pop() {
        sys.work(1)?;
        if name == b"." {
            continue;
        }
        if name == b".." {
            let cut = memchr::memrchr(b'/', &done).unwrap_or(0);
            done.truncate(usize::max(cut, 1));
            continue;
        }
        let next = join(&done, &name);
        let last = todo.iter().all(|rest| rest == b".");
        match failed(sys.stat(&next, Follow::No))? {
            Ok(stat) if stat.kind == FileKind::Symlink && links == Links::Follow => {
                followed += 1;
                if followed > 40 {
                    return Ok(Err(Errno::Loop));
                }
                let target = match failed(sys.readlink(&next))? {
                    Ok(target) => target,
                    Err(errno) => return Ok(Err(errno)),
                };
                if target.starts_with(b"/") {
                    done = b"/".to_vec();
                }
                todo.extend(components(&target));
            }
            Ok(stat) => {
                if (!last || slash)
                    && exists != Exists::Nothing
                    && links == Links::Follow
                    && stat.kind != FileKind::Directory
                {
                    return Ok(Err(Errno::NotDir));
                }
                done = next;
            }
            Err(errno) => match exists {
                Exists::Nothing => done = next,
                Exists::AllButLast if last && errno == Errno::NoEnt => done = next,
                _ => return Ok(Err(errno)),
            },
        }
    }
    Ok(Ok(done))
}

/// Splits a path, the first component last.
fn components(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|b| *b == b'/')
        .rev()
        .filter(|name| !name.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

/// Removes `.` and `..` by text alone.
pub(crate) fn logical(cwd: &[u8], path: &[u8]) -> Vec<u8> {
    let full = if path.starts_with(b"/") {
        path.to_vec()
    } else {
        join(cwd, path)
    };
    let mut kept: Vec<&[u8]> = Vec::new();
    for name in full.split(|b| *b == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                kept.pop();
            }
            name => kept.push(name),
        }
    }
    let mut out = Vec::new();
    for name in kept {
        out.push(b'/');
        out.extend_from_slice(name);
    }
    if out.is_empty() {
        out.push(b'/');
    }
    out
}

/// Returns the way from a directory to a path; both are absolute and canonical.
pub(crate) fn relative(from: &[u8], to: &[u8]) -> Vec<u8> {
    let parts = |path: &[u8]| -> Vec<Vec<u8>> {
        path.split(|b| *b == b'/')
            .filter(|name| !name.is_empty())
            .map(<[u8]>::to_vec)
            .collect()
    };
    let (from, to) = (parts(from), parts(to));
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut way: Vec<Vec<u8>> = vec![b"..".to_vec(); from.len() - same];
    way.extend(to.into_iter().skip(same));
    if way.is_empty() {
        return b".".to_vec();
    }
    way.join(&b'/')
}
