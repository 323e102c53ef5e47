//! Indexed arrays: a vector while the indices are close together, a tree when they are not.
//!
//! An index may be anything up to `i64::MAX`; no index alone makes the array allocate.

use std::collections::BTreeMap;

use jp_bash_system::{Budget, PIECE, Stop};

use crate::args::WORDS;
use crate::vars::bytes::Bytes;

/// What one element costs beside its text.
pub(crate) const ELEMENT: u64 = 32;

/// An indexed array.
#[derive(Debug, Clone, Default)]
pub(crate) struct Indexed {
    shape: Shape,
    /// Elements that are set.
    count: usize,
    /// What the elements' texts hold.
    texts: u64,
}

#[derive(Debug, Clone)]
enum Shape {
    /// Holes are `None`; the last element is always set.
    Dense(Vec<Option<Bytes>>),
    Sparse(BTreeMap<i64, Bytes>),
}

impl Default for Shape {
    fn default() -> Self {
        Self::Dense(Vec::new())
    }
}

impl Indexed {
    /// Returns how many elements are set.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Returns the bytes it holds, as the budget counts them.
    pub(crate) fn cost(&self) -> u64 {
        let room = match &self.shape {
            Shape::Dense(items) => items.capacity() as u64 * ELEMENT,
            Shape::Sparse(items) => items.len() as u64 * ELEMENT * 3,
        };
        room + self.texts
    }

    /// Returns the highest index that is set.
    pub(crate) fn last(&self) -> Option<i64> {
        match &self.shape {
            Shape::Dense(items) => i64::try_from(items.len())
                .ok()
                .and_then(|n| n.checked_sub(1))
                .filter(|n| *n >= 0),
            Shape::Sparse(items) => items.keys().next_back().copied(),
        }
    }

    /// Returns an element.
    #[inline]
    pub(crate) fn get(&self, index: i64) -> Option<&Bytes> {
        match &self.shape {
            Shape::Dense(items) => items.get(usize::try_from(index).ok()?)?.as_ref(),
            Shape::Sparse(items) => items.get(&index),
        }
    }

    /// Takes an element's text out to change it; put it back with [`Indexed::set`].
    pub(crate) fn take(&mut self, index: i64) -> Option<Bytes> {
        let found = match &mut self.shape {
            Shape::Dense(items) => items
                .get_mut(usize::try_from(index).ok()?)
                .and_then(|slot| slot.replace(Bytes::EMPTY)),
            Shape::Sparse(items) => items
                .get_mut(&index)
                .map(|slot| std::mem::replace(slot, Bytes::EMPTY)),
        };
        if let Some(text) = &found {
            self.texts = self.texts.saturating_sub(text.cost());
        }
        found
    }

    /// Returns what setting that element would newly allocate, beside the text itself.
    pub(crate) fn growth(&self, index: i64) -> u64 {
        match &self.shape {
            Shape::Dense(items) => match usize::try_from(index) {
                Ok(at) if at < items.capacity() => 0,
                Ok(at) if near(at, items.len()) => {
                    let target = usize::max(at + 1, items.capacity().saturating_mul(2));
                    (target - items.capacity()) as u64 * ELEMENT
                }
                _ => ELEMENT * 3 * (self.count as u64 + 1),
            },
            Shape::Sparse(_) => ELEMENT * 3,
        }
    }

    /// Sets an element; a negative index is ignored, callers resolve those.
    pub(crate) fn set(&mut self, index: i64, text: Bytes) {
        let Ok(at) = usize::try_from(index) else {
            return;
        };
        self.texts += text.cost();
        if let Shape::Dense(items) = &mut self.shape {
            if at < items.len() || near(at, items.len()) {
                if at >= items.len() {
                    if at >= items.capacity() {
                        let target = usize::max(at + 1, items.capacity().saturating_mul(2));
                        items.reserve_exact(target - items.len());
                    }
                    items.resize(at + 1, None);
                }
                if let Some(slot) = items.get_mut(at) {
                    match slot.replace(text) {
                        None => self.count += 1,
                        Some(old) => self.texts = self.texts.saturating_sub(old.cost()),
                    }
                }
                return;
            }
            let old = std::mem::take(items);
            self.shape = Shape::Sparse(
                old.into_iter()
                    .enumerate()
                    .filter_map(|(at, text)| Some((i64::try_from(at).ok()?, text?)))
                    .collect(),
            );
        }
        if let Shape::Sparse(items) = &mut self.shape {
            match items.insert(index, text) {
                None => self.count += 1,
                Some(old) => self.texts = self.texts.saturating_sub(old.cost()),
            }
        }
    }

