//! `print` and `printf`: a list of values, maybe in parentheses, and where it goes.

use super::super::lex::Tok;
use super::super::op::{Dest, Op};
use super::{Parsed, Parser};

impl Parser<'_> {
    /// Compiles `print $0`.
    pub(super) fn print_record(&mut self) {
        self.emit(Op::OutField(0));
        self.emit(Op::OutOrs);
    }

    pub(super) fn print(&mut self) -> Parsed<()> {
        self.advance();
        let (starts, dest) = self.print_list()?;
        if starts.is_empty() {
            if dest == Dest::Stdout {
                self.print_record();
                return Ok(());
            }
            // The name is on the stack already; the record goes below it by a step of its own.
            self.emit(Op::Print(0, dest));
            return Ok(());
        }
        let count = u32::try_from(starts.len()).unwrap_or(u32::MAX);
        if dest == Dest::Stdout
            && let Some(direct) = self.direct(&starts)
        {
            let first = starts.first().copied().unwrap_or(0);
            self.program.ops.truncate(first);
            self.program.lines.truncate(first);
            for (at, op) in direct.into_iter().enumerate() {
                if at > 0 {
                    self.emit(Op::OutOfs);
                }
                self.emit(op);
            }
            self.emit(Op::OutOrs);
            return Ok(());
        }
        self.emit(Op::Print(count, dest));
        Ok(())
    }

    pub(super) fn printf(&mut self) -> Parsed<()> {
        self.advance();
        let (starts, dest) = self.print_list()?;
        if starts.is_empty() {
            return Err(self.error(b"printf: no arguments"));
        }
        let count = u32::try_from(starts.len()).unwrap_or(u32::MAX);
        self.emit(Op::Printf(count, dest));
        Ok(())
    }

    /// Returns the steps that write the arguments straight out, if each is a single load without effects.
    fn direct(&self, starts: &[usize]) -> Option<Vec<Op>> {
        let first = *starts.first()?;
        let ops = self.program.ops.get(first..)?;
        if ops.len() != starts.len() || self.barrier > first {
            return None;
        }
        ops.iter()
            .map(|op| match op {
                Op::Const(slot) => Some(Op::OutConst(*slot)),
                Op::Global(slot) => Some(Op::OutGlobal(*slot)),
                Op::FieldConst(index) => Some(Op::OutField(*index)),
                Op::Special(special) => Some(Op::OutSpecial(*special)),
                _ => None,
            })
            .collect()
    }

    /// Compiles the arguments; returns where the code of each starts.
    fn print_list(&mut self) -> Parsed<(Vec<usize>, Dest)> {
        let mut starts = Vec::new();
        let grouped = self.is("(") && self.group_ends_statement();
        let no_gt = std::mem::replace(&mut self.no_gt, !grouped);
        if grouped {
            self.advance();
            self.newlines();
        }
        let ends = matches!(
            self.peek(),
            Tok::Newline | Tok::Eof | Tok::Op(";" | "}" | ">" | ">>" | "|" | ")")
        );
        if !ends {
            loop {
                starts.push(self.program.ops.len());
                self.expression()?;
                if grouped {
                    self.newlines();
                }
                if !self.eat(",") {
                    break;
                }
                self.newlines();
            }
        }
        if grouped {
            self.expect(")")?;
        }
        self.no_gt = true;
        let dest = self.dest()?;
        self.no_gt = no_gt;
        Ok((starts, dest))
    }

    fn dest(&mut self) -> Parsed<Dest> {
        let dest = match self.peek() {
            Tok::Op(">") => Dest::File,
            Tok::Op(">>") => Dest::Append,
            Tok::Op("|") => Dest::Pipe,
            Tok::Op("|&") => return Err(self.error(b"`|&' (two-way pipes) is not supported")),
            _ => return Ok(Dest::Stdout),
        };
        self.advance();
        self.redirect_name()?;
        Ok(dest)
    }

    /// Tells whether the parenthesis that opens here closes right before the end of the statement or a redirection:
    /// then it holds the list of arguments, else it is the beginning of the first one.
    fn group_ends_statement(&self) -> bool {
        let mut depth = 0_u32;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            match token.tok {
                Tok::Op("(") => depth += 1,
                Tok::Op(")") => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return matches!(
                            self.tokens.get(at + 1).map_or(&Tok::Eof, |next| &next.tok),
                            Tok::Newline | Tok::Eof | Tok::Op(";" | "}" | ">" | ">>" | "|" | "|&")
                        );
                    }
                }
                Tok::Eof => return false,
                _ => {}
            }
        }
        false
    }
}
