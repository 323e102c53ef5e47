//! Collects the parts of a word, and resolves its braces. Knows no source text.

use smallvec::SmallVec;

use crate::ast::{BraceRange, Part, Word};

/// Braces within braces, at most: each level is a level of the tree.
const MAX_BRACES: usize = 100;

/// Where a byte of unquoted text stands: the part it will be in, and its offset there.
type Mark = (usize, usize);

/// A `{` that may turn out to open a brace expansion.
struct Open {
    at: Mark,
    commas: SmallVec<[Mark; 4]>,
    height: usize,
}

/// Braces were nested too deeply.
pub(super) struct TooManyBraces;

/// Collects the parts of one word.
#[derive(Default)]
pub(super) struct Builder {
    parts: Vec<Part>,
    literal: Vec<u8>,
    quoted: Vec<u8>,
    /// There is quoted text, even if it is empty.
    has_quoted: bool,
    opens: Vec<Open>,
    /// The parts do not show how the word was written.
    pub(super) opaque: bool,
}

impl Builder {
    /// Adds unquoted text.
    pub(super) fn literal(&mut self, text: &[u8]) {
        self.flush_quoted();
        self.literal.extend_from_slice(text);
    }

    /// Adds one byte of unquoted text.
    pub(super) fn literal_byte(&mut self, byte: u8) {
        self.flush_quoted();
        self.literal.push(byte);
    }

    /// Adds quoted text; an empty one counts.
    pub(super) fn quoted(&mut self, text: &[u8]) {
        self.flush_literal();
        self.has_quoted = true;
        self.quoted.extend_from_slice(text);
    }

    /// Adds any other part.
    pub(super) fn part(&mut self, part: Part) {
        self.flush_literal();
        self.flush_quoted();
        self.parts.push(part);
    }

    /// Returns the unquoted text if there is nothing else yet.
    pub(super) fn only_literal(&self) -> Option<&[u8]> {
        (self.parts.is_empty() && !self.has_quoted).then_some(&*self.literal)
    }

    /// Returns the parts.
    pub(super) fn into_parts(mut self) -> Vec<Part> {
        self.flush_literal();
        self.flush_quoted();
        self.parts
    }

    /// Returns whether there is anything but quoted text.
    pub(super) fn has_parts(&self) -> bool {
        !self.parts.is_empty() || !self.literal.is_empty()
    }

    /// Takes the quoted text, when there is nothing else.
    pub(super) fn take_quoted(&mut self) -> Vec<u8> {
        self.has_quoted = false;
        std::mem::take(&mut self.quoted)
    }

    fn flush_literal(&mut self) {
        if !self.literal.is_empty() {
            let text = self.literal.as_slice().into();
            self.literal.clear();
            self.parts.push(Part::Literal(text));
        }
    }

    fn flush_quoted(&mut self) {
        if self.has_quoted {
            let text = self.quoted.as_slice().into();
            self.quoted.clear();
            self.has_quoted = false;
            self.parts.push(Part::Quoted(text));
        }
    }

    fn mark(&mut self) -> Mark {
        self.flush_quoted();
        (self.parts.len(), self.literal.len())
    }

    /// Adds `{`, which may open a brace expansion.
    pub(super) fn open_brace(&mut self) {
        let at = self.mark();
        self.opens.push(Open {
            at,
            commas: SmallVec::new(),
            height: 0,
        });
        self.literal.push(b'{');
    }

    /// Adds `,`, which may separate alternatives.
    pub(super) fn comma(&mut self) {
        let mark = self.mark();
        if let Some(open) = self.opens.last_mut() {
            open.commas.push(mark);
        }
        self.literal.push(b',');
    }

