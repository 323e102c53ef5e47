//! Finds lines that may match by looking for texts that every match must hold.
//!
//! Which texts are rare is seen in the first piece of text; if none are, there is no sieve. Knows nothing of
//! patterns: the caller decides about the lines it is given.

use std::cell::{Cell, OnceCell};

use memchr::{memchr, memrchr};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{MatchKind, Span};

use super::node::Node;
use super::required::required;

/// Shorter texts are searched before a sieve would be chosen.
const WORTH: usize = 16 << 10;
/// So much is looked at to choose one.
const SAMPLE: usize = 4 << 10;
/// What looking for one more text in the sample costs, as bytes of lines.
const EFFORT: usize = 8;
/// So many bytes of lines may be looked at in vain before it is judged whether they are too many.
const PATIENCE: usize = 16 << 10;

/// What lines are looked for by.
#[derive(Default)]
pub(super) struct Sieve {
    chosen: OnceCell<Option<Prefilter>>,
    /// Bytes of lines that did not match after all, and of all lines that were passed meanwhile.
    vain: Cell<usize>,
    passed: Cell<usize>,
}

impl Sieve {
    /// Chooses what to look for once there is enough text; `None` if the pattern had better be searched itself.
    pub(super) fn ready(&self, node: &Node, text: &[u8], eol: u8) -> Option<&Prefilter> {
        if self.chosen.get().is_none() && text.len() < WORTH {
            return None;
        }
        let chosen = self
            .chosen
            .get_or_init(|| choose(node, text.get(..SAMPLE)?, eol))
            .as_ref()?;
        let vain = self.vain.get();
        (vain < PATIENCE || vain < self.passed.get() / 2).then_some(chosen)
    }

    /// Finds a position in the first line from `start` on that `matches` says yes to.
    pub(super) fn find<E>(
        &self,
        texts: &Prefilter,
        text: &[u8],
        start: usize,
        eol: u8,
        mut matches: impl FnMut(usize, usize) -> Result<bool, E>,
    ) -> Result<Option<usize>, E> {
        let mut pos = start;
        while pos < text.len() {
            let Some((hit, from, to)) = line(texts, text, pos, eol) else {
                break;
            };
            if matches(from, to)? {
                self.passed
                    .set(self.passed.get().saturating_add(to - start));
                return Ok(Some(hit));
            }
            self.vain.set(self.vain.get().saturating_add(to - from));
            pos = to + 1;
        }
        let rest = text.len() - start.min(text.len());
        self.passed.set(self.passed.get().saturating_add(rest));
        Ok(None)
    }
}

/// Returns a place where a text is found, and the line around it.
#[inline]
fn line(texts: &Prefilter, text: &[u8], pos: usize, eol: u8) -> Option<(usize, usize, usize)> {
    let span = Span {
        start: pos,
        end: text.len(),
    };
    let hit = texts.find(text, span)?;
    let from = memrchr(eol, text.get(pos..hit.start)?).map_or(pos, |at| pos + at + 1);
    let to = memchr(eol, text.get(hit.end..)?).map_or(text.len(), |at| hit.end + at);
    Some((hit.start, from, to))
}

/// Takes the set of texts that fewest lines of the sample hold, by their bytes; looking for many texts costs too.
fn choose(node: &Node, sample: &[u8], eol: u8) -> Option<Prefilter> {
    let mut best: Option<(usize, Prefilter)> = None;
    for texts in required(node) {
        let effort = texts.len() * EFFORT;
        let Some(texts) = Prefilter::new(MatchKind::LeftmostFirst, &texts) else {
            continue;
        };
        let (mut pos, mut bytes) = (0, 0);
        while pos < sample.len()
            && let Some((_, from, to)) = line(&texts, sample, pos, eol)
        {
            pos = to + 1;
            bytes += to - from;
        }
        let cost = bytes + effort;
        if bytes < sample.len() / 2 && best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, texts));
        }
    }
    best.map(|(_, texts)| texts)
}
