//! `set -x` and `set -v`.

use jp_bash_syntax::ast::{Arith, Assign, AssignValue, Command, ParamTarget, Part, Word};
use jp_bash_syntax::names::{Name, Names};
use jp_bash_system::{SysError, System};

use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::known;

impl Shell<'_> {
    /// Prints one line of `set -x`.
    fn trace_line(&mut self, text: &[u8]) -> Result<(), Flow> {
        let mut line = self.trace_prefix()?;
        line.extend_from_slice(text);
        line.push(b'\n');
        let fd = self
            .vars
            .text(known::BASH_XTRACEFD)
            .and_then(|text| std::str::from_utf8(text).ok()?.parse().ok())
            .filter(|fd| self.fds.get(*fd).is_some())
            .unwrap_or(2);
        match self.write(fd, &line) {
            Err(SysError::Stop(stop)) => Err(stop.into()),
            _ => Ok(()),
        }
    }

    /// Returns `PS4` expanded, its first character once for each level of `$( )` and `eval`.
    fn trace_prefix(&mut self) -> Result<Vec<u8>, Flow> {
        let Some(ps4) = self.var_text(known::PS4)? else {
            return Ok(Vec::new());
        };
        let text = if ps4
            .as_slice()
            .iter()
            .any(|byte| matches!(byte, b'$' | b'`' | b'\\'))
        {
            // The prefix's own commands are not traced, and leave `$?` alone.
            let (status, options) = (self.status, self.options);
            self.options.set(Opt::XTrace, false);
            let result = self.prompt(ps4.as_slice());
            self.options.set(Opt::XTrace, options.has(Opt::XTrace));
            self.status = status;
            result?
        } else {
            ps4.as_slice().to_vec()
        };
        let first = match text.first() {
            None => return Ok(text),
            Some(first) if first.is_ascii() => 1,
            Some(_) => std::str::from_utf8(&text)
                .ok()
                .and_then(|text| text.chars().next())
                .map_or(1, char::len_utf8),
        };
        let level = usize::try_from(self.trace_level).unwrap_or(0);
        let mut out = text.get(..first).unwrap_or_default().repeat(level);
        out.extend_from_slice(&text);
        Ok(out)
    }

    pub(super) fn trace_words(&mut self, words: &[Vec<u8>]) -> Result<(), Flow> {
        // Arrays of `declare` are shown first, as assignments of their own.
        let arrays = std::mem::take(&mut self.vars.array_words);
        let name_of = |at: usize| {
            let word = words.get(at).map_or(&b""[..], Vec::as_slice);
            let end = word.iter().position(|byte| matches!(byte, b'=' | b'+'));
            word.get(..end.unwrap_or(word.len())).unwrap_or_default()
        };
        for (at, items) in &arrays {
            let mut line = [name_of(*at), b"=("].concat();
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    line.push(b' ');
                }
                item.show(&mut line);
            }
            line.push(b')');
            self.trace_line(&line)?;
        }
        let mut line = Vec::new();
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                line.push(b' ');
            }
            if arrays.iter().any(|(place, _)| *place == at) {
                line.extend_from_slice(name_of(at));
            } else {
                push_quoted(&mut line, word);
            }
        }
        self.vars.array_words = arrays;
        self.trace_line(&line)?;
        if matches!(
            words.first().map(Vec::as_slice),
            Some(b"export" | b"readonly")
        ) {
            for word in words.iter().skip(1) {
                let at = memchr::memchr(b'=', word).filter(|_| !word.starts_with(b"-"));
                if let Some((name, value)) = at.and_then(|at| word.split_at_checked(at + 1)) {
                    let mut line = name.to_vec();
                    push_quoted(&mut line, value);
                    self.trace_line(&line)?;
                }
            }
        }
        Ok(())
    }

    fn assign_head(&self, assign: &Assign) -> Vec<u8> {
        let mut line = self.name_text(assign.name).to_vec();
        if let Some(subscript) = &assign.subscript {
            line.extend_from_slice(&[b"[", &*subscript.text, b"]"].concat());
        }
        line.extend_from_slice(if assign.append { b"+=" } else { b"=" });
        line
    }

    pub(super) fn trace_scalar(&mut self, assign: &Assign, value: &[u8]) -> Result<(), Flow> {
        let mut line = self.assign_head(assign);
        if !value.is_empty() {
            push_quoted(&mut line, value);
        }
        self.trace_line(&line)
    }

    pub(super) fn trace_element(&mut self, assign: &Assign, word: &Word) -> Result<(), Flow> {
        let value = self.expand_again(word)?;
        self.trace_scalar(assign, &value)
    }

    pub(super) fn trace_array(&mut self, assign: &Assign) -> Result<(), Flow> {
        let AssignValue::Array(elements) = &assign.value else {
            return Ok(());
        };
        let mut line = self.assign_head(assign);
        line.push(b'(');
        let names = self.kernel.names.borrow();
        for (at, element) in elements.iter().enumerate() {
            if at > 0 {
                line.push(b' ');
            }
            if let Some(subscript) = &element.subscript {
                line.extend_from_slice(&[b"[", &*subscript.text, b"]="].concat());
            }
            line.extend_from_slice(&word_text(&element.value, &names));
        }
        drop(names);
        line.push(b')');
        self.trace_line(&line)
    }

    /// Expands a word for show; what runs in it would run twice, so only plain words are.
    fn expand_again(&mut self, word: &Word) -> Result<Vec<u8>, Flow> {
        let plain = word.parts.iter().all(|part| {
            !matches!(
                part,
                jp_bash_syntax::ast::Part::Command(_)
                    | jp_bash_syntax::ast::Part::Arith(_)
                    | jp_bash_syntax::ast::Part::ProcessIn(_)
                    | jp_bash_syntax::ast::Part::ProcessOut(_)
            )
        });
        if plain {
            self.expand_one(word)
        } else {
            Ok(Vec::new())
        }
    }

    pub(super) fn trace_for(
        &mut self,
        command: &Command,
        name: Name,
        words: Option<&[Word]>,
    ) -> Result<(), Flow> {
        if self.has_debug_trap() {
            self.run_debug_trap(command)?;
        }
        self.trace_loop(b"for ", name, words)
    }

    /// Shows the head of `select`, if `set -x` is on.
    pub(super) fn trace_select(&mut self, name: Name, words: Option<&[Word]>) -> Result<(), Flow> {
        self.trace_loop(b"select ", name, words)
    }

    fn trace_loop(
        &mut self,
        keyword: &[u8],
        name: Name,
        words: Option<&[Word]>,
    ) -> Result<(), Flow> {
        if !self.options.has(Opt::XTrace) {
            return Ok(());
        }
        let names = self.kernel.names.borrow();
        let mut line = [keyword, &*names.text(name), b" in"].concat();
        match words {
            None => line.extend_from_slice(b" \"$@\""),
            Some(words) => {
                for word in words {
                    line.push(b' ');
                    line.extend_from_slice(&word_text(word, &names));
                }
            }
        }
        drop(names);
        self.trace_line(&line)
    }

    pub(super) fn trace_arith(&mut self, arith: &Arith) -> Result<(), Flow> {
        let text = [b"(( ", arith.text.trim_ascii(), b" ))"].concat();
        self.trace_line(&text)
    }

    /// Shows one test of `[[ ]]`, if `set -x` is on.
    pub(crate) fn trace_test(&mut self, words: &[&[u8]]) -> Result<(), Flow> {
        if !self.options.has(Opt::XTrace) {
            return Ok(());
        }
        let mut line = b"[[".to_vec();
        if std::mem::take(&mut self.trace_not) {
            line.extend_from_slice(b" !");
        }
        for word in words {
            line.push(b' ');
            line.extend_from_slice(if word.is_empty() { b"''" } else { word });
        }
        line.extend_from_slice(b" ]]");
        self.trace_line(&line)
    }

    pub(super) fn trace_case(&mut self, subject: &Word) -> Result<(), Flow> {
        let mut line = b"case ".to_vec();
        line.extend_from_slice(&word_text(subject, &self.kernel.names.borrow()));
        line.extend_from_slice(b" in");
        self.trace_line(&line)
    }
}

