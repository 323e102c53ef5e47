//! What `jp bash` runs: a command, a file of this machine or of the script's own files, standard input.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, ErrorKind, IsTerminal},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use jp_bash::{ExecMode, ExecOptions};

use super::{input, mount::Mounts};
use crate::error::CliError;

/// Where a script of this machine that lies in no mount can be read by itself: the directory of its `$0`.
const COPIES: &str = "/run/jp";

/// A script and how it is called.
pub(super) struct Found {
    pub(super) text: Vec<u8>,
    pub(super) options: ExecOptions,
    /// A copy of the script that is put among the script's own files, at its `$0`.
    pub(super) copy: Option<Vec<u8>>,
}

/// Why there is no script.
pub(super) enum NoScript {
    /// The command line is wrong, or the system failed.
    Error(CliError),
    /// The file cannot be read: said in bash's words, with bash's exit code.
    Unreadable { message: String, code: u8 },
}

impl From<CliError> for NoScript {
    fn from(error: CliError) -> Self {
        Self::Error(error)
    }
}

/// Finds what to run.
pub(super) fn find(
    command: Option<&OsString>,
    words: &[OsString],
    mounts: &Mounts,
) -> Result<Found, NoScript> {
    let mut options = ExecOptions::default();
    if let Some(command) = command {
        if let Some((name, rest)) = words.split_first() {
            options.name = name.as_bytes().to_vec();
            options.args = bytes(rest);
        }
        return Ok(Found {
            text: command.as_bytes().to_vec(),
            options,
            copy: None,
        });
    }
    let (file, rest) = match words.split_first() {
        Some((file, rest)) => (file.as_os_str(), rest),
        None if io::stdin().is_terminal() => {
            let hint = "write `jp bash -c CMD`, `jp bash FILE`, or pipe a script in";
            return Err(NoScript::Error(CliError::Usage {
                message: "nothing to run".to_owned(),
                hint: Some(hint.to_owned()),
            }));
        }
        None => (OsStr::new("-"), &[][..]),
    };
    options.args = bytes(rest);
    if file == "-" {
        // Read line by line while it runs: its commands read what follows them.
        options.mode = ExecMode::Input;
        return Ok(Found {
            text: Vec::new(),
            options,
            copy: None,
        });
    }
    named(file, options, mounts)
}

fn named(file: &OsStr, mut options: ExecOptions, mounts: &Mounts) -> Result<Found, NoScript> {
    let text = match read(file) {
        Ok(text) => text?,
        Err(error) if error.kind() == ErrorKind::NotFound && is_option(file) => {
            let name = file.to_string_lossy();
            return Err(NoScript::Error(CliError::Usage {
                message: format!("unknown option `{}`", crate::text::escape(&name)),
                hint: Some(
                    "`jp bash -c CMD` runs a command, `jp bash -` a script on standard input, \
                     `jp bash FILE` a file; `set -e` and the like go into the script"
                        .to_owned(),
                ),
            }));
        }
        // There may be one among the script's own files; if not, the shell says so.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            options.mode = ExecMode::Path;
            options.name = file.as_bytes().to_vec();
            return Ok(Found {
                text: Vec::new(),
                options,
                copy: None,
            });
        }
        Err(error) => return Err(unreadable(file, &error)),
    };
    options.mode = ExecMode::File;
    let (name, copy) = match mounts.virtual_path(Path::new(file)) {
        Some(path) => (path, None),
        None => (copied(file), Some(text.clone())),
    };
    options.name = name;
    Ok(Found {
        text,
        options,
        copy,
    })
}

fn is_option(word: &OsStr) -> bool {
    word.as_bytes().starts_with(b"-")
}

fn read(file: &OsStr) -> io::Result<Result<Vec<u8>, CliError>> {
    let mut opened = File::open(file)?;
    if opened.metadata()?.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    Ok(input::read_all(&mut opened, &file.to_string_lossy()))
}

/// Says as bash does that a file is there and cannot be run.
fn unreadable(file: &OsStr, error: &io::Error) -> NoScript {
    let name = file.to_string_lossy();
    let name = crate::text::escape(&name);
    let message = match error.kind() {
        ErrorKind::IsADirectory => format!("{name}: {name}: Is a directory"),
        ErrorKind::PermissionDenied => format!("bash: {name}: Permission denied"),
        ErrorKind::NotADirectory => format!("bash: {name}: Not a directory"),
        _ => format!("bash: {name}: {error}"),
    };
    NoScript::Unreadable { message, code: 126 }
}

fn copied(file: &OsStr) -> Vec<u8> {
    let name = Path::new(file).file_name().unwrap_or(file);
    [COPIES.as_bytes(), b"/", name.as_bytes()].concat()
}

/// Returns a path of this machine without links and relative parts.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

fn bytes(words: &[OsString]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}
