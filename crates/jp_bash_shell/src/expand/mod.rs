//! Expansion: from the words of a script to the arguments of a command.
//!
//! Words are trees, so nothing here looks for quotes. The order is bash's: braces, tilde, parameters, commands and
//! arithmetic, splitting, pathnames; quotes are gone since the parser.

pub(crate) mod assign;
mod braces;
pub(crate) mod case;
pub(crate) mod escapes;
mod fields;
mod ops;
mod param;
pub(crate) mod quote;
mod tilde;
pub(crate) mod transform;

use std::rc::Rc;

use jp_bash_syntax::ast::{Arg, AssignValue, Param, ParamOp, ParamTarget, Part, Word};
use jp_bash_syntax::parser::ParseOptions;
use jp_bash_syntax::text::{parse_quoted_text, parse_value_text};

use crate::Shell;
use crate::expand::fields::{Fields, Mode};
use crate::flow::Flow;
use crate::options::Opt;
use crate::pattern::{Pattern, PatternOptions};
use crate::vars::{Attrs, Bytes, Value};

/// Tells whether a literal may be a pattern: a `[` that nothing closes is just that, as in `[ -f x ]`.
fn may_be_pattern(text: &[u8]) -> bool {
    match memchr::memchr3(b'*', b'?', b'[', text) {
        None => false,
        Some(at) => {
            let rest = text.get(at..).unwrap_or_default();
            rest.iter().any(|byte| matches!(byte, b'*' | b'?' | b']'))
        }
    }
}

/// Where a part stands.
#[derive(Debug, Clone, Copy)]
struct Context {
    /// Within double quotes, or where they are implied.
    quoted: bool,
    /// Literal text is split too: the word of `${x:-word}`.
    split_literals: bool,
}

const PLAIN: Context = Context {
    quoted: false,
    split_literals: false,
};

const QUOTED: Context = Context {
    quoted: true,
    split_literals: false,
};

