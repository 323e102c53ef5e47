//! Statements. Loops are laid out with their condition behind the body, so that a turn takes one jump.

use super::super::lex::{Tok, Word};
use super::super::op::{Op, Place, Target};
use super::super::value::Value;
use super::{Breakable, Named, Parsed, Parser, Section};

/// Code that was cut out, to be put behind the body of a loop.
struct Moved {
    from: usize,
    code: (Vec<Op>, Vec<u32>),
    bare: std::ops::Range<usize>,
    /// Whether the last step may be fused with a jump.
    fusable: bool,
}

impl Parser<'_> {
    /// Compiles `{ … }`.
    pub(super) fn block(&mut self) -> Parsed<()> {
        self.expect("{")?;
        self.terminators();
        while !self.is("}") {
            if *self.peek() == Tok::Eof {
                return Err(self.unexpected());
            }
            self.statement()?;
            self.terminators();
        }
        self.advance();
        Ok(())
    }

    pub(super) fn statement(&mut self) -> Parsed<()> {
        self.nested(|parser| match parser.peek() {
            Tok::Op("{") => parser.block(),
            Tok::Op(";") => {
                parser.advance();
                Ok(())
            }
            Tok::Word(Word::If) => parser.if_statement(),
            Tok::Word(Word::While) => parser.while_statement(),
            Tok::Word(Word::Do) => parser.do_statement(),
            Tok::Word(Word::For) => parser.for_statement(),
            Tok::Word(Word::Switch) => parser.switch_statement(),
            _ => {
                parser.simple()?;
                parser.end_of_simple()
            }
        })
    }

    fn end_of_simple(&mut self) -> Parsed<()> {
        if self.eat(";") || self.is("}") || *self.peek() == Tok::Eof {
            return Ok(());
        }
        if *self.peek() == Tok::Newline {
            self.advance();
            return Ok(());
        }
        Err(self.unexpected())
    }

    /// Compiles the body of a loop or branch, which may stand on the next line.
    fn body(&mut self) -> Parsed<()> {
        self.newlines();
        self.statement()
    }

    fn head(&mut self) -> Parsed<()> {
        self.advance();
        self.expect("(")?;
        self.newlines();
        self.expression()?;
        self.newlines();
        self.expect(")")
    }

    fn if_statement(&mut self) -> Parsed<()> {
        self.head()?;
        let no = self.jump_unless();
        self.body()?;
        let before = self.at;
        self.terminators();
        if !self.eat_word(Word::Else) {
            self.at = before;
            self.patch_here(no);
            return Ok(());
        }
        let end = self.emit(Op::Jump(0));
        self.patch_here(no);
        self.body()?;
        self.patch_here(end);
        Ok(())
    }

    /// Cuts out what was compiled since `from`.
    fn move_out(&mut self, from: usize, bare: usize) -> Moved {
        let fusable = self.barrier < self.program.ops.len();
        Moved {
            from,
            code: self.cut(from),
            bare: bare..self.bare.len(),
            fusable,
        }
    }

    fn move_in(&mut self, moved: Moved) {
        self.label();
        self.paste(moved.from, moved.code, moved.bare);
        self.barrier =
            self.program.ops.len() - usize::from(moved.fusable && !self.program.ops.is_empty());
    }

    fn open_loop(&mut self) {
        self.loops.push(Breakable {
            breaks: Vec::new(),
            continues: Some(Vec::new()),
        });
    }

    /// Sets the jumps of `continue` to what comes next.
    fn continue_here(&mut self) {
        self.label();
        let jumps = self
            .loops
            .last_mut()
            .and_then(|l| l.continues.as_mut())
            .map(std::mem::take)
            .unwrap_or_default();
        for jump in jumps {
            self.patch_here(jump);
        }
    }

    /// Ends a loop or switch: `break` goes to what comes next.
    fn close_loop(&mut self) {
        if let Some(closed) = self.loops.pop() {
            for jump in closed.breaks {
                self.patch_here(jump);
            }
        }
        self.label();
    }

    fn while_statement(&mut self) -> Parsed<()> {
        self.advance();
        self.expect("(")?;
        self.newlines();
        let bare = self.bare.len();
        let to_condition = self.emit(Op::Jump(0));
        self.label();
        let start = self.program.ops.len();
        self.expression()?;
        let condition = self.move_out(start, bare);
        self.newlines();
        self.expect(")")?;
        self.open_loop();
        self.body()?;
        self.continue_here();
        self.patch_here(to_condition);
        self.emit(Op::Turn);
        self.move_in(condition);
        let back = self.jump_when(true);
        self.patch(back, start);
        self.close_loop();
        Ok(())
    }

    fn do_statement(&mut self) -> Parsed<()> {
        self.advance();
        self.label();
        let start = self.program.ops.len();
        self.open_loop();
        self.body()?;
        self.terminators();
        self.continue_here();
        if *self.peek() != Tok::Word(Word::While) {
            return Err(self.unexpected());
        }
        self.emit(Op::Turn);
        self.head()?;
        let back = self.jump_when(true);
        self.patch(back, start);
        self.close_loop();
        self.end_of_simple()
    }

    fn for_statement(&mut self) -> Parsed<()> {
        self.advance();
        self.expect("(")?;
        if let (Tok::Name(name), Tok::Word(Word::In), Tok::Name(_), Tok::Op(")")) = (
            self.peek().clone(),
            self.peek_at(1),
            self.peek_at(2),
            self.peek_at(3),
        ) {
            return self.for_in(&name);
        }
        self.newlines();
        if !self.is(";") {
            self.simple()?;
        }
        self.expect(";")?;
        self.newlines();
        let to_condition = self.emit(Op::Jump(0));
        self.label();
        let start = self.program.ops.len();
        let mut condition = None;
        if !self.is(";") {
            let bare = self.bare.len();
            self.expression()?;
            condition = Some(self.move_out(start, bare));
        }
        self.expect(";")?;
        self.newlines();
        let mut step = None;
        if !self.is(")") {
            let bare = self.bare.len();
            self.simple()?;
            step = Some(self.move_out(start, bare));
        }
        self.newlines();
        self.expect(")")?;
        self.open_loop();
        self.body()?;
        self.continue_here();
        if let Some(step) = step {
            self.move_in(step);
        }
        self.patch_here(to_condition);
        self.emit(Op::Turn);
        match condition {
            Some(condition) => {
                self.move_in(condition);
                let back = self.jump_when(true);
                self.patch(back, start);
            }
            None => self.jump_to(start),
        }
        self.close_loop();
        Ok(())
    }

    fn for_in(&mut self, name: &[u8]) -> Parsed<()> {
        let target = match self.named(name) {
            Named::Var(Place::Global(slot)) => Target::Global(slot),
            Named::Var(Place::Local(slot)) => Target::Local(slot),
            Named::Special(special) => Target::Special(special),
        };
        self.at += 2;
        let array = self.array_name()?;
        self.expect(")")?;
        self.emit(Op::Iter(array));
        self.label();
        let start = self.program.ops.len();
        self.emit(Op::Turn);
        let next = self.emit(Op::IterNext(0));
        self.store(target);
        self.discard();
        self.open_loop();
        self.body()?;
        self.continue_here();
        self.jump_to(start);
        // `break` drops the list of keys; running out of them already has.
        self.close_loop();
        self.emit(Op::IterEnd);
        self.patch_here(next);
        Ok(())
    }

    fn switch_statement(&mut self) -> Parsed<()> {
        self.head()?;
        self.newlines();
        let subject = self.hidden();
        match subject {
            Place::Global(slot) => self.emit(Op::SetGlobal(slot, false)),
            Place::Local(slot) => self.emit(Op::SetLocal(slot, false)),
        };
        self.expect("{")?;
        self.terminators();
        self.loops.push(Breakable {
            breaks: Vec::new(),
            continues: None,
        });
        // The tests are a chain of their own: each case's test, if it fails, jumps to the next one.
        let mut failed: Option<usize> = Some(self.emit(Op::Jump(0)));
        let mut default = None;
        while !self.is("}") {
            self.case(subject, &mut failed, &mut default)?;
            self.terminators();
        }
        self.advance();
        let end = self.emit(Op::Jump(0));
        if let Some(failed) = failed {
            match default {
                Some(default) => self.patch(failed, default),
                None => self.patch_here(failed),
            }
        }
        self.patch_here(end);
        self.close_loop();
        Ok(())
    }

    /// Compiles one `case` or `default` with its statements.
    fn case(
        &mut self,
        subject: Place,
        failed: &mut Option<usize>,
        default: &mut Option<usize>,
    ) -> Parsed<()> {
        // A body that runs on into this case skips its test.
        let into = self.emit(Op::Jump(0));
        if self.eat_word(Word::Default) {
            self.label();
            *default = Some(self.program.ops.len());
        } else if self.eat_word(Word::Case) {
            if let Some(failed) = failed.take() {
                self.patch_here(failed);
            }
            self.load(match subject {
                Place::Global(slot) => Target::Global(slot),
                Place::Local(slot) => Target::Local(slot),
            });
            self.case_value()?;
            *failed = Some(self.emit(Op::JumpUnless(0)));
        } else {
            return Err(self.unexpected());
        }
        self.expect(":")?;
        self.patch_here(into);
        self.terminators();
        while !self.is("}") && !matches!(self.peek(), Tok::Word(Word::Case | Word::Default)) {
            if *self.peek() == Tok::Eof {
                return Err(self.unexpected());
            }
            self.statement()?;
            self.terminators();
        }
        Ok(())
    }

    /// Compiles the comparison with a case's constant.
    fn case_value(&mut self) -> Parsed<()> {
        let negative = self.eat("-");
        if !negative {
            self.eat("+");
        }
        match self.peek().clone() {
            Tok::Number(num) => {
                self.advance();
                self.number(if negative { -num } else { num });
                self.emit(Op::Cmp(super::super::op::Cmp::Eq));
            }
            Tok::Str(text) if !negative => {
                self.advance();
                let value = Value::owned(text, self.meter);
                self.constant(value);
                self.emit(Op::Cmp(super::super::op::Cmp::Eq));
            }
            Tok::Regex(text) if !negative => {
                self.advance();
                let slot = self.regex(text);
                self.emit(Op::MatchConst(slot, false));
            }
            _ => return Err(self.unexpected()),
        }
        Ok(())
    }

    /// Compiles a statement that holds no other.
    fn simple(&mut self) -> Parsed<()> {
        let word = match self.peek() {
            Tok::Word(word) => *word,
            _ => return self.expression_statement(),
        };
        match word {
            Word::Print => self.print(),
            Word::Printf => self.printf(),
            Word::Delete => self.delete(),
            Word::Next | Word::Nextfile => self.next(word),
            Word::Exit => {
                self.advance();
                let status = self.optional_value()?;
                self.emit(Op::Exit(status));
                Ok(())
            }
            Word::Return => {
                if !self.in_function() {
                    let mut error = self.unexpected();
                    error.message = b"`return' used outside function context".to_vec();
                    return Err(error);
                }
                self.advance();
                if !self.optional_value()? {
                    self.uninit();
                }
                self.emit(Op::Return);
                Ok(())
            }
            Word::Break | Word::Continue => self.leave(word),
            _ => self.expression_statement(),
        }
    }

    fn expression_statement(&mut self) -> Parsed<()> {
        self.expression()?;
        self.discard();
        Ok(())
    }

    fn optional_value(&mut self) -> Parsed<bool> {
        if matches!(self.peek(), Tok::Newline | Tok::Eof) || self.is(";") || self.is("}") {
            return Ok(false);
        }
        self.expression()?;
        Ok(true)
    }

    fn next(&mut self, word: Word) -> Parsed<()> {
        let (name, op) = if word == Word::Next {
            ("next", Op::Next)
        } else {
            ("nextfile", Op::NextFile)
        };
        let section = match self.section {
            Section::Begin => "BEGIN",
            Section::End => "END",
            Section::BeginFile if word == Word::Next => "BEGINFILE",
            Section::EndFile => "ENDFILE",
            _ => {
                self.advance();
                self.emit(op);
                return Ok(());
            }
        };
        Err(self.error(format!("`{name}' used in {section} action").as_bytes()))
    }

    fn leave(&mut self, word: Word) -> Parsed<()> {
        let jump = self.emit(Op::Jump(0));
        let open = if word == Word::Break {
            self.loops.last_mut().map(|inner| &mut inner.breaks)
        } else {
            self.loops
                .iter_mut()
                .rev()
                .find_map(|inner| inner.continues.as_mut())
        };
        match open {
            Some(jumps) => jumps.push(jump),
            None if word == Word::Break => {
                return Err(self.error(b"`break' is not allowed outside a loop or switch"));
            }
            None => return Err(self.error(b"`continue' is not allowed outside a loop")),
        }
        self.advance();
        Ok(())
    }

    fn delete(&mut self) -> Parsed<()> {
        self.advance();
        let grouped = self.eat("(");
        let place = self.array_name()?;
        if self.is("[") {
            self.subscript()?;
            self.emit(Op::Delete(place));
        } else {
            self.emit(Op::DeleteAll(place));
        }
        if grouped {
            self.expect(")")?;
        }
        Ok(())
    }
}
