//! Words, redirections and tests as text again.

use std::sync::Arc;

use memchr::{memchr, memmem};

use crate::ast::{
    Arg, Assign, AssignValue, HereDoc, Param, ParamTarget, Part, Redirect, RedirectFd,
    RedirectKind, Simple, Subscript, Test, Word,
};
use crate::builder::Builder;
use crate::escapes::decode_ansi_c;
use crate::names::Names;
use crate::parser::ParseOptions;
use crate::print::{Printer, print_list};
use crate::reader::Reader;

impl Printer<'_> {
    pub(super) fn simple(&mut self, simple: &Simple) {
        let mut first = true;
        for assign in &simple.assigns {
            self.space(&mut first);
            self.assign(assign);
        }
        for arg in &simple.words {
            self.space(&mut first);
            match arg {
                Arg::Word(word) => self.word(word),
                Arg::Assign(assign) => self.assign(assign),
            }
        }
    }

    fn space(&mut self, first: &mut bool) {
        if !std::mem::take(first) {
            self.out.push(b' ');
        }
    }

    fn assign(&mut self, assign: &Assign) {
        self.name(assign.name);
        self.subscript(assign.subscript.as_deref());
        self.text(if assign.append { b"+=" } else { b"=" });
        let elements = match &assign.value {
            AssignValue::Scalar(word) => return self.word(word),
            AssignValue::Array(elements) => elements,
        };
        self.out.push(b'(');
        let mut first = true;
        for element in elements {
            self.space(&mut first);
            if element.subscript.is_some() {
                self.subscript(element.subscript.as_deref());
                self.text(if element.append { b"+=" } else { b"=" });
            }
            self.word(&element.value);
        }
        self.out.push(b')');
    }

    fn subscript(&mut self, subscript: Option<&Subscript>) {
        if let Some(subscript) = subscript {
            self.out.push(b'[');
            self.text(&subscript.text);
            self.out.push(b']');
        }
    }

    pub(super) fn words(&mut self, words: &[Word], between: &[u8]) {
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                self.text(between);
            }
            self.word(word);
        }
    }

    pub(super) fn word(&mut self, word: &Word) {
        match &word.raw {
            Some(raw) => {
                let text = reprint(raw);
                self.text(&text);
            }
            None => self.parts(&word.parts),
        }
    }

    /// Prints parts that show how they were written.
    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Literal(text) | Part::Quoted(text) => self.text(text),
                Part::Tilde(text) => {
                    self.out.push(b'~');
                    self.text(text);
                }
                Part::Param(param) => self.param(param),
                Part::Double(inner) => {
                    self.out.push(b'"');
                    self.parts(inner);
                    self.out.push(b'"');
                }
                _ => {}
            }
        }
    }

    fn param(&mut self, param: &Param) {
        self.out.push(b'$');
        match &param.target {
            ParamTarget::Name(name) => self.name(*name),
            ParamTarget::Position(number) => self.text(number.to_string().as_bytes()),
            ParamTarget::Special(byte) => self.out.push(*byte),
        }
    }

    pub(super) fn redirect(&mut self, redirect: &Redirect) {
        let (default, operator, word): (&[u8], &[u8], &Word) = match &redirect.kind {
            RedirectKind::Read(word) => (b"", b"< ", word),
            RedirectKind::Write(word) => (b"", b"> ", word),
            RedirectKind::Clobber(word) => (b"", b">| ", word),
            RedirectKind::Append(word) => (b"", b">> ", word),
            RedirectKind::ReadWrite(word) => (b"0", b"<> ", word),
            RedirectKind::Both(word) => (b"", b"&> ", word),
            RedirectKind::BothAppend(word) => (b"", b"&>> ", word),
            // bash prints closing one way, whichever way it was written.
            RedirectKind::DupRead(word) if is_dash(word) => (b"0", b">&", word),
            RedirectKind::DupRead(word) => (b"0", b"<&", word),
            RedirectKind::DupWrite(word) if is_number(word) => (b"1", b">&", word),
            RedirectKind::DupWrite(word) => (b"", b">&", word),
            RedirectKind::HereString(word) => (b"", b"<<< ", word),
            RedirectKind::HereDoc(doc) => return self.here_doc(&redirect.fd, doc),
        };
        self.redirect_fd(&redirect.fd, default);
        self.text(operator);
        self.word(word);
    }

    fn redirect_fd(&mut self, fd: &RedirectFd, default: &[u8]) {
        match fd {
            RedirectFd::Default => self.text(default),
            RedirectFd::Number(number) => {
                let shown = number.to_string();
                self.text(shown.as_bytes());
            }
            RedirectFd::Variable(name) => {
                self.out.push(b'{');
                self.name(*name);
                self.out.push(b'}');
            }
            RedirectFd::Element(text) => {
                self.out.push(b'{');
                self.text(text);
                self.out.push(b'}');
            }
        }
    }

    fn here_doc(&mut self, fd: &RedirectFd, doc: &HereDoc) {
        self.redirect_fd(fd, b"");
        self.text(if doc.strip_tabs { b"<<-" } else { b"<<" });
        if doc.quoted {
            self.out.push(b'\'');
            self.text(&doc.delimiter);
            self.out.push(b'\'');
        } else {
            self.text(&doc.delimiter);
        }
        let mut body = match &doc.body.raw {
            Some(raw) => raw.to_vec(),
            None => match doc.body.parts.first() {
                Some(Part::Quoted(text)) => text.to_vec(),
                _ => Vec::new(),
            },
        };
        body.extend_from_slice(&doc.delimiter);
        self.docs.push(body);
    }

    pub(super) fn test(&mut self, test: &Test) {
        match test {
            Test::Word(word) => {
                self.text(b"-n ");
                self.word(word);
            }
            Test::Unary(letter, word) => {
                self.text(&[b'-', *letter, b' ']);
                self.word(word);
            }
            Test::Binary(op, left, right) => {
                self.word(left);
                self.out.push(b' ');
                self.text(op.text());
                self.out.push(b' ');
                self.word(right);
            }
            Test::Not(inner) => {
                self.text(b"! ");
                let grouped = matches!(**inner, Test::And(..) | Test::Or(..));
                self.grouped(inner, grouped);
            }
            Test::And(left, right) => {
                self.grouped(left, matches!(**left, Test::Or(..)));
                self.text(b" && ");
                self.grouped(right, matches!(**right, Test::Or(..)));
            }
            Test::Or(left, right) => {
                self.test(left);
                self.text(b" || ");
                self.test(right);
            }
        }
    }

    fn grouped(&mut self, test: &Test, grouped: bool) {
        if grouped {
            self.text(b"( ");
        }
        self.test(test);
        if grouped {
            self.text(b" )");
        }
    }
}

