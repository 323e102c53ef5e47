//! `cd` and `pwd`.

use std::sync::Arc;

use jp_bash_syntax::names::Name;
use jp_bash_system::SysError;

use super::args::{Getopt, operand};
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::{Attrs, Bytes, known};
use crate::{Cwd, Shell};

const USAGE: &str = "cd [-L|[-P [-e]] [-@]] [dir]";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut physical = shell.options.has(Opt::Physical);
    let mut options = Getopt::new(args, "eLP");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'L' => physical = false,
                b'P' => physical = true,
                _ => {}
            },
            Err(bad) => return shell.bad_option(b"cd", &bad, USAGE),
        }
    }
    let rest = options.rest();
    if rest.len() > 1 {
        shell.complain_as(b"cd", b"too many arguments")?;
        return Ok(1);
    }
    let (dir, mut show) = match rest.first() {
        None => match text_of(shell, known::HOME)? {
            Some(home) => (home, false),
            None => {
                shell.complain_as(b"cd", b"HOME not set")?;
                return Ok(1);
            }
        },
        Some(dash) if dash == b"-" => match text_of(shell, known::OLDPWD)? {
            Some(old) => (old, true),
            None => {
                shell.complain_as(b"cd", b"OLDPWD not set")?;
                return Ok(1);
            }
        },
        Some(dir) => (dir.clone(), false),
    };
    if dir.is_empty() {
        return Ok(0);
    }
    let plain = matches!(dir.as_slice(), b"." | b"..")
        || dir.starts_with(b"/")
        || dir.starts_with(b"./")
        || dir.starts_with(b"../");
    if !plain && let Some(path) = text_of(shell, known::CDPATH)? {
        for base in path.split(|byte| *byte == b':') {
            let candidate = match base {
                b"" => dir.clone(),
                base => [base, b"/", &dir].concat(),
            };
            if shell.change_dir(&candidate, physical)?.is_ok() {
                if !base.is_empty() {
                    show = true;
                }
                return done(shell, show);
            }
        }
    }
    match shell.change_dir(&dir, physical)? {
        Ok(()) => done(shell, show),
        Err(errno) => {
            if shell.options.has(Opt::CdableVars) && crate::vars::access::is_name(&dir) {
                let name = shell.intern(&dir)?;
                if let Some(value) = text_of(shell, name)?
                    && shell.change_dir(&value, physical)?.is_ok()
                {
                    return done(shell, true);
                }
            }
            let text = [&dir, &b": "[..], errno.text().as_bytes()].concat();
            shell.complain_as(b"cd", &text)?;
            Ok(1)
        }
    }
}

fn done(shell: &mut Shell<'_>, show: bool) -> Result<i32, Flow> {
    if show {
        let line = [&*shell.cwd.logical, b"\n"].concat();
        return shell.print(b"cd", &line);
    }
    Ok(0)
}

fn text_of(shell: &mut Shell<'_>, name: Name) -> Result<Option<Vec<u8>>, Flow> {
    Ok(shell.var_text(name)?.map(|text| text.as_slice().to_vec()))
}

impl Shell<'_> {
    /// Goes to a directory and sets `PWD` and `OLDPWD`.
    pub(crate) fn change_dir(
        &mut self,
        dir: &[u8],
        physical: bool,
    ) -> Result<Result<(), jp_bash_system::Errno>, Flow> {
        let logical = absolute(&self.cwd.logical, dir);
        // `cd ..` goes up in the name, as the user sees it; if that is gone, by the file system.
        let tries: &[&[u8]] = if physical { &[dir] } else { &[&logical, dir] };
        let mut found = Err(jp_bash_system::Errno::NoEnt);
        for path in tries {
            let result = {
                let mut vfs = self.kernel.vfs.borrow_mut();
                vfs.change_dir(&self.caller(), path)
            };
            match result {
                Ok(node) => {
                    found = Ok((node, *path == logical.as_slice() && !physical));
                    break;
                }
                Err(SysError::Stop(stop)) => return Err(stop.into()),
                Err(SysError::Errno(errno)) => found = Err(errno),
            }
        }
        let (node, by_name) = match found {
            Ok(found) => found,
            Err(errno) => return Ok(Err(errno)),
        };
        let real: Arc<[u8]> = match self.kernel.vfs.borrow().path_of(node) {
            Ok(path) => path.into(),
            Err(errno) => return Ok(Err(errno)),
        };
        let logical = if by_name {
            logical.into()
        } else {
            Arc::clone(&real)
        };
        let old = std::mem::replace(
            &mut self.cwd,
            Cwd {
                node,
                logical,
                physical: real,
            },
        );
        let budget = std::rc::Rc::clone(&self.kernel);
        let budget = &budget.budget;
        let before = match self.vars.text(known::PWD) {
            Some(pwd) => Bytes::from(pwd),
            None => Bytes::from(&*old.logical),
        };
        let _refused = self.set_var(known::OLDPWD, before)?;
        let now = Bytes::from(&*self.cwd.logical);
        let _refused = self.set_var(known::PWD, now)?;
        for name in [known::OLDPWD, known::PWD] {
            self.vars
                .change_attrs(budget, name, Attrs::EXPORT, Attrs::NONE)?;
        }
        Ok(Ok(()))
    }
}

/// Joins and tidies a path by its text: `.` and `..` go, symlinks stay.
pub(super) fn absolute(base: &[u8], path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    let whole = if path.starts_with(b"/") {
        path.to_vec()
    } else {
        [base, b"/", path].concat()
    };
    for part in whole.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut out = Vec::new();
    for part in &parts {
        out.push(b'/');
        out.extend_from_slice(part);
    }
    if out.is_empty() {
        out.push(b'/');
    }
    out
}

pub(super) fn pwd(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut physical = shell.options.has(Opt::Physical);
    let mut options = Getopt::new(args, "LP");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => physical = given.letter == b'P',
            Err(bad) => return shell.bad_option(b"pwd", &bad, "pwd [-LP]"),
        }
    }
    let _ = operand(args, 0);
    let path = if physical {
        let real = shell.kernel.vfs.borrow().path_of(shell.cwd.node);
        real.map_or_else(|_| Arc::clone(&shell.cwd.physical), Arc::from)
    } else {
        Arc::clone(&shell.cwd.logical)
    };
    shell.print(b"pwd", &[&*path, b"\n"].concat())
}
