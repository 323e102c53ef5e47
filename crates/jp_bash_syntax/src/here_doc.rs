//! Here-documents: their bodies are read at the next newline and put into the tree afterwards.

use std::sync::Arc;

use memchr::memchr;

use crate::ast::{
    Command, CommandKind, CommandSub, HereDoc, Item, List, Param, ParamOp, ParamTarget, Part,
    Redirect, RedirectKind, Word,
};
use crate::builder::Builder;
use crate::error::SyntaxError;
use crate::reader::{Parse, Reader};
use crate::substitution::late;

/// A here-document whose body was not read yet.
pub(super) struct PendingDoc {
    /// Index of its body in [`Reader::docs`].
    number: usize,
    delimiter: Box<[u8]>,
    quoted: bool,
    strip_tabs: bool,
    line: u32,
}

impl Reader<'_> {
    /// Reads what follows `<<` or `<<-`: the delimiter. The body comes later.
    pub(super) fn here_doc(&mut self, strip_tabs: bool) -> Parse<HereDoc> {
        self.skip_blanks();
        let start = self.pos;
        if self.at_word_end() {
            return Err(self.unexpected());
        }
        let line = self.line();
        self.word()?;
        let raw = self.copy(start, self.pos)?;
        let (delimiter, quoted) = remove_quotes(&raw);
        let number = self.docs.len();
        self.docs.push(Word::default());
        self.pending.push(PendingDoc {
            number,
            delimiter: delimiter.clone().into(),
            quoted,
            strip_tabs,
            line,
        });
        // The number travels in the body until `finish_docs` puts the text there.
        let number = number.to_le_bytes();
        Ok(HereDoc {
            body: Word {
                parts: vec![Part::Quoted(number.as_slice().into())],
                ..Word::default()
            },
            delimiter: delimiter.into(),
            quoted,
            strip_tabs,
        })
    }

    /// Reads the bodies of all pending here-documents, which start here.
    pub(super) fn read_here_docs(&mut self) -> Parse<()> {
        for doc in std::mem::take(&mut self.pending) {
            let word = self.read_here_doc(&doc)?;
            if let Some(slot) = self.docs.get_mut(doc.number) {
                *slot = word;
            }
        }
        Ok(())
    }

    fn read_here_doc(&mut self, doc: &PendingDoc) -> Parse<Word> {
        let mut body = Vec::new();
        let first_line = self.line();
        loop {
            if self.here() == 0 {
                self.warn_unfinished(doc);
                break;
            }
            if self.here_doc_line(doc, &mut body) {
                break;
            }
        }
        self.spend(body.len())?;
        if doc.quoted {
            let parts = if body.is_empty() {
                Vec::new()
            } else {
                vec![Part::Quoted(body.into())]
            };
            return Ok(Word {
                parts,
                ..Word::default()
            });
        }
        let body: Arc<[u8]> = body.into();
        let shown = body.iter().any(|byte| matches!(byte, b'\\' | b'$' | b'`'));
        let raw = shown.then(|| (*body).into());
        let word = self.within(body, first_line, |inner| inner.here_text())?;
        Ok(Word { raw, ..word })
    }

    /// Reads a whole text as in double quotes, where a `"` is text.
    ///
    /// bash looks at it only when it runs, so what is wrong inside becomes a part that fails then.
    pub(super) fn here_text(&mut self) -> Parse<Word> {
        let mut builder = Builder::default();
        loop {
            let rest = self.rest();
            let plain = rest
                .iter()
                .position(|byte| matches!(byte, b'\\' | b'$' | b'`'))
                .unwrap_or(rest.len());
            if plain > 0 {
                builder.quoted(rest.get(..plain).unwrap_or_default());
                self.pos += plain;
            }
            let start = self.pos;
            match self.here() {
                0 => return Ok(builder.into_word()),
                b'\\' if self.ahead(1) == b'"' => {
                    builder.quoted(b"\\\"");
                    self.pos += 2;
                }
                _ => {
                    let result = self.quoted_part(&mut builder);
                    if let (_, Some(error)) = late(result)? {
                        builder.part(self.failed_part(start, error)?);
                        return Ok(builder.into_word());
                    }
                }
            }
        }
    }

    /// Makes a part that fails when it runs.
    fn failed_part(&mut self, start: usize, error: Box<SyntaxError>) -> Parse<Part> {
        let end = self.src.len();
        self.pos = start;
        if self.ahead(1) == b'{' {
            return Ok(Part::Param(Arc::new(Param {
                target: ParamTarget::Special(0),
                subscript: None,
                indirect: false,
                op: ParamOp::Bad,
                text: self.copy(start + 2, end)?,
            })));
        }
        Ok(Part::Command(Arc::new(CommandSub {
            list: List::new(),
            error: Some(error),
            line: 0,
        })))
    }

    /// Adds one line to the body; true if it was the delimiter.
    fn here_doc_line(&mut self, doc: &PendingDoc, body: &mut Vec<u8>) -> bool {
        let start_of_line = body.len();
        let mut first = true;
        loop {
            if doc.strip_tabs && first {
                while self.here() == b'\t' {
                    self.pos += 1;
                }
            }
            first = false;
            let rest = self.rest();
            let end = memchr(b'\n', rest);
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let length = line.len();
            if body.len() == start_of_line && line == &*doc.delimiter {
                self.pos += length + usize::from(end.is_some());
                return true;
            }
            // Within `$( … )` the closing parenthesis may follow the delimiter.
            if self.subs > 0
                && body.len() == start_of_line
                && line.strip_prefix(&*doc.delimiter).and_then(<[u8]>::first) == Some(&b')')
            {
                self.pos += doc.delimiter.len();
                self.warn_unfinished(doc);
                return true;
            }
            let slashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
            let joined = !doc.quoted && slashes % 2 == 1 && end.is_some();
            let kept = line.get(..length - usize::from(joined)).unwrap_or_default();
            body.extend_from_slice(kept);
            self.pos += length + usize::from(end.is_some());
            if joined {
                continue;
            }
            if end.is_some() {
                body.push(b'\n');
            }
            let line = body.get(start_of_line..).unwrap_or_default();
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            // A line joined by backslashes can be the delimiter too.
            if line == &*doc.delimiter {
                body.truncate(start_of_line);
                return true;
            }
            return false;
        }
    }

    fn warn_unfinished(&mut self, doc: &PendingDoc) {
        // The last line, not the nothing after it.
        let ended = self.pos > 0 && self.src.get(self.pos - 1) == Some(&b'\n');
        let line = self.line().saturating_sub(u32::from(ended));
        let mut text = format!("warning: here-document at line {} ", doc.line).into_bytes();
        text.extend_from_slice(b"delimited by end-of-file (wanted `");
        text.extend_from_slice(&doc.delimiter);
        text.extend_from_slice(b"')");
        self.warnings.push((line, text));
    }

    /// Puts the bodies that were read into the commands.
    pub(super) fn finish_docs(&mut self, list: &mut List) -> Parse<()> {
        if !self.pending.is_empty() {
            // The text ended on the line of the `<<`.
            self.read_here_docs()?;
        }
        let mut docs = std::mem::take(&mut self.docs);
        if !docs.is_empty() {
            fill_list(list, &mut docs);
        }
        Ok(())
    }
}

