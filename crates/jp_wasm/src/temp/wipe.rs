//! Emptying a directory that a guest has filled: as deep as it likes, with links wherever it likes.
//!
//! Nothing is followed, and neither the stack nor the number of open handles grows with the depth:
//! what a directory below the top holds is moved up to the top, and goes in the next round.

use std::{ffi::CStr, ffi::CString, fs::File as StdFile, io};

use rustix::{
    fs::{AtFlags, Mode, OFlags},
    io::Errno,
};

/// Rounds over the top before giving up: a process that still fills the directory must not keep us here.
/// Each round removes all that was in the top, so a tree needs as many rounds as it has levels.
const MAX_ROUNDS: usize = 1_000_000;

/// Names taken into memory at once.
const AT_ONCE: usize = 4096;

/// Removes everything in a directory.
pub(super) fn wipe(top: &StdFile) -> io::Result<()> {
    let mut moved = 0_u64;
    for _ in 0..MAX_ROUNDS {
        let names = names(top)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            remove(top, &name, &mut moved)?;
        }
    }
    Err(io::Error::other("it is filled faster than it is emptied"))
}

/// Opens a directory in another, if it is one: never what a link leads to.
pub(super) fn open_below(top: &StdFile, name: &std::ffi::OsStr) -> io::Result<StdFile> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(top, name, flags, Mode::empty())?;
    Ok(StdFile::from(opened))
}

fn remove(top: &StdFile, name: &CStr, moved: &mut u64) -> io::Result<()> {
    match rustix::fs::unlinkat(top, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // What the two kinds of systems say about a directory.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    match rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::NOTEMPTY | Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let dir = open_writable(top, name)?;
    loop {
        let below = names(&dir)?;
        if below.is_empty() {
            break;
        }
        for name in below {
            lift(top, &dir, &name, moved)?;
        }
    }
    match rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR) {
        // Somebody who still holds it has put something in: the next round sees to it.
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Removes something from a directory, or moves it to the top when it is a directory with content.
fn lift(top: &StdFile, dir: &StdFile, name: &CStr, moved: &mut u64) -> io::Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    match rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::NOTEMPTY | Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    // A directory that may not be written cannot be moved either.
    drop(open_writable(dir, name)?);
    loop {
        *moved += 1;
        match rustix::fs::renameat(dir, name, top, format!("{moved}")) {
            Ok(()) => return Ok(()),
            // The name is taken by something of the guest's.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Opens a directory that may be read and changed from now on.
fn open_writable(top: &StdFile, name: &CStr) -> io::Result<StdFile> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::OsStr::from_bytes(name.to_bytes());
    let dir = match open_below(top, path) {
        // Only the user who made it can have taken the permission away.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let found = rustix::fs::statat(top, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if rustix::fs::FileType::from_raw_mode(found.st_mode) != rustix::fs::FileType::Directory
            {
                return Err(error);
            }
            rustix::fs::chmodat(top, name, Mode::RWXU, AtFlags::empty())?;
            open_below(top, path)?
        }
        opened => opened?,
    };
    rustix::fs::fchmod(&dir, Mode::RWXU)?;
    Ok(dir)
}

/// Returns names in a directory, not necessarily all.
fn names(dir: &StdFile) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
            if names.len() == AT_ONCE {
                break;
            }
        }
    }
    Ok(names)
}
