//! Calls: builtin functions, some of which take names instead of values, and the user's own.

use super::super::lex::{FUNCS, Func, Tok};
use super::super::op::{Op, Place, Target};
use super::super::value::Value;
use super::expr::Operand;
use super::{BareArg, Named, Parsed, Parser};

impl Parser<'_> {
    pub(super) fn builtin(&mut self, func: Func) -> Parsed<()> {
        self.advance();
        if !self.is("(") {
            if func == Func::Length {
                self.emit(Op::FieldConst(0));
                self.emit(Op::Builtin(func, 1));
                return Ok(());
            }
            return Err(self.unexpected());
        }
        self.advance();
        let no_gt = std::mem::replace(&mut self.no_gt, false);
        self.newlines();
        self.nested(|parser| match func {
            Func::Split => parser.split(false),
            Func::Patsplit => parser.split(true),
            Func::Sub | Func::Gsub => parser.substitute(func == Func::Gsub),
            Func::Match => parser.match_call(),
            Func::Asort | Func::Asorti => parser.sort(func == Func::Asorti),
            Func::Length | Func::Isarray | Func::Typeof => parser.about(func),
            _ => parser.plain(func),
        })?;
        self.newlines();
        self.expect(")")?;
        self.no_gt = no_gt;
        Ok(())
    }

    fn comma(&mut self) -> Parsed<()> {
        self.newlines();
        self.expect(",")?;
        self.newlines();
        Ok(())
    }

    fn another(&mut self) -> bool {
        self.newlines();
        let more = self.eat(",");
        if more {
            self.newlines();
        }
        more
    }

    /// Compiles a call all of whose arguments are values.
    fn plain(&mut self, func: Func) -> Parsed<()> {
        let mut count = 0;
        let start = self.program.ops.len();
        let mut first = start;
        if !self.is(")") {
            loop {
                // Only `gensub` takes a regex constant among the functions that come here.
                if func == Func::Gensub && count == 0 {
                    self.argument()?;
                } else {
                    self.expression()?;
                }
                count += 1;
                if count == 1 {
                    first = self.program.ops.len();
                }
                if !self.another() {
                    break;
                }
            }
        }
        let (name, fewest, most) = FUNCS
            .iter()
            .find(|(_, found, ..)| *found == func)
            .map_or(("", 0, 0), |(name, _, fewest, most)| {
                (*name, *fewest, *most)
            });
        if count < fewest || count > most {
            let message = format!("{count} is invalid as number of arguments for {name}");
            return Err(self.error(message.as_bytes()));
        }
        if func == Func::Gensub && count == 3 {
            self.emit(Op::FieldConst(0));
            count = 4;
        }
        if func == Func::Substr && first == start + 1 && self.substr_field(start, count > 2) {
            return Ok(());
        }
        self.emit(Op::Builtin(func, u32::try_from(count).unwrap_or(u32::MAX)));
        Ok(())
    }

    /// Takes the field whose `substr` is wanted off the stack, if what comes behind it cannot change it.
    fn substr_field(&mut self, start: usize, length: bool) -> bool {
        let Some([Op::FieldConst(field), rest @ ..]) = self.program.ops.get(start..) else {
            return false;
        };
        let field = *field;
        let plain = |op: &Op| {
            matches!(
                op,
                Op::Const(_) | Op::Global(_) | Op::Local(_) | Op::Arith(_) | Op::FieldConst(_)
            )
        };
        if self.barrier > start || !rest.iter().all(plain) {
            return false;
        }
        self.program.ops.remove(start);
        self.program.lines.remove(start);
        self.emit(Op::SubstrField(field, length));
        true
    }

    fn split(&mut self, pattern: bool) -> Parsed<()> {
        self.expression()?;
        self.comma()?;
        let array = self.array_name()?;
        let mut seps = None;
        let regex = self.another();
        if regex {
            self.argument()?;
            if self.another() {
                seps = Some(self.array_name()?);
            }
        }
        self.emit(Op::Split {
            pattern,
            array,
            seps,
            regex,
        });
        Ok(())
    }

    fn substitute(&mut self, global: bool) -> Parsed<()> {
        self.argument()?;
        self.comma()?;
        self.expression()?;
        let target = if self.another() {
            match self.operand_at(0)? {
                Operand::Target(target) => target,
                other => {
                    // gawk warns; the result of the substitution is lost, its count is not.
                    self.value(other);
                    match self.hidden() {
                        Place::Global(slot) => {
                            self.emit(Op::SetGlobal(slot, false));
                            Target::Global(slot)
                        }
                        Place::Local(slot) => {
                            self.emit(Op::SetLocal(slot, false));
                            Target::Local(slot)
                        }
                    }
                }
            }
        } else {
            self.number(0.0);
            Target::Field
        };
        self.emit(Op::Substitute(target, global));
        Ok(())
    }

    fn match_call(&mut self) -> Parsed<()> {
        self.expression()?;
        self.comma()?;
        self.argument()?;
        if self.another() {
            let place = self.array_name()?;
            self.emit(Op::MatchArray(place));
        } else {
            self.emit(Op::Builtin(Func::Match, 2));
        }
        Ok(())
    }

    fn sort(&mut self, indices: bool) -> Parsed<()> {
        let from = self.array_name()?;
        let mut to = None;
        let mut by = false;
        if self.another() {
            to = Some(self.array_name()?);
            if self.another() {
                self.expression()?;
                by = true;
            }
        }
        self.emit(Op::Sort {
            indices,
            from,
            to,
            by,
        });
        Ok(())
    }

    /// Compiles a function whose argument may be the name of an array.
    fn about(&mut self, func: Func) -> Parsed<()> {
        if self.is(")") && func == Func::Length {
            self.emit(Op::FieldConst(0));
            self.emit(Op::Builtin(func, 1));
            return Ok(());
        }
        let bare = matches!(self.peek_at(1), Tok::Op(")" | ","));
        if let (Tok::Name(name), true) = (self.peek().clone(), bare)
            && let Named::Var(place) = self.named(&name)
        {
            self.advance();
            self.emit(Op::About(func, place));
            return Ok(());
        }
        match (func, self.operand_at(0)?) {
            (Func::Typeof, Operand::Target(Target::Elem(place))) => {
                self.emit(Op::TypeofElem(place));
            }
            (Func::Typeof, Operand::Regex(_)) => {
                let value = Value::string(b"number", self.meter);
                self.constant(value);
            }
            (_, operand) => {
                self.value(operand);
                self.emit(Op::Builtin(func, 1));
            }
        }
        Ok(())
    }

    /// Compiles a call of a user's function.
    pub(super) fn call(&mut self, name: &[u8]) -> Parsed<()> {
        let line = self.line();
        self.advance();
        self.expect("(")?;
        let callee = self.function_slot(name);
        let no_gt = std::mem::replace(&mut self.no_gt, false);
        self.newlines();
        let mut count = 0;
        if !self.is(")") {
            loop {
                self.call_argument(callee, count)?;
                count += 1;
                if !self.another() {
                    break;
                }
            }
        }
        self.expect(")")?;
        self.no_gt = no_gt;
        self.calls.push((callee, count, line));
        self.emit(Op::Call(callee, count));
        Ok(())
    }

    fn call_argument(&mut self, callee: u32, param: u32) -> Parsed<()> {
        let bare = matches!(self.peek_at(1), Tok::Op(")" | ","));
        if let (Tok::Name(name), true) = (self.peek().clone(), bare)
            && let Named::Var(place) = self.named(&name)
        {
            self.advance();
            let at = self.emit(Op::Arg(place));
            self.bare.push(BareArg {
                at,
                caller: self.function,
                place,
                callee,
                param,
            });
            return Ok(());
        }
        self.expression()
    }
}
