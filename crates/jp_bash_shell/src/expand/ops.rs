//! Operators that change a value: parts of it, removals, replacements, case.

use std::rc::Rc;

use jp_bash_syntax::ast::{Arith, Param, ParamOp, Part, Replace, Word};
use jp_bash_system::{PIECE, System};
use smallvec::{SmallVec, smallvec};

use crate::expand::Shell;
use crate::expand::case::{self, CaseChange};
use crate::expand::fields::Mode;
use crate::expand::param::{Held, Subject, Target, count_chars};
use crate::flow::Flow;
use crate::options::Opt;
use crate::pattern::{Length, Pattern};
use crate::vars::subscript::Key;
use crate::vars::{Bytes, Value};

/// How many matches are replaced between two asks.
const MATCHES: usize = 1024;

impl Shell<'_> {
    /// Applies an operator to each element of what a parameter holds.
    pub(super) fn operate(&mut self, param: &Param, subject: Subject) -> Result<Held, Flow> {
        match &param.op {
            ParamOp::Substring { offset, length } => {
                self.substring(param, subject, offset, length.as_ref())
            }
            ParamOp::RemovePrefix { longest, pattern } => {
                let pattern = self.operator_pattern(pattern)?;
                let length = length_of(*longest);
                self.each(subject.held, |shell, text| {
                    let end = pattern.prefix(text, length, &shell.kernel.budget)?;
                    Ok(text.get(end.unwrap_or(0)..).map(Bytes::from))
                })
            }
            ParamOp::RemoveSuffix { longest, pattern } => {
                let pattern = self.operator_pattern(pattern)?;
                let length = length_of(*longest);
                self.each(subject.held, |shell, text| {
                    let start = pattern.suffix(text, length, &shell.kernel.budget)?;
                    Ok(text.get(..start.unwrap_or(text.len())).map(Bytes::from))
                })
            }
            ParamOp::Replace { how, pattern, with } => {
                self.replace(subject.held, *how, pattern, with)
            }
            ParamOp::Case { how, all, pattern } => {
                let change = CaseChange {
                    op: *how,
                    all: *all,
                };
                let pattern = match pattern {
                    Some(word) => Some(self.operator_pattern(word)?),
                    None => None,
                };
                let utf8 = self.utf8();
                self.each(subject.held, |shell, text| {
                    let budget = &shell.kernel.budget;
                    budget.room(text.len().saturating_mul(2))?;
                    let mut out = Vec::with_capacity(text.len());
                    let mut chars = 0_u32;
                    case::change_if(&mut out, text, change, utf8, |c| {
                        chars = chars.wrapping_add(1);
                        if chars.is_multiple_of(1024) {
                            budget.work(8)?;
                        }
                        match &pattern {
                            Some(pattern) => pattern.matches(c, budget),
                            None => Ok(true),
                        }
                    })?;
                    Ok(Some(Bytes::from(out)))
                })
            }
            ParamOp::Transform(op) => self.transform(param, subject, *op),
            _ => Ok(subject.held),
        }
    }

    /// Expands the pattern of an operator.
    fn operator_pattern(&mut self, word: &Word) -> Result<Rc<Pattern>, Flow> {
        let mut options = self.pattern_options();
        // `nocasematch` counts for replacing (below), not for `#` and `%`.
        options.fold = false;
        self.compiled(word, options)
    }

    /// Runs `change` on each text; the result's bytes are counted while they are made.
    pub(super) fn each(
        &mut self,
        held: Held,
        mut change: impl FnMut(&mut Self, &[u8]) -> Result<Option<Bytes>, Flow>,
    ) -> Result<Held, Flow> {
        Ok(match held {
            Held::Nothing => Held::Nothing,
            Held::One(text) => match change(self, text.as_slice())? {
                Some(text) => Held::One(text),
                None => Held::Nothing,
            },
            Held::List { items, star } => {
                let mut changed = Vec::with_capacity(items.len());
                for item in items {
                    self.kernel.budget.work(1)?;
                    changed.extend(change(self, item.as_slice())?);
                }
                Held::List {
                    items: changed,
                    star,
                }
            }
        })
    }

    fn replace(
        &mut self,
        held: Held,
        how: Replace,
        pattern: &Word,
        with: &Word,
    ) -> Result<Held, Flow> {
        let pattern = self.compiled(pattern, self.pattern_options())?;
        let with = self.replacement(with)?;
        self.each(held, |shell, text| {
            let budget = &shell.kernel.budget;
            budget.work_bytes(text.len() / 8)?;
            let mut matches = pattern.find(text, how, budget)?;
            let found = std::mem::take(&mut matches.spans);
            if found.is_empty() {
                return Ok(Some(Bytes::from(text)));
            }
            // Checked before it is made: `${x//a/aaaaaaaaaa}` may be far larger than `x`.
            let size = with.size(text.len(), &found);
            budget.reserve(size)?;
            let mut out = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
            let mut at = 0;
            for some in found.chunks(MATCHES) {
                for (start, end) in some {
                    out.extend_from_slice(text.get(at..*start).unwrap_or_default());
                    with.add(&mut out, text.get(*start..*end).unwrap_or_default());
                    at = *end;
                }
                if some.len() == MATCHES {
                    budget.work_bytes(PIECE)?;
                }
            }
            out.extend_from_slice(text.get(at..).unwrap_or_default());
            budget.release(size);
            matches.settle(budget);
            Ok(Some(Bytes::from(out)))
        })
    }

    /// Expands what `${x/…/with}` puts in.
    fn replacement(&mut self, with: &Word) -> Result<Replacement, Flow> {
        if let [Part::Literal(text) | Part::Quoted(text)] = with.parts.as_slice()
            && memchr::memchr2(b'&', b'\\', text).is_none()
        {
            return Ok(Replacement::plain(text.to_vec()));
        }
        if self.options.has(Opt::PatsubReplacement) {
            let text = self.one(with, Mode::Replacement)?;
            return Ok(Replacement::parse(&text));
        }
        Ok(Replacement::plain(self.expand_one(with)?))
    }

    fn substring(
        &mut self,
        param: &Param,
        subject: Subject,
        offset: &Arith,
        length: Option<&Arith>,
    ) -> Result<Held, Flow> {
        if matches!(subject.held, Held::Nothing) {
            return Ok(Held::Nothing);
        }
        let shown = self.shown_param(param);
        let prefix = [&shown, &b": "[..]].concat();
        let offset = self.arith_as(offset, &prefix)?;
        let count = match length {
            Some(length) => Some((self.arith_as(length, &prefix)?, &*length.text)),
            None => None,
        };
        match subject.held {
            Held::Nothing => Ok(Held::Nothing),
            Held::One(text) => {
                let utf8 = self.utf8();
                let len = count_chars(text.as_slice(), utf8);
                let Some(start) = start_of(offset, len) else {
                    return Ok(Held::One(Bytes::EMPTY));
                };
                let end = match count {
                    None => len,
                    Some((n, _)) if n >= 0 => start.saturating_add(n).min(len),
                    Some((n, shown)) => {
                        let end = len.saturating_add(n);
                        if end < start {
                            return self.negative_length(shown);
                        }
                        end
                    }
                };
                self.kernel.budget.made(text.as_slice().len() as u64)?;
                Ok(Held::One(chars_between(text.as_slice(), start, end, utf8)))
            }
            Held::List { items, star } => {
                if let Some((n, shown)) = count
                    && n < 0
                {
                    return self.negative_length(shown);
                }
                let count = count.map_or(usize::MAX, |(n, _)| usize::try_from(n).unwrap_or(0));
                let items = self.slice(&subject.target, items, offset)?;
                Ok(Held::List {
                    items: items.into_iter().take(count).collect(),
                    star,
                })
            }
        }
    }

    fn negative_length<T>(&mut self, shown: &[u8]) -> Result<T, Flow> {
        self.complain(&[shown, b": substring expression < 0"].concat())?;
        Err(Flow::Abandon(1))
    }

    /// Returns the elements from an offset on: by index for arrays, with `$0` before `$1`.
    fn slice(
        &mut self,
        target: &Target,
        items: Vec<Bytes>,
        offset: i64,
    ) -> Result<Vec<Bytes>, Flow> {
        let Target::Place(place) = target else {
            let len = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let mut all = vec![Bytes::from(&*self.arg0)];
            all.extend(items);
            // A negative offset counts from behind the last; `$0` is only reached by 0 and by exactly as many.
            let Some(start) = start_of(offset, len + 1) else {
                return Ok(Vec::new());
            };
            return Ok(all
                .into_iter()
                .skip(usize::try_from(start).unwrap_or(usize::MAX))
                .collect());
        };
        if !matches!(place.key, Some(Key::At | Key::Star)) {
            return Ok(items);
        }
        match self.value_of(place.name)? {
            Value::Indexed(array) => {
                let end = array.last().map_or(0, |last| last.saturating_add(1));
                let Some(start) = start_of(offset, end) else {
                    return Ok(Vec::new());
                };
                Ok(array
                    .iter()
                    .filter(|(at, _)| *at >= start)
                    .map(|(_, text)| text.clone())
                    .collect())
            }
            Value::Assoc(array) => {
                // Bash counts these from 1.
                let len = i64::try_from(array.len()).unwrap_or(i64::MAX);
                let Some(start) = start_of(offset, len) else {
                    return Ok(Vec::new());
                };
                let skip = usize::try_from(start.max(1) - 1).unwrap_or(usize::MAX);
                Ok(items.into_iter().skip(skip).collect())
            }
            _ => {
                let skip = usize::try_from(start_of(offset, 1).unwrap_or(1)).unwrap_or(1);
                Ok(items.into_iter().skip(skip).collect())
            }
        }
    }
}