    /// Adds `}`, which may end a brace expansion.
    pub(super) fn close_brace(&mut self) -> Result<(), TooManyBraces> {
        let (part, offset) = self.mark();
        let Some(open) = self.opens.pop() else {
            self.literal.push(b'}');
            return Ok(());
        };
        if open.commas.is_empty() {
            let inner = self.literal.get(open.at.1 + 1..offset);
            let range = inner.filter(|_| open.at.0 == part).and_then(parse_range);
            match range {
                Some(range) => {
                    self.literal.truncate(open.at.1);
                    self.part(Part::BraceRange(range));
                }
                None => self.literal.push(b'}'),
            }
            if let Some(outer) = self.opens.last_mut() {
                outer.height = outer.height.max(open.height);
            }
            return Ok(());
        }
        let height = open.height + 1;
        if height > MAX_BRACES {
            return Err(TooManyBraces);
        }
        if let Some(outer) = self.opens.last_mut() {
            outer.height = outer.height.max(height);
        }
        let alternatives = self.split_alternatives(&open);
        self.parts.push(Part::Braces(alternatives));
        Ok(())
    }

    fn split_alternatives(&mut self, open: &Open) -> Vec<Word> {
        self.flush_literal();
        let tail = self.parts.split_off(open.at.0.min(self.parts.len()));
        let mut cuts = std::iter::once(open.at)
            .chain(open.commas.iter().copied())
            .peekable();
        let mut words: Vec<Word> = Vec::with_capacity(open.commas.len() + 1);
        for (index, part) in tail.into_iter().enumerate() {
            let index = open.at.0 + index;
            let target = |parts: &mut Vec<Part>, words: &mut Vec<Word>, part| match words.last_mut()
            {
                Some(word) => {
                    word.braces |= matches!(part, Part::Braces(_) | Part::BraceRange(_));
                    word.parts.push(part);
                }
                None => parts.push(part),
            };
            let Part::Literal(text) = part else {
                target(&mut self.parts, &mut words, part);
                continue;
            };
            let mut from = 0;
            while let Some((_, offset)) = cuts.next_if(|cut| cut.0 == index) {
                if let Some(piece) = text.get(from..offset).filter(|piece| !piece.is_empty()) {
                    target(&mut self.parts, &mut words, Part::Literal(piece.into()));
                }
                words.push(Word::default());
                from = offset + 1;
            }
            if let Some(piece) = text.get(from..).filter(|piece| !piece.is_empty()) {
                target(&mut self.parts, &mut words, Part::Literal(piece.into()));
            }
        }
        words
    }

    /// Returns the word. Parts of text that unresolved braces left side by side stay so.
    pub(super) fn into_word(self) -> Word {
        let parts = self.into_parts();
        let braces = parts
            .iter()
            .any(|part| matches!(part, Part::Braces(_) | Part::BraceRange(_)));
        Word {
            parts,
            raw: None,
            braces,
        }
    }
}

/// Parses `1..9`, `a..z`, `01..10..2`.
fn parse_range(text: &[u8]) -> Option<BraceRange> {
    let at = find_dots(text)?;
    let from = text.get(..at)?;
    let rest = text.get(at + 2..)?;
    let (to, step) = match find_dots(rest) {
        Some(at) => (rest.get(..at)?, Some(rest.get(at + 2..)?)),
        None => (rest, None),
    };
    let step = step.map_or(Some(1), parse_number)?;
    // The smallest number has no positive counterpart, and bash takes no step of 0.
    let step = if step == 0 || step == i64::MIN {
        1
    } else {
        step
    };
    if let ([from], [to]) = (from, to)
        && from.is_ascii_alphabetic()
        && to.is_ascii_alphabetic()
    {
        return Some(BraceRange {
            from: i64::from(*from),
            to: i64::from(*to),
            step,
            width: 0,
            letters: true,
        });
    }
    let padded = |text: &[u8]| matches!(text, [b'-', b'0', _, ..] | [b'0', _, ..]);
    let width = if padded(from) || padded(to) {
        u32::try_from(from.len().max(to.len())).ok()?
    } else {
        0
    };
    Some(BraceRange {
        from: parse_number(from)?,
        to: parse_number(to)?,
        step,
        width,
        letters: false,
    })
}

fn find_dots(text: &[u8]) -> Option<usize> {
    text.windows(2).position(|pair| pair == b"..")
}

fn parse_number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
