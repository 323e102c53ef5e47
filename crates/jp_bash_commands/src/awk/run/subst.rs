//! Matching and replacing: `match`, `sub`, `gsub`, `gensub`.

use std::borrow::Cow;

use jp_bash_regex::Regex;
use jp_bash_system::Stop;
use smallvec::{SmallVec, smallvec};

use super::super::array::Key;
use super::super::chars;
use super::super::op::{Place, Target};
use super::super::value::Value;
use super::{Ran, Vm};

type Groups = Vec<Option<(usize, usize)>>;

/// So many bytes are changed in place before the run is asked, and how much work that is.
const PIECE: usize = 32 << 10;
const PIECE_UNITS: u32 = 32;

/// A piece of a replacement.
enum Piece<'t> {
    Text(Cow<'t, [u8]>),
    Group(usize),
}

/// The pieces of a replacement: mostly one.
type Pieces<'t> = SmallVec<[Piece<'t>; 1]>;

/// Reads a replacement of `sub` and `gsub`: `&` is the match, `\&` an ampersand, `\\&` a backslash and the match.
fn pieces(text: &[u8], groups: bool) -> Pieces<'_> {
    if memchr::memchr2(b'&', b'\\', text).is_none() {
        return smallvec![Piece::Text(Cow::Borrowed(text))];
    }
    let mut out = SmallVec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let next = text.get(at + 1).copied();
        match (byte, next) {
            (b'\\', Some(b'&')) => {
                plain.push(b'&');
                at += 2;
            }
            (b'\\', Some(b'\\')) if groups || text.get(at + 2) == Some(&b'&') => {
                plain.push(b'\\');
                at += 2;
            }
            (b'\\', Some(digit @ b'0'..=b'9')) if groups => {
                out.push(Piece::Text(Cow::Owned(std::mem::take(&mut plain))));
                out.push(Piece::Group(usize::from(digit - b'0')));
                at += 2;
            }
            (b'&', _) => {
                out.push(Piece::Text(Cow::Owned(std::mem::take(&mut plain))));
                out.push(Piece::Group(0));
                at += 1;
            }
            _ => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    out.push(Piece::Text(Cow::Owned(plain)));
    out
}

/// Which matches are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Number(u64),
}

/// Replaces a byte wherever it is; returns how often.
#[inline]
fn replace_in(text: &mut [u8], old: u8, new: u8) -> u64 {
    let count = text.iter().filter(|byte| **byte == old).count();
    if count > 0 {
        for byte in text {
            *byte = if *byte == old { new } else { *byte };
        }
    }
    count as u64
}

