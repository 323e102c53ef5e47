//! Refuses early, and with the best words, what the launcher could not carry out. It builds no walls,
//! and the launcher checks grants again while it opens them.

use std::{
    ffi::{OsStr, OsString},
    path::{Component, Path},
};

use crate::{ConfineError, Confinement};

/// More granted paths than this are refused: each is a mount.
const MAX_GRANTS: usize = 512;

/// Checks everything that is passed to a confined program.
pub(crate) fn check(
    confinement: &Confinement,
    program: &OsStr,
    args: &[OsString],
) -> Result<(), ConfineError> {
    let unpassable = |what, problem| Err(ConfineError::Unpassable { what, problem });
    let has_nul = |text: &OsStr| text.as_encoded_bytes().contains(&0);
    if program.is_empty() {
        return unpassable("the program", "its name is empty");
    }
    if has_nul(program) || args.iter().any(|arg| has_nul(arg)) {
        return unpassable("an argument", "it contains a NUL byte");
    }
    for (name, value) in &confinement.env {
        if has_nul(name) || has_nul(value) {
            return unpassable("an environment variable", "it contains a NUL byte");
        }
        if name.is_empty() || name.as_encoded_bytes().contains(&b'=') {
            return unpassable("an environment variable", "its name is empty or holds `=`");
        }
    }
    if has_nul(confinement.cwd.as_os_str()) || !confinement.cwd.is_absolute() {
        return unpassable("the working directory", "it is not an absolute path");
    }
    if confinement.read.len() + confinement.write.len() > MAX_GRANTS {
        return unpassable("the grant", "it has more than 512 paths");
    }
    confinement
        .read
        .iter()
        .chain(&confinement.write)
        .try_for_each(|path| check_grant(path))
}

fn check_grant(path: &Path) -> Result<(), ConfineError> {
    let refuse = |problem: String| {
        Err(ConfineError::Grant {
            path: path.to_owned(),
            problem,
        })
    };
    if let Some(problem) = grant_problem(path) {
        return refuse(problem.to_owned());
    }
    match path.canonicalize() {
        Err(error) => refuse(error.to_string()),
        Ok(real) if real != path => refuse(format!(
            "it leads through a symbolic link; grant `{}` if that is meant",
            real.display()
        )),
        Ok(_) => Ok(()),
    }
}

/// What is wrong with the spelling of a granted path, or with granting it at all.
pub(crate) fn grant_problem(path: &Path) -> Option<&'static str> {
    let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    let kernel = ["/dev", "/proc", "/sys"]
        .iter()
        .any(|own| path.starts_with(own));
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        Some("it contains a NUL byte")
    } else if !path.is_absolute() || !path.components().all(plain) {
        Some("it is not an absolute path without `..`")
    } else if path == Path::new("/") {
        Some("the whole file system cannot be granted; name the directories that are needed")
    } else if kernel {
        Some("the kernel's own directories cannot be granted")
    } else {
        None
    }
}