fn length_of(longest: bool) -> Length {
    if longest {
        Length::Longest
    } else {
        Length::Shortest
    }
}

/// Returns where a slice starts; nothing if that is outside.
fn start_of(offset: i64, len: i64) -> Option<i64> {
    let start = if offset < 0 {
        len.checked_add(offset)?
    } else {
        offset
    };
    (0..=len).contains(&start).then_some(start)
}

fn chars_between(text: &[u8], start: i64, end: i64, utf8: bool) -> Bytes {
    let (start, end) = (
        usize::try_from(start).unwrap_or(0),
        usize::try_from(end).unwrap_or(0),
    );
    if !utf8 || text.is_ascii() {
        return Bytes::from(text.get(start..end).unwrap_or_default());
    }
    let from = char_place(text, start);
    let rest = text.get(from..).unwrap_or_default();
    let length = char_place(rest, end.saturating_sub(start));
    Bytes::from(rest.get(..length).unwrap_or_default())
}

/// Returns where a character begins, counted from 0; a byte that belongs to none is one of its own.
fn char_place(text: &[u8], number: usize) -> usize {
    let mut left = number;
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        let valid = chunk.valid();
        let count = valid.chars().count();
        if left <= count {
            let inside = valid.char_indices().nth(left);
            return at + inside.map_or(valid.len(), |(place, _)| place);
        }
        left -= count;
        at += valid.len();
        let invalid = chunk.invalid().len();
        if left <= invalid {
            return at + left;
        }
        left -= invalid;
        at += invalid;
    }
    text.len()
}

