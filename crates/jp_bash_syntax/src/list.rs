//! Lists, pipelines, and which command starts where.

use std::sync::Arc;

use crate::ast::{
    AndOr, Command, CommandKind, Item, List, Part, Pipeline, Redirect, RedirectFd, RedirectKind,
    Timed, Word,
};
use crate::reader::{Parse, Reader};

/// Words that are grammar where a command could start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reserved {
    Bang,
    Time,
    Open,
    Close,
    OpenTest,
    CloseTest,
    Case,
    Coproc,
    Do,
    Done,
    Elif,
    Else,
    Esac,
    Fi,
    For,
    Function,
    If,
    In,
    Select,
    Then,
    Until,
    While,
}

impl Reader<'_> {
    /// Returns the reserved word at the current place.
    pub(super) fn reserved(&self) -> Option<Reserved> {
        if !matches!(self.here(), b'a'..=b'z' | b'!' | b'{' | b'}' | b'[' | b']') {
            return None;
        }
        Some(match self.bare_word() {
            b"!" if self.options.extglob && self.ahead(1) == b'(' => return None,
            b"!" => Reserved::Bang,
            b"{" => Reserved::Open,
            b"}" => Reserved::Close,
            b"[[" => Reserved::OpenTest,
            b"]]" => Reserved::CloseTest,
            b"case" => Reserved::Case,
            b"coproc" => Reserved::Coproc,
            b"do" => Reserved::Do,
            b"done" => Reserved::Done,
            b"elif" => Reserved::Elif,
            b"else" => Reserved::Else,
            b"esac" => Reserved::Esac,
            b"fi" => Reserved::Fi,
            b"for" => Reserved::For,
            b"function" => Reserved::Function,
            b"if" => Reserved::If,
            b"in" => Reserved::In,
            b"select" => Reserved::Select,
            b"then" => Reserved::Then,
            b"time" => Reserved::Time,
            b"until" => Reserved::Until,
            b"while" => Reserved::While,
            _ => return None,
        })
    }

    /// Passes a reserved word, or fails at whatever stands there instead.
    pub(super) fn expect(&mut self, wanted: Reserved) -> Parse<()> {
        self.skip_blanks();
        if self.reserved() != Some(wanted) {
            return Err(self.unexpected());
        }
        self.pos = self.bare_end();
        Ok(())
    }

    /// Returns whether a list cannot go on here.
    fn at_list_end(&self) -> bool {
        match self.here() {
            0 | b')' => true,
            b';' => matches!(self.ahead(1), b';' | b'&'),
            _ => matches!(
                self.reserved(),
                Some(
                    Reserved::Then
                        | Reserved::Do
                        | Reserved::Done
                        | Reserved::Fi
                        | Reserved::Elif
                        | Reserved::Else
                        | Reserved::Esac
                        | Reserved::Close
                )
            ),
        }
    }

    /// Reads commands over several lines, at least one.
    pub(super) fn list(&mut self) -> Parse<List> {
        let mut list = List::with_capacity(1);
        loop {
            self.skip_newlines()?;
            if self.at_list_end() {
                break;
            }
            let item = self.item()?;
            list.push(item);
            if !self.separator(&mut list) {
                break;
            }
        }
        if list.is_empty() {
            return Err(self.unexpected());
        }
        Ok(list)
    }

    /// Passes `;`, `&` or sees a newline; false if the list ends instead.
    fn separator(&mut self, list: &mut List) -> bool {
        self.skip_blanks();
        match self.here() {
            b';' if matches!(self.ahead(1), b';' | b'&') => false,
            b';' => {
                self.pos += 1;
                true
            }
            b'&' => {
                self.pos += 1;
                if let Some(item) = list.last_mut() {
                    item.background = true;
                }
                true
            }
            b'\n' => true,
            _ => false,
        }
    }

    /// Reads one line of commands at the top of a script.
    pub(super) fn command_line(&mut self) -> Parse<Option<List>> {
        loop {
            self.skip_newlines()?;
            // An alias may leave nothing but a comment.
            self.alias_or_stay()?;
            match self.here() {
                0 => return Ok(None),
                b'\n' => {}
                _ => break,
            }
        }
        let mut list = List::with_capacity(1);
        loop {
            let item = self.item()?;
            list.push(item);
            let more = self.separator(&mut list);
            self.skip_blanks();
            match self.here() {
                // A newline in the text of an alias does not end the line that the alias stands on.
                b'\n' if self.in_alias() => {
                    self.skip_newlines()?;
                    if self.here() == 0 {
                        break;
                    }
                }
                b'\n' => {
                    self.newline()?;
                    break;
                }
                0 => break,
                _ if more => {}
                _ => return Err(self.unexpected()),
            }
        }
        self.finish_docs(&mut list)?;
        Ok(Some(list))
    }

    /// Reads pipelines joined by `&&` and `||`.
    #[inline(never)]
    fn item(&mut self) -> Parse<Item> {
        let first = self.pipeline()?;
        let mut item = Item {
            first: Arc::new(first),
            rest: Vec::new(),
            background: false,
        };
        loop {
            self.skip_blanks();
            let and_or = match (self.here(), self.ahead(1)) {
                (b'&', b'&') => AndOr::And,
                (b'|', b'|') => AndOr::Or,
                _ => return Ok(item),
            };
            self.pos += 2;
            self.skip_newlines()?;
            let pipeline = self.pipeline()?;
            item.rest.push((and_or, Arc::new(pipeline)));
        }
    }

    #[inline(never)]
    fn pipeline(&mut self) -> Parse<Pipeline> {
        let mut pipeline = Pipeline {
            negated: false,
            timed: None,
            // Most pipelines are one command; a growing vector would reserve four.
            commands: Vec::with_capacity(1),
        };
        if self.pipeline_prefix(&mut pipeline)? {
            return Ok(pipeline);
        }
        loop {
            let command = self.command()?;
            pipeline.commands.push(command);
            self.skip_blanks();
            if self.here() != b'|' || self.ahead(1) == b'|' {
                return Ok(pipeline);
            }
            self.pos += 1;
            if self.here() == b'&' {
                self.pos += 1;
                Self::join_errors(&mut pipeline);
            }
            self.skip_newlines()?;
        }
    }

    /// `|&` is `2>&1 |`.
    fn join_errors(pipeline: &mut Pipeline) {
        if let Some(command) = pipeline.commands.last_mut() {
            command.redirects.push(Redirect {
                fd: RedirectFd::Number(2),
                kind: RedirectKind::DupWrite(Word {
                    parts: vec![Part::Literal(b"1".as_slice().into())],
                    ..Word::default()
                }),
            });
        }
    }

    /// Expands aliases where a command can start.
    pub(super) fn alias_or_stay(&mut self) -> Parse<()> {
        self.skip_blanks();
        while self.expand_alias()? {
            self.skip_blanks();
        }
        self.alias_next = false;
        Ok(())
    }

    /// Reads `!` and `time`; true if no command follows them.
    #[inline(never)]
    fn pipeline_prefix(&mut self, pipeline: &mut Pipeline) -> Parse<bool> {
        let mut any = false;
        loop {
            self.alias_or_stay()?;
            match self.reserved() {
                Some(Reserved::Bang) => {
                    self.pos += 1;
                    pipeline.negated ^= true;
                }
                Some(Reserved::Time) => {
                    self.pos += 4;
                    let timed = self.time_options();
                    pipeline.timed = Some(timed);
                }
                _ => break,
            }
            any = true;
        }
        let at_end = match self.here() {
            0 | b'\n' => true,
            b';' => !matches!(self.ahead(1), b';' | b'&'),
            _ => false,
        };
        Ok(any && at_end)
    }

    fn time_options(&mut self) -> Timed {
        let mut timed = Timed::Plain;
        self.skip_blanks();
        if self.bare_word() == b"-p" {
            timed = Timed::Posix;
            self.pos += 2;
            self.skip_blanks();
        }
        if self.bare_word() == b"--" {
            self.pos += 2;
        }
        timed
    }

    /// Reads one command with its redirections.
    #[inline(never)]
    fn command(&mut self) -> Parse<Command> {
        self.alias_or_stay()?;
        self.node()?;
        let line = self.line();
        let compound = match self.here() {
            b'(' => true,
            // `time` within a pipeline is a command like any other.
            _ => !matches!(self.reserved(), None | Some(Reserved::Time)),
        };
        if !compound {
            return self.simple(line);
        }
        let kind = self.compound()?;
        self.with_redirects(kind, line)
    }

    /// Reads the redirections after a compound command.
    #[inline(never)]
    pub(super) fn with_redirects(&mut self, kind: CommandKind, line: u32) -> Parse<Command> {
        let mut command = Command {
            line,
            kind,
            redirects: Vec::new(),
        };
        // The redirections of a function belong to its body.
        if matches!(command.kind, CommandKind::Function(_)) {
            return Ok(command);
        }
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => command.redirects.push(redirect),
                None => return Ok(command),
            }
        }
    }
}
