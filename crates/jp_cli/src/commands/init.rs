//! `jp init`: makes a directory a workspace.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use tokio_util::sync::CancellationToken;

use super::tool::install::listen;
use crate::{error::CliError, exit::Exit, places, prompt, text, ui::Ui};

/// What is written into a new workspace; `ACCESS` is what was chosen.
const CONFIG: &str = include_str!("init/config.toml");

/// Where the configuration of a workspace is.
const FILE: &str = ".jp/config.toml";

/// Arguments of `jp init`.
#[derive(Debug, Args)]
#[command(after_help = "\
A workspace is a directory whose files tools may see: each tool as far as your
policy, this workspace and the tool itself agree. What holds in it is in its
.jp/config.toml, which `jp init` writes with an explanation of every line.

On a terminal it asks where, and what scripts may do with the files there.

Examples:
  jp init                        ask, then make the workspace
  jp init ~/work --yes           make it, ask nothing
  jp init --access read-write    let scripts of bash change its files")]
pub(crate) struct InitArgs {
    /// The directory; made if it does not exist
    #[arg(value_name = "DIR")]
    target: Option<PathBuf>,
    /// What scripts in the virtual bash may do with its files [default: read]
    #[arg(long, value_enum)]
    access: Option<Access>,
    /// Ask nothing
    #[arg(long)]
    yes: bool,
}

/// What scripts may do with the files of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Access {
    /// They see no files
    None,
    /// They see the files
    Read,
    /// They see the files and change them
    ReadWrite,
}

impl Access {
    const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::ReadWrite => "read-write",
        }
    }

    fn typed(text: &str) -> Option<Self> {
        match text.to_lowercase().as_str() {
            "n" | "none" | "nothing" => Some(Self::None),
            "" | "r" | "read" => Some(Self::Read),
            "w" | "write" | "read-write" => Some(Self::ReadWrite),
            _ => None,
        }
    }
}

/// Makes the workspace.
pub(crate) fn run(args: &InitArgs, ui: &Ui) -> Result<Exit, CliError> {
    let asks = ui.can_ask && !args.yes;
    let interrupts = listen()?;
    let cancel = &interrupts.cancel;
    let here = here(ui)?;
    let Some(dir) = directory(args, &here, asks.then_some(cancel))? else {
        return Ok(Exit::Cancelled);
    };
    refuse_own(&dir)?;
    let file = dir.join(FILE);
    if file.symlink_metadata().is_ok() {
        ui.say(format_args!("{} is a workspace already.", shown(&dir)));
        ui.hint("`jp tool list` shows its tools, `jp config show` its configuration");
        return Ok(Exit::Done);
    }
    let access = match args.access {
        Some(access) => access,
        None if asks => match access_asked(cancel, ui) {
            Some(access) => access,
            None => return Ok(Exit::Cancelled),
        },
        None => Access::Read,
    };
    write(&dir, &file, access)?;
    ui.say(format_args!(
        "{} is a workspace now. What holds in it is written in {}.",
        shown(&dir),
        shown(&file)
    ));
    let list = "`jp tool list` shows its tools";
    match dir == here {
        true => ui.hint(list),
        false => ui.hint(&format!("`cd {}`; {list}", shown(&dir))),
    }
    Ok(Exit::Done)
}

/// Returns the directory that the command is about, as far as links lead.
fn here(ui: &Ui) -> Result<PathBuf, CliError> {
    let dir = ui.global.dir.as_deref().unwrap_or(Path::new("."));
    dir.canonicalize()
        .map_err(|source| CliError::at("cannot use the directory", dir, source))
}

