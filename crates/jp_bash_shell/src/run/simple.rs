//! Simple commands: assignments, words, redirections, and whatever the first word names.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use jp_bash_syntax::ast::{Assign, AssignValue, Command, Simple};
use jp_bash_system::{Errno, Program};

use crate::Shell;
use crate::builtins::Entry;
use crate::custom::{Builtin, BuiltinContext};
use crate::flow::Flow;
use crate::options::Opt;
use crate::run::Found;
use crate::vars::access::How;
use crate::vars::scope::ScopeKind;
use crate::vars::{Attrs, Bytes, known};

/// A command that was found, with its words.
struct Call {
    words: Vec<Vec<u8>>,
    found: Found,
    /// This process was started for it.
    alone: bool,
}

/// Tells whether a program hands on signals to the one it runs; most of these become that one.
fn hands_on(name: &str) -> bool {
    matches!(
        name,
        "env" | "nice" | "nohup" | "setsid" | "stdbuf" | "timeout"
    )
}

impl Shell<'_> {
    /// Runs a simple command; `alone` if this process was started for nothing else.
    pub(super) fn run_simple(
        &mut self,
        command: &Command,
        simple: &Simple,
        alone: bool,
    ) -> Result<i32, Flow> {
        // Assignments start nothing: what they compute is counted where it is computed.
        match simple.words.is_empty() {
            true => self.kernel.budget.work(1)?,
            false => self.kernel.budget.command()?,
        }
        self.tick(1)?;
        if self.options.has(Opt::NoExec) {
            return Ok(0);
        }
        if self.has_debug_trap() && !self.run_debug_trap(command)? {
            return Ok(self.status);
        }
        let temporary = self.temporary_fds.len();
        self.substitution_status = None;
        let words = self.expand_args(&simple.words)?;
        let result = if words.is_empty() {
            self.run_assigns(command, &simple.assigns)
        } else {
            self.run_words(command, &simple.assigns, words, alone)
        };
        self.close_temporary(temporary);
        let status = result?;
        self.status = status;
        self.after_process(command)?;
        self.finish_checked(status)
    }

    /// Runs a command without words: assignments and redirections alone.
    fn run_assigns(&mut self, command: &Command, assigns: &[Assign]) -> Result<i32, Flow> {
        for assign in assigns {
            self.assign_traced(assign)?;
        }
        if self
            .vars
            .text(known::UNDERSCORE)
            .is_some_and(|last| !last.is_empty())
        {
            let none = Bytes::from(&b""[..]);
            self.vars
                .set(&self.kernel.budget, known::UNDERSCORE, none)?;
        }
        if !command.redirects.is_empty() {
            let Some(saved) = self.redirect(&command.redirects)? else {
                return Ok(1);
            };
            self.restore(saved);
        }
        Ok(self.substitution_status.take().unwrap_or(0))
    }

    fn run_words(
        &mut self,
        command: &Command,
        assigns: &[Assign],
        words: Vec<Vec<u8>>,
        alone: bool,
    ) -> Result<i32, Flow> {
        let name = words.first().map_or(&b""[..], Vec::as_slice);
        let found = match self.find_command(name)? {
            // In POSIX mode special builtins come before functions.
            Found::Function(_)
                if self.options.has(Opt::Posix) && crate::builtins::is_special(name) =>
            {
                match self.find_builtin(name) {
                    Some(entry) => Found::Builtin(entry),
                    None => Found::Missing,
                }
            }
            found => found,
        };
        // Assignments before a special builtin stay in POSIX mode.
        let stays = matches!(&found, Found::Builtin(entry) if entry.special)
            && self.options.has(Opt::Posix);
        let scoped = !assigns.is_empty() && !stays;
        if scoped {
            self.vars.push_scope(ScopeKind::Temporary);
        }
        let call = Call {
            words,
            found,
            alone,
        };
        let result = self.run_found(command, assigns, scoped, call);
        if scoped {
            self.vars.pop_scope(&self.kernel.budget);
        }
        result
    }

    fn run_found(
        &mut self,
        command: &Command,
        assigns: &[Assign],
        scoped: bool,
        call: Call,
    ) -> Result<i32, Flow> {
        let Call {
            words,
            mut found,
            alone,
        } = call;
        for assign in assigns {
            if scoped {
                self.assign_temporary(assign)?;
            } else {
                self.assign_traced(assign)?;
            }
        }
        if assigns.iter().any(|assign| assign.name == known::PATH)
            && !matches!(found, Found::Function(_) | Found::Builtin(_))
        {
            // The command is looked for where its own PATH says, whatever was remembered.
            let name = words.first().map_or(&b""[..], Vec::as_slice);
            let hashed = std::mem::take(&mut self.hashed);
            let result = self.find_program(name);
            self.hashed = hashed;
            found = result?;
        }
        if self.options.has(Opt::XTrace) {
            self.trace_words(&words)?;
        }
        if let Some(last) = words.last() {
            let last = Bytes::from(last.as_slice());
            self.vars
                .set(&self.kernel.budget, known::UNDERSCORE, last)?;
        }
        // Only the first `exec` without a command keeps its redirections.
        let keeps = matches!(&found, Found::Builtin(entry) if entry.name == "exec");
        if keeps {
            return self.run_exec(command, words);
        }
        if command.redirects.is_empty() {
            self.alone = alone;
            return self.dispatch(words, found);
        }
        let external = !matches!(found, Found::Function(_) | Found::Builtin(_));
        // A program's redirections are its own process's: what their expansions assign is lost.
        let mark = external.then(|| self.vars.mark());
        let opened = self.redirect(&command.redirects);
        if let Some(mark) = mark {
            self.vars.unwind(&self.kernel.budget, mark);
        }
        let opened = match opened {
            // The program's process would end with the error, not the shell.
            Err(Flow::Exit(_) | Flow::Abandon(_)) if external => None,
            opened => opened?,
        };
        let Some(saved) = opened else {
            let special = matches!(&found, Found::Builtin(entry) if entry.special);
            if special && self.options.has(Opt::Posix) {
                return Err(Flow::Exit(1));
            }
            return Ok(1);
        };
        self.alone = alone;
        let result = self.dispatch(words, found);
        self.restore(saved);
        result
    }

    /// Assigns, and shows it under `set -x` before it takes effect.
    fn assign_traced(&mut self, assign: &Assign) -> Result<(), Flow> {
        if !self.options.has(Opt::XTrace) {
            return self.assign(assign);
        }
        let AssignValue::Scalar(word) = &assign.value else {
            self.trace_array(assign)?;
            return self.assign(assign);
        };
        if assign.subscript.is_some() {
            self.assign(assign)?;
            return self.trace_element(assign, word);
        }
        let value = self.expand_value(word)?;
        self.trace_scalar(assign, value.as_slice())?;
        self.assign_text(assign.name, value, How::append(assign.append))?
            .or_abandon()
    }

    /// Assigns `x=1` of `x=1 command`: visible to the command alone.
    fn assign_temporary(&mut self, assign: &Assign) -> Result<(), Flow> {
        let depth = self.vars.depth();
        let name = assign.name;
        if self.vars.attrs(name).has(Attrs::READONLY) {
            // The command runs all the same.
            return self.complain_readonly(name);
        }
        // `x+=1 command` starts from the variable outside.
        let old = if assign.append {
            self.var_text(name)?
        } else {
            None
        };
        let attrs = self.vars.attrs(name);
        let value = match &assign.value {
            AssignValue::Scalar(word) => self.expand_value(word)?,
            AssignValue::Array(_) => return self.assign(assign),
        };
        if self.options.has(Opt::XTrace) {
            self.trace_scalar(assign, value.as_slice())?;
        }
        self.vars.hide(&self.kernel.budget, name, depth)?;
        let keep = attrs.has(Attrs::INTEGER);
        let mut add = Attrs::EXPORT.with(Attrs::TEMPORARY);
        if keep {
            add = add.with(Attrs::INTEGER);
        }
        self.vars
            .change_attrs(&self.kernel.budget, name, add, Attrs::LOCAL)?;
        if let Some(old) = old {
            self.set_var(name, old)?.or_abandon()?;
            self.assign_text(name, value, How::Append)?.or_abandon()?;
            return Ok(());
        }
        self.set_var(name, value)?.or_abandon()
    }

    /// Runs what was found, with its words and redirections in place.
    pub(crate) fn dispatch(&mut self, words: Vec<Vec<u8>>, found: Found) -> Result<i32, Flow> {
        let name = words.first().map_or(&b""[..], Vec::as_slice);
        let alone = std::mem::take(&mut self.alone);
        match found {
            Found::Function(definition) => self.call_function(&definition, words),
            // By its own name, that is, not as the file of a program.
            Found::Builtin(entry)
                if entry.name.as_bytes() == name
                    && (self.disabled.is_empty() || self.find_builtin(name).is_some()) =>
            {
                if alone {
                    // `command` only names what this process was started for.
                    self.alone = entry.name == "command";
                    let result = self.run_builtin(entry, &words);
                    self.alone = false;
                    return result;
                }
                self.run_builtin(entry, &words)
            }
            found => {
                let is_file = !matches!(found, Found::Missing | Found::NotExecutable(..));
                if is_file {
                    self.remember_program(name)?;
                }
                self.alone = alone;
                self.run_program(words, found)
            }
        }
    }

    /// Runs a builtin.
    pub(crate) fn run_builtin(&mut self, entry: &Entry, words: &[Vec<u8>]) -> Result<i32, Flow> {
        if words.get(1).is_some_and(|word| word == b"--help")
            && !matches!(entry.name, "echo" | "test" | "[" | "true" | "false" | ":")
        {
            return crate::builtins::help::show(self, entry.name);
        }
        match self.with_room(|shell| (entry.run)(shell, words)) {
            // A write to a pipe without readers kills this process, quietly.
            Err(flow) => Err(flow),
            Ok(status) => Ok(status),
        }
    }

    /// Runs a program: as a process of its own would, but inline. A signal that ends it is its status.
    pub(crate) fn run_program(&mut self, words: Vec<Vec<u8>>, found: Found) -> Result<i32, Flow> {
        let missing = matches!(found, Found::Missing);
        let before = self.children;
        let whole = self.alone;
        let result = self.run_process(words, found);
        self.alone = false;
        self.children = before;
        if !missing {
            self.child_ended();
            self.killed_by = None;
        }
        match result {
            // What ends the program ends the process that was started for it.
            Err(flow) if whole => Err(flow),
            // One that was sent to this shell ends the shell too, at the next look.
            Err(flow) => {
                let signal = Self::signal_of(flow)?;
                self.killed_by = Some(signal);
                Ok(128 + i32::from(signal))
            }
            ok => ok,
        }
    }

    /// Runs a program as the whole of this process: a signal ends it.
    pub(super) fn run_process(&mut self, words: Vec<Vec<u8>>, found: Found) -> Result<i32, Flow> {
        let name = words.first().map_or(&b""[..], Vec::as_slice);
        match found {
            Found::Command(spec) => self.run_spec(spec, &words),
            Found::Custom(builtin) => self.run_custom(&builtin, &words),
            Found::Shell => self.run_shell_command(&words),
            Found::File(path) => self.run_file(&path, words),
            Found::NotExecutable(path, errno) => {
                let text = if errno == Errno::IsDir {
                    "Is a directory"
                } else {
                    errno.text()
                };
                self.complain(&[&path, &b": "[..], text.as_bytes()].concat())?;
                let missing = matches!(errno, Errno::NotDir | Errno::NoEnt);
                Ok(if missing { 127 } else { 126 })
            }
            Found::Missing if name.contains(&b'/') => {
                self.complain(&[name, b": No such file or directory"].concat())?;
                Ok(127)
            }
            Found::Missing => self.not_found(words),
            // A file of `/usr/bin` that is a builtin of ours.
            Found::Builtin(entry) => self.subshell(|shell| shell.run_builtin(entry, &words)),
            Found::Function(_) => Ok(127),
        }
    }

    fn not_found(&mut self, words: Vec<Vec<u8>>) -> Result<i32, Flow> {
        if let Some(handler) = self
            .functions
            .get(&b"command_not_found_handle"[..])
            .cloned()
        {
            let mut call = vec![b"command_not_found_handle".to_vec()];
            call.extend(words);
            return self.subshell(|shell| shell.call_function(&handler, call));
        }
        let name = words.first().map_or(&b""[..], Vec::as_slice);
        self.report_missing(name)
    }

    fn run_spec(&mut self, spec: &Program, words: &[Vec<u8>]) -> Result<i32, Flow> {
        let before = self.fds.clone();
        let outer = std::mem::take(&mut self.reserved);
        // Only a program that has the process for itself can be meant by a signal to it.
        let whole = std::mem::take(&mut self.alone);
        let hands_on = std::mem::replace(&mut self.hands_on, whole && hands_on(spec.name));
        let result = self.with_command_room(|shell| (spec.run)(shell, words));
        self.hands_on = hands_on;
        // Whatever the command left open is closed, and what it still held is free.
        self.fds.close_all_but(&before);
        self.free_reserved(outer);
        Ok(result?)
    }

    fn run_custom(&mut self, builtin: &Arc<dyn Builtin>, words: &[Vec<u8>]) -> Result<i32, Flow> {
        self.alone = false;
        let before = self.fds.clone();
        let outer = std::mem::take(&mut self.reserved);
        let result = self.with_command_room(|shell| {
            let mut context = BuiltinContext::new(shell, words);
            let ran = std::panic::catch_unwind(AssertUnwindSafe(|| builtin.run(&mut context)));
            let stopped = context.stopped();
            (ran, stopped)
        });
        self.fds.close_all_but(&before);
        self.free_reserved(outer);
        match result {
            (_, Some(stop)) => Err(stop.into()),
            (Ok(status), None) => Ok(status & 255),
            (Err(_), None) => {
                let name = words.first().map_or(&b""[..], Vec::as_slice);
                self.complain(&[name, b": the command failed unexpectedly"].concat())?;
                Ok(1)
            }
        }
    }

    /// Gives back what a command has reserved; `outer` is what whoever called it had.
    fn free_reserved(&mut self, outer: u64) {
        let left = std::mem::replace(&mut self.reserved, outer);
        self.kernel.budget.release(left);
    }
}
