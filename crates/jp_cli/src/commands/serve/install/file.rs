//! Reads the file of a client, and writes it back if nobody changed it meanwhile.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jp_disk::{Held, create_dir, create_private, parent, read, replace_private};

use super::{
    edit::{self, Change, Target},
    error::InstallError,
};

/// The largest file that is edited.
const MAX_BYTES: u64 = 8 << 20;

/// Whose file it is, which says who may read a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scope {
    User,
    /// The root of a project, which the file may not be out of.
    Project(PathBuf),
}

/// A change of a file that is not made yet.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) path: PathBuf,
    /// Its bytes, if it is there.
    pub(super) before: Option<Vec<u8>>,
    /// What it becomes, if that is something else.
    pub(super) after: Option<String>,
    scope: Scope,
}

impl Plan {
    /// Reads a file and says what becomes of it.
    pub(super) fn make(
        path: PathBuf,
        scope: Scope,
        target: &Target<'_>,
        change: &Change<'_>,
    ) -> Result<Self, InstallError> {
        check_links(&path, &scope)?;
        let before = bytes(&path)?;
        let text = text(&path, before.as_deref().unwrap_or_default())?;
        let after = edit::edit(text, target, change).map_err(|source| InstallError::Edit {
            by_hand: match change {
                Change::Add { entry, .. } => edit::by_hand(target, entry),
                Change::Remove { .. } => String::new(),
            },
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            path,
            before,
            after,
            scope,
        })
    }

    /// Says whether the file has had an entry of the name.
    pub(super) fn had(&self, target: &Target<'_>) -> bool {
        let before = self.before.as_deref().unwrap_or_default();
        let text = std::str::from_utf8(before).unwrap_or_default();
        edit::entry(text, target).is_ok_and(|entry| entry.is_some())
    }

    /// Writes the file, and before that what it was beside it; returns where that is.
    pub(super) fn write(&self) -> Result<Option<PathBuf>, InstallError> {
        let Some(after) = &self.after else {
            return Ok(None);
        };
        self.written(after).map_err(|source| InstallError::Write {
            path: self.path.clone(),
            source,
        })
    }

    fn written(&self, after: &str) -> io::Result<Option<PathBuf>> {
        let dir = parent(&self.path);
        match self.scope {
            Scope::User => create_dir(dir)?,
            Scope::Project(_) => fs::create_dir_all(dir)?,
        }
        let held = Held::take(&self.path)?;
        let changed =
            || io::Error::other("another program changed it meanwhile; run the command again");
        let Some(before) = &self.before else {
            if read(&self.path, MAX_BYTES)?.is_some() {
                return Err(changed());
            }
            match self.scope {
                Scope::User if !create_private(&self.path, after.as_bytes())? => {
                    return Err(changed());
                }
                Scope::User => {}
                Scope::Project(_) => held.replace(after.as_bytes())?,
            }
            return Ok(None);
        };
        let backup = backup(&self.path)?;
        replace_private(&backup, before)?;
        // The lock keeps other jp out, but no client knows of it: this is looked at last.
        if read(&self.path, MAX_BYTES)?.as_ref() != Some(before) {
            return Err(changed());
        }
        held.replace(after.as_bytes())?;
        Ok(Some(backup))
    }
}

/// Returns where the copy of a file is put: beside the file itself, not beside a link to it.
fn backup(path: &Path) -> io::Result<PathBuf> {
    let mut name = path.canonicalize()?.into_os_string();
    name.push(".jp-backup");
    Ok(PathBuf::from(name))
}

/// Refuses links that lead nowhere, and those of a project to the user's own files.
fn check_links(path: &Path, scope: &Scope) -> Result<(), InstallError> {
    if path.is_symlink() && !path.exists() {
        return Err(InstallError::Dangling {
            path: path.to_owned(),
        });
    }
    let Scope::Project(root) = scope else {
        return Ok(());
    };
    let real = path.ancestors().find_map(|above| above.canonicalize().ok());
    match real.is_some_and(|real| real.starts_with(root)) {
        true => Ok(()),
        false => Err(InstallError::Outside {
            path: path.to_owned(),
        }),
    }
}

/// Reads a file, if it is there.
pub(super) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    read(path, MAX_BYTES).map_err(|source| InstallError::Read {
        path: path.to_owned(),
        source,
    })
}

fn text<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, InstallError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        InstallError::NotText {
            path: path.to_owned(),
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
        }
    })
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
