//! Brace expansion: one word after another straight into the fields, each counted before it is made.

use std::sync::Arc;

use jp_bash_syntax::ast::{BraceRange, ParamTarget, Part, Word};
use jp_bash_system::{Limit, Stop};

use crate::Shell;
use crate::expand::PLAIN;
use crate::expand::fields::Fields;
use crate::flow::Flow;
use crate::vars::Bytes;

/// Braces in one word at most; each takes a level of the stack.
const MAX_BRACES: u32 = 300;

/// Parts still to come, as a list on the stack.
#[derive(Clone, Copy)]
struct Rest<'s, 'a> {
    parts: &'a [Part],
    next: Option<&'s Rest<'s, 'a>>,
}

/// A part of the word being built.
enum Piece<'a> {
    Part(&'a Part),
    Text(Vec<u8>),
}

impl Shell<'_> {
    /// Expands a word with braces into several words.
    pub(super) fn expand_braces(&mut self, word: &Word, fields: &mut Fields) -> Result<(), Flow> {
        let rest = Rest {
            parts: &word.parts,
            next: None,
        };
        self.brace_words(rest, &mut Vec::new(), 0, fields)
    }

    fn brace_words<'a>(
        &mut self,
        rest: Rest<'_, 'a>,
        built: &mut Vec<Piece<'a>>,
        depth: u32,
        fields: &mut Fields,
    ) -> Result<(), Flow> {
        if depth > MAX_BRACES {
            return Err(Stop::Limit(Limit::Depth).into());
        }
        let mark = built.len();
        let mut parts = rest.parts;
        let mut next = rest.next;
        let result = loop {
            match parts.split_first() {
                None => match next {
                    Some(more) => {
                        parts = more.parts;
                        next = more.next;
                    }
                    None => break self.brace_word(built, fields),
                },
                Some((Part::Braces(words), tail)) => {
                    let after = Rest { parts: tail, next };
                    break words.iter().try_for_each(|word| {
                        let rest = Rest {
                            parts: &word.parts,
                            next: Some(&after),
                        };
                        self.brace_words(rest, built, depth + 1, fields)
                    });
                }
                Some((Part::BraceRange(range), tail)) => {
                    let after = Rest { parts: tail, next };
                    break self.brace_range(range, after, built, depth, fields);
                }
                Some((part, tail)) => {
                    built.push(Piece::Part(part));
                    parts = tail;
                }
            }
        };
        built.truncate(mark);
        result
    }

    fn brace_range<'a>(
        &mut self,
        range: &BraceRange,
        after: Rest<'_, 'a>,
        built: &mut Vec<Piece<'a>>,
        depth: u32,
        fields: &mut Fields,
    ) -> Result<(), Flow> {
        let step = i128::from(range.step).abs().max(1);
        let (from, to) = (i128::from(range.from), i128::from(range.to));
        let step = if from <= to { step } else { -step };
        let mut at = from;
        while (step > 0 && at <= to) || (step < 0 && at >= to) {
            self.kernel.budget.turns(1)?;
            built.push(Piece::Text(range_text(
                i64::try_from(at).unwrap_or(i64::MAX),
                range,
            )));
            let done = self.brace_words(after, built, depth + 1, fields);
            built.pop();
            done?;
            at += step;
        }
        Ok(())
    }

    /// Expands one word that braces made.
    fn brace_word(&mut self, pieces: &[Piece<'_>], fields: &mut Fields) -> Result<(), Flow> {
        fields.count(&self.kernel.budget, 0)?;
        self.kernel.budget.work(1)?;
        let mut skip = self.brace_tilde(pieces, fields)?;
        for (at, piece) in pieces.iter().enumerate() {
            let text = match piece {
                Piece::Part(Part::Literal(text)) => &**text,
                Piece::Text(text) => text.as_slice(),
                Piece::Part(part) => {
                    let after = pieces.get(at + 1..).unwrap_or_default();
                    if let Some((joined, used)) = self.joined_name(part, after)? {
                        skip = used;
                        self.part(&joined, PLAIN, fields)?;
                    } else {
                        self.part(part, PLAIN, fields)?;
                    }
                    continue;
                }
            };
            if text.is_empty() && matches!(piece, Piece::Text(_)) {
                // The backslash between `Z` and `a` leaves an empty word.
                fields.start();
            }
            let rest = text.get(usize::min(skip, text.len())..).unwrap_or_default();
            skip = skip.saturating_sub(text.len());
            if !rest.is_empty() {
                fields.put_literal(&self.kernel.budget, rest)?;
            }
        }
        self.end_word(fields)
    }

    /// Expands a tilde that only braces brought to the start of the word; returns how much text that used.
    fn brace_tilde(&mut self, pieces: &[Piece<'_>], fields: &mut Fields) -> Result<usize, Flow> {
        let text = leading_text(pieces);
        let Some(name) = text.strip_prefix(b"~") else {
            return Ok(0);
        };
        let end = memchr::memchr(b'/', name).unwrap_or(name.len());
        let name = name.get(..end).unwrap_or_default();
        let home = self.tilde(name)?;
        fields.put_quoted(&self.kernel.budget, &home)?;
        Ok(end + 1)
    }

    /// `$x{1,2}` is `$x1 $x2`: braces come first, so their text can lengthen a name before it.
    fn joined_name(
        &mut self,
        part: &Part,
        after: &[Piece<'_>],
    ) -> Result<Option<(Part, usize)>, Flow> {
        let Part::Param(param) = part else {
            return Ok(None);
        };
        let ParamTarget::Name(name) = param.target else {
            return Ok(None);
        };
        if !param.text.is_empty() {
            return Ok(None);
        }
        let text = leading_text(after);
        let used = text
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
            .unwrap_or(text.len());
        if used == 0 {
            return Ok(None);
        }
        let mut long = self.name_text(name).to_vec();
        long.extend_from_slice(text.get(..used).unwrap_or_default());
        let mut joined = (**param).clone();
        joined.target = ParamTarget::Name(self.intern(&long)?);
        Ok(Some((Part::Param(Arc::new(joined)), used)))
    }
}

/// Returns the unquoted text that pieces start with.
fn leading_text(pieces: &[Piece<'_>]) -> Vec<u8> {
    let mut text = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Part(Part::Literal(more)) => text.extend_from_slice(more),
            Piece::Text(more) => text.extend_from_slice(more),
            Piece::Part(_) => break,
        }
    }
    text
}

fn range_text(value: i64, range: &BraceRange) -> Vec<u8> {
    if range.letters {
        // A backslash between `Z` and `a` quotes nothing and is gone.
        return match u8::try_from(value) {
            Ok(byte) if byte != b'\\' => vec![byte],
            _ => Vec::new(),
        };
    }
    let text = Bytes::from_int(value);
    let text = text.as_slice();
    let width = range.width as usize;
    if text.len() >= width {
        return text.to_vec();
    }
    let (sign, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (&b"-"[..], digits),
        None => (&b""[..], text),
    };
    let mut padded = sign.to_vec();
    padded.resize(width - digits.len(), b'0');
    padded.extend_from_slice(digits);
    padded
}
