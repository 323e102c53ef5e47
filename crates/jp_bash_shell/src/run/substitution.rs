//! `$( )` and `<( )`.

use std::rc::Rc;
use std::sync::Arc;

use jp_bash_syntax::ast::{CommandKind, CommandSub, List, Redirect, RedirectFd, RedirectKind};

use crate::Shell;
use crate::fds::FIRST_FREE;
use crate::flow::Flow;
use crate::kernel::file::{Capture, Mode, Object};
use crate::options::Opt;
use crate::redirect::read_whole;

impl Shell<'_> {
    /// Runs a command substitution and returns what it printed, without the newlines at the end.
    pub(crate) fn command_sub(&mut self, sub: &Arc<CommandSub>) -> Result<Vec<u8>, Flow> {
        if let Some(error) = &sub.error {
            self.report_syntax_error(error, true)?;
            self.status = 1;
            return Ok(Vec::new());
        }
        if let Some(redirect) = file_only(&sub.list) {
            return self.file_sub(redirect);
        }
        let list = &sub.list;
        let shift = self.line_shift;
        self.line_shift = self.line.wrapping_sub(sub.line);
        let result = self.capture(|shell| {
            if !shell.options.has(Opt::InheritErrExit) && !shell.options.has(Opt::Posix) {
                shell.options.set(Opt::ErrExit, false);
            }
            shell.run_list(list)
        });
        self.line_shift = shift;
        result
    }

    /// Runs `body` in a subshell and returns its output; the status stays in `$?`.
    pub(crate) fn capture(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<i32, Flow>,
    ) -> Result<Vec<u8>, Flow> {
        let capture = Rc::new(Capture::default());
        let file = self
            .kernel
            .describe(Object::Capture(Rc::clone(&capture)), Mode::WRITE)?;
        let line = self.line;
        self.trace_level += 1;
        let result = self.subshell(|shell| {
            shell.put_fd(1, file)?;
            body(shell)
        });
        self.line = line;
        self.trace_level -= 1;
        // Whoever still holds the descriptor may still print: `$(sleep 1 &)` takes a second.
        while result.is_ok() && !capture.closed.get() {
            capture.waiters.add(self.task_pid);
            self.block()?;
        }
        let mut bytes = capture.bytes.take();
        self.kernel.budget.release(bytes.len() as u64);
        self.status = result?;
        self.killed_by = None;
        self.substitution_status = Some(self.status);
        trim(&mut bytes);
        if memchr::memchr(0, &bytes).is_some() {
            bytes.retain(|byte| *byte != 0);
            self.complain(b"warning: command substitution: ignored null byte in input")?;
        }
        Ok(bytes)
    }

    /// `$(<file)`: the file's content, without a process.
    fn file_sub(&mut self, redirect: &Redirect) -> Result<Vec<u8>, Flow> {
        let single = std::slice::from_ref(redirect);
        let Some(saved) = self.redirect(single)? else {
            self.status = 1;
            self.substitution_status = Some(1);
            return Ok(Vec::new());
        };
        let read = read_whole(self, 0);
        self.restore(saved);
        let mut bytes = read?;
        trim(&mut bytes);
        bytes.retain(|byte| *byte != 0);
        self.status = 0;
        self.substitution_status = Some(0);
        Ok(bytes)
    }

    /// Starts the process of `<( )` (`input`) or `>( )` and returns the path of our end.
    pub(crate) fn process_sub(&mut self, list: &Arc<List>, input: bool) -> Result<Vec<u8>, Flow> {
        let (read, write) = self.kernel.pipe()?;
        let mut child = self.fork();
        child.tolerant = 0;
        let ours = if input {
            child.put_fd(1, write)?;
            read
        } else {
            child.put_fd(0, read)?;
            write
        };
        let list = Arc::clone(list);
        let pid = self.start_child(child, move |shell| {
            shell.alone =
                matches!(list.as_slice(), [item] if !item.background && item.rest.is_empty());
            shell.run_list(&list)
        })?;
        if !input {
            self.kernel.add_consumer(pid);
        }
        self.last_background = Some(pid);
        self.jobs.add_hidden(pid);
        // High numbers, as bash takes them, so that a script's own 3 to 9 are left alone.
        let mut from = 63;
        while from > FIRST_FREE && self.fds.get(from).is_some() {
            from -= 1;
        }
        let Ok(fd) = self.fds.add(from, ours) else {
            return Err(Flow::Abandon(1));
        };
        self.temporary_fds.push(fd);
        Ok(format!("/dev/fd/{fd}").into_bytes())
    }

    /// Closes our ends of process substitutions made since `mark`, when their command has ended.
    #[inline]
    pub(super) fn close_temporary(&mut self, mark: usize) {
        if self.temporary_fds.len() > mark {
            self.close_temporary_from(mark);
        }
    }

    fn close_temporary_from(&mut self, mark: usize) {
        while self.temporary_fds.len() > mark {
            if let Some(fd) = self.temporary_fds.pop() {
                let _closed = self.fds.set(fd, None);
            }
        }
    }
}

/// Finds the redirection of `$(<file)`.
fn file_only(list: &List) -> Option<&Redirect> {
    let [item] = list.as_slice() else { return None };
    let [command] = item.first.commands.as_slice() else {
        return None;
    };
    let [redirect] = command.redirects.as_slice() else {
        return None;
    };
    let plain = !item.background
        && item.rest.is_empty()
        && !item.first.negated
        && item.first.timed.is_none()
        && matches!(&command.kind, CommandKind::Simple(simple)
            if simple.words.is_empty() && simple.assigns.is_empty())
        && matches!(redirect.kind, RedirectKind::Read(_))
        && matches!(redirect.fd, RedirectFd::Default | RedirectFd::Number(0));
    plain.then_some(redirect)
}

fn trim(bytes: &mut Vec<u8>) {
    while bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
}