/// What a match is replaced by.
struct Replacement {
    /// Texts with the match between each two.
    texts: SmallVec<[Vec<u8>; 1]>,
}

impl Replacement {
    fn plain(text: Vec<u8>) -> Self {
        Self {
            texts: smallvec![text],
        }
    }

    /// Reads `&` as the match, `\&` and `\\` as themselves.
    fn parse(text: &[u8]) -> Self {
        let mut texts: SmallVec<[Vec<u8>; 1]> = smallvec![Vec::new()];
        let mut bytes = text.iter().peekable();
        while let Some(byte) = bytes.next() {
            let literal = match byte {
                b'&' => {
                    texts.push(Vec::new());
                    continue;
                }
                b'\\' => match bytes.next_if(|next| matches!(next, b'&' | b'\\')) {
                    Some(next) => *next,
                    None => b'\\',
                },
                byte => *byte,
            };
            if let Some(last) = texts.last_mut() {
                last.push(literal);
            }
        }
        Self { texts }
    }

    fn size(&self, len: usize, found: &[(usize, usize)]) -> u64 {
        let own: u64 = self.texts.iter().map(|text| text.len() as u64).sum();
        let matches = self.texts.len() as u64 - 1;
        let matched: u64 = found.iter().map(|(start, end)| (end - start) as u64).sum();
        (len as u64)
            .saturating_add(own.saturating_mul(found.len() as u64))
            .saturating_add(matched.saturating_mul(matches))
    }

    fn add(&self, out: &mut Vec<u8>, matched: &[u8]) {
        for (count, text) in self.texts.iter().enumerate() {
            if count > 0 {
                out.extend_from_slice(matched);
            }
            out.extend_from_slice(text);
        }
    }
}
