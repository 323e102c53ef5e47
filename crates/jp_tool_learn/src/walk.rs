//! Walks a topic directory and says which files it holds and what was left out. It does not read
//! files and does not know slugs.

use std::{ffi::OsString, io, ops::ControlFlow};

use crate::{
    limits::{MAX_ENTRIES, MAX_ENTRY_ERRORS, MAX_NOTES, MAX_PATH_BYTES},
    scan::ScanError,
    slug::{is_hidden, quoted},
    topic_dir::{Kind, TopicDir},
};

/// Remarks about what was left out: the first ones in full, the rest counted.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    remarks: Vec<(String, String)>,
    more: usize,
}

impl Notes {
    /// Adds a remark about the file or directory at `path`, unless it is hidden: what listings do
    /// not show, their remarks must not show either.
    fn add(&mut self, path: &str, remark: impl Into<String>) {
        if is_hidden(path) {
        } else if self.remarks.len() < MAX_NOTES {
            self.remarks.push((path.to_owned(), remark.into()));
        } else {
            self.more += 1;
        }
    }

    /// Turns the remarks into lines, in a stable order, without those about disabled subjects.
    pub(crate) fn into_lines(mut self, is_disabled: impl Fn(&str) -> bool) -> Vec<String> {
        self.remarks.retain(|(path, _)| !is_disabled(path));
        self.remarks.sort_unstable();
        let lines = self.remarks.iter();
        let mut lines: Vec<String> = lines
            .map(|(path, remark)| format!("{}: {remark}", quoted(path)))
            .collect();
        if self.more > 0 {
            lines.push(format!("and {} more", self.more));
        }
        lines
    }
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    /// Paths of files relative to the topic directory, `/`-joined, in no particular order.
    pub(crate) files: Vec<String>,
    pub(crate) notes: Notes,
    pending: Vec<String>,
    entries: usize,
    path_bytes: usize,
}

/// Walks the whole directory. Directories behind links are not entered, so that no loop can arise.
pub(crate) fn walk(dir: &TopicDir) -> Result<Walk, ScanError> {
    let mut walk = Walk::default();
    walk.enter(dir, "")
        .map_err(|source| ScanError::Unreadable { source })?;
    // A list instead of recursion: the depth of a directory tree must not become depth of stack.
    while let Some(directory) = walk.pending.pop() {
        walk.within_limits()?;
        if let Err(error) = walk.enter(dir, &directory) {
            walk.notes.add(&directory, reason(&error));
        }
    }
    walk.within_limits()?;
    Ok(walk)
}

impl Walk {
    fn within_limits(&self) -> Result<(), ScanError> {
        if self.entries > MAX_ENTRIES || self.path_bytes > MAX_PATH_BYTES {
            return Err(ScanError::TooLarge);
        }
        Ok(())
    }

    fn enter(&mut self, dir: &TopicDir, directory: &str) -> io::Result<()> {
        let mut errors_in_a_row = 0;
        dir.list(directory, &mut |entry| {
            self.entries += 1;
            match entry {
                Ok((name, kind)) => {
                    errors_in_a_row = 0;
                    self.take(dir, directory, name, kind);
                }
                Err(error) => {
                    errors_in_a_row += 1;
                    let place = if directory.is_empty() { "/" } else { directory };
                    self.notes.add(
                        place,
                        format!(
                            "an entry cannot be read, and others may be missing: {}",
                            reason(&error)
                        ),
                    );
                }
            }
            // A broken directory may report the same error for ever.
            if errors_in_a_row >= MAX_ENTRY_ERRORS || self.within_limits().is_err() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    fn take(&mut self, dir: &TopicDir, directory: &str, name: OsString, kind: Kind) {
        let name = match name.into_string() {
            Ok(name) => name,
            Err(name) => {
                let shown = join(directory, &name.to_string_lossy());
                self.notes.add(&shown, "the name is not valid UTF-8");
                return;
            }
        };
        let path = join(directory, &name);
        let kind = match kind {
            Kind::Link => match dir.kind(&path) {
                Ok(Kind::Directory) => {
                    self.notes
                        .add(&path, "links to directories are not followed");
                    return;
                }
                Ok(kind) => kind,
                Err(_) => {
                    let remark = "a link that leads outside the topic, in a circle or to nothing";
                    self.notes.add(&path, remark);
                    return;
                }
            },
            kind => kind,
        };
        match kind {
            Kind::File => {
                self.path_bytes += path.len();
                self.files.push(path);
            }
            Kind::Directory => {
                self.path_bytes += path.len();
                self.pending.push(path);
            }
            Kind::Link | Kind::Other => self.notes.add(&path, "not a regular file"),
        }
    }
}

/// Says in words why a file operation failed, alike natively and in a component.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "not found".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        io::ErrorKind::InvalidFilename => "the path is too long".to_owned(),
        io::ErrorKind::Other => error.to_string(),
        kind => kind.to_string(),
    }
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}
