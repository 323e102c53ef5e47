//! Functions: defining and calling them.

use std::sync::Arc;

use jp_bash_syntax::ast::Function;
use jp_bash_syntax::parser::NODE;
use jp_bash_system::Stop;

use crate::args::Args;
use crate::flow::Flow;
use crate::frames::{Frame, FrameKind};
use crate::options::Opt;
use crate::signals;
use crate::vars::access::is_name;
use crate::vars::known;
use crate::vars::scope::ScopeKind;
use crate::{Definition, Shell};

/// Returns the bytes that a function holds.
pub(crate) fn cost(function: &Function) -> u64 {
    u64::from(function.nodes) * NODE + function.name.len() as u64 + 256
}

impl Shell<'_> {
    pub(super) fn define_function(&mut self, function: &Arc<Function>) -> Result<i32, Flow> {
        if let Some(old) = self.functions.get(&function.name)
            && old.readonly
        {
            self.complain(&[&function.name, &b": readonly function"[..]].concat())?;
            return Ok(1);
        }
        if self.options.has(Opt::Posix) && !is_name(&function.name) {
            self.complain(&[b"`", &*function.name, b"': not a valid identifier"].concat())?;
            return Err(Flow::Exit(2));
        }
        if self.options.has(Opt::Posix) && crate::builtins::is_special(&function.name) {
            self.complain(&[b"`", &*function.name, b"': is a special builtin"].concat())?;
            return Err(Flow::Exit(2));
        }
        let (exported, traced) = self
            .functions
            .get(&function.name)
            .map_or((self.options.has(Opt::AllExport), false), |old| {
                (old.exported, old.traced)
            });
        self.keep(cost(function))?;
        let old = Arc::make_mut(&mut self.functions).insert(
            function.name.clone(),
            Definition {
                function: Arc::clone(function),
                exported,
                readonly: false,
                traced,
            },
        );
        if let Some(old) = old {
            self.forget(cost(&old.function));
        }
        Ok(0)
    }

    /// Calls a function with its words; the first is its name.
    pub(super) fn call_function(
        &mut self,
        definition: &Definition,
        words: Vec<Vec<u8>>,
    ) -> Result<i32, Flow> {
        self.check_nesting(&definition.function)?;
        self.kernel.budget.enter()?;
        let function = Arc::clone(&definition.function);
        let extdebug = self.options.has(Opt::ExtDebug);
        let frame = Frame {
            kind: FrameKind::Function,
            name: Arc::from(&*function.name),
            source: Arc::clone(&function.source),
            call_line: self.line,
            args: if extdebug {
                words.get(1..).unwrap_or_default().to_vec()
            } else {
                Vec::new()
            },
            options: None,
        };
        let last = self
            .vars
            .get(known::UNDERSCORE)
            .map(|var| var.value.clone());
        self.frames.push(frame);
        let args = std::mem::replace(&mut self.args, Args::of_call(words));
        let loops = std::mem::replace(&mut self.loops, 0);
        let line = self.line;
        let shift = std::mem::take(&mut self.line_shift);
        self.vars.push_scope(ScopeKind::Function);
        let hidden = self.hide_traps(definition.traced);
        let result = self.with_room(|shell| shell.run_body(&function));
        self.show_traps(hidden);
        self.vars.pop_scope(&self.kernel.budget);
        self.loops = loops;
        self.args = args;
        if let Some(options) = self.frames.pop().and_then(|frame| frame.options) {
            self.options = options;
        }
        if let Some(last) = last {
            self.vars
                .set_value(&self.kernel.budget, known::UNDERSCORE, last)?;
        }
        self.line = line;
        self.line_shift = shift;
        self.kernel.budget.leave();
        match result {
            Err(Flow::Return(status)) => Ok(status),
            // A loop outside the function cannot be left from inside.
            Err(Flow::Break(_) | Flow::Continue(_)) => Ok(self.status),
            other => other,
        }
    }

    fn run_body(&mut self, function: &Function) -> Result<i32, Flow> {
        if self.has_debug_trap() {
            // Announced once more from inside, as the same command.
            self.line = function.line;
            self.run_debug_text()?;
        }
        let result = self.run_command(&function.body);
        if self.traps.get(signals::RETURN).is_some()
            && matches!(result, Ok(_) | Err(Flow::Return(_)))
        {
            if let Ok(status) | Err(Flow::Return(status)) = result {
                self.status = status;
            }
            self.run_return_trap()?;
        }
        result
    }

    /// `FUNCNEST`, where the script has set it.
    fn check_nesting(&mut self, function: &Function) -> Result<(), Flow> {
        let Some(bound) = self.vars.text(known::FUNCNEST) else {
            return Ok(());
        };
        let bound: usize = std::str::from_utf8(bound)
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0);
        let depth = self
            .frames
            .iter()
            .filter(|frame| frame.kind == FrameKind::Function)
            .count();
        if bound > 0 && depth >= bound {
            let message = format!(": maximum function nesting level exceeded ({bound})");
            self.complain(&[&function.name, message.as_bytes()].concat())?;
            return Err(Flow::Abandon(1));
        }
        Ok(())
    }

    /// Leaves DEBUG, RETURN and ERR traps outside a function that does not inherit them.
    fn hide_traps(&mut self, traced: bool) -> Option<Arc<crate::traps::Traps>> {
        if self.traps.is_empty() {
            return None;
        }
        let keep_debug = traced || self.options.has(Opt::FuncTrace);
        let keep_err = self.options.has(Opt::ErrTrace);
        let hide: Vec<u8> = [signals::DEBUG, signals::RETURN, signals::ERR]
            .into_iter()
            .filter(|signal| match *signal {
                signals::ERR => !keep_err,
                _ => !keep_debug,
            })
            .filter(|signal| self.traps.get(*signal).is_some())
            .collect();
        if hide.is_empty() {
            return None;
        }
        let old = Arc::clone(&self.traps);
        let traps = Arc::make_mut(&mut self.traps);
        for signal in hide {
            traps.hide(signal);
        }
        Some(old)
    }

    /// Brings them back, unless the function set its own.
    fn show_traps(&mut self, old: Option<Arc<crate::traps::Traps>>) {
        if let Some(old) = old {
            Arc::make_mut(&mut self.traps).show_again(&old);
        }
    }

    /// Tells whether a stop is a signal to this process alone.
    pub(super) fn signal_of(flow: Flow) -> Result<u8, Flow> {
        match flow {
            Flow::Stop(Stop::Signal(signal)) => Ok(signal),
            other => Err(other),
        }
    }
}