/// Decides which directory is meant; nothing after Ctrl-C.
fn directory(
    args: &InitArgs,
    here: &Path,
    asking: Option<&CancellationToken>,
) -> Result<Option<PathBuf>, CliError> {
    if let Some(dir) = &args.target {
        return real(here, dir).map(Some);
    }
    let Some(cancel) = asking else {
        return Ok(Some(here.to_owned()));
    };
    let usual = match places::own().own_within(here) {
        None => here.to_owned(),
        // The home directory, or the root: tools must not see jp's own files.
        Some(_) => home().unwrap_or_else(|| here.to_owned()).join("jp"),
    };
    let question = format!(
        "A workspace is a directory whose files tools may see.\nWhich directory? [{}] ",
        shown(&usual)
    );
    match prompt::ask(&question, cancel) {
        None => Ok(None),
        Some(typed) if typed.is_empty() => real(here, &usual).map(Some),
        Some(typed) => real(here, &expanded(&typed)).map(Some),
    }
}

/// Asks what scripts may do with the files.
fn access_asked(cancel: &CancellationToken, ui: &Ui) -> Option<Access> {
    let question = "What may scripts in `bash` do with its files: read them, read and write them, \
                    or see none? [R/w/n] ";
    loop {
        let typed = prompt::ask(question, cancel)?;
        if let Some(access) = Access::typed(&typed) {
            return Some(access);
        }
        ui.say("Please type r, w or n.");
    }
}

fn home() -> Option<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from);
    home.filter(|home| home.is_absolute())
}

/// Reads a path as a shell would: nobody else does where it is typed as an answer.
fn expanded(typed: &str) -> PathBuf {
    match (typed.strip_prefix("~/"), home()) {
        (Some(below), Some(home)) => home.join(below),
        (None, Some(home)) if typed == "~" => home,
        _ => PathBuf::from(typed),
    }
}

/// Returns where a directory is that may not be there yet.
fn real(here: &Path, dir: &Path) -> Result<PathBuf, CliError> {
    let dir = here.join(dir);
    fs::create_dir_all(&dir).map_err(|source| CliError::at("cannot make", &dir, source))?;
    dir.canonicalize()
        .map_err(|source| CliError::at("cannot use the directory", &dir, source))
}

/// Refuses a directory that jp's own files are in.
fn refuse_own(dir: &Path) -> Result<(), CliError> {
    let own = places::own();
    match own.own_within(dir) {
        None => Ok(()),
        Some(own) => Err(CliError::Usage {
            message: format!(
                "{} cannot be a workspace: {} is in it, which tools must not reach",
                dir.display(),
                own.display()
            ),
            hint: Some("name another directory: `jp init ~/work`".to_owned()),
        }),
    }
}

/// Writes the configuration, where nothing is yet.
fn write(dir: &Path, file: &Path, access: Access) -> Result<(), CliError> {
    let below = dir.join(".jp");
    match fs::create_dir(&below) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(CliError::at("cannot make", below, error));
        }
        _ => {}
    }
    if !below
        .symlink_metadata()
        .is_ok_and(|found| found.file_type().is_dir())
    {
        return Err(CliError::usage(format!(
            "{} is not a directory; the configuration of a workspace is only written in place",
            below.display()
        )));
    }
    let text = CONFIG.replace("ACCESS", access.word());
    let made = fs::File::options().write(true).create_new(true).open(file);
    made.and_then(|mut made| made.write_all(text.as_bytes()))
        .map_err(|source| CliError::at("cannot write", file, source))
}

/// Returns a path for people, with `~` for the home directory.
pub(crate) fn shown(path: &Path) -> String {
    let below = home().and_then(|home| Some(path.strip_prefix(home).ok()?.to_owned()));
    let path = match below {
        Some(below) if below.as_os_str().is_empty() => PathBuf::from("~"),
        Some(below) => Path::new("~").join(below),
        None => path.to_owned(),
    };
    text::one_line(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_as_an_access_is_understood() {
        for (typed, access) in [
            ("", Some(Access::Read)),
            ("W", Some(Access::ReadWrite)),
            ("none", Some(Access::None)),
            ("yes", None),
        ] {
            assert_eq!(Access::typed(typed), access, "{typed}");
        }
    }
}
