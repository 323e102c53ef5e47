//! Loops over bytes that may be long: each asks the budget once for every piece.

use std::cmp::Ordering;

use jp_bash_system::io::Held;
use jp_bash_system::{PIECE, Stop, System};

/// Compares two texts.
pub(crate) fn compare(sys: &mut dyn System, a: &[u8], b: &[u8]) -> Result<Ordering, Stop> {
    if usize::min(a.len(), b.len()) <= PIECE {
        return Ok(a.cmp(b));
    }
    for (left, right) in a.chunks(PIECE).zip(b.chunks(PIECE)) {
        sys.work_bytes(left.len())?;
        if left != right {
            return Ok(left.cmp(right));
        }
    }
    Ok(a.len().cmp(&b.len()))
}

/// Compares two texts whose ASCII letters count as lower case.
pub(crate) fn compare_folded(sys: &mut dyn System, a: &[u8], b: &[u8]) -> Result<Ordering, Stop> {
    for (left, right) in a.chunks(PIECE).zip(b.chunks(PIECE)) {
        let order = left
            .iter()
            .map(u8::to_ascii_lowercase)
            .cmp(right.iter().map(u8::to_ascii_lowercase));
        if order.is_ne() {
            return Ok(order);
        }
        if left.len() == PIECE {
            sys.work_bytes(PIECE)?;
        }
    }
    Ok(a.len().cmp(&b.len()))
}

/// Tells whether two texts are the same, or differ in the case of ASCII letters only.
#[inline]
pub(crate) fn same(
    sys: &mut dyn System,
    a: &[u8],
    b: &[u8],
    ignore_case: bool,
) -> Result<bool, Stop> {
    if a.len() != b.len() {
        return Ok(false);
    }
    if a.len() <= PIECE {
        return Ok(match ignore_case {
            true => a.eq_ignore_ascii_case(b),
            false => a == b,
        });
    }
    for (left, right) in a.chunks(PIECE).zip(b.chunks(PIECE)) {
        sys.work_bytes(left.len())?;
        let same = match ignore_case {
            true => left.eq_ignore_ascii_case(right),
            false => left == right,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns how many bytes at the beginning are of a kind.
pub(crate) fn span(
    sys: &mut dyn System,
    text: &[u8],
    mut is: impl FnMut(u8) -> bool,
) -> Result<usize, Stop> {
    let mut from = 0;
    for piece in text.chunks(PIECE) {
        if let Some(at) = piece.iter().position(|byte| !is(*byte)) {
            return Ok(from + at);
        }
        from += piece.len();
        sys.work_bytes(piece.len())?;
    }
    Ok(text.len())
}

/// Finds a byte.
pub(crate) fn find(sys: &mut dyn System, text: &[u8], byte: u8) -> Result<Option<usize>, Stop> {
    if text.len() <= PIECE {
        return Ok(memchr::memchr(byte, text));
    }
    let mut from = 0;
    for piece in text.chunks(PIECE) {
        if let Some(at) = memchr::memchr(byte, piece) {
            return Ok(Some(from + at));
        }
        from += piece.len();
        sys.work_bytes(piece.len())?;
    }
    Ok(None)
}

/// Splits a text into lines, each with its end; the last may lack it. The list is counted.
pub(crate) fn lines<'t>(
    sys: &mut dyn System,
    held: &mut Held,
    text: &'t [u8],
    end: u8,
) -> Result<Vec<&'t [u8]>, Stop> {
    let mut list = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let length = find(sys, rest, end)?.map_or(rest.len(), |at| at + 1);
        let (line, later) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        held.room(sys, &mut list, 1)?;
        list.push(line);
        sys.work_bytes(0)?;
        rest = later;
    }
    Ok(list)
}

/// How many items are sorted between two asks.
const RUN: usize = 1024;

/// Sorts in runs that are merged.
pub(crate) fn sort<T: Copy + Ord>(
    sys: &mut dyn System,
    held: &mut Held,
    items: &mut Vec<T>,
) -> Result<(), Stop> {
    for run in items.chunks_mut(RUN) {
        run.sort_unstable();
        sys.work_bytes(PIECE)?;
    }
    let mut merged = Vec::new();
    held.room(sys, &mut merged, items.len())?;
    let mut width = RUN;
    while width < items.len() {
        for pair in items.chunks(width * 2) {
            let (mut left, mut right) = pair.split_at_checked(width).unwrap_or((pair, &[]));
            while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
                if b < a {
                    merged.push(*b);
                    right = right_rest;
                } else {
                    merged.push(*a);
                    left = left_rest;
                }
                if merged.len().is_multiple_of(RUN) {
                    sys.work_bytes(PIECE)?;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(items, &mut merged);
        merged.clear();
        width *= 2;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn sorting_in_runs_sorts() {
        for count in [0, 1, RUN, RUN + 1, 5 * RUN + 77] {
            let mut items: Vec<usize> = (0..count).map(|n| n * 7919 % 65_537).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            sort(&mut Fixture::default(), &mut Held::default(), &mut items).unwrap();
            assert_eq!(items, expected);
        }
    }

    #[test]
    fn texts_longer_than_a_piece_compare_as_a_whole() {
        let a = vec![b'a'; 3 * PIECE + 5];
        let mut b = a.clone();
        let sys = &mut Fixture::default();
        assert_eq!(compare(sys, &a, &b).unwrap(), a.cmp(&b));
        assert!(same(sys, &a, &b, false).unwrap());
        for at in [0, PIECE - 1, PIECE, 3 * PIECE + 4] {
            b[at] = b'A';
            assert_eq!(compare(sys, &a, &b).unwrap(), a.cmp(&b), "{at}");
            assert!(compare_folded(sys, &a, &b).unwrap().is_eq(), "{at}");
            assert!(!same(sys, &a, &b, false).unwrap(), "{at}");
            assert!(same(sys, &a, &b, true).unwrap(), "{at}");
            assert_eq!(find(sys, &b, b'A').unwrap(), Some(at));
            assert_eq!(span(sys, &b, |byte| byte == b'a').unwrap(), at);
            b[at] = b'a';
        }
        b.push(b'a');
        assert_eq!(compare(sys, &a, &b).unwrap(), a.cmp(&b));
        assert_eq!(compare_folded(sys, &b, &a).unwrap(), b.cmp(&a));
    }

    #[test]
    fn lines_are_what_splitting_gives() {
        let mut text = vec![b'x'; 2 * PIECE];
        text.extend_from_slice(b"\n\na\nb");
        let found = lines(&mut Fixture::default(), &mut Held::default(), &text, b'\n').unwrap();
        let expected: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(found, expected);
    }
}
