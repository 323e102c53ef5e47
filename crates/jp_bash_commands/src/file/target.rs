//! Where the operands of `cp`, `mv` and `ln` go: a file, or into a directory.

use jp_bash_system::{Errno, FileKind, Follow, Stop, System, failed};

use super::Cmd;
use super::name::{base_name, join, without_slashes};

/// Where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    File(Vec<u8>),
    Directory(Vec<u8>),
}

impl Target {
    /// Returns the path that a source gets.
    pub(crate) fn path(&self, from: &[u8]) -> Vec<u8> {
        match self {
            Self::File(path) => path.clone(),
            Self::Directory(dir) => match base_name(from) {
                b"/" | b"" => dir.clone(),
                // `cp -r ..` copies into the directory itself.
                b".." => join(dir, b"."),
                base => join(dir, base),
            },
        }
    }
}

/// Sources and target, or a status after a message.
pub(crate) type Split = Result<(Vec<Vec<u8>>, Target), i32>;

/// Splits operands into sources and target; `Err` is a status after a message.
pub(crate) fn split(
    cmd: &mut Cmd<'_>,
    operands: &[Vec<u8>],
    directory: Option<&[u8]>,
    no_directory: bool,
) -> Result<Split, Stop> {
    let Some(first) = operands.first() else {
        return Ok(Err(cmd.usage(&[b"missing file operand"])?));
    };
    if let Some(dir) = directory {
        if no_directory {
            let text = b"cannot combine --target-directory (-t) and --no-target-directory (-T)";
            cmd.error(&[text])?;
            return Ok(Err(1));
        }
        return match is_directory(cmd.sys, dir)? {
            Ok(()) => Ok(Ok((operands.to_vec(), Target::Directory(dir.to_vec())))),
            Err(errno) => {
                let name = cmd.q(dir);
                cmd.fail(&[b"target directory ", &name], errno)?;
                Ok(Err(1))
            }
        };
    }
    let Some((last, sources)) = operands.split_last().filter(|_| operands.len() > 1) else {
        let name = cmd.q(first);
        let status = cmd.usage(&[b"missing destination file operand after ", &name])?;
        return Ok(Err(status));
    };
    if no_directory {
        if let Some(extra) = operands.get(2) {
            let name = cmd.q(extra);
            return Ok(Err(cmd.usage(&[b"extra operand ", &name])?));
        }
        return Ok(Ok((sources.to_vec(), Target::File(last.clone()))));
    }
    match is_directory(cmd.sys, last)? {
        Ok(()) => Ok(Ok((sources.to_vec(), Target::Directory(last.clone())))),
        Err(errno) if sources.len() > 1 => {
            let name = cmd.q(last);
            cmd.fail(&[b"target ", &name], errno)?;
            Ok(Err(1))
        }
        Err(_) => Ok(Ok((sources.to_vec(), Target::File(last.clone())))),
    }
}

pub(crate) fn is_directory(sys: &mut dyn System, path: &[u8]) -> Result<Result<(), Errno>, Stop> {
    Ok(match failed(sys.stat(path, Follow::Yes))? {
        Ok(stat) if stat.kind == FileKind::Directory => Ok(()),
        Ok(_) => Err(Errno::NotDir),
        Err(errno) => Err(errno),
    })
}

/// Cuts slashes behind the sources, for `--strip-trailing-slashes`.
pub(crate) fn strip(sources: &mut [Vec<u8>]) {
    for source in sources {
        *source = without_slashes(source).to_vec();
    }
}