fn is_dash(word: &Word) -> bool {
    matches!(&*word.parts, [Part::Literal(text)] if **text == *b"-")
}

fn is_number(word: &Word) -> bool {
    matches!(&*word.parts, [Part::Literal(text)]
        if text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-'))
}

/// Returns a word as bash shows it: as written, but with the commands of `$( … )` in their printed form.
fn reprint(raw: &[u8]) -> Vec<u8> {
    if [&b"$("[..], b"<(", b">(", b"$'", b"$\""]
        .iter()
        .all(|opening| memmem::find(raw, opening).is_none())
    {
        return raw.to_vec();
    }
    let mut names = Names::default();
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    let mut quoted = false;
    while let Some(&byte) = raw.get(at) {
        let next = raw.get(at + 1).copied().unwrap_or(0);
        let end = match byte {
            b'\\' => at + 2,
            b'\'' if !quoted => skip_to(raw, at, b'\''),
            b'`' => skip_to(raw, at, b'`'),
            b'$' if next == b'\'' && !quoted => {
                at = reprint_ansi_c(raw, at, &mut out);
                continue;
            }
            // bash has translated it already.
            b'$' if next == b'"' && !quoted => {
                at += 1;
                continue;
            }
            b'$' | b'<' | b'>' if next == b'(' && (byte == b'$' || !quoted) => {
                match reprint_sub(raw, at, &mut names, &mut out) {
                    Some(end) => {
                        at = end;
                        continue;
                    }
                    None => at + 1,
                }
            }
            b'"' => {
                quoted = !quoted;
                at + 1
            }
            _ => at + 1,
        };
        let end = end.min(raw.len());
        out.extend_from_slice(raw.get(at..end).unwrap_or_default());
        at = end;
    }
    out
}

fn skip_to(raw: &[u8], at: usize, close: u8) -> usize {
    let rest = raw.get(at + 1..).unwrap_or_default();
    memchr(close, rest).map_or(raw.len(), |length| at + length + 2)
}

/// Prints `$'…'` as bash keeps it, in single quotes, and returns where it ends.
fn reprint_ansi_c(raw: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let start = at + 2;
    let mut end = start;
    while let Some(byte) = raw.get(end) {
        match byte {
            b'\'' => break,
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
    out.push(b'\'');
    for byte in decode_ansi_c(raw.get(start..end).unwrap_or_default()) {
        if byte == b'\'' {
            out.extend_from_slice(b"'\\''");
        } else {
            out.push(byte);
        }
    }
    out.push(b'\'');
    end + 1
}

/// Prints the substitution at a place and returns where it ends.
fn reprint_sub(raw: &[u8], at: usize, names: &mut Names, out: &mut Vec<u8>) -> Option<usize> {
    let options = ParseOptions::default();
    let text: Arc<[u8]> = raw.into();
    let mut reader = Reader::new(text, names, &|_| None, &options);
    reader.pos = at;
    let mut builder = Builder::default();
    if raw.get(at) == Some(&b'$') {
        reader.dollar(&mut builder, false).ok()?;
    } else {
        reader.process_sub(&mut builder).ok()?;
    }
    let end = reader.pos;
    let part = builder.into_parts().into_iter().next()?;
    let list = match &part {
        Part::Command(sub) => &sub.list,
        Part::ProcessIn(list) | Part::ProcessOut(list) => &**list,
        _ => {
            out.extend_from_slice(raw.get(at..end)?);
            return Some(end);
        }
    };
    out.extend_from_slice(raw.get(at..at + 2)?);
    out.extend_from_slice(&print_list(list, names));
    out.push(b')');
    Some(end)
}
