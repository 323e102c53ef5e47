//! Expressions: operators by precedence, assignments where a variable was just read, grouping.

use super::super::lex::{Tok, Word};
use super::super::op::{Arith, Cmp, Leave, Op, Place, Source, Target};
use super::super::value::Value;
use super::{Named, Parsed, Parser};

/// What an operand turned out to be, before it is known what is done with it.
pub(super) enum Operand {
    /// Its value is on the stack.
    Value,
    /// It can be stored to; its index, if any, is on the stack.
    Target(Target),
    /// A regex constant; nothing was emitted.
    Regex(Vec<u8>),
}

/// Precedences, lowest first.
const TERNARY: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const IN: u8 = 4;
const MATCH: u8 = 5;
const COMPARE: u8 = 6;
const CONCAT: u8 = 7;
const SUM: u8 = 8;
const PRODUCT: u8 = 9;
const UNARY: u8 = 10;
const POWER: u8 = 11;

impl Parser<'_> {
    /// Compiles an expression; its value is left on the stack.
    pub(super) fn expression(&mut self) -> Parsed<()> {
        let operand = self.operand_at(TERNARY)?;
        self.value(operand);
        Ok(())
    }

    /// Compiles an expression where a regex constant alone stands for itself.
    pub(super) fn argument(&mut self) -> Parsed<()> {
        match self.operand_at(TERNARY)? {
            Operand::Regex(text) => {
                let slot = self.regex(text);
                self.emit(Op::Regex(slot));
            }
            other => self.value(other),
        }
        Ok(())
    }

    pub(super) fn operand_at(&mut self, level: u8) -> Parsed<Operand> {
        self.nested(|parser| parser.binary(level))
    }

    /// Compiles an operand of at least that precedence to a value.
    pub(super) fn value_at(&mut self, level: u8) -> Parsed<()> {
        let operand = self.operand_at(level)?;
        self.value(operand);
        Ok(())
    }

    /// Compiles what names a redirection's file: concatenation is part of it, comparison is not.
    pub(super) fn redirect_name(&mut self) -> Parsed<()> {
        self.value_at(CONCAT)
    }

    pub(super) fn value(&mut self, operand: Operand) {
        match operand {
            Operand::Value => {}
            Operand::Target(target) => self.load(target),
            Operand::Regex(text) => {
                let slot = self.regex(text);
                self.emit(Op::MatchRecord(slot));
            }
        }
    }

    fn binary(&mut self, level: u8) -> Parsed<Operand> {
        let start = self.program.ops.len();
        let mut left = Some(self.unary()?);
        // The operators have a function of their own: what nests on the left should not pay for its frame.
        while let Some(operand) = left.take() {
            match self.operator(operand, level, start)? {
                (operand, true) => left = Some(operand),
                (operand, false) => return Ok(operand),
            }
        }
        Ok(Operand::Value)
    }

    /// Reads an operator behind an operand, and its right side; false if there is none of that precedence.
    fn operator(&mut self, left: Operand, level: u8, start: usize) -> Parsed<(Operand, bool)> {
        let op = match self.peek() {
            Tok::Op(op) => *op,
            Tok::Word(Word::In) => "in",
            _ => "",
        };
        let operand = match op {
            "^" if level <= POWER => {
                self.value(left);
                self.advance();
                // Right-associative, and `2^-3` has a sign in it.
                self.power_operand()?;
                self.emit(Op::Arith(Arith::Pow));
                Operand::Value
            }
            "*" | "/" | "%" if level <= PRODUCT => self.arith(left, op, POWER)?,
            "+" | "-" if level <= SUM => self.arith(left, op, PRODUCT)?,
            "|" if level <= CONCAT && *self.peek_at(1) == Tok::Word(Word::Getline) => {
                self.value(left);
                self.at += 2;
                let target = self.getline_target()?;
                self.emit(Op::Getline(Source::Command, target));
                Operand::Value
            }
            "|&" => return Err(self.error(b"`|&' (two-way pipes) is not supported")),
            _ if level <= CONCAT && self.starts_operand() => self.concat(left, start)?,
            "<" | "<=" | "==" | "!=" | ">" | ">="
                if level <= COMPARE && !(op == ">" && self.no_gt) =>
            {
                self.comparison(left, op)?
            }
            "~" | "!~" if level <= MATCH => self.matching(left, op == "!~")?,
            "in" if level <= IN => {
                self.value(left);
                self.advance();
                let place = self.array_name()?;
                self.emit(Op::In(place));
                Operand::Value
            }
            "&&" if level <= AND => self.logical(left, false)?,
            "||" if level <= OR => self.logical(left, true)?,
            "?" if level <= TERNARY => self.ternary(left)?,
            _ => return Ok((left, false)),
        };
        Ok((operand, true))
    }

    fn power_operand(&mut self) -> Parsed<()> {
        let sign = match self.peek() {
            Tok::Op("-") => Some(Op::Neg),
            Tok::Op("+") => Some(Op::Plus),
            Tok::Op("!") => Some(Op::Not),
            _ => None,
        };
        let Some(op) = sign else {
            return self.value_at(POWER);
        };
        self.advance();
        self.nested(Self::power_operand)?;
        self.emit(op);
        Ok(())
    }

    fn arith(&mut self, left: Operand, op: &str, right: u8) -> Parsed<Operand> {
        self.value(left);
        self.advance();
        // `a * -b` is fine at every level.
        self.value_at(if right == POWER { UNARY } else { right })?;
        self.emit(Op::Arith(match op {
            "+" => Arith::Add,
            "-" => Arith::Sub,
            "*" => Arith::Mul,
            "/" => Arith::Div,
            _ => Arith::Mod,
        }));
        Ok(Operand::Value)
    }

    fn starts_operand(&self) -> bool {
        match self.peek() {
            Tok::Number(_)
            | Tok::Str(_)
            | Tok::Regex(_)
            | Tok::Name(_)
            | Tok::Call(_)
            | Tok::Func(_) => true,
            Tok::Op(op) => matches!(*op, "$" | "!" | "(" | "++" | "--"),
            _ => false,
        }
    }

    fn concat(&mut self, left: Operand, start: usize) -> Parsed<Operand> {
        self.value(left);
        let first = start..self.program.ops.len();
        let mut count = 1;
        while self.starts_operand() {
            self.value_at(SUM)?;
            count += 1;
        }
        let at = self.emit(Op::Concat(count));
        self.concat = Some((at, first));
        Ok(Operand::Value)
    }

    fn comparison(&mut self, left: Operand, op: &str) -> Parsed<Operand> {
        self.value(left);
        self.advance();
        self.value_at(CONCAT)?;
        self.emit(Op::Cmp(match op {
            "<" => Cmp::Lt,
            "<=" => Cmp::Le,
            "==" => Cmp::Eq,
            "!=" => Cmp::Ne,
            ">" => Cmp::Gt,
            _ => Cmp::Ge,
        }));
        Ok(Operand::Value)
    }

    fn matching(&mut self, left: Operand, negated: bool) -> Parsed<Operand> {
        self.value(left);
        self.advance();
        match self.operand_at(COMPARE)? {
            Operand::Regex(text) => {
                let slot = self.regex(text);
                self.emit(Op::MatchConst(slot, negated));
            }
            other => {
                self.value(other);
                self.emit(Op::Match(negated));
            }
        }
        Ok(Operand::Value)
    }

    /// Compiles `&&` or `||`: the right side only runs if the left one does not decide.
    fn logical(&mut self, left: Operand, or: bool) -> Parsed<Operand> {
        self.value(left);
        self.advance();
        self.newlines();
        let decided = self.jump_when(or);
        self.value_at(if or { AND } else { IN })?;
        self.emit(Op::Truth);
        let end = self.emit(Op::Jump(0));
        self.patch_here(decided);
        self.number(if or { 1.0 } else { 0.0 });
        self.patch_here(end);
        Ok(Operand::Value)
    }

    fn ternary(&mut self, left: Operand) -> Parsed<Operand> {
        self.value(left);
        self.advance();
        self.newlines();
        let no = self.jump_unless();
        self.expression()?;
        self.newlines();
        self.expect(":")?;
        self.newlines();
        let end = self.emit(Op::Jump(0));
        self.patch_here(no);
        self.expression()?;
        self.patch_here(end);
        Ok(Operand::Value)
    }

    fn unary(&mut self) -> Parsed<Operand> {
        let op = match self.peek() {
            Tok::Op(op) => *op,
            _ => return self.primary(),
        };
        let step = match op {
            "!" => Op::Not,
            "-" => Op::Neg,
            "+" => Op::Plus,
            "++" | "--" => {
                self.advance();
                let target = self
                    .nested(Self::target)?
                    .ok_or_else(|| self.unexpected())?;
                self.step(target, if op == "++" { 1 } else { -1 }, Leave::New);
                return Ok(Operand::Value);
            }
            "(" => {
                self.group()?;
                return Ok(Operand::Value);
            }
            _ => return self.primary(),
        };
        self.advance();
        self.value_at(UNARY)?;
        self.emit(step);
        Ok(Operand::Value)
    }

    fn step(&mut self, target: Target, by: i8, leave: Leave) {
        self.emit(match target {
            Target::Global(slot) => Op::StepGlobal(slot, by, leave),
            Target::Local(slot) => Op::StepLocal(slot, by, leave),
            other => Op::Step(other, by, leave),
        });
    }

    fn primary(&mut self) -> Parsed<Operand> {
        if let Some(target) = self.target()? {
            return self.target_tail(target);
        }
        let operand = match self.peek().clone() {
            Tok::Number(num) => {
                self.advance();
                self.number(num);
                Operand::Value
            }
            Tok::Str(text) => {
                self.advance();
                let value = Value::owned(text, self.meter);
                self.constant(value);
                Operand::Value
            }
            Tok::Regex(text) => {
                self.advance();
                Operand::Regex(text)
            }
            Tok::Op("(") => {
                self.group()?;
                Operand::Value
            }
            Tok::Func(func) => {
                self.builtin(func)?;
                Operand::Value
            }
            Tok::Call(name) => {
                self.call(&name)?;
                Operand::Value
            }
            Tok::Word(Word::Getline) => {
                self.getline()?;
                Operand::Value
            }
            Tok::Op("@") => {
                return Err(self.error(b"`@' (indirect calls, typed regexps) is not supported"));
            }
            _ => return Err(self.unexpected()),
        };
        Ok(operand)
    }

    /// Reads a variable, an element or a field, without loading it; `None` if there is none here.
    pub(super) fn target(&mut self) -> Parsed<Option<Target>> {
        if self.eat("$") {
            self.field_index()?;
            return Ok(Some(Target::Field));
        }
        let Tok::Name(name) = self.peek().clone() else {
            return Ok(None);
        };
        self.advance();
        let named = self.named(&name);
        if self.is("[") {
            let Named::Var(place) = named else {
                return Err(self.error(
                    &[
                        b"attempt to use scalar `",
                        name.as_slice(),
                        b"' as an array",
                    ]
                    .concat(),
                ));
            };
            self.array(place);
            self.subscript()?;
            if self.is("[") {
                return Err(self.error(b"arrays of arrays are not supported"));
            }
            return Ok(Some(Target::Elem(place)));
        }
        Ok(Some(match named {
            Named::Var(Place::Global(slot)) => Target::Global(slot),
            Named::Var(Place::Local(slot)) => Target::Local(slot),
            Named::Special(special) => Target::Special(special),
        }))
    }

    /// Compiles `[i, j]` to one key on the stack.
    pub(super) fn subscript(&mut self) -> Parsed<()> {
        self.expect("[")?;
        let count = self.list("]")?;
        if count == 0 {
            return Err(self.unexpected());
        }
        if count > 1 {
            self.emit(Op::Key(count));
        }
        Ok(())
    }

    /// Compiles expressions up to the closing token, which is read too; returns how many.
    fn list(&mut self, close: &str) -> Parsed<u32> {
        let no_gt = std::mem::replace(&mut self.no_gt, false);
        self.newlines();
        let mut count = 0;
        if !self.is(close) {
            loop {
                self.expression()?;
                count += 1;
                self.newlines();
                if !self.eat(",") {
                    break;
                }
                self.newlines();
            }
        }
        self.expect(close)?;
        self.no_gt = no_gt;
        Ok(count)
    }

    /// Compiles what `$` is applied to: the tightest operand, or one with a sign.
    fn field_index(&mut self) -> Parsed<()> {
        let (op, step) = match self.peek() {
            Tok::Op("-") => (Some(Op::Neg), 0),
            Tok::Op("+") => (Some(Op::Plus), 0),
            Tok::Op("!") => (Some(Op::Not), 0),
            Tok::Op("++") => (None, 1),
            Tok::Op("--") => (None, -1),
            _ => {
                let operand = self.nested(|parser| match parser.target()? {
                    Some(target) => Ok(Operand::Target(target)),
                    None => parser.primary(),
                })?;
                self.value(operand);
                return Ok(());
            }
        };
        self.advance();
        if let Some(op) = op {
            self.nested(Self::field_index)?;
            self.emit(op);
        } else {
            let target = self
                .nested(Self::target)?
                .ok_or_else(|| self.unexpected())?;
            self.step(target, step, Leave::New);
        }
        Ok(())
    }

    /// Reads what may follow a target: `++`, `--`, an assignment.
    fn target_tail(&mut self, target: Target) -> Parsed<Operand> {
        let Tok::Op(op) = *self.peek() else {
            return Ok(Operand::Target(target));
        };
        let arith = match op {
            "++" | "--" => {
                self.advance();
                self.step(target, if op == "++" { 1 } else { -1 }, Leave::Old);
                return Ok(Operand::Value);
            }
            "=" => None,
            "+=" => Some(Arith::Add),
            "-=" => Some(Arith::Sub),
            "*=" => Some(Arith::Mul),
            "/=" => Some(Arith::Div),
            "%=" => Some(Arith::Mod),
            "^=" => Some(Arith::Pow),
            _ => return Ok(Operand::Target(target)),
        };
        self.advance();
        self.newlines();
        let start = self.program.ops.len();
        self.expression()?;
        match (arith, target) {
            (Some(arith), Target::Global(slot)) => {
                self.emit(Op::AugGlobal(slot, arith, true));
            }
            (Some(arith), Target::Local(slot)) => {
                self.emit(Op::AugLocal(slot, arith, true));
            }
            (Some(arith), other) => {
                self.emit(Op::Aug(other, arith, true));
            }
            (None, target) => {
                if !self.append(target, start) {
                    self.store(target);
                }
            }
        }
        Ok(Operand::Value)
    }

    /// Makes `x = x "more"` an append in place: building a text piece by piece must not be quadratic.
    fn append(&mut self, target: Target, start: usize) -> bool {
        let (place, load) = match target {
            Target::Global(slot) => (Place::Global(slot), slot),
            Target::Local(slot) => (Place::Local(slot), slot),
            _ => return false,
        };
        let Some((at, first)) = self.concat.clone() else {
            return false;
        };
        if at + 1 != self.program.ops.len() || first != (start..start + 1) {
            return false;
        }
        let same = match (self.program.ops.get(start), place) {
            (Some(Op::Global(slot)), Place::Global(_))
            | (Some(Op::Local(slot)), Place::Local(_)) => *slot == load,
            _ => false,
        };
        let rest = self.program.ops.get(start + 1..at).unwrap_or_default();
        // Anything that might change the variable in between keeps the plain order.
        let harmless = rest.iter().all(|op| {
            matches!(
                op,
                Op::Const(_)
                    | Op::Global(_)
                    | Op::Local(_)
                    | Op::Special(_)
                    | Op::FieldConst(_)
                    | Op::Field
                    | Op::Elem(_)
                    | Op::Arith(_)
                    | Op::Key(_)
                    | Op::Neg
                    | Op::Concat(_)
            )
        });
        let Some(Op::Concat(count)) = self.program.ops.get(at).copied() else {
            return false;
        };
        if !same || !harmless {
            return false;
        }
        self.program.ops.pop();
        self.program.lines.pop();
        self.program.ops.remove(start);
        self.program.lines.remove(start);
        self.concat = None;
        if count > 2 {
            self.emit(Op::Concat(count - 1));
        }
        self.barrier = usize::min(self.barrier, self.program.ops.len());
        self.emit(Op::Append(place, true));
        true
    }

    /// Compiles `( … )`: one expression, or several in front of `in`.
    fn group(&mut self) -> Parsed<()> {
        self.expect("(")?;
        let count = self.list(")")?;
        match count {
            0 => Err(self.unexpected()),
            1 => Ok(()),
            _ => {
                if *self.peek() != Tok::Word(Word::In) {
                    return Err(self.unexpected());
                }
                self.emit(Op::Key(count));
                Ok(())
            }
        }
    }

    fn getline(&mut self) -> Parsed<()> {
        self.advance();
        let target = self.getline_target()?;
        if self.eat("<") {
            let operand = self.nested(|parser| match parser.target()? {
                Some(target) => Ok(Operand::Target(target)),
                None => parser.primary(),
            })?;
            self.value(operand);
            self.emit(Op::Getline(Source::File, target));
        } else {
            self.emit(Op::Getline(Source::Main, target));
        }
        Ok(())
    }

    fn getline_target(&mut self) -> Parsed<Option<Target>> {
        self.nested(Self::target)
    }

    /// Reads the name of an array.
    pub(super) fn array_name(&mut self) -> Parsed<Place> {
        let Tok::Name(name) = self.peek().clone() else {
            return Err(self.unexpected());
        };
        match self.named(&name) {
            Named::Var(place) => {
                self.advance();
                self.array(place);
                Ok(place)
            }
            Named::Special(_) => Err(self.error(
                &[
                    b"attempt to use scalar `",
                    name.as_slice(),
                    b"' as an array",
                ]
                .concat(),
            )),
        }
    }
}
