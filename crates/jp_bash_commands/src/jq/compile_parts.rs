//! The code of single constructs: paths, strings, containers, conditions, patterns.

use super::ast::{Ast, Binary, Member, Part, Pattern, Suffix};
use super::code::{Op, Slot};
use super::compile::{Compiled, Compiler, What};
use super::text::Text;
use super::value::Value;

impl Compiler<'_> {
    /// `first.a[k]?`: keys are evaluated on the input, the last one first, then the term is followed.
    pub(super) fn path(&mut self, first: &Ast, suffixes: &[Suffix]) -> Compiled<()> {
        let mut tries = Vec::new();
        for suffix in suffixes.iter().rev() {
            match suffix {
                Suffix::Index(Ast::Const(Value::String(_))) | Suffix::Field(_) | Suffix::Each => {}
                Suffix::Index(key) => self.sub_expr(key)?,
                Suffix::Slice(from, to) => {
                    let null = Ast::Const(Value::Null);
                    self.sub_expr(from.as_ref().unwrap_or(&null))?;
                    self.sub_expr(to.as_ref().unwrap_or(&null))?;
                }
                Suffix::Try => tries.push(self.emit(Op::TryBegin(0))),
            }
        }
        self.expr(first)?;
        for suffix in suffixes {
            match suffix {
                Suffix::Field(name) | Suffix::Index(Ast::Const(Value::String(name))) => {
                    let constant = self.constant(Value::String(name.clone()));
                    self.emit(Op::Field(constant));
                }
                Suffix::Index(_) => {
                    self.emit(Op::Index);
                }
                Suffix::Slice(..) => {
                    self.emit(Op::Slice);
                }
                Suffix::Each => {
                    self.emit(Op::Each);
                }
                Suffix::Try => {
                    if let Some(begin) = tries.pop() {
                        self.end_try(begin, |_| Ok(()))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends a guarded part; without a handler an error is as if there were no result.
    fn end_try(
        &mut self,
        begin: usize,
        handler: impl FnOnce(&mut Self) -> Compiled<()>,
    ) -> Compiled<()> {
        self.emit(Op::TryEnd);
        let over = self.emit(Op::Jump(0));
        self.land(begin);
        let before = self.here();
        handler(self)?;
        if self.here() == before {
            self.emit(Op::Backtrack);
        }
        self.land(over);
        Ok(())
    }

    pub(super) fn attempt(&mut self, body: &Ast, handler: Option<&Ast>) -> Compiled<()> {
        let begin = self.emit(Op::TryBegin(0));
        self.expr(body)?;
        match handler {
            None => self.end_try(begin, |_| Ok(())),
            // `catch .` makes no code, but is a handler.
            Some(handler) => self.end_try(begin, |compiler| {
                compiler.emit(Op::Dup);
                compiler.emit(Op::Pop);
                compiler.expr(handler)
            }),
        }
    }

    pub(super) fn comma(&mut self, items: &[Ast]) -> Compiled<()> {
        let mut ends = Vec::new();
        let last = items.len().saturating_sub(1);
        for (at, item) in items.iter().enumerate() {
            if at == last {
                self.expr(item)?;
            } else {
                let fork = self.emit(Op::Fork(0));
                self.expr(item)?;
                ends.push(self.emit(Op::Jump(0)));
                self.land(fork);
            }
        }
        for end in ends {
            self.land(end);
        }
        Ok(())
    }

    pub(super) fn chain(&mut self, first: &Ast, rest: &[(Binary, Ast)]) -> Compiled<()> {
        // `a + b + c`: c varies slowest, then b, then a.
        for (_, operand) in rest.iter().rev() {
            self.sub_expr(operand)?;
        }
        self.sub_expr(first)?;
        for (at, (binary, _)) in rest.iter().enumerate() {
            self.emit(if at == 0 {
                Op::Binary(*binary)
            } else {
                Op::BinaryTop(*binary)
            });
        }
        Ok(())
    }

    /// `and` and `or`: operands from left to right, the first that decides ends it.
    pub(super) fn logic(&mut self, items: &[Ast], decides: bool) -> Compiled<()> {
        let mut decided = Vec::new();
        for item in items {
            self.sub_expr(item)?;
            if decides {
                let next = self.emit(Op::JumpFalse(0));
                decided.push(self.emit(Op::Jump(0)));
                self.land(next);
            } else {
                decided.push(self.emit(Op::JumpFalse(0)));
            }
        }
        let other = self.constant(Value::Bool(!decides));
        self.emit(Op::Const(other));
        let over = self.emit(Op::Jump(0));
        for jump in decided {
            self.land(jump);
        }
        let result = self.constant(Value::Bool(decides));
        self.emit(Op::Const(result));
        self.land(over);
        Ok(())
    }

    /// `first // second`: all true results of the first, or the second.
    pub(super) fn alternative(
        &mut self,
        first: &Ast,
        second: impl FnOnce(&mut Self) -> Compiled<()>,
    ) -> Compiled<()> {
        let found = self.slot();
        self.emit(Op::SetBool(found, false));
        let end = self.emit(Op::Fork(0));
        let guard = self.emit(Op::TryBegin(0));
        self.expr(first)?;
        let skip = self.emit(Op::JumpFalsy(0));
        self.emit(Op::SetBool(found, true));
        self.emit(Op::TryEnd);
        let over = self.emit(Op::Jump(0));
        self.land(guard);
        self.land(skip);
        let none = self.emit(Op::Backtrack);
        self.land(end);
        self.emit(Op::JumpIfVar(found, super::compile::index(none)));
        second(self)?;
        self.land(over);
        Ok(())
    }

    pub(super) fn branches(
        &mut self,
        branches: &[(Ast, Ast)],
        otherwise: Option<&Ast>,
    ) -> Compiled<()> {
        let mut ends = Vec::new();
        for (test, then) in branches {
            self.sub_expr(test)?;
            let next = self.emit(Op::JumpFalse(0));
            self.expr(then)?;
            ends.push(self.emit(Op::Jump(0)));
            self.land(next);
        }
        if let Some(otherwise) = otherwise {
            self.expr(otherwise)?;
        }
        for end in ends {
            self.land(end);
        }
        Ok(())
    }

    /// Collects all results of some code into an array.
    pub(super) fn collect(&mut self, make: impl FnOnce(&mut Self) -> Compiled<()>) -> Compiled<()> {
        let slot = self.slot();
        let empty = self.constant(Value::array(Vec::new()));
        self.emit(Op::Dup);
        self.emit(Op::Const(empty));
        self.emit(Op::Store(slot));
        let end = self.emit(Op::Fork(0));
        make(self)?;
        self.emit(Op::Append(slot));
        self.land(end);
        self.emit(Op::Take(slot));
        Ok(())
    }

    pub(super) fn array(&mut self, items: Option<&Ast>) -> Compiled<()> {
        match items {
            None => {
                let empty = self.constant(Value::array(Vec::new()));
                self.emit(Op::Const(empty));
                Ok(())
            }
            // Inside, paths are not followed: `path([.a])` fails at its end, not within.
            Some(items) => {
                self.sub(|compiler| compiler.collect(|compiler| compiler.expr(items)))?;
                self.emit(Op::Pop);
                Ok(())
            }
        }
    }

    pub(super) fn object(&mut self, members: &[(Ast, Ast)]) -> Compiled<()> {
        let empty = self.constant(Value::object([]));
        self.emit(Op::SubConst(empty));
        for (key, value) in members {
            self.sub_expr(key)?;
            self.sub_expr(value)?;
            self.emit(Op::Insert);
        }
        self.emit(Op::Pop);
        Ok(())
    }

    pub(super) fn string(&mut self, format: Option<&Text>, parts: &[Part]) -> Compiled<()> {
        let format = format.cloned().unwrap_or_else(|| Text::from("text"));
        for part in parts.iter().rev() {
            match part {
                Part::Text(text) => {
                    let constant = self.constant(Value::String(text.clone()));
                    self.emit(Op::SubConst(constant));
                }
                Part::Ast(ast) => {
                    let format = self.constant(Value::String(format.clone()));
                    self.sub(|compiler| {
                        compiler.expr(ast)?;
                        compiler.emit(Op::Format(format));
                        Ok(())
                    })?;
                }
            }
        }
        self.emit(Op::Concat(super::compile::index(parts.len())));
        Ok(())
    }

    /// Binds the input by patterns, then runs the body on what lies under it. With several patterns all
    /// variables of all of them exist, and an error makes the next one be tried.
    pub(super) fn patterns(
        &mut self,
        patterns: &[Pattern],
        body: impl FnOnce(&mut Self) -> Compiled<()>,
    ) -> Compiled<()> {
        let before = self.bindings().len();
        let mut vars: Vec<(Text, Slot)> = Vec::new();
        let mut names = Vec::new();
        for pattern in patterns {
            variables(pattern, &mut names);
        }
        for name in names {
            if !vars.iter().any(|(known, _)| *known == name) {
                let slot = self.slot();
                vars.push((name, slot));
            }
        }
        // Keys in patterns may use variables bound further left, so names are bound before the code.
        for (name, slot) in &vars {
            self.bind(name, What::Var(slot.index));
        }
        let mut over = Vec::new();
        let last = patterns.len().saturating_sub(1);
        for (at, pattern) in patterns.iter().enumerate() {
            if patterns.len() > 1 {
                let null = self.constant(Value::Null);
                for (_, slot) in &vars {
                    self.emit(Op::Dup);
                    self.emit(Op::Const(null));
                    self.emit(Op::Store(*slot));
                }
            }
            if at == last {
                self.pattern(pattern, &vars)?;
            } else {
                let next = self.emit(Op::AltBegin(0));
                self.pattern(pattern, &vars)?;
                over.push(self.emit(Op::Jump(0)));
                self.land(next);
            }
        }
        for jump in over {
            self.land(jump);
        }
        body(self)?;
        self.bindings().truncate(before);
        Ok(())
    }

    fn pattern(&mut self, pattern: &Pattern, vars: &[(Text, Slot)]) -> Compiled<()> {
        match pattern {
            Pattern::Var(name) => {
                self.store(name, vars);
            }
            Pattern::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.emit(Op::Dup);
                    let constant = self.constant(Value::count(at));
                    self.emit(Op::SubConst(constant));
                    self.emit(Op::Pick);
                    self.pattern(item, vars)?;
                }
                self.emit(Op::Pop);
            }
            Pattern::Object(members) => {
                for member in members {
                    self.member(member, vars)?;
                }
                self.emit(Op::Pop);
            }
        }
        Ok(())
    }

    fn member(&mut self, member: &Member, vars: &[(Text, Slot)]) -> Compiled<()> {
        self.emit(Op::Dup);
        self.sub_expr(&member.key)?;
        self.emit(Op::Pick);
        if let Some(name) = &member.var {
            if member.pattern.is_some() {
                self.emit(Op::Dup);
            }
            self.store(name, vars);
        }
        match &member.pattern {
            Some(pattern) => self.pattern(pattern, vars),
            None => Ok(()),
        }
    }

    fn store(&mut self, name: &Text, vars: &[(Text, Slot)]) {
        if let Some((_, slot)) = vars.iter().find(|(known, _)| known == name) {
            self.emit(Op::Store(*slot));
        }
    }
}

/// Lists the variables of a pattern.
fn variables(pattern: &Pattern, out: &mut Vec<Text>) {
    match pattern {
        Pattern::Var(name) => out.push(name.clone()),
        Pattern::Array(items) => items.iter().for_each(|item| variables(item, out)),
        Pattern::Object(members) => {
            for member in members {
                out.extend(member.var.clone());
                if let Some(pattern) = &member.pattern {
                    variables(pattern, out);
                }
            }
        }
    }
}