impl Vm<'_> {
    /// Replaces matches; returns how many there were. Without one, `out` is not the new text.
    fn replace(
        &mut self,
        text: &[u8],
        regex: &Regex,
        pieces: &[Piece<'_>],
        which: Which,
        out: &mut Vec<u8>,
    ) -> Ran<u64> {
        let with_groups = pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Group(n) if *n > 0));
        if let (Some(_), [Piece::Text(new)], Which::All) = (regex.literal(), pieces, which) {
            return self.replace_text(text, regex, new, out);
        }
        let mut groups: Groups = Vec::new();
        let (mut at, mut copied, mut seen, mut replaced) = (0, 0, 0_u64, 0_u64);
        let mut last_end = None;
        while at <= text.len() {
            let found = if with_groups {
                regex.captures_at(self.sys, text, at, &mut groups)?;
                groups.first().copied().flatten()
            } else {
                regex.find_at(self.sys, text, at)?
            };
            let Some((start, end)) = found else {
                break;
            };
            let step = if start == end {
                chars::len(text.get(end..).unwrap_or_default()).max(1)
            } else {
                0
            };
            // An empty match right behind another is none.
            if start == end && last_end == Some(start) {
                at = end + step;
                last_end = None;
                continue;
            }
            last_end = Some(end);
            seen += 1;
            if which == Which::All || which == Which::Number(seen) {
                replaced += 1;
                out.extend_from_slice(text.get(copied..start).unwrap_or_default());
                for piece in pieces {
                    let piece = match piece {
                        Piece::Text(text) => text,
                        Piece::Group(0) => text.get(start..end).unwrap_or_default(),
                        Piece::Group(number) => groups
                            .get(*number)
                            .copied()
                            .flatten()
                            .and_then(|(start, end)| text.get(start..end))
                            .unwrap_or_default(),
                    };
                    out.extend_from_slice(piece);
                }
                copied = end;
                if out.len() > 1 << 16 {
                    self.claim(out.len().saturating_mul(2))?;
                }
                if which != Which::All {
                    break;
                }
            }
            at = end + step;
            if start == end {
                last_end = None;
            }
        }
        if replaced > 0 {
            out.extend_from_slice(text.get(copied..).unwrap_or_default());
            self.claim(out.len())?;
        }
        Ok(replaced)
    }

    /// Replaces a text by a text, as [`Vm::replace`].
    fn replace_text(
        &mut self,
        text: &[u8],
        old: &Regex,
        new: &[u8],
        out: &mut Vec<u8>,
    ) -> Ran<u64> {
        let (mut copied, mut replaced) = (0, 0);
        while let Some((start, end)) = old.find_at(self.sys, text, copied)? {
            out.extend_from_slice(text.get(copied..start).unwrap_or_default());
            out.extend_from_slice(new);
            copied = end;
            replaced += 1;
            if out.len() > 1 << 16 {
                self.claim(out.len().saturating_mul(2))?;
            }
        }
        if replaced > 0 {
            out.extend_from_slice(text.get(copied..).unwrap_or_default());
            self.claim(out.len())?;
        }
        Ok(replaced)
    }

    pub(super) fn substitute(&mut self, target: Target, global: bool) -> Ran<()> {
        let index = self.index_of(target);
        let replacement = self.pop();
        let pattern = self.pop();
        let regex = self.regex(&pattern)?;
        let replacement = self.text(&replacement);
        let replacement = pieces(&replacement, false);
        let which = if global { Which::All } else { Which::Number(1) };
        let count = if target == Target::Field && matches!(index, Value::Num(0.0)) {
            self.replace_record(&regex, &replacement, which)?
        } else {
            let value = self.get(target, &index)?;
            let text = self.to_string(&value);
            let text = text.text().unwrap_or_default();
            let mut out = Vec::with_capacity(text.len() + 16);
            let count = self.replace(text, &regex, &replacement, which, &mut out)?;
            if count > 0 {
                let value = Value::owned(out, &self.meter);
                self.set(target, &index, value)?;
            }
            count
        };
        #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 matches")]
        self.stack.push(Value::Num(count as f64));
        Ok(())
    }

    /// Replaces in `$0`, between two buffers that change places.
    fn replace_record(&mut self, regex: &Regex, pieces: &[Piece<'_>], which: Which) -> Ran<u64> {
        self.fresh_record()?;
        if let (Some(old), [Piece::Text(new)], Which::All) = (regex.literal(), pieces, which)
            && let (Some(old), [new]) = (old.byte(), &**new)
        {
            return self.replace_byte(old, *new);
        }
        let text = self.record.take();
        let mut out = std::mem::take(&mut self.spare);
        out.clear();
        let count = self.replace(&text, regex, pieces, which, &mut out);
        let unused = if matches!(count, Ok(count) if count > 0) {
            self.record.set_owned(out, &self.splitter);
            text
        } else {
            self.record.put_back(text);
            out
        };
        // A large one is not worth keeping, as nobody counts it.
        if unused.capacity() <= 1 << 16 {
            self.spare = unused;
        }
        count
    }

    /// Replaces a byte in `$0`, in place.
    fn replace_byte(&mut self, old: u8, new: u8) -> Ran<u64> {
        let mut text = self.record.take();
        let (count, done) = if text.len() < PIECE {
            (replace_in(&mut text, old, new), Ok(()))
        } else {
            self.replace_in_much(&mut text, old, new)
        };
        if count == 0 {
            self.record.put_back(text);
        } else {
            self.record.set_owned(text, &self.splitter);
        }
        done?;
        Ok(count)
    }

    /// Replaces a byte in a long text; a stop leaves the rest as it is.
    #[cold]
    fn replace_in_much(&mut self, text: &mut [u8], old: u8, new: u8) -> (u64, Result<(), Stop>) {
        let mut count = 0;
        for piece in text.chunks_mut(PIECE) {
            count += replace_in(piece, old, new);
            if let Err(stop) = self.sys.work(PIECE_UNITS) {
                return (count, Err(stop));
            }
        }
        (count, Ok(()))
    }

    pub(super) fn gensub(&mut self, args: &[Value]) -> Ran<Value> {
        let [pattern, replacement, how, target] = args else {
            return Ok(Value::Uninit);
        };
        let regex = self.regex(pattern)?;
        let replacement = self.text(replacement);
        let replacement = pieces(&replacement, true);
        let which = match self.text(how).first() {
            Some(b'g' | b'G') => Which::All,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a float cast saturates"
            )]
            _ => Which::Number(u64::max(how.num() as u64, 1)),
        };
        let text = self.to_string(target);
        let old = text.text().unwrap_or_default();
        let mut out = Vec::with_capacity(old.len() + 16);
        let count = self.replace(old, &regex, &replacement, which, &mut out)?;
        Ok(if count > 0 {
            Value::owned(out, &self.meter)
        } else {
            text
        })
    }

    /// Finds a match; returns its place and length in characters.
    #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 characters")]
    pub(super) fn match_value(
        &mut self,
        value: &Value,
        pattern: &Value,
        groups: Option<&mut Groups>,
    ) -> Ran<(f64, f64)> {
        let regex = self.regex(pattern)?;
        let text = self.text(value);
        let found = match groups {
            Some(groups) => {
                regex.captures_at(self.sys, &text, 0, groups)?;
                groups.first().copied().flatten()
            }
            None => regex.find_at(self.sys, &text, 0)?,
        };
        Ok(match found {
            Some((start, end)) => (
                chars::count(text.get(..start).unwrap_or_default(), self.utf8) as f64 + 1.0,
                chars::count(text.get(start..end).unwrap_or_default(), self.utf8) as f64,
            ),
            None => (0.0, -1.0),
        })
    }

    /// Runs `match(text, pattern, array)`: the array gets the groups, their starts and lengths.
    pub(super) fn match_array(&mut self, place: Place) -> Ran<()> {
        let pattern = self.pop();
        let value = self.pop();
        let array = self.array(place)?;
        array.borrow_mut().clear();
        let mut groups = Groups::new();
        let (start, length) = self.match_value(&value, &pattern, Some(&mut groups))?;
        self.set_match(start, length);
        let text = self.text(&value).into_owned();
        for (number, group) in groups.iter().enumerate() {
            let Some((from, to)) = *group else { continue };
            let piece = text.get(from..to).unwrap_or_default();
            let number = i64::try_from(number).unwrap_or(0);
            let mut array = array.borrow_mut();
            array.set(Key::Int(number), Value::input(piece, &self.meter));
            #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 characters")]
            let facts = [
                (
                    &b"start"[..],
                    chars::count(text.get(..from).unwrap_or_default(), self.utf8) as f64 + 1.0,
                ),
                (b"length", chars::count(piece, self.utf8) as f64),
            ];
            for (name, num) in facts {
                let key = [number.to_string().as_bytes(), &self.specials.subsep, name].concat();
                array.set(Key::text(&key, &self.meter), Value::Num(num));
            }
        }
        self.claim(0)?;
        self.stack.push(Value::Num(start));
        Ok(())
    }
}
