//! `exec`: for good redirections, or a command in place of the shell.

use jp_bash_syntax::ast::Command;

use super::args::Getopt;
use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;
use crate::run::Found;

const USAGE: &str = "exec [-cl] [-a name] [command [argument ...]] [redirection ...]";

/// Only reached by `command exec` and `builtin exec`, without redirections of its own.
pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    shell.exec_words(args.to_vec())
}

impl Shell<'_> {
    /// Runs `exec` with the redirections of its command, which stay.
    pub(crate) fn run_exec(&mut self, command: &Command, words: Vec<Vec<u8>>) -> Result<i32, Flow> {
        if self.redirect(&command.redirects)?.is_none() {
            if words.len() > 1 || !self.options.has(Opt::Posix) {
                return Ok(1);
            }
            return Err(Flow::Exit(1));
        }
        self.exec_words(words)
    }

    fn exec_words(&mut self, words: Vec<Vec<u8>>) -> Result<i32, Flow> {
        let mut clear = false;
        let mut login = false;
        let mut name = None;
        let mut options = Getopt::new(&words, "cla:");
        loop {
            match options.next() {
                Ok(None) => break,
                Ok(Some(given)) => match given.letter {
                    b'c' => clear = true,
                    b'a' => name = given.value.map(<[u8]>::to_vec),
                    _ => login = true,
                },
                Err(bad) => return self.bad_option(b"exec", &bad, USAGE),
            }
        }
        let mut call = options.rest().to_vec();
        let Some(program) = call.first().cloned() else {
            return Ok(0);
        };
        let found = self.find_program(&program)?;
        let (text, status) = match &found {
            Found::Missing => {
                let text = if program.contains(&b'/') {
                    "No such file or directory"
                } else {
                    "not found"
                };
                (text, 127)
            }
            Found::NotExecutable(_, errno) if program.contains(&b'/') => {
                let text = [&b"exec: "[..], &program, b": cannot execute: "].concat();
                let text = [&text, errno.text().as_bytes()].concat();
                self.complain(&text)?;
                if self.options.has(Opt::ExecFail) && self.subshell == 0 {
                    return Ok(126);
                }
                return Err(Flow::Exit(126));
            }
            Found::NotExecutable(_, errno) => (errno.text(), 126),
            _ => ("", 0),
        };
        if status != 0 {
            let shown = if program.contains(&b'/') {
                [&program, &b": "[..], text.as_bytes()].concat()
            } else {
                [&b"exec: "[..], &program, b": ", text.as_bytes()].concat()
            };
            self.complain(&shown)?;
            if self.options.has(Opt::ExecFail) && self.subshell == 0 {
                return Ok(status);
            }
            return Err(Flow::Exit(status));
        }
        if let (Some(name), Some(first)) = (name, call.first_mut()) {
            *first = name;
        }
        if let Some(first) = call.first_mut().filter(|_| login) {
            first.insert(0, b'-');
        }
        // The shell is gone: its EXIT trap does not run, and the program has its process.
        self.traps = std::sync::Arc::new(self.traps.for_program());
        let ignored = self.traps.ignored();
        self.kernel.set_handled(self.pid, ignored, 0);
        self.alone = true;
        if clear {
            self.clear_environment()?;
        }
        let status = self.run_program(call, found)?;
        Err(Flow::Exit(status))
    }

    /// Forgets all exported variables (`exec -c`).
    fn clear_environment(&mut self) -> Result<(), Flow> {
        let exported: Vec<_> = self
            .vars
            .all()
            .filter(|(_, var)| var.attrs.has(crate::vars::Attrs::EXPORT))
            .map(|(name, _)| name)
            .collect();
        let kernel = std::rc::Rc::clone(&self.kernel);
        for name in exported {
            self.vars.change_attrs(
                &kernel.budget,
                name,
                crate::vars::Attrs::NONE,
                crate::vars::Attrs::EXPORT,
            )?;
        }
        Ok(())
    }
}