/// Quotes a word as `set -x` shows it: only where a shell would read it differently.
pub(crate) fn push_quoted(out: &mut Vec<u8>, word: &[u8]) {
    let odd = |byte: &u8| byte.is_ascii_control() && *byte != b'\n' && *byte != b'\t';
    let special = |byte: &u8| {
        matches!(
            byte,
            b' ' | b'\t'
                | b'\n'
                | b'\''
                | b'"'
                | b'\\'
                | b'|'
                | b'&'
                | b';'
                | b'('
                | b')'
                | b'<'
                | b'>'
                | b'!'
                | b'{'
                | b'}'
                | b'*'
                | b'['
                | b'?'
                | b']'
                | b'^'
                | b'$'
                | b'`'
        )
    };
    if word.is_empty() {
        out.extend_from_slice(b"''");
    } else if word == b"'" {
        out.extend_from_slice(b"\\'");
    } else if word.iter().any(odd) || std::str::from_utf8(word).is_err() {
        push_ansi(out, word);
    } else if word.iter().any(special)
        || matches!(word.first(), Some(b'#' | b'~'))
        || word.windows(2).any(|pair| matches!(pair, b":~" | b"=~"))
    {
        out.push(b'\'');
        for byte in word {
            if *byte == b'\'' {
                out.extend_from_slice(b"'\\''");
            } else {
                out.push(*byte);
            }
        }
        out.push(b'\'');
    } else {
        out.extend_from_slice(word);
    }
}

fn push_ansi(out: &mut Vec<u8>, word: &[u8]) {
    out.extend_from_slice(b"$'");
    for byte in word {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            7 => out.extend_from_slice(b"\\a"),
            8 => out.extend_from_slice(b"\\b"),
            11 => out.extend_from_slice(b"\\v"),
            12 => out.extend_from_slice(b"\\f"),
            27 => out.extend_from_slice(b"\\E"),
            b'\'' => out.extend_from_slice(b"\\'"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            byte if byte.is_ascii_graphic() || *byte == b' ' => out.push(*byte),
            byte => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out.push(b'\'');
}

/// Returns a word as it was written.
pub(crate) fn word_text(word: &Word, names: &Names) -> Vec<u8> {
    if let Some(raw) = &word.raw {
        return raw.to_vec();
    }
    let mut out = Vec::new();
    for part in &word.parts {
        part_text(&mut out, part, names);
    }
    out
}

fn part_text(out: &mut Vec<u8>, part: &Part, names: &Names) {
    match part {
        Part::Literal(text) | Part::Quoted(text) => out.extend_from_slice(text),
        Part::Tilde(text) => {
            out.push(b'~');
            out.extend_from_slice(text);
        }
        Part::Double(parts) => {
            out.push(b'"');
            for part in parts {
                part_text(out, part, names);
            }
            out.push(b'"');
        }
        Part::Param(param) => {
            out.push(b'$');
            if !param.text.is_empty() {
                out.extend_from_slice(&[b"{", &*param.text, b"}"].concat());
                return;
            }
            match param.target {
                ParamTarget::Name(name) => out.extend_from_slice(&names.text(name)),
                ParamTarget::Position(n) => out.extend_from_slice(n.to_string().as_bytes()),
                ParamTarget::Special(byte) => out.push(byte),
            }
        }
        _ => {}
    }
}