    /// Removes an element.
    pub(crate) fn unset(&mut self, index: i64) {
        let old = match &mut self.shape {
            Shape::Dense(items) => {
                let old = usize::try_from(index)
                    .ok()
                    .and_then(|at| items.get_mut(at))
                    .and_then(Option::take);
                while matches!(items.last(), Some(None)) {
                    items.pop();
                }
                old
            }
            Shape::Sparse(items) => items.remove(&index),
        };
        if let Some(old) = old {
            self.count -= 1;
            self.texts = self.texts.saturating_sub(old.cost());
        }
    }

    /// Walks over the elements in the order of their indices.
    pub(crate) fn iter(&self) -> Iter<'_> {
        match &self.shape {
            Shape::Dense(items) => Iter::Dense(items.iter().enumerate()),
            Shape::Sparse(items) => Iter::Sparse(items.iter()),
        }
    }

    /// Makes an array of texts that may be many, from index 0.
    pub(crate) fn from_many(
        budget: &Budget,
        texts: impl IntoIterator<Item = Bytes>,
    ) -> Result<Self, Stop> {
        let texts = texts.into_iter();
        let mut items = Vec::with_capacity(texts.size_hint().0);
        let mut cost = 0;
        for text in texts {
            cost += text.cost();
            items.push(Some(text));
            if items.len().is_multiple_of(WORDS) {
                budget.work_bytes(PIECE)?;
            }
        }
        Ok(Self {
            count: items.len(),
            texts: cost,
            shape: Shape::Dense(items),
        })
    }

    /// Makes an array of these texts, from index 0.
    pub(crate) fn from_texts(texts: impl IntoIterator<Item = Bytes>) -> Self {
        let items: Vec<Option<Bytes>> = texts.into_iter().map(Some).collect();
        Self {
            count: items.len(),
            texts: items.iter().flatten().map(Bytes::cost).sum(),
            shape: Shape::Dense(items),
        }
    }
}

/// Tells whether a hole of this size is worth a vector.
fn near(at: usize, len: usize) -> bool {
    at < len.saturating_mul(2).saturating_add(64)
}

/// The elements of an array in order.
pub(crate) enum Iter<'a> {
    Dense(std::iter::Enumerate<std::slice::Iter<'a, Option<Bytes>>>),
    Sparse(std::collections::btree_map::Iter<'a, i64, Bytes>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (i64, &'a Bytes);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Dense(items) => loop {
                let (at, slot) = items.next()?;
                if let Some(text) = slot {
                    return Some((i64::try_from(at).ok()?, text));
                }
            },
            Self::Sparse(items) => items.next().map(|(at, text)| (*at, text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_index_allocates_nothing_large() {
        let mut array = Indexed::default();
        array.set(0, Bytes::from(&b"a"[..]));
        array.set(i64::MAX, Bytes::from(&b"z"[..]));
        assert!(array.cost() < 1000);
        let all: Vec<_> = array.iter().map(|(at, _)| at).collect();
        assert_eq!(all, [0, i64::MAX]);
        array.unset(i64::MAX);
        assert_eq!(array.last(), Some(0));
    }

    #[test]
    fn unset_at_the_end_moves_the_last_index_back_over_holes() {
        let mut array = Indexed::from_texts([Bytes::EMPTY, Bytes::EMPTY, Bytes::EMPTY]);
        array.unset(1);
        array.unset(2);
        assert_eq!((array.last(), array.len()), (Some(0), 1));
    }
}
