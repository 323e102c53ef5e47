//! Which lines to delete and insert: the shortest script by Myers' algorithm. Knows no files.

use std::ops::Range;

use crate::stop::Stop;
use crate::system::System;

/// Lines of the old text replaced by lines of the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Beyond so many edits the rest is one change: the exact answer would take too much memory.
const MAX_EDITS: usize = 4000;

/// Returns the changes in order.
pub(super) fn changes(
    sys: &mut dyn System,
    old: &[Vec<u8>],
    new: &[Vec<u8>],
) -> Result<Vec<Change>, Stop> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = |lines: &[Vec<u8>]| lines.get(start..).unwrap_or_default().to_vec();
    let (left, right) = (tail(old), tail(new));
    let end = left
        .iter()
        .rev()
        .zip(right.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let left = left.get(..left.len() - end).unwrap_or_default();
    let right = right.get(..right.len() - end).unwrap_or_default();
    let kept = walk(sys, left, right)?;
    Ok(gather(&kept, left.len(), right.len(), start))
}

/// Returns the pairs of lines that stay, in order.
fn walk(
    sys: &mut dyn System,
    old: &[Vec<u8>],
    new: &[Vec<u8>],
) -> Result<Vec<(usize, usize)>, Stop> {
    let (n, m) = (old.len(), new.len());
    let bound = usize::min(n + m, MAX_EDITS);
    let width = 2 * bound + 2;
    // The furthest place on each diagonal, for each number of edits.
    let mut furthest = vec![0_usize; width];
    let mut history: Vec<Vec<usize>> = Vec::new();
    let mut reserved = 0_u64;
    let get = |row: &[usize], k: isize| {
        let at = k + isize::try_from(bound).unwrap_or(0);
        usize::try_from(at)
            .ok()
            .and_then(|at| row.get(at))
            .copied()
            .unwrap_or(0)
    };
    let mut found = None;
    'search: for d in 0..=bound {
        let bytes = (width as u64) * 8;
        sys.reserve(bytes)?;
        reserved += bytes;
        history.push(furthest.clone());
        let d_signed = isize::try_from(d).unwrap_or(0);
        let mut k = -d_signed;
        while k <= d_signed {
            let down =
                k == -d_signed || (k != d_signed && get(&furthest, k - 1) < get(&furthest, k + 1));
            let mut x = if down {
                get(&furthest, k + 1)
            } else {
                get(&furthest, k - 1) + 1
            };
            let Some(mut y) = x.checked_add_signed(-k) else {
                k += 2;
                continue;
            };
            while x < n && y < m && old.get(x) == new.get(y) {
                x += 1;
                y += 1;
            }
            let at = k + isize::try_from(bound).unwrap_or(0);
            if let Some(slot) = usize::try_from(at).ok().and_then(|at| furthest.get_mut(at)) {
                *slot = x;
            }
            if x >= n && y >= m {
                found = Some(d);
                break 'search;
            }
            k += 2;
        }
        sys.work(u32::try_from(d / 16 + 1).unwrap_or(1))?;
    }
    sys.release(reserved);
    let Some(edits) = found else {
        return Ok(Vec::new());
    };
    let mut kept = Vec::new();
    let (mut x, mut y) = (n, m);
    for d in (1..=edits).rev() {
        let row = history.get(d).map_or(&[][..], Vec::as_slice);
        let d_signed = isize::try_from(d).unwrap_or(0);
        let k = isize::try_from(x).unwrap_or(0) - isize::try_from(y).unwrap_or(0);
        let down = k == -d_signed || (k != d_signed && get(row, k - 1) < get(row, k + 1));
        let before = if down { k + 1 } else { k - 1 };
        let from_x = get(row, before);
        let from_y = from_x.checked_add_signed(-before).unwrap_or(0);
        let (mid_x, mid_y) = if down {
            (from_x, from_y + 1)
        } else {
            (from_x + 1, from_y)
        };
        while x > mid_x && y > mid_y {
            x -= 1;
            y -= 1;
            kept.push((x, y));
        }
        (x, y) = (from_x, from_y);
    }
    while x > 0 && y > 0 {
        x -= 1;
        y -= 1;
        kept.push((x, y));
    }
    kept.reverse();
    Ok(kept)
}

fn gather(kept: &[(usize, usize)], n: usize, m: usize, start: usize) -> Vec<Change> {
    let mut out = Vec::new();
    let (mut x, mut y) = (0, 0);
    for (a, b) in kept.iter().copied().chain([(n, m)]) {
        if a > x || b > y {
            out.push(Change {
                old: start + x..start + a,
                new: start + y..start + b,
            });
        }
        (x, y) = (a + 1, b + 1);
    }
    out
}
