//! Parameters: what they hold, and the operators that choose another word.

use jp_bash_syntax::ast::{Param, ParamOp, ParamTarget, Word};
use jp_bash_syntax::names::Name;
use jp_bash_system::System;

use crate::Source;
use crate::expand::fields::{Fields, Mode};
use crate::expand::{Context, Shell};
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::access::is_name;
use crate::vars::subscript::{Key, Place, split_target};
use crate::vars::{Attrs, Bytes, Value};

/// What a parameter holds.
#[derive(Debug, Clone)]
pub(super) enum Held {
    Nothing,
    One(Bytes),
    /// `$@`, `$*`, `${a[@]}`, `${a[*]}`
    List {
        items: Vec<Bytes>,
        star: bool,
    },
}

/// A parameter that was looked up.
pub(super) struct Subject {
    pub(super) held: Held,
    pub(super) target: Target,
}

/// What was looked up, for assignments and messages.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Place(Place),
    Position(u32),
    Special(u8),
    /// `${!x}` where `x` names nothing.
    Nothing,
}

impl Shell<'_> {
    /// Expands a parameter.
    pub(super) fn param(
        &mut self,
        param: &Param,
        cx: Context,
        fields: &mut Fields,
    ) -> Result<(), Flow> {
        if matches!(param.op, ParamOp::None) && param.subscript.is_none() && !param.indirect {
            match param.target {
                ParamTarget::Name(name) => {
                    if let Some(var) = self.vars.get(name)
                        && !var.attrs.has(Attrs::NAMEREF.with(Attrs::DYNAMIC))
                        && let Some(text) = var.text()
                    {
                        return self.put(text.as_slice(), cx, fields);
                    }
                }
                ParamTarget::Position(n) if n > 0 => {
                    if let Some(text) = self.args.get(n as usize) {
                        return self.put(text, cx, fields);
                    }
                }
                _ => {}
            }
        }
        match &param.op {
            ParamOp::Bad => return self.bad_substitution(param),
            ParamOp::Prefix { at } => return self.prefix_names(param, *at, cx, fields),
            ParamOp::Keys => return self.keys(param, cx, fields),
            _ => {}
        }
        let subject = self.subject(param)?;
        self.apply(param, subject, cx, fields)
    }

    fn apply(
        &mut self,
        param: &Param,
        subject: Subject,
        cx: Context,
        fields: &mut Fields,
    ) -> Result<(), Flow> {
        match &param.op {
            ParamOp::None => {
                self.check_set(param, &subject)?;
                self.emit(&subject.held, cx, fields)
            }
            ParamOp::Length => {
                let length = self.length(param, &subject)?;
                self.put(Bytes::from_int(length).as_slice(), cx, fields)
            }
            ParamOp::Default { colon, word } => {
                if missing(&subject.held, *colon) {
                    self.word_into(word, cx, fields)
                } else {
                    self.emit(&subject.held, cx, fields)
                }
            }
            ParamOp::Alternative { colon, word } => {
                if missing(&subject.held, *colon) {
                    if matches!(subject.held, Held::List { star: false, .. }) {
                        // `"${@+x}"` without parameters is no word at all.
                        return Ok(());
                    }
                    self.emit(&Held::Nothing, cx, fields)
                } else {
                    self.word_into(word, cx, fields)
                }
            }
            ParamOp::AssignDefault { colon, word } => {
                if !missing(&subject.held, *colon) {
                    return self.emit(&subject.held, cx, fields);
                }
                self.assign_default(&subject, word, cx, fields)
            }
            ParamOp::Error { colon, word } => {
                if !missing(&subject.held, *colon) {
                    return self.emit(&subject.held, cx, fields);
                }
                self.complain_missing(param, *colon, word.as_ref())
            }
            _ => {
                self.check_set(param, &subject)?;
                let held = self.operate(param, subject)?;
                self.emit(&held, cx, fields)
            }
        }
    }

    /// Expands the word of `${x:-word}` in place: its own quotes count, its plain text is split like an expansion.
    fn word_into(&mut self, word: &Word, cx: Context, fields: &mut Fields) -> Result<(), Flow> {
        if cx.quoted && word.parts.is_empty() {
            fields.start();
        }
        let inner = Context {
            quoted: cx.quoted,
            split_literals: true,
        };
        for part in &word.parts {
            self.part(part, inner, fields)?;
        }
        Ok(())
    }

    fn assign_default(
        &mut self,
        subject: &Subject,
        word: &Word,
        cx: Context,
        fields: &mut Fields,
    ) -> Result<(), Flow> {
        let text = if cx.quoted {
            Bytes::from(self.expand_here_doc(word)?)
        } else {
            self.expand_value(word)?
        };
        let shown = match &subject.target {
            Target::Place(place) => {
                let place = match &place.key {
                    Some(key) => {
                        let shown = self.shown_place(place);
                        match self.writable(place.name, key.clone(), &shown)? {
                            Some(place) => place,
                            None => return Err(Flow::Abandon(1)),
                        }
                    }
                    None => place.clone(),
                };
                self.set_place(&place, text, crate::vars::access::How::Replace)?
                    .or_abandon()?;
                let held = self.place_text(&place)?.map_or(Held::Nothing, Held::One);
                return self.emit(&held, cx, fields);
            }
            Target::Position(n) => format!("${n}").into_bytes(),
            Target::Special(c) => vec![b'$', *c],
            Target::Nothing => Vec::new(),
        };
        self.complain(&[&shown, &b": cannot assign in this way"[..]].concat())?;
        Err(Flow::Abandon(1))
    }

    /// Returns the status with which an error in an expansion ends the shell.
    fn fatal(&self) -> Flow {
        let top = self.source == Source::Text && self.subshell == 0;
        Flow::Exit(if top { 127 } else { 1 })
    }

    fn complain_missing(
        &mut self,
        param: &Param,
        colon: bool,
        word: Option<&Word>,
    ) -> Result<(), Flow> {
        let message = match word {
            Some(word) if !word.parts.is_empty() => self.expand_one(word)?,
            _ if colon => b"parameter null or not set".to_vec(),
            _ => b"parameter not set".to_vec(),
        };
        let shown = self.shown_param(param);
        self.complain(&[&shown, &b": "[..], &message].concat())?;
        Err(self.fatal())
    }

    /// Prints that a substitution is not valid.
    pub(super) fn bad_substitution<T>(&mut self, param: &Param) -> Result<T, Flow> {
        self.complain(&[b"${", &*param.text, b"}: bad substitution"].concat())?;
        Err(Flow::Abandon(1))
    }

    /// Returns a parameter as messages name it.
    pub(super) fn shown_param(&self, param: &Param) -> Vec<u8> {
        let mut shown = match param.target {
            ParamTarget::Name(name) => self.name_text(name).to_vec(),
            ParamTarget::Position(n) => n.to_string().into_bytes(),
            ParamTarget::Special(c) => vec![c],
        };
        if let Some(subscript) = &param.subscript {
            shown.push(b'[');
            shown.extend_from_slice(&subscript.text);
            shown.push(b']');
        }
        shown
    }

    /// Under `set -u`, ends the shell if the parameter is not set.
    fn check_set(&mut self, param: &Param, subject: &Subject) -> Result<(), Flow> {
        if !self.options.has(Opt::NoUnset) || !matches!(subject.held, Held::Nothing) {
            return Ok(());
        }
        let mut shown = self.shown_param(param);
        if matches!(
            param.target,
            ParamTarget::Position(_) | ParamTarget::Special(_)
        ) && param.text.is_empty()
        {
            shown.insert(0, b'$');
        }
        self.complain_unbound(&shown)
    }

    /// Prints that a parameter is not set, and ends the shell.
    pub(crate) fn complain_unbound(&mut self, shown: &[u8]) -> Result<(), Flow> {
        self.complain(&[shown, b": unbound variable"].concat())?;
        Err(self.fatal())
    }

    /// Adds what a parameter holds.
    pub(super) fn emit(
        &mut self,
        held: &Held,
        cx: Context,
        fields: &mut Fields,
    ) -> Result<(), Flow> {
        let budget = &self.kernel.budget;
        match held {
            Held::Nothing => {
                if cx.quoted {
                    fields.start();
                }
            }
            Held::One(text) => self.put(text.as_slice(), cx, fields)?,
            Held::List { items, star } => {
                let joined = fields.mode != Mode::Split || (cx.quoted && *star);
                if joined {
                    let ifs = fields.ifs;
                    let by = if *star { ifs.join() } else { b" " };
                    for (count, item) in items.iter().enumerate() {
                        if count > 0 {
                            self.put(by, cx, fields)?;
                        }
                        self.put(item.as_slice(), cx, fields)?;
                    }
                    if cx.quoted && *star {
                        fields.start();
                    }
                } else {
                    for (count, item) in items.iter().enumerate() {
                        match count {
                            0 => {}
                            _ if cx.quoted => fields.break_field(budget)?,
                            _ => fields.break_unquoted(budget)?,
                        }
                        if count % 1024 == 1023 {
                            budget.work(1)?;
                        }
                        self.put(item.as_slice(), cx, fields)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks a parameter up.
    pub(super) fn subject(&mut self, param: &Param) -> Result<Subject, Flow> {
        if param.indirect {
            return self.indirect(param);
        }
        match param.target {
            ParamTarget::Name(name) => {
                let place = self.resolve(name)?;
                match &param.subscript {
                    None => self.place_subject(place),
                    Some(subscript) => {
                        let key = self.key_of(place.name, subscript)?;
                        self.place_subject(Place {
                            name: place.name,
                            key: Some(key),
                        })
                    }
                }
            }
            ParamTarget::Position(n) => Ok(self.position(n)),
            ParamTarget::Special(c) => Ok(self.special(c)),
        }
    }

    fn place_subject(&mut self, place: Place) -> Result<Subject, Flow> {
        let held = match &place.key {
            Some(key @ (Key::At | Key::Star)) => Held::List {
                items: self.elements(place.name)?,
                star: *key == Key::Star,
            },
            Some(key) => self
                .read_key(place.name, key)?
                .map_or(Held::Nothing, Held::One),
            None => self.place_text(&place)?.map_or(Held::Nothing, Held::One),
        };
        Ok(Subject {
            held,
            target: Target::Place(place),
        })
    }

    /// Returns all elements of a variable, in order; a plain text is one.
    pub(super) fn elements(&mut self, name: Name) -> Result<Vec<Bytes>, Flow> {
        Ok(match self.value_of(name)? {
            Value::None => Vec::new(),
            Value::Scalar(text) => vec![text],
            Value::Indexed(array) => {
                self.kernel
                    .budget
                    .work(u32::try_from(array.len() / 64).unwrap_or(u32::MAX))?;
                array.iter().map(|(_, text)| text.clone()).collect()
            }
            Value::Assoc(array) => {
                self.kernel
                    .budget
                    .work(u32::try_from(array.len() / 64).unwrap_or(u32::MAX))?;
                array.iter().map(|(_, text)| text.clone()).collect()
            }
        })
    }

    fn position(&self, n: u32) -> Subject {
        let text = match n {
            0 => Some(&*self.arg0),
            n => self.args.get(n as usize),
        };
        Subject {
            held: text.map_or(Held::Nothing, |text| Held::One(Bytes::from(text))),
            target: Target::Position(n),
        }
    }

    fn special(&self, c: u8) -> Subject {
        let number = |n: i64| Held::One(Bytes::from_int(n));
        let held = match c {
            b'@' | b'*' => Held::List {
                items: self
                    .args
                    .as_slice()
                    .iter()
                    .map(|a| Bytes::from(a.as_slice()))
                    .collect(),
                star: c == b'*',
            },
            b'#' => number(i64::try_from(self.args.len()).unwrap_or(i64::MAX)),
            b'?' => number(i64::from(self.status)),
            b'$' => number(i64::from(self.shell_pid)),
            b'!' => match self.last_background {
                Some(pid) => number(i64::from(pid)),
                None => Held::Nothing,
            },
            b'-' => {
                let mut letters = self.options.letters();
                match self.source {
                    Source::Text => letters.push(b'c'),
                    Source::Input => letters.push(b's'),
                    Source::File => {}
                }
                Held::One(Bytes::from(letters))
            }
            _ => Held::Nothing,
        };
        Subject {
            held,
            target: Target::Special(c),
        }
    }

    /// `${!x}`: the value of `x` names the parameter.
    fn indirect(&mut self, param: &Param) -> Result<Subject, Flow> {
        let text = match param.target {
            ParamTarget::Name(name)
                if param.subscript.is_none() && self.vars.attrs(name).has(Attrs::NAMEREF) =>
            {
                // For a nameref this is the name it stands for, at the end of the chain.
                let mut text = self.vars.get(name).and_then(|var| var.text().cloned());
                for _ in 0..8 {
                    let next = match &text {
                        Some(text) => self.intern(text.as_slice())?,
                        None => break,
                    };
                    let var = self.vars.get(next);
                    let Some(var) = var.filter(|var| var.attrs.has(Attrs::NAMEREF)) else {
                        break;
                    };
                    text = var.text().cloned();
                }
                return Ok(Subject {
                    held: text.map_or(Held::Nothing, Held::One),
                    target: Target::Nothing,
                });
            }
            _ => {
                let plain = Param {
                    indirect: false,
                    op: ParamOp::None,
                    ..param.clone()
                };
                match self.subject(&plain)?.held {
                    Held::One(text) => Some(text),
                    Held::List { items, .. } => items.into_iter().next(),
                    Held::Nothing => None,
                }
            }
        };
        let Some(text) = text else {
            let shown = self.shown_param(param);
            self.complain(&[&shown, &b": invalid indirect expansion"[..]].concat())?;
            let ends = self.options.has(Opt::ErrExit) && self.tolerant == 0;
            return Err(if ends {
                Flow::Exit(1)
            } else {
                Flow::Abandon(1)
            });
        };
        self.named_subject(text.as_slice())
    }

    /// Looks up the parameter that a text names.
    fn named_subject(&mut self, text: &[u8]) -> Result<Subject, Flow> {
        if let [c @ (b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-')] = text {
            return Ok(self.special(*c));
        }
        if text.iter().all(u8::is_ascii_digit)
            && let Some(n) = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok())
        {
            return Ok(self.position(n));
        }
        if is_name(text) {
            let name = self.intern(text)?;
            let place = self.resolve(name)?;
            return self.place_subject(place);
        }
        match split_target(text) {
            Some((name, Some(subscript))) => {
                let name = self.intern(name)?;
                let place = self.resolve(name)?;
                let key = self.key_of_text(place.name, subscript)?;
                self.place_subject(Place {
                    name: place.name,
                    key: Some(key),
                })
            }
            _ => {
                self.complain(&[text, b": invalid variable name"].concat())?;
                Err(Flow::Abandon(1))
            }
        }
    }

    /// `${!prefix*}`
    fn prefix_names(
        &mut self,
        param: &Param,
        at: bool,
        cx: Context,
        fields: &mut Fields,
    ) -> Result<(), Flow> {
        let ParamTarget::Name(prefix) = param.target else {
            return self.bad_substitution(param);
        };
        let mut found: Vec<Bytes> = {
            let names = self.kernel.names.borrow();
            let prefix = names.text(prefix);
            self.vars
                .all()
                .filter(|(_, var)| var.is_set() || var.attrs.has(Attrs::DYNAMIC))
                .map(|(name, _)| names.text(name))
                .filter(|text| text.starts_with(&prefix))
                .map(|text| Bytes::from(&*text))
                .collect()
        };
        found.sort_by(|a, b| a.as_slice().cmp(b.as_slice()));
        let held = Held::List {
            items: found,
            star: !at,
        };
        self.emit(&held, cx, fields)
    }

    /// `${!a[@]}`
    fn keys(&mut self, param: &Param, cx: Context, fields: &mut Fields) -> Result<(), Flow> {
        let ParamTarget::Name(name) = param.target else {
            return self.bad_substitution(param);
        };
        let place = self.resolve(name)?;
        let items = match self.value_of(place.name)? {
            Value::None => Vec::new(),
            Value::Scalar(_) => vec![Bytes::from_int(0)],
            Value::Indexed(array) => array.iter().map(|(at, _)| Bytes::from_int(at)).collect(),
            Value::Assoc(array) => array.iter().map(|(key, _)| key.clone()).collect(),
        };
        let star = param
            .subscript
            .as_ref()
            .is_some_and(|s| matches!(s.kind, jp_bash_syntax::ast::SubscriptKind::Star));
        self.emit(&Held::List { items, star }, cx, fields)
    }

    fn length(&mut self, param: &Param, subject: &Subject) -> Result<i64, Flow> {
        if param.subscript.is_none() {
            self.check_set(param, subject)?;
        } else if let (ParamTarget::Name(name), Held::List { items, .. }) =
            (&param.target, &subject.held)
            && items.is_empty()
            && self.options.has(Opt::NoUnset)
            && self
                .vars
                .get(*name)
                .is_none_or(|var| matches!(var.value, Value::None))
        {
            // Unlike `${a[@]}`, the length of what was never assigned is an error.
            let shown = self.name_text(*name);
            self.complain_unbound(&shown)?;
        }
        let utf8 = self.utf8();
        Ok(match &subject.held {
            Held::Nothing => 0,
            Held::One(text) => {
                self.kernel.budget.made(text.as_slice().len() as u64)?;
                count_chars(text.as_slice(), utf8)
            }
            Held::List { items, .. } => i64::try_from(items.len()).unwrap_or(i64::MAX),
        })
    }
}

/// Returns how many characters a text has.
pub(super) fn count_chars(text: &[u8], utf8: bool) -> i64 {
    let count = if utf8 && !text.is_ascii() {
        text.utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
            .sum()
    } else {
        text.len()
    };
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Tells whether `:-` and its like take the word.
fn missing(held: &Held, colon: bool) -> bool {
    match held {
        Held::Nothing => true,
        Held::One(text) => colon && text.as_slice().is_empty(),
        Held::List { items, .. } => match items.as_slice() {
            [] => true,
            [one] => colon && one.as_slice().is_empty(),
            _ => false,
        },
    }
}
