//! Compound commands: `if`, loops, `case`, `(( ))`, `[[ ]]`.

use jp_bash_syntax::ast::{Arith, CaseArm, CaseEnd, Command, If, List, Test, Word};
use jp_bash_syntax::names::Name;

use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::Bytes;
use crate::vars::access::{Assigned, is_name};

/// What a loop does after a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Turn,
    Leave,
}

impl Shell<'_> {
    pub(super) fn run_if(&mut self, choice: &If) -> Result<i32, Flow> {
        for (condition, body) in &choice.arms {
            if self.run_condition(condition)? == 0 {
                return self.run_list(body);
            }
        }
        match &choice.otherwise {
            Some(body) => self.run_list(body),
            None => {
                self.status = 0;
                Ok(0)
            }
        }
    }

    pub(super) fn run_while(
        &mut self,
        until: bool,
        condition: &List,
        body: &List,
    ) -> Result<i32, Flow> {
        let mut status = 0;
        loop {
            self.turn()?;
            let answer = self.in_loop(|shell| shell.run_condition(condition));
            match self.after_turn(answer, &mut status)? {
                (Next::Leave, _) => break,
                // `continue` in a condition begins the next turn.
                (Next::Turn, None) => continue,
                (Next::Turn, Some(answer)) if (answer == 0) == until => break,
                (Next::Turn, Some(_)) => {}
            }
            if self.run_turn(body, &mut status)? == Next::Leave {
                break;
            }
        }
        self.status = status;
        Ok(status)
    }

    /// Runs the body of a loop once and hands out what it printed; tells whether the loop goes on.
    fn run_turn(&mut self, body: &List, status: &mut i32) -> Result<Next, Flow> {
        let result = self.in_loop(|shell| shell.run_list(body));
        let (next, last) = self.after_turn(result, status)?;
        if next == Next::Turn {
            *status = last.unwrap_or(*status);
            self.kernel.sinks.emit();
        }
        Ok(next)
    }

    pub(super) fn run_for(
        &mut self,
        command: &Command,
        name: Name,
        words: Option<&[Word]>,
        body: &List,
    ) -> Result<i32, Flow> {
        self.line = self.line_of(command);
        if !self.is_loop_name(name)? {
            return self.finish_checked(1);
        }
        let items = match words {
            Some(words) => self.expand_words(words)?,
            None => self.args.as_slice().to_vec(),
        };
        let mut status = 0;
        for item in items {
            self.turn()?;
            self.line = self.line_of(command);
            self.trace_for(command, name, words)?;
            if self.set_loop_var(name, Bytes::from(item))? == Assigned::Refused {
                return self.finish_checked(1);
            }
            if self.run_turn(body, &mut status)? == Next::Leave {
                break;
            }
        }
        self.status = status;
        Ok(status)
    }

    /// Tells whether a loop can have this variable; says so if not.
    pub(super) fn is_loop_name(&mut self, name: Name) -> Result<bool, Flow> {
        let text = self.name_text(name);
        if is_name(&text) {
            return Ok(true);
        }
        self.complain(&[b"`", &*text, b"': not a valid identifier"].concat())?;
        Ok(false)
    }

    pub(super) fn run_for_arith(
        &mut self,
        command: &Command,
        [init, test, step]: [Option<&Arith>; 3],
        body: &List,
    ) -> Result<i32, Flow> {
        self.line = self.line_of(command);
        let mut status = 0;
        if self.loop_part(command, init)?.is_none() {
            return self.finish_checked(1);
        }
        loop {
            self.turn()?;
            match self.loop_part(command, test)? {
                None => {
                    status = 1;
                    break;
                }
                Some(0) => break,
                Some(_) => {}
            }
            if self.run_turn(body, &mut status)? == Next::Leave {
                break;
            }
            self.line = self.line_of(command);
            if self.loop_part(command, step)?.is_none() {
                status = 1;
                break;
            }
        }
        self.status = status;
        Ok(status)
    }

    /// Evaluates a part of `for ((…))`; a missing one is true, `None` is an error that was reported.
    fn loop_part(&mut self, command: &Command, arith: Option<&Arith>) -> Result<Option<i64>, Flow> {
        let Some(arith) = arith else {
            return Ok(Some(1));
        };
        if self.has_debug_trap() {
            self.debug_loop_part(command, arith)?;
        }
        if self.options.has(Opt::XTrace) {
            self.trace_arith(arith)?;
        }
        match self.arith_as(arith, b"((: ") {
            Ok(value) => Ok(Some(value)),
            Err(Flow::Abandon(_)) => Ok(None),
            Err(flow) => Err(flow),
        }
    }

    #[cold]
    fn debug_loop_part(&mut self, command: &Command, arith: &Arith) -> Result<(), Flow> {
        self.show_command(|_| [b"((", arith.text.as_ref(), b"))"].concat());
        self.line = self.line_of(command);
        self.run_debug_text().map(|_| ())
    }

    pub(super) fn run_case(
        &mut self,
        command: &Command,
        subject: &Word,
        arms: &[CaseArm],
    ) -> Result<i32, Flow> {
        self.line = self.line_of(command);
        if self.has_debug_trap() {
            self.run_debug_trap(command)?;
        }
        if self.options.has(Opt::XTrace) {
            self.trace_case(subject)?;
        }
        let text = self.expand_one(subject)?;
        let mut status = 0;
        let mut fall = false;
        for arm in arms {
            let mut wanted = fall;
            if !fall {
                for pattern in &arm.patterns {
                    let pattern = self.expand_pattern(pattern)?;
                    if pattern.matches(&text, &self.kernel.budget)? {
                        wanted = true;
                        break;
                    }
                }
            }
            if !wanted {
                continue;
            }
            status = self.run_list(&arm.body)?;
            match arm.end {
                CaseEnd::Break => break,
                CaseEnd::FallThrough => fall = true,
                CaseEnd::TestNext => fall = false,
            }
        }
        self.status = status;
        Ok(status)
    }

    pub(super) fn run_arith(&mut self, command: &Command, arith: &Arith) -> Result<i32, Flow> {
        self.line = self.line_of(command);
        // Starts nothing, so it is no command of the limit: the loop around it counts.
        self.kernel.budget.work(1)?;
        self.tick(1)?;
        if self.has_debug_trap() && !self.run_debug_trap(command)? {
            return Ok(self.status);
        }
        if self.options.has(Opt::XTrace) {
            self.trace_arith(arith)?;
        }
        let status = match self.arith_as(arith, b"((: ") {
            Ok(value) => i32::from(value == 0),
            Err(Flow::Abandon(_)) => 1,
            Err(flow) => return Err(flow),
        };
        self.finish_checked(status)
    }

    pub(super) fn run_test(&mut self, command: &Command, test: &Test) -> Result<i32, Flow> {
        self.line = self.line_of(command);
        self.kernel.budget.work(1)?;
        self.tick(1)?;
        if self.has_debug_trap() && !self.run_debug_trap(command)? {
            return Ok(self.status);
        }
        let status = match self.test_expr(test) {
            Ok(answer) => i32::from(!answer),
            // A bad regular expression is status 2 and the script goes on.
            Err(Flow::Abandon(2)) => 2,
            Err(flow) => return Err(flow),
        };
        self.finish_checked(status)
    }

    #[inline]
    fn turn(&mut self) -> Result<(), Flow> {
        self.kernel.budget.turns(1)?;
        Ok(self.tick(1)?)
    }

    fn in_loop(&mut self, body: impl FnOnce(&mut Self) -> Result<i32, Flow>) -> Result<i32, Flow> {
        self.loops += 1;
        let result = body(self);
        self.loops -= 1;
        result
    }

    /// Takes `break` and `continue` that are meant for this loop.
    fn after_turn(
        &mut self,
        result: Result<i32, Flow>,
        status: &mut i32,
    ) -> Result<(Next, Option<i32>), Flow> {
        match result {
            Ok(last) => Ok((Next::Turn, Some(last))),
            Err(Flow::Break(levels)) => {
                *status = self.status;
                if levels > 1 && self.loops > 0 {
                    return Err(Flow::Break(levels - 1));
                }
                Ok((Next::Leave, None))
            }
            Err(Flow::Continue(levels)) => {
                *status = self.status;
                if levels > 1 && self.loops > 0 {
                    return Err(Flow::Continue(levels - 1));
                }
                Ok((Next::Turn, None))
            }
            Err(flow) => Err(flow),
        }
    }
}
