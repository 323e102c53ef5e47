//! Compound commands and functions.

use std::sync::Arc;

use crate::ast::{CaseArm, CaseEnd, Command, CommandKind, Function, If, List, Word};
use crate::error::SyntaxError;
use crate::list::Reserved;
use crate::names::Name;
use crate::reader::{Parse, Reader};
use crate::word::{How, Tilde};

impl Reader<'_> {
    /// Reads a compound command, or fails at a reserved word that starts none.
    #[inline(never)]
    pub(super) fn compound(&mut self) -> Parse<CommandKind> {
        self.enter(1)?;
        let kind = if self.here() == b'(' {
            self.parenthesis()
        } else {
            match self.reserved() {
                Some(Reserved::Open) => self.group(),
                Some(Reserved::If) => self.if_command(),
                Some(Reserved::While) => self.while_command(false),
                Some(Reserved::Until) => self.while_command(true),
                Some(Reserved::For) => self.for_command(),
                Some(Reserved::Select) => self.select_command(),
                Some(Reserved::Case) => self.case_command(),
                Some(Reserved::OpenTest) => self.test_command(),
                Some(Reserved::Function) => self.function_command(),
                Some(Reserved::Coproc) => self.coproc(),
                _ => Err(self.unexpected()),
            }
        }?;
        self.leave(1);
        Ok(kind)
    }

    /// Reads `(( … ))` or `( … )`.
    #[inline(never)]
    fn parenthesis(&mut self) -> Parse<CommandKind> {
        let start = self.pos;
        if self.ahead(1) == b'(' && !self.is_refuted(start) {
            self.pos += 2;
            if let Some(arith) = self.double_paren(start)? {
                return Ok(CommandKind::Arith(Box::new(arith)));
            }
            self.refute(start);
            self.rewind(start)?;
        }
        self.pos += 1;
        let list = self.list()?;
        if self.here() != b')' {
            return Err(self.unexpected());
        }
        self.pos += 1;
        Ok(CommandKind::Subshell(Arc::new(list)))
    }

    #[inline(never)]
    fn group(&mut self) -> Parse<CommandKind> {
        Ok(CommandKind::Group(self.braced_list()?))
    }

    fn braced_list(&mut self) -> Parse<List> {
        self.expect(Reserved::Open)?;
        let list = self.list()?;
        self.expect(Reserved::Close)?;
        Ok(list)
    }

    #[inline(never)]
    fn if_command(&mut self) -> Parse<CommandKind> {
        self.pos += 2;
        let mut node = If {
            arms: Vec::new(),
            otherwise: None,
        };
        loop {
            let condition = self.list()?;
            self.expect(Reserved::Then)?;
            let body = self.list()?;
            node.arms.push((condition, body));
            match self.reserved() {
                Some(Reserved::Elif) => self.pos += 4,
                Some(Reserved::Else) => {
                    self.pos += 4;
                    node.otherwise = Some(self.list()?);
                    break;
                }
                _ => break,
            }
        }
        self.expect(Reserved::Fi)?;
        Ok(CommandKind::If(node))
    }

    #[inline(never)]
    fn while_command(&mut self, until: bool) -> Parse<CommandKind> {
        self.pos += 5;
        let condition = self.list()?;
        let body = self.do_list()?;
        Ok(CommandKind::While {
            until,
            condition,
            body,
        })
    }

    fn do_list(&mut self) -> Parse<List> {
        self.expect(Reserved::Do)?;
        let body = self.list()?;
        self.expect(Reserved::Done)?;
        Ok(body)
    }

    /// Reads the body of `for` and `select`, which may stand in braces.
    fn loop_body(&mut self) -> Parse<List> {
        self.skip_blanks();
        if self.reserved() == Some(Reserved::Open) {
            return self.braced_list();
        }
        self.do_list()
    }

    #[inline(never)]
    fn for_command(&mut self) -> Parse<CommandKind> {
        self.pos += 3;
        self.skip_blanks();
        if self.here() == b'(' && self.ahead(1) == b'(' {
            return self.for_arith();
        }
        let (name, words) = self.loop_head()?;
        let body = self.loop_body()?;
        Ok(CommandKind::For { name, words, body })
    }

    #[inline(never)]
    fn select_command(&mut self) -> Parse<CommandKind> {
        self.pos += 6;
        let (name, words) = self.loop_head()?;
        let body = self.loop_body()?;
        Ok(CommandKind::Select { name, words, body })
    }

    /// Reads `name [in words]` and what ends it.
    #[inline(never)]
    fn loop_head(&mut self) -> Parse<(Name, Option<Vec<Word>>)> {
        self.skip_blanks();
        if self.at_word_end() {
            return Err(self.unexpected());
        }
        let start = self.pos;
        self.word()?;
        let name = self.src.get(start..self.pos).unwrap_or_default();
        let name = self.names.intern(name);
        self.skip_blanks();
        if self.here() == b';' {
            self.pos += 1;
            self.skip_newlines()?;
            return Ok((name, None));
        }
        self.skip_newlines()?;
        if self.bare_word() != b"in" {
            return Ok((name, None));
        }
        self.pos += 2;
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            if self.at_word_end() {
                break;
            }
            words.push(self.word()?);
        }
        match self.here() {
            b';' => self.pos += 1,
            b'\n' => {}
            _ => return Err(self.unexpected()),
        }
        self.skip_newlines()?;
        Ok((name, Some(words)))
    }

    #[inline(never)]
    fn for_arith(&mut self) -> Parse<CommandKind> {
        let opened = self.pos;
        self.pos += 2;
        let Some(mut parts) = self.for_parts(opened)? else {
            self.pos = opened;
            return Err(self.unexpected());
        };
        if parts.len() != 3 {
            return Err(self.bad_for(opened, parts.len()));
        }
        let step = parts.pop().flatten();
        let test = parts.pop().flatten();
        let init = parts.pop().flatten();
        self.skip_blanks();
        if self.here() == b';' {
            self.pos += 1;
        }
        self.skip_newlines()?;
        let body = self.loop_body()?;
        Ok(CommandKind::ForArith {
            init,
            test,
            step,
            body,
        })
    }

    fn bad_for(&mut self, opened: usize, count: usize) -> Box<SyntaxError> {
        let shown = self.slice(opened, self.pos).to_vec();
        let mut error = self.error(if count < 3 {
            "syntax error: arithmetic expression required"
        } else {
            "syntax error: `;' unexpected"
        });
        let line = error.line();
        let second = [b"syntax error: `", &*shown, b"'"].concat();
        error.messages.push((line, second));
        error
    }

    #[inline(never)]
    fn case_command(&mut self) -> Parse<CommandKind> {
        self.pos += 4;
        self.skip_blanks();
        if self.at_word_end() {
            return Err(self.unexpected());
        }
        let subject = self.word_in(How {
            tilde: Tilde::Start,
            ..How::default()
        })?;
        self.skip_newlines()?;
        if self.bare_word() != b"in" {
            return Err(self.unexpected());
        }
        self.pos += 2;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.reserved() == Some(Reserved::Esac) {
                self.pos += 4;
                return Ok(CommandKind::Case { subject, arms });
            }
            let arm = self.case_arm()?;
            arms.push(arm);
        }
    }

    #[inline(never)]
    fn case_arm(&mut self) -> Parse<CaseArm> {
        let patterns = self.case_patterns()?;
        self.skip_newlines()?;
        let empty = self.here() == b';' || self.reserved() == Some(Reserved::Esac);
        let body = if empty { List::new() } else { self.list()? };
        self.skip_blanks();
        let (end, length) = match (self.here(), self.ahead(1), self.ahead(2)) {
            (b';', b';', b'&') => (CaseEnd::TestNext, 3),
            (b';', b';', _) => (CaseEnd::Break, 2),
            (b';', b'&', _) => (CaseEnd::FallThrough, 2),
            _ if self.reserved() == Some(Reserved::Esac) => (CaseEnd::Break, 0),
            _ => return Err(self.unexpected()),
        };
        self.pos += length;
        Ok(CaseArm {
            patterns,
            body,
            end,
        })
    }

    fn case_patterns(&mut self) -> Parse<Vec<Word>> {
        if self.here() == b'(' {
            self.pos += 1;
            self.skip_blanks();
        }
        let mut patterns = Vec::new();
        loop {
            if self.at_word_end() {
                return Err(self.unexpected());
            }
            patterns.push(self.word_in(How {
                tilde: Tilde::Start,
                extglob: self.options.extglob,
                ..How::default()
            })?);
            self.skip_blanks();
            match self.here() {
                b'|' if self.ahead(1) != b'|' => self.pos += 1,
                b')' => {
                    self.pos += 1;
                    return Ok(patterns);
                }
                _ => return Err(self.unexpected()),
            }
            self.skip_blanks();
        }
    }

    /// Reads `function name [()] body`.
    #[inline(never)]
    fn function_command(&mut self) -> Parse<CommandKind> {
        self.pos += 8;
        self.skip_blanks();
        if self.at_word_end() {
            return Err(self.unexpected());
        }
        let start = self.pos;
        let line = self.line();
        self.word()?;
        let name = self.copy(start, self.pos)?;
        self.skip_blanks();
        if self.here() == b'(' && self.at_empty_parens() {
            self.empty_parens()?;
        }
        self.function_body(name, line)
    }

    /// Returns whether `()` stands here: any other parenthesis is the body.
    fn at_empty_parens(&self) -> bool {
        let rest = self.rest().get(1..).unwrap_or_default();
        rest.iter().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b')')
    }

    fn empty_parens(&mut self) -> Parse<()> {
        self.pos += 1;
        self.skip_blanks();
        if self.here() != b')' {
            return Err(self.unexpected());
        }
        self.pos += 1;
        Ok(())
    }

    /// Reads `() body` after a name.
    #[inline(never)]
    pub(super) fn function_after_name(&mut self, start: usize, line: u32) -> Parse<CommandKind> {
        let name = self.copy(start, self.pos)?;
        self.skip_blanks();
        self.empty_parens()?;
        self.enter(1)?;
        let kind = self.function_body(name, line)?;
        self.leave(1);
        Ok(kind)
    }

    #[inline(never)]
    fn function_body(&mut self, name: Box<[u8]>, line: u32) -> Parse<CommandKind> {
        self.skip_newlines()?;
        self.alias_or_stay()?;
        let body_line = self.line();
        let is_compound = self.here() == b'('
            || matches!(
                self.reserved(),
                Some(
                    Reserved::Open
                        | Reserved::If
                        | Reserved::While
                        | Reserved::Until
                        | Reserved::For
                        | Reserved::Select
                        | Reserved::Case
                        | Reserved::OpenTest
                )
            );
        if !is_compound {
            return Err(self.unexpected());
        }
        let before = self.nodes;
        let kind = self.compound()?;
        let body = self.with_redirects(kind, body_line)?;
        Ok(CommandKind::Function(Arc::new(Function {
            name,
            body,
            line,
            source: Arc::clone(&self.options.source),
            nodes: self.nodes.saturating_sub(before),
        })))
    }

    #[inline(never)]
    fn coproc(&mut self) -> Parse<CommandKind> {
        self.pos += 6;
        self.skip_blanks();
        let start = self.pos;
        let mut name = self.names.intern(b"COPROC");
        if self.reserved().is_none() && !self.at_word_end() {
            self.word()?;
            let end = self.pos;
            // Not beyond the end of an alias: this may have to be read again.
            while matches!(self.here(), b' ' | b'\t') {
                self.pos += 1;
            }
            let named = self.at_compound();
            if named {
                let text = self.src.get(start..end).unwrap_or_default();
                name = self.names.intern(text);
            } else {
                self.rewind(start)?;
            }
        }
        let line = self.line();
        let body = if self.at_compound() {
            let kind = self.compound()?;
            self.with_redirects(kind, line)?
        } else {
            self.simple(line)?
        };
        Ok(coproc(name, body))
    }

    fn at_compound(&self) -> bool {
        self.here() == b'('
            || !matches!(
                self.reserved(),
                None | Some(
                    Reserved::Time | Reserved::Bang | Reserved::Coproc | Reserved::Function
                )
            )
    }
}

fn coproc(name: Name, body: Command) -> CommandKind {
    CommandKind::Coproc {
        name,
        body: Arc::new(body),
    }
}
