//! Finding what a command name stands for: function, builtin, command, script on the PATH.

use std::sync::Arc;

use jp_bash_system::{Errno, FileKind, Follow, Program, SysError, System};

use crate::builtins::{self, Entry};
use crate::custom::Builtin;
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::known;
use crate::{Definition, Shell};

/// Bytes that are left to others before places of programs are remembered.
const SPARE: u64 = 1 << 20;

/// What a name stands for.
pub(crate) enum Found {
    Function(Definition),
    Builtin(&'static Entry),
    /// A command of ours; the path is where it would be.
    Command(&'static Program),
    /// A command of the embedder.
    Custom(Arc<dyn Builtin>),
    /// `bash` or `sh`: a shell in a shell.
    Shell,
    /// A file to run.
    File(Vec<u8>),
    /// A file that is there and cannot be run.
    NotExecutable(Vec<u8>, Errno),
    Missing,
}

impl Shell<'_> {
    /// Finds a command as the shell runs it.
    pub(crate) fn find_command(&mut self, name: &[u8]) -> Result<Found, Flow> {
        if !self.functions.is_empty()
            && let Some(definition) = self.functions.get(name)
        {
            return Ok(Found::Function(definition.clone()));
        }
        if let Some(entry) = self.find_builtin(name) {
            return Ok(Found::Builtin(entry));
        }
        self.find_program(name)
    }

    /// Remembers where a program that is about to run was found (`hash`), and counts.
    pub(super) fn remember_program(&mut self, name: &[u8]) -> Result<(), Flow> {
        let shared = self.subshell > 0 && Arc::strong_count(&self.hashed) > 1;
        if name.contains(&b'/') || shared || !self.options.has(Opt::HashAll) {
            return Ok(());
        }
        if let Some((_, hits)) = Arc::make_mut(&mut self.hashed).get_mut(name) {
            *hits = hits.saturating_add(1);
            return Ok(());
        }
        // A session that is full must still be able to run `rm`.
        if self.kernel.budget.memory_left() < SPARE {
            return Ok(());
        }
        if let Some(path) = self.program_path(name)? {
            self.keep((name.len() + path.len()) as u64 + 128)?;
            Arc::make_mut(&mut self.hashed).insert(name.into(), (Arc::from(path), 1));
        }
        Ok(())
    }

    /// Finds a builtin that is not disabled.
    pub(crate) fn find_builtin(&self, name: &[u8]) -> Option<&'static Entry> {
        let entry = builtins::find(name)?;
        let off = !self.disabled.is_empty() && self.disabled.iter().any(|known| **known == *name);
        (!off).then_some(entry)
    }

    /// Finds a program: never a function or builtin of the shell.
    pub(crate) fn find_program(&mut self, name: &[u8]) -> Result<Found, Flow> {
        if name.contains(&b'/') {
            return self.program_at(name);
        }
        if let Some(custom) = self.kernel.custom.get(name) {
            return Ok(Found::Custom(Arc::clone(custom)));
        }
        if let Some((path, _)) = self.hashed.get(name) {
            let ours = path.strip_prefix(b"/usr").unwrap_or(path);
            if ours.strip_prefix(b"/bin/") == Some(name)
                && let Some(spec) = self.kernel.programs.find(name)
            {
                return Ok(Found::Command(spec));
            }
            let path = path.to_vec();
            return Ok(match self.program_at(&path)? {
                // It was there once: the message names the path.
                Found::Missing => Found::NotExecutable(path, Errno::NoEnt),
                found => found,
            });
        }
        let path = self.var_text(known::PATH)?;
        let path = path.as_ref().map_or(&b""[..], |path| path.as_slice());
        let mut refused = None;
        for dir in path.split(|byte| *byte == b':') {
            // Our own directory holds our commands, without a look at the file system.
            if matches!(dir, b"/usr/bin" | b"/bin") {
                match self.kernel.programs.find(name) {
                    Some(spec) => return Ok(Found::Command(spec)),
                    None if is_shell(name) => return Ok(Found::Shell),
                    None => {}
                }
            }
            let candidate = join(dir, name);
            match self.program_at(&candidate)? {
                Found::Missing => {}
                Found::NotExecutable(path, errno) => {
                    if errno != Errno::IsDir {
                        refused.get_or_insert(Found::NotExecutable(path, errno));
                    }
                }
                found => return Ok(found),
            }
        }
        Ok(refused.unwrap_or(Found::Missing))
    }

    /// Looks at one path.
    pub(crate) fn program_at(&mut self, path: &[u8]) -> Result<Found, Flow> {
        let stat = match self.stat(path, Follow::Yes) {
            Ok(stat) => stat,
            Err(SysError::Stop(stop)) => return Err(stop.into()),
            Err(SysError::Errno(Errno::NoEnt)) => return Ok(Found::Missing),
            Err(SysError::Errno(errno)) => return Ok(Found::NotExecutable(path.to_vec(), errno)),
        };
        if stat.kind == FileKind::Directory {
            return Ok(Found::NotExecutable(path.to_vec(), Errno::IsDir));
        }
        if self.access(path, 1).is_err() {
            return Ok(Found::NotExecutable(path.to_vec(), Errno::Access));
        }
        if let Some(name) = self.program_name(path) {
            if let Some(spec) = self.kernel.programs.find(name) {
                return Ok(Found::Command(spec));
            }
            if is_shell(name) {
                return Ok(Found::Shell);
            }
            if let Some(entry) = builtins::find(name) {
                return Ok(Found::Builtin(entry));
            }
        }
        Ok(Found::File(path.to_vec()))
    }

    /// Returns the name of one of our own programs that a path leads to.
    fn program_name(&mut self, path: &[u8]) -> Option<&'static [u8]> {
        let caller = self.caller();
        let mut vfs = self.kernel.vfs.borrow_mut();
        vfs.program(&caller, path)
    }

    /// Returns the path that `command -v` and `type` show for a program on the PATH.
    pub(crate) fn program_path(&mut self, name: &[u8]) -> Result<Option<Vec<u8>>, Flow> {
        Ok(self.program_paths(name)?.into_iter().next())
    }

    /// Returns all paths of a program, in the order of the PATH.
    pub(crate) fn program_paths(&mut self, name: &[u8]) -> Result<Vec<Vec<u8>>, Flow> {
        if name.contains(&b'/') {
            let usable = matches!(
                self.program_at(name)?,
                Found::Command(_) | Found::Shell | Found::File(_) | Found::Builtin(_)
            );
            return Ok(if usable {
                vec![name.to_vec()]
            } else {
                Vec::new()
            });
        }
        let path = self.var_text(known::PATH)?;
        let path = path.map_or(Vec::new(), |path| path.as_slice().to_vec());
        let mut found = Vec::new();
        for dir in path.split(|byte| *byte == b':') {
            let candidate = join(dir, name);
            if matches!(
                self.program_at(&candidate)?,
                Found::Command(_) | Found::Shell | Found::File(_) | Found::Builtin(_)
            ) {
                found.push(candidate);
            }
        }
        Ok(found)
    }
}

/// Tells whether the name is a shell's.
pub(crate) fn is_shell(name: &[u8]) -> bool {
    matches!(name, b"bash" | b"sh" | b"rbash")
}

fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    match dir {
        b"" => [&b"./"[..], name].concat(),
        _ if dir.ends_with(b"/") => [dir, name].concat(),
        _ => [dir, &b"/"[..], name].concat(),
    }
}