fn fill_list(list: &mut [Item], docs: &mut [Word]) {
    for item in list {
        let rest = item.rest.iter_mut().map(|(_, pipeline)| pipeline);
        for pipeline in std::iter::once(&mut item.first).chain(rest) {
            // Nobody else can have it yet.
            let Some(pipeline) = Arc::get_mut(pipeline) else {
                continue;
            };
            for command in &mut pipeline.commands {
                fill_command(command, docs);
            }
        }
    }
}

fn fill_command(command: &mut Command, docs: &mut [Word]) {
    match &mut command.kind {
        CommandKind::Group(list) => fill_list(list, docs),
        CommandKind::Subshell(list) => {
            if let Some(list) = Arc::get_mut(list) {
                fill_list(list, docs);
            }
        }
        CommandKind::If(node) => {
            for (condition, body) in &mut node.arms {
                fill_list(condition, docs);
                fill_list(body, docs);
            }
            if let Some(list) = &mut node.otherwise {
                fill_list(list, docs);
            }
        }
        CommandKind::While {
            condition, body, ..
        } => {
            fill_list(condition, docs);
            fill_list(body, docs);
        }
        CommandKind::For { body, .. }
        | CommandKind::ForArith { body, .. }
        | CommandKind::Select { body, .. } => fill_list(body, docs),
        CommandKind::Case { arms, .. } => {
            for arm in arms {
                fill_list(&mut arm.body, docs);
            }
        }
        CommandKind::Function(function) => {
            if let Some(function) = Arc::get_mut(function) {
                fill_command(&mut function.body, docs);
            }
        }
        CommandKind::Coproc { body, .. } => {
            if let Some(body) = Arc::get_mut(body) {
                fill_command(body, docs);
            }
        }
        CommandKind::Simple(_) | CommandKind::Arith(_) | CommandKind::Test(_) => {}
    }
    for redirect in &mut command.redirects {
        fill_redirect(redirect, docs);
    }
}

fn fill_redirect(redirect: &mut Redirect, docs: &mut [Word]) {
    let RedirectKind::HereDoc(doc) = &mut redirect.kind else {
        return;
    };
    let Some(Part::Quoted(number)) = doc.body.parts.first() else {
        return;
    };
    let Ok(number) = <[u8; size_of::<usize>()]>::try_from(&**number) else {
        return;
    };
    if let Some(body) = docs.get_mut(usize::from_le_bytes(number)) {
        doc.body = std::mem::take(body);
    }
}

/// Removes the quotes of a delimiter, and says whether there were any.
fn remove_quotes(raw: &[u8]) -> (Vec<u8>, bool) {
    let mut out = Vec::with_capacity(raw.len());
    let mut quoted = false;
    let mut quote = 0;
    let mut bytes = raw.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if quote == 0 => match bytes.next() {
                Some(b'\n') | None => {}
                Some(next) => {
                    quoted = true;
                    out.push(next);
                }
            },
            b'\\' if quote == b'"' => match bytes.peek() {
                Some(next @ (b'$' | b'`' | b'"' | b'\\')) => {
                    out.push(*next);
                    bytes.next();
                }
                _ => out.push(byte),
            },
            b'\'' | b'"' if quote == 0 => {
                quoted = true;
                quote = byte;
            }
            byte if byte == quote => quote = 0,
            b'$' if quote == 0 && matches!(bytes.peek(), Some(b'\'' | b'"')) => {}
            _ => out.push(byte),
        }
    }
    (out, quoted)
}
