//! Extended patterns by sets of positions: each node turns the set of places where it may start into the set of
//! places where it may end. No backtracking, so `+(+(a))` cannot blow up; only the nesting of the pattern recurses.

use jp_bash_system::{Budget, Stop};

use crate::pattern::simple::one;
use crate::pattern::{Chars, Node};

/// A set of positions from 0 to a length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    fn none(len: usize) -> Self {
        Self {
            words: vec![0; len / 64 + 1],
            len,
        }
    }

    /// Returns all positions.
    pub(crate) fn full(len: usize) -> Self {
        let mut bits = Self::none(len);
        bits.fill_from(0);
        bits
    }

    /// Tells whether a position is in the set.
    #[inline]
    pub(crate) fn has(&self, at: usize) -> bool {
        self.words
            .get(at / 64)
            .is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    #[inline]
    fn add(&mut self, at: usize) {
        if let Some(word) = self.words.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    fn fill_from(&mut self, from: usize) {
        let last = self.len / 64;
        for (index, word) in self.words.iter_mut().enumerate().skip(from / 64) {
            let mut mask = u64::MAX;
            if index == from / 64 {
                mask <<= from % 64;
            }
            if index == last {
                mask &= u64::MAX >> (63 - self.len % 64);
            }
            *word |= mask;
        }
    }

    /// Returns the lowest position.
    pub(crate) fn first(&self) -> Option<usize> {
        self.words
            .iter()
            .position(|word| *word != 0)
            .and_then(|index| {
                let word = self.words.get(index)?;
                Some(index * 64 + word.trailing_zeros() as usize)
            })
    }

    /// Returns the highest position.
    pub(crate) fn last(&self) -> Option<usize> {
        self.words
            .iter()
            .rposition(|word| *word != 0)
            .and_then(|index| {
                let word = self.words.get(index)?;
                Some(index * 64 + 63 - word.leading_zeros() as usize)
            })
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                if word == 0 {
                    return None;
                }
                let bit = word.trailing_zeros() as usize;
                word &= word - 1;
                Some(index * 64 + bit)
            })
        })
    }

    fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    fn or(&mut self, other: &Self) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    fn without(&mut self, other: &Self) {
        for (word, less) in self.words.iter_mut().zip(&other.words) {
            *word &= !less;
        }
    }
}

/// One match under way.
pub(crate) struct Run<'c, C> {
    pub(crate) chars: &'c C,
    pub(crate) fold: bool,
    pub(crate) budget: &'c Budget,
}

impl<C: Chars> Run<'_, C> {
    /// Returns all ends of matches that start here.
    pub(crate) fn from(&self, nodes: &[Node], start: usize) -> Result<Bits, Stop> {
        let mut starts = Bits::none(self.chars.len());
        starts.add(start);
        self.through(nodes, &starts)
    }

    /// Returns all ends of matches that start at one of these positions.
    pub(crate) fn through(&self, nodes: &[Node], starts: &Bits) -> Result<Bits, Stop> {
        let mut at = starts.clone();
        for node in nodes {
            self.budget
                .work(u32::try_from(at.len / 2048).unwrap_or(u32::MAX).max(1))?;
            at = match node {
                Node::Star => {
                    let mut ends = Bits::none(at.len);
                    if let Some(first) = at.first() {
                        ends.fill_from(first);
                    }
                    ends
                }
                Node::Ext(kind, alternatives) => self.extended(*kind, alternatives, &at)?,
                node => self.step(std::slice::from_ref(node), &at),
            };
            if at.is_empty() {
                break;
            }
        }
        Ok(at)
    }

    /// Moves on by one character wherever one of the nodes matches.
    fn step(&self, nodes: &[Node], at: &Bits) -> Bits {
        let mut ends = Bits::none(at.len);
        for position in at.iter() {
            if self.any(nodes, position) {
                ends.add(position + 1);
            }
        }
        ends
    }

    fn any(&self, nodes: &[Node], position: usize) -> bool {
        self.chars
            .at(position)
            .is_some_and(|c| nodes.iter().any(|node| one(node, c, self.fold)))
    }

    fn either(&self, alternatives: &[Vec<Node>], at: &Bits) -> Result<Bits, Stop> {
        let mut ends = Bits::none(at.len);
        for nodes in alternatives {
            ends.or(&self.through(nodes, at)?);
        }
        Ok(ends)
    }

    fn extended(&self, kind: u8, alternatives: &[Vec<Node>], at: &Bits) -> Result<Bits, Stop> {
        match kind {
            b'@' => self.either(alternatives, at),
            b'?' => {
                let mut ends = self.either(alternatives, at)?;
                ends.or(at);
                Ok(ends)
            }
            b'!' => self.except(alternatives, at),
            _ => {
                let mut ends = if let Some(nodes) = single(alternatives) {
                    self.repeat_single(&nodes, at)
                } else {
                    self.repeat(alternatives, at)?
                };
                if kind == b'*' {
                    ends.or(at);
                }
                Ok(ends)
            }
        }
    }

    /// One or more of them.
    fn repeat(&self, alternatives: &[Vec<Node>], at: &Bits) -> Result<Bits, Stop> {
        let mut ends = Bits::none(at.len);
        let mut fresh = at.clone();
        loop {
            let mut next = self.either(alternatives, &fresh)?;
            next.without(&ends);
            if next.is_empty() {
                return Ok(ends);
            }
            ends.or(&next);
            fresh = next;
        }
    }

    /// One or more, where each alternative is one character: a single sweep (`*([[:space:]])` over a long text).
    fn repeat_single(&self, nodes: &[Node], at: &Bits) -> Bits {
        let mut ends = Bits::none(at.len);
        let mut position = at.first().unwrap_or(at.len);
        while position < at.len {
            if (at.has(position) || ends.has(position)) && self.any(nodes, position) {
                ends.add(position + 1);
            }
            position += 1;
        }
        ends
    }

    /// Anything but them: what is left out depends on where it starts, so each start is looked at.
    fn except(&self, alternatives: &[Vec<Node>], at: &Bits) -> Result<Bits, Stop> {
        let mut ends = Bits::none(at.len);
        for start in at.iter() {
            let mut open = Bits::none(at.len);
            open.fill_from(start);
            let mut left = open.clone();
            left.without(&ends);
            if left.is_empty() {
                break;
            }
            let mut one = Bits::none(at.len);
            one.add(start);
            let taken = self.either(alternatives, &one)?;
            open.without(&taken);
            ends.or(&open);
            self.budget
                .work(u32::try_from(at.len / 1024).unwrap_or(u32::MAX).max(1))?;
        }
        Ok(ends)
    }
}

/// Returns the alternatives if each is one character.
fn single(alternatives: &[Vec<Node>]) -> Option<Vec<Node>> {
    alternatives
        .iter()
        .map(|nodes| match nodes.as_slice() {
            [node @ (Node::Char(_) | Node::Any | Node::Set(_))] => Some(node.clone()),
            _ => None,
        })
        .collect()
}