impl Shell<'_> {
    /// Expands the words of a command into its arguments. Assignments become `name=value`; declaration builtins,
    /// which need more, take them from the tree.
    pub(crate) fn expand_args(&mut self, args: &[Arg]) -> Result<Vec<Vec<u8>>, Flow> {
        let mut fields = self.fields(Mode::Split);
        fields.out.reserve(args.len());
        let mut arrays = Vec::new();
        let mut expand = || {
            for arg in args {
                match arg {
                    Arg::Word(word) => self.expand_into(word, &mut fields)?,
                    Arg::Assign(assign) => {
                        if let AssignValue::Array(elements) = &assign.value {
                            // Which kind of array it will be is for the words before it to say.
                            let letter =
                                |letter| {
                                    fields.out.iter().skip(1).any(|word| {
                                        word.starts_with(b"-") && word.contains(&letter)
                                    })
                                };
                            let assoc =
                                letter(b'A') || (!letter(b'a') && self.is_assoc(assign.name));
                            let items = self.expand_elements(assoc, elements)?;
                            arrays.push((fields.out.len(), items));
                        }
                        let text = self.assign_as_text(assign)?;
                        fields.out.push(text);
                    }
                }
            }
            Ok(())
        };
        let done = expand();
        if !arrays.is_empty() {
            self.vars.array_words = arrays;
        }
        self.finish(fields, done)
    }

    /// Expands words into fields (`for x in …`, array literals).
    pub(crate) fn expand_words(&mut self, words: &[Word]) -> Result<Vec<Vec<u8>>, Flow> {
        let mut fields = self.fields(Mode::Split);
        let mut expand = || {
            for word in words {
                self.expand_into(word, &mut fields)?;
            }
            Ok(())
        };
        let done = expand();
        self.finish(fields, done)
    }

    fn finish(&mut self, mut fields: Fields, done: Result<(), Flow>) -> Result<Vec<Vec<u8>>, Flow> {
        fields.settle(&self.kernel.budget);
        done?;
        Ok(fields.out)
    }

    fn fields(&self, mode: Mode) -> Fields {
        Fields::new(mode, self.vars.ifs(), self.options.has(Opt::NoGlob))
    }

    /// Expands one word of a command at the end of the fields.
    fn expand_into(&mut self, word: &Word, fields: &mut Fields) -> Result<(), Flow> {
        if word.braces {
            if self.options.has(Opt::BraceExpand) {
                return self.expand_braces(word, fields);
            }
            // It was read before `set +B` on the same line.
            let raw = word.raw.clone().unwrap_or_default();
            let options = self.parse_options();
            let plain = parse_value_text(&raw, &mut self.kernel.names.borrow_mut(), &options);
            if let Ok(plain) = plain {
                for part in &plain.parts {
                    self.part(part, PLAIN, fields)?;
                }
                return self.end_word(fields);
            }
        }
        match word.parts.as_slice() {
            [Part::Quoted(text)] => {
                fields.out.push(text.to_vec());
                return Ok(());
            }
            [Part::Literal(text)] if !may_be_pattern(text) => {
                fields.out.push(text.to_vec());
                return Ok(());
            }
            _ => {}
        }
        for part in &word.parts {
            self.part(part, PLAIN, fields)?;
        }
        self.end_word(fields)
    }

    /// Ends the last field of a word and replaces patterns by what they match.
    fn end_word(&mut self, fields: &mut Fields) -> Result<(), Flow> {
        fields.end_field(&self.kernel.budget)?;
        if !fields.globs.is_empty() {
            self.expand_globs(fields)?;
        }
        Ok(())
    }

    fn expand_globs(&mut self, fields: &mut Fields) -> Result<(), Flow> {
        let globs = std::mem::take(&mut fields.globs);
        let first = globs.first().map_or(0, |(at, _)| *at);
        let mut globs = globs.into_iter().peekable();
        let tail = fields.out.split_off(usize::min(first, fields.out.len()));
        for (at, field) in (first..).zip(tail) {
            if globs.peek().is_none_or(|(index, _)| *index != at) {
                fields.out.push(field);
                continue;
            }
            let Some((_, pattern)) = globs.next() else {
                continue;
            };
            match self.glob(&pattern)? {
                None => fields.out.push(field),
                Some(found) if !found.is_empty() => {
                    for path in found {
                        fields.count(&self.kernel.budget, path.len())?;
                        fields.out.push(path);
                    }
                }
                Some(_) if self.options.has(Opt::FailGlob) => {
                    self.complain(&[b"no match: ", field.as_slice()].concat())?;
                    return Err(Flow::Abandon(1));
                }
                Some(_) if self.options.has(Opt::NullGlob) => {}
                Some(_) => fields.out.push(field),
            }
        }
        Ok(())
    }

    fn one(&mut self, word: &Word, mode: Mode) -> Result<Vec<u8>, Flow> {
        let mut fields = self.fields(mode);
        let mut expand = || {
            for part in &word.parts {
                self.part(part, PLAIN, &mut fields)?;
            }
            Ok(())
        };
        let done: Result<(), Flow> = expand();
        fields.settle(&self.kernel.budget);
        done?;
        Ok(fields.into_text())
    }

    /// Expands a word into one text: no splitting, no globbing.
    pub(crate) fn expand_one(&mut self, word: &Word) -> Result<Vec<u8>, Flow> {
        match word.parts.as_slice() {
            [] => Ok(Vec::new()),
            [Part::Literal(text) | Part::Quoted(text)] => Ok(text.to_vec()),
            _ => self.one(word, Mode::One),
        }
    }

    /// Expands a word into a variable's text; a plain `$x` is shared, not copied.
    pub(crate) fn expand_value(&mut self, word: &Word) -> Result<Bytes, Flow> {
        match word.parts.as_slice() {
            [] => return Ok(Bytes::EMPTY),
            [Part::Literal(text) | Part::Quoted(text)] => return Ok(Bytes::from(&**text)),
            [Part::Param(param)] => {
                if let Some(text) = self.shared(param) {
                    return Ok(text);
                }
            }
            [Part::Double(parts)] => {
                if let [Part::Param(param)] = parts.as_slice()
                    && let Some(text) = self.shared(param)
                {
                    return Ok(text);
                }
            }
            [Part::Arith(arith)] => return Ok(Bytes::from_int(self.arith(arith)?)),
            _ => {}
        }
        Ok(Bytes::from(self.one(word, Mode::One)?))
    }

    /// Returns the text of a plain `$name` that needs nothing done to it.
    fn shared(&self, param: &Param) -> Option<Bytes> {
        if param.subscript.is_some() || param.indirect || !matches!(param.op, ParamOp::None) {
            return None;
        }
        let ParamTarget::Name(name) = param.target else {
            return None;
        };
        let var = self.vars.get(name)?;
        match &var.value {
            Value::Scalar(text) if !var.attrs.has(Attrs::NAMEREF.with(Attrs::DYNAMIC)) => {
                Some(text.clone())
            }
            _ => None,
        }
    }

    /// Returns the text of a plain `$name` or `$1` that needs nothing done to it.
    pub(crate) fn plain_param(&self, param: &Param) -> Option<&[u8]> {
        if param.subscript.is_some() || param.indirect || !matches!(param.op, ParamOp::None) {
            return None;
        }
        match param.target {
            ParamTarget::Name(name) => {
                let var = self.vars.get(name)?;
                if var.attrs.has(Attrs::NAMEREF.with(Attrs::DYNAMIC)) {
                    return None;
                }
                var.text().map(Bytes::as_slice)
            }
            ParamTarget::Position(n) => self.args.get(n as usize),
            ParamTarget::Special(_) => None,
        }
    }

    /// Expands the body of a here-document: as in double quotes.
    pub(crate) fn expand_here_doc(&mut self, word: &Word) -> Result<Vec<u8>, Flow> {
        let mut fields = self.fields(Mode::One);
        let mut expand = || {
            for part in &word.parts {
                self.part(part, QUOTED, &mut fields)?;
            }
            Ok(())
        };
        let done: Result<(), Flow> = expand();
        fields.settle(&self.kernel.budget);
        done?;
        Ok(fields.into_text())
    }

    /// Expands a text that only exists now, as in double quotes (`PS4`, `${x@P}`, subscripts in text).
    pub(crate) fn expand_text(&mut self, text: &[u8]) -> Result<Vec<u8>, Flow> {
        if !text.iter().any(|byte| matches!(byte, b'$' | b'`' | b'\\')) {
            return Ok(text.to_vec());
        }
        // `x='${x@P}'` comes back here.
        self.kernel.budget.enter()?;
        let result = self.with_command_room(|shell| shell.expand_parsed(text));
        self.kernel.budget.leave();
        result
    }

    fn expand_parsed(&mut self, text: &[u8]) -> Result<Vec<u8>, Flow> {
        let options = self.runtime_parse_options();
        let parsed = parse_quoted_text(text, &mut self.kernel.names.borrow_mut(), &options);
        match parsed {
            Ok(word) => self.expand_here_doc(&word),
            Err(error) => {
                for (_, message) in &error.messages {
                    self.complain(message)?;
                }
                Err(Flow::Abandon(1))
            }
        }
    }

    /// Returns how texts that only exist at run time are parsed.
    pub(crate) fn runtime_parse_options(&self) -> ParseOptions {
        ParseOptions {
            extglob: self.options.has(Opt::ExtGlob),
            first_line: self.line,
            max_depth: 200,
            max_stack: self.parser_stack(),
            asked: self.asked(),
            ..ParseOptions::default()
        }
    }

    /// Tells whether text is UTF-8.
    pub(crate) fn utf8_locale(&self) -> bool {
        self.vars.utf8()
    }

    /// Returns how patterns are read for matching text (`case`, `[[ ]]`, `${x#…}`).
    pub(crate) fn pattern_options(&self) -> PatternOptions {
        PatternOptions {
            extglob: self.options.has(Opt::ExtGlob),
            fold: self.options.has(Opt::NoCaseMatch),
            utf8: self.vars.utf8(),
        }
    }

    /// Expands a word into a pattern, for `case`.
    pub(crate) fn expand_pattern(&mut self, word: &Word) -> Result<Rc<Pattern>, Flow> {
        self.compiled(word, self.pattern_options())
    }

    /// Expands a word into a pattern; the usual constant one is compiled once.
    pub(crate) fn compiled(
        &mut self,
        word: &Word,
        options: PatternOptions,
    ) -> Result<Rc<Pattern>, Flow> {
        if let [Part::Literal(text)] = word.parts.as_slice() {
            return Ok(self
                .kernel
                .patterns
                .get(text, options, &self.kernel.budget)?);
        }
        let text = self.pattern_text(word)?;
        Ok(self
            .kernel
            .patterns
            .get(&text, options, &self.kernel.budget)?)
    }

    pub(crate) fn pattern_text(&mut self, word: &Word) -> Result<Vec<u8>, Flow> {
        self.one(word, Mode::Pattern)
    }

    /// Expands the right side of `=~`: quoted text stands for itself.
    pub(crate) fn expand_regex(&mut self, word: &Word) -> Result<Vec<u8>, Flow> {
        self.one(word, Mode::Regex)
    }

    /// Expands the target of a redirection; more or less than one result is the caller's error ("ambiguous redirect").
    pub(crate) fn expand_redirect(&mut self, word: &Word) -> Result<Vec<Vec<u8>>, Flow> {
        self.expand_words(std::slice::from_ref(word))
    }

    fn part(&mut self, part: &Part, cx: Context, fields: &mut Fields) -> Result<(), Flow> {
        match part {
            Part::Literal(text) if cx.quoted => {
                fields.put_quoted(&self.kernel.budget, text)?;
            }
            Part::Literal(text) if cx.split_literals => {
                fields.put_expanded(&self.kernel.budget, text)?;
            }
            Part::Literal(text) => fields.put_literal(&self.kernel.budget, text)?,
            Part::Quoted(text) => fields.put_quoted(&self.kernel.budget, text)?,
            Part::Double(parts) => {
                for part in parts {
                    self.part(part, QUOTED, fields)?;
                }
            }
            Part::Tilde(text) => {
                let home = self.tilde(text)?;
                fields.put_quoted(&self.kernel.budget, &home)?;
            }
            Part::Param(param) => self.param(param, cx, fields)?,
            Part::Command(command) => {
                let text = self.command_sub(command)?;
                // The status of a command that is only assignments.
                self.substitution_status = Some(self.status);
                self.put(&text, cx, fields)?;
            }
            Part::Arith(arith) => {
                let value = Bytes::from_int(self.arith(arith)?);
                self.put(value.as_slice(), cx, fields)?;
            }
            Part::ProcessIn(list) => {
                let path = self.process_sub(list, true)?;
                fields.put_quoted(&self.kernel.budget, &path)?;
            }
            Part::ProcessOut(list) => {
                let path = self.process_sub(list, false)?;
                fields.put_quoted(&self.kernel.budget, &path)?;
            }
            Part::ExtGlob { kind, alternatives } => {
                fields.put_literal(&self.kernel.budget, &[*kind, b'('])?;
                for (count, word) in alternatives.iter().enumerate() {
                    if count > 0 {
                        fields.put_literal(&self.kernel.budget, b"|")?;
                    }
                    for part in &word.parts {
                        self.part(part, cx, fields)?;
                    }
                }
                fields.put_literal(&self.kernel.budget, b")")?;
                fields.mark_special();
            }
            // Only reached where braces do not expand (assignments, patterns): they stand for themselves there,
            // and the parser leaves none in such words.
            Part::Braces(_) | Part::BraceRange(_) => {}
        }
        Ok(())
    }

    /// Adds the result of an expansion.
    #[inline]
    fn put(&self, text: &[u8], cx: Context, fields: &mut Fields) -> Result<(), Flow> {
        if cx.quoted {
            fields.put_quoted(&self.kernel.budget, text)?;
        } else {
            fields.put_expanded(&self.kernel.budget, text)?;
        }
        Ok(())
    }
}
