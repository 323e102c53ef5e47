//! A shell in a shell: `bash FILE`, `sh -c`, scripts on the PATH, and programs started by commands.

use std::rc::Rc;
use std::sync::Arc;

use jp_bash_system::{Environ, Errno, Fd, Pid, Spawn, Stop, SysError, SysResult};
use smallvec::smallvec;

use crate::args::Args;
use crate::flow::Flow;
use crate::frames::{Frame, FrameKind};
use crate::jobs::{self, Jobs};
use crate::options::{self, Options};
use crate::run::Found;
use crate::run::script::Text;
use crate::vars::{Attrs, Bytes, Vars, known};
use crate::{Functions, Shell, Source};

impl<'y> Shell<'y> {
    /// Makes a fresh shell that shares only environment, directory, descriptors and umask with this one.
    pub(crate) fn fresh(&mut self, env: &[(Vec<u8>, Vec<u8>)]) -> Result<Shell<'y>, Flow> {
        let vars = Vars::new(&mut self.kernel.names.borrow_mut());
        let traps = self.traps.for_program();
        let ignored = traps.ignored();
        // A process that was started for this shell alone becomes it: signals reach its traps.
        let (pid, parent_pid) = match std::mem::take(&mut self.alone) {
            true => {
                self.kernel.set_handled(self.pid, ignored, 0);
                let parent = self.kernel.parent(self.pid);
                (self.pid, parent.unwrap_or(self.parent_pid))
            }
            false => (self.kernel.enter_process(self.pid, ignored), self.pid),
        };
        let mut shell = Shell {
            kernel: Rc::clone(&self.kernel),
            task: self.task,
            task_pid: self.task_pid,
            floor: self.floor,
            quantum: self.quantum,
            pid,
            shell_pid: pid,
            parent_pid,
            last_background: None,
            status: 0,
            pipe_status: smallvec![0],
            subshell: 0,
            vars,
            options: Options::default(),
            functions: Arc::default(),
            aliases: Arc::default(),
            args: Args::default(),
            arg0: Arc::from(&b"bash"[..]),
            source: Source::Text,
            frames: Vec::new(),
            line: 0,
            fds: self.fds.clone(),
            cwd: self.cwd.clone(),
            umask: self.umask,
            traps: Arc::new(traps),
            jobs: Jobs::default(),
            dir_stack: Arc::default(),
            hashed: Arc::default(),
            disabled: Arc::default(),
            completions: Arc::default(),
            history: Arc::default(),
            loops: 0,
            tolerant: 0,
            command_text: Arc::default(),
            trace_level: 0,
            substitution_status: None,
            temporary_fds: Vec::new(),
            in_trap: 0,
            children: 0,
            killed_by: None,
            debug_done: false,
            line_shift: 0,
            trace_not: false,
            shows_command: false,
            alone: false,
            dying: false,
            locked: ignored,
            hands_on: false,
            reserved: 0,
            kept: 0,
        };
        shell.import(env)?;
        Ok(shell)
    }

    /// Takes over an environment: variables and exported functions.
    pub(crate) fn import(&mut self, env: &[(Vec<u8>, Vec<u8>)]) -> Result<(), Flow> {
        for (name, value) in env {
            if let Some(function) = name
                .strip_prefix(b"BASH_FUNC_")
                .and_then(|rest| rest.strip_suffix(b"%%"))
            {
                let text = [function, b" ", value].concat();
                let _defined = self.eval_text(&text)?;
                if let Some(definition) = Arc::make_mut(&mut self.functions).get_mut(function) {
                    definition.exported = true;
                }
                continue;
            }
            if !crate::vars::access::is_name(name) {
                continue;
            }
            let name = self.intern(name)?;
            if name == known::SHELLOPTS || name == known::BASHOPTS {
                for word in value.split(|byte| *byte == b':') {
                    let opt = if name == known::SHELLOPTS {
                        options::by_set_name(word)
                    } else {
                        options::by_shopt_name(word)
                    };
                    if let Some(opt) = opt {
                        self.set_option(opt, true);
                    }
                }
                let kernel = Rc::clone(&self.kernel);
                self.vars
                    .change_attrs(&kernel.budget, name, Attrs::EXPORT, Attrs::NONE)?;
                continue;
            }
            if self.vars.attrs(name).has(Attrs::READONLY) {
                continue;
            }
            let kernel = Rc::clone(&self.kernel);
            self.vars
                .set(&kernel.budget, name, Bytes::from(value.as_slice()))?;
            self.vars
                .change_attrs(&kernel.budget, name, Attrs::EXPORT, Attrs::NONE)?;
        }
        self.default_variables()
    }

    /// Sets what a shell sets when it starts.
    pub(crate) fn default_variables(&mut self) -> Result<(), Flow> {
        let kernel = Rc::clone(&self.kernel);
        let budget = &kernel.budget;
        let pwd = Arc::clone(&self.cwd.logical);
        self.vars.set(budget, known::PWD, Bytes::from(&*pwd))?;
        self.vars
            .change_attrs(budget, known::PWD, Attrs::EXPORT, Attrs::NONE)?;
        if self.vars.get(known::OLDPWD).is_none_or(|var| !var.is_set()) {
            self.vars
                .change_attrs(budget, known::OLDPWD, Attrs::EXPORT, Attrs::NONE)?;
        }
        let level = self
            .vars
            .text(known::SHLVL)
            .and_then(|text| std::str::from_utf8(text).ok()?.trim().parse::<i64>().ok())
            .unwrap_or(0);
        let level = if level < 0 {
            0
        } else {
            level.saturating_add(1)
        };
        self.vars
            .set(budget, known::SHLVL, Bytes::from_int(level))?;
        self.vars
            .change_attrs(budget, known::SHLVL, Attrs::EXPORT, Attrs::NONE)?;
        self.vars
            .set(budget, known::IFS, Bytes::from(&b" \t\n"[..]))?;
        let (shell, term) = (self.intern(b"SHELL")?, self.intern(b"TERM")?);
        for (name, value) in [
            (known::PS4, &b"+ "[..]),
            (known::OPTIND, b"1"),
            (known::OPTERR, b"1"),
            (shell, b"/bin/bash"),
            (term, b"dumb"),
            (known::BASH, b"/usr/bin/bash"),
            (known::BASH_VERSION, b"5.2.15(1)-release"),
            (known::HOSTTYPE, b"x86_64"),
            (known::OSTYPE, b"linux-gnu"),
            (known::MACHTYPE, b"x86_64-pc-linux-gnu"),
        ] {
            if self.vars.get(name).is_none_or(|var| !var.is_set()) {
                self.vars.set(budget, name, Bytes::from(value))?;
            }
        }
        self.vars
            .change_attrs(budget, known::OPTIND, Attrs::INTEGER, Attrs::NONE)?;
        let identity = &kernel.identity;
        self.vars
            .set(budget, known::HOSTNAME, Bytes::from(&*identity.host))?;
        if self.vars.get(known::PATH).is_none_or(|var| !var.is_set()) {
            let path = &b"/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin:."[..];
            self.vars.set(budget, known::PATH, Bytes::from(path))?;
        }
        for (name, number) in [
            (known::UID, i64::from(identity.uid)),
            (known::EUID, i64::from(identity.uid)),
            (known::PPID, i64::from(self.parent_pid)),
        ] {
            self.vars.set(budget, name, Bytes::from_int(number))?;
            self.vars.change_attrs(
                budget,
                name,
                Attrs::READONLY.with(Attrs::INTEGER),
                Attrs::NONE,
            )?;
        }
        if self
            .vars
            .get(known::BASH_VERSINFO)
            .is_none_or(|var| !var.is_set())
        {
            let info = [
                &b"5"[..],
                b"2",
                b"15",
                b"1",
                b"release",
                b"x86_64-pc-linux-gnu",
            ];
            for (at, text) in (0..).zip(info) {
                self.vars
                    .set_index(budget, known::BASH_VERSINFO, at, Bytes::from(text))?;
            }
            self.vars
                .change_attrs(budget, known::BASH_VERSINFO, Attrs::READONLY, Attrs::NONE)?;
        }
        Ok(())
    }

    /// Runs a fresh shell to its end and returns its status.
    pub(crate) fn run_fresh(
        &mut self,
        mut shell: Shell<'y>,
        body: impl FnOnce(&mut Shell<'y>) -> Result<i32, Flow>,
    ) -> Result<i32, Flow> {
        self.kernel.budget.enter()?;
        let result = shell.with_room(|shell| {
            let result = body(shell);
            shell.end_process(result)
        });
        shell.vars.discard(&self.kernel.budget);
        shell.forget(shell.kept);
        self.kernel.budget.release(shell.reserved);
        let became = shell.pid == self.pid;
        match became {
            true => self.kernel.deafen(self.pid),
            false => self.kernel.leave_process(shell.pid),
        }
        self.quantum = shell.quantum;
        drop(shell);
        self.kernel.budget.leave();
        let ended = result?;
        if !became {
            self.default_signals()?;
        }
        match ended {
            jp_bash_system::Ended::Signal(signal) => Err(Flow::Stop(Stop::Signal(signal))),
            ended => Ok(jobs::status(ended)),
        }
    }

    /// Runs the text of a script file in a fresh shell.
    pub(super) fn run_nested_script(
        &mut self,
        path: &[u8],
        text: &[u8],
        words: Vec<Vec<u8>>,
    ) -> Result<i32, Flow> {
        let env = self.exported()?;
        let mut shell = self.fresh(&env)?;
        shell.become_script(path, words.into_iter().skip(1).collect());
        self.run_fresh(shell, |shell| shell.run_main(text))
    }

    /// Makes this shell one that runs a script file.
    pub(crate) fn become_script(&mut self, path: &[u8], args: Vec<Vec<u8>>) {
        self.arg0 = Arc::from(path);
        self.args = Args::new(args);
        self.source = Source::File;
        self.frames.push(Frame {
            kind: FrameKind::Main,
            name: Arc::from(&b"main"[..]),
            source: Arc::from(path),
            call_line: 0,
            args: Vec::new(),
            options: None,
        });
    }

    /// Runs the text this shell was started for.
    pub(crate) fn run_main(&mut self, text: &[u8]) -> Result<i32, Flow> {
        let (source, part) = match self.source {
            Source::Text => (Arc::from(&b"environment"[..]), "-c"),
            _ => (Arc::clone(&self.arg0), ""),
        };
        self.run_text(&Text {
            text,
            source,
            first_line: 1,
            part,
        })
    }

    /// Returns the functions that programs get: those of `export -f`.
    fn exported_functions(&self) -> Functions {
        if !self.functions.values().any(|it| it.exported) {
            return Arc::default();
        }
        let all = self.functions.iter().filter(|(_, it)| it.exported);
        let all = all.map(|(name, it)| (name.clone(), it.clone()));
        Arc::new(all.collect())
    }

    /// Returns the environment of a program: exported variables and functions.
    pub(crate) fn exported(&mut self) -> Result<Environ, Stop> {
        let mut env = self.exported_variables()?;
        for (name, set) in [(known::SHELLOPTS, true), (known::BASHOPTS, false)] {
            if self.vars.attrs(name).has(Attrs::EXPORT) {
                let on: Vec<&str> = if set {
                    let all = options::SET.iter();
                    let on = all.filter(|(_, opt, _)| self.options.has(*opt));
                    on.map(|(name, ..)| *name).collect()
                } else {
                    let all = options::SHOPT.iter();
                    let on = all.filter(|(_, opt)| self.options.has(*opt));
                    on.map(|(name, _)| *name).collect()
                };
                env.push((self.name_text(name).to_vec(), on.join(":").into_bytes()));
            }
        }
        let kernel = Rc::clone(&self.kernel);
        let names = kernel.names.borrow();
        for (name, definition) in self.functions.iter().filter(|(_, it)| it.exported) {
            let text = jp_bash_syntax::print::print_function(&definition.function, &names);
            kernel.budget.reserve(text.len() as u64)?;
            self.reserved += text.len() as u64;
            let body = text
                .strip_prefix(&**name)
                .unwrap_or(&text)
                .trim_ascii()
                .to_vec();
            env.push(([&b"BASH_FUNC_"[..], name, b"%%"].concat(), body));
        }
        Ok(env)
    }

    /// Starts a program in a process of its own, for commands such as `xargs` and `timeout`.
    pub(crate) fn spawn_program(&mut self, spawn: Spawn) -> SysResult<Pid> {
        let Some(name) = spawn.argv.first() else {
            return Err(Errno::Inval.into());
        };
        let found = match self.find_spawned(name, &spawn) {
            Ok(found) => found,
            Err(Flow::Stop(stop)) => return Err(stop.into()),
            Err(_) => return Err(Errno::NoEnt.into()),
        };
        match found {
            Found::Missing => return Err(Errno::NoEnt.into()),
            Found::NotExecutable(_, Errno::IsDir) => return Err(Errno::Access.into()),
            Found::NotExecutable(_, errno) => return Err(errno.into()),
            _ => {}
        }
        let mut child = self.fork();
        child.subshell = self.subshell;
        // An environment that is given holds the functions too.
        child.functions = match spawn.env {
            None => self.exported_functions(),
            Some(_) => Arc::default(),
        };
        child.fds = crate::fds::Fds::default();
        let mut given: Vec<(Fd, Fd)> = vec![(0, 0), (1, 1), (2, 2)];
        given.retain(|(theirs, _)| spawn.fds.iter().all(|(named, _)| named != theirs));
        given.extend(&spawn.fds);
        for (theirs, ours) in given {
            if let Some(file) = self.fds.get(ours) {
                let _closed = child.fds.set(theirs, Some(Rc::clone(file)));
            }
        }
        if let Some(cwd) = &spawn.cwd {
            child.enter_dir(cwd)?;
        }
        let (argv, env, leads) = (spawn.argv, spawn.env, spawn.leads);
        let started = self.start_child(child, move |shell| {
            if let Some(env) = env {
                shell.vars.discard(&shell.kernel.budget);
                shell.vars = Vars::new(&mut shell.kernel.names.borrow_mut());
                shell.import_plain(&env)?;
            }
            shell.kernel.budget.command()?;
            shell.alone = true;
            shell.run_process(argv, found)
        });
        match started {
            Ok(pid) => {
                if leads {
                    self.kernel.lead_group(pid);
                }
                Ok(pid)
            }
            Err(Flow::Stop(stop)) => Err(SysError::Stop(stop)),
            Err(_) => Err(Errno::Again.into()),
        }
    }

    fn find_spawned(&mut self, name: &[u8], spawn: &Spawn) -> Result<Found, Flow> {
        // The PATH that counts is the new program's.
        let path = spawn.env.as_ref().and_then(|env| {
            env.iter()
                .rev()
                .find(|(name, _)| name == b"PATH")
                .map(|(_, value)| value.clone())
        });
        let Some(path) = path else {
            return self.find_program(name);
        };
        if name.contains(&b'/') {
            return self.find_program(name);
        }
        for dir in path.split(|byte| *byte == b':') {
            let candidate = [dir, b"/", name].concat();
            match self.program_at(&candidate)? {
                Found::Missing | Found::NotExecutable(..) => {}
                found => return Ok(found),
            }
        }
        if let Some(custom) = self.kernel.custom.get(name) {
            return Ok(Found::Custom(Arc::clone(custom)));
        }
        Ok(Found::Missing)
    }

    fn import_plain(&mut self, env: &[(Vec<u8>, Vec<u8>)]) -> Result<(), Flow> {
        let kernel = Rc::clone(&self.kernel);
        for (name, value) in env {
            let name = self.intern(name)?;
            self.vars
                .set(&kernel.budget, name, Bytes::from(value.as_slice()))?;
            self.vars
                .change_attrs(&kernel.budget, name, Attrs::EXPORT, Attrs::NONE)?;
        }
        Ok(())
    }

    /// Makes a directory the working directory of this process.
    pub(crate) fn enter_dir(&mut self, path: &[u8]) -> SysResult<()> {
        let node = {
            let mut vfs = self.kernel.vfs.borrow_mut();
            vfs.change_dir(&self.caller(), path)?
        };
        let physical: Arc<[u8]> = self.kernel.vfs.borrow().path_of(node)?.into();
        self.cwd = crate::Cwd {
            node,
            logical: Arc::clone(&physical),
            physical,
        };
        Ok(())
    }
}
