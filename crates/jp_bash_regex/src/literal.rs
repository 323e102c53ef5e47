//! Finds a plain text in pieces of bounded length.

use memchr::memmem::Finder;

use super::error::MatchError;
use super::meter::{Meter, WINDOW};

/// A longer text is found by its beginning, and compared from there.
const MOST_AT_ONCE: usize = 16 << 10;

/// Searching this little costs no more than one step of the caller, which counts its own steps.
const LITTLE: usize = 256;

/// A text to look for.
pub struct Literal {
    /// The text, if it is one byte.
    byte: Option<u8>,
    /// Finds the text, or the beginning of a long one.
    finder: Finder<'static>,
    /// What follows the beginning.
    rest: Vec<u8>,
    len: usize,
}

impl Literal {
    pub(super) fn new(text: &[u8]) -> Self {
        let (head, rest) = text.split_at(usize::min(text.len(), MOST_AT_ONCE));
        Self {
            byte: match text {
                [byte] => Some(*byte),
                _ => None,
            },
            finder: Finder::new(head).into_owned(),
            rest: rest.to_vec(),
            len: text.len(),
        }
    }

    /// Returns how long the text is.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the byte that the text is, if it is just one.
    pub fn byte(&self) -> Option<u8> {
        self.byte
    }

    /// Finds where the text is first at or after `start`, in a text that is little, or says that it is more.
    #[inline]
    pub(super) fn find_in_little(&self, text: &[u8], start: usize) -> Option<Option<usize>> {
        if text.len() > LITTLE {
            return None;
        }
        self.find_at_once(text, start)
    }

    /// Finds where the text is first at or after `start`, in what may be searched in one go, or says that it is more.
    /// It is for the caller to announce it.
    #[inline]
    pub fn find_at_once(&self, text: &[u8], start: usize) -> Option<Option<usize>> {
        let left = text.get(start..)?;
        if left.len() > WINDOW || !self.rest.is_empty() {
            return None;
        }
        let found = match self.byte {
            Some(byte) => memchr::memchr(byte, left),
            None => self.finder.find(left),
        };
        Some(found.map(|at| start + at))
    }

    /// Finds where the text is first at or after `start`.
    #[inline]
    pub(super) fn find(
        &self,
        text: &[u8],
        start: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, MatchError> {
        if let Some(found) = self.find_at_once(text, start) {
            meter.bytes(self.passed(found, text, start))?;
            return Ok(found);
        }
        self.find_in_pieces(text, start, meter)
    }

    /// Returns how much of a text a search has looked at.
    #[inline]
    pub(super) fn passed(&self, found: Option<usize>, text: &[u8], start: usize) -> usize {
        found
            .map_or(text.len(), |at| at + self.len)
            .saturating_sub(start)
    }

    fn find_in_pieces(
        &self,
        text: &[u8],
        start: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, MatchError> {
        let head = self.finder.needle().len();
        let mut at = start;
        while at + self.len() <= text.len() {
            let end = usize::min(text.len(), at + WINDOW);
            let piece = text.get(at..end).unwrap_or_default();
            let found = self.finder.find(piece);
            meter.bytes(found.map_or(piece.len(), |at| at + head))?;
            let Some(found) = found else {
                if end == text.len() {
                    break;
                }
                at = end + 1 - head;
                continue;
            };
            at += found;
            if self.follows(text, at + head, meter)? {
                return Ok(Some(at));
            }
            at += 1;
        }
        Ok(None)
    }

    fn follows(&self, text: &[u8], at: usize, meter: &mut Meter<'_>) -> Result<bool, MatchError> {
        let Some(found) = text.get(at..at + self.rest.len()) else {
            return Ok(false);
        };
        for (a, b) in found.chunks(WINDOW).zip(self.rest.chunks(WINDOW)) {
            meter.bytes(a.len())?;
            if a != b {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
