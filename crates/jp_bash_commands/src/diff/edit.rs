//! Which lines to delete and insert: the shortest script by Myers' algorithm. Knows no files.

use std::ops::Range;

use jp_bash_system::io::Held;
use jp_bash_system::{Stop, System};

/// Lines of the old text replaced by lines of the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Beyond so many edits the rest is one change: the exact answer would take too much memory.
const MAX_EDITS: usize = 4000;

/// How many steps pass between two asks.
const STEPS: usize = 8192;

/// Returns the changes in order; equal numbers are equal lines.
pub(super) fn changes(sys: &mut dyn System, old: &[u32], new: &[u32]) -> Result<Vec<Change>, Stop> {
    let mut paced = Paced { sys, steps: 0 };
    let mut start = 0;
    while old
        .get(start)
        .is_some_and(|line| new.get(start) == Some(line))
    {
        start += 1;
        paced.step()?;
    }
    let (mut left, mut right) = (
        old.get(start..).unwrap_or_default(),
        new.get(start..).unwrap_or_default(),
    );
    while let (Some((a, left_rest)), Some((b, right_rest))) =
        (left.split_last(), right.split_last())
    {
        if a != b {
            break;
        }
        (left, right) = (left_rest, right_rest);
        paced.step()?;
    }
    let mut reserved = Held::default();
    let kept = walk(&mut paced, left, right, &mut reserved);
    let changes = kept.map(|kept| gather(&kept, left.len(), right.len(), start));
    reserved.end(paced.sys);
    changes
}

/// Asks once for many steps.
struct Paced<'s> {
    sys: &'s mut dyn System,
    steps: usize,
}

impl Paced<'_> {
    #[inline]
    fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps < STEPS {
            return Ok(());
        }
        self.steps = 0;
        self.sys.work_bytes(STEPS)
    }
}

/// The furthest places that a number of edits reaches, one for each diagonal from `-edits` to `edits`.
struct Row {
    edits: isize,
    furthest: Vec<u32>,
}

impl Row {
    fn get(&self, diagonal: isize) -> usize {
        let at = usize::try_from(diagonal + self.edits).ok();
        at.and_then(|at| self.furthest.get(at))
            .map_or(0, |place| *place as usize)
    }

    /// Tells whether the way to a diagonal comes from the one above: a line is inserted.
    fn goes_down(&self, diagonal: isize, edits: isize) -> bool {
        diagonal == -edits || (diagonal != edits && self.get(diagonal - 1) < self.get(diagonal + 1))
    }
}

/// Returns the pairs of lines that stay, in order.
fn walk(
    paced: &mut Paced<'_>,
    old: &[u32],
    new: &[u32],
    held: &mut Held,
) -> Result<Vec<(usize, usize)>, Stop> {
    let (n, m) = (old.len(), new.len());
    let bound = isize::try_from(usize::min(n + m, MAX_EDITS)).unwrap_or(0);
    // Where everything begins: no edit was made yet.
    let mut rows = vec![Row {
        edits: 0,
        furthest: vec![0],
    }];
    let mut found = false;
    'search: for edits in 0..=bound {
        let Some(last) = rows.last() else { break };
        let mut row = Row {
            edits,
            furthest: Vec::new(),
        };
        held.room(
            paced.sys,
            &mut row.furthest,
            usize::try_from(2 * edits + 1).unwrap_or(0),
        )?;
        for diagonal in -edits..=edits {
            if (diagonal + edits) % 2 != 0 {
                row.furthest.push(0);
                continue;
            }
            paced.step()?;
            let mut x = if last.goes_down(diagonal, edits) {
                last.get(diagonal + 1)
            } else {
                last.get(diagonal - 1) + 1
            };
            let Some(mut y) = x.checked_add_signed(-diagonal) else {
                row.furthest.push(0);
                continue;
            };
            while x < n && y < m && old.get(x) == new.get(y) {
                x += 1;
                y += 1;
                paced.step()?;
            }
            row.furthest.push(u32::try_from(x).unwrap_or(u32::MAX));
            if x >= n && y >= m {
                rows.push(row);
                found = true;
                break 'search;
            }
        }
        rows.push(row);
    }
    if !found {
        return Ok(Vec::new());
    }
    way_back(paced, &rows, (n, m), held)
}

/// Follows the edits from the end to the beginning; between two of them lie the lines that stay.
fn way_back(
    paced: &mut Paced<'_>,
    rows: &[Row],
    (mut x, mut y): (usize, usize),
    held: &mut Held,
) -> Result<Vec<(usize, usize)>, Stop> {
    let mut kept = Vec::new();
    // The first row is where everything begins, the last the one that got there.
    let edits = rows.len().saturating_sub(2);
    for edits in (1..=edits).rev() {
        let Some(row) = rows.get(edits) else { break };
        let edits = isize::try_from(edits).unwrap_or(0);
        let diagonal = isize::try_from(x).unwrap_or(0) - isize::try_from(y).unwrap_or(0);
        let down = row.goes_down(diagonal, edits);
        let before = if down { diagonal + 1 } else { diagonal - 1 };
        let from_x = row.get(before);
        let from_y = from_x.checked_add_signed(-before).unwrap_or(0);
        let (mid_x, mid_y) = if down {
            (from_x, from_y + 1)
        } else {
            (from_x + 1, from_y)
        };
        while x > mid_x && y > mid_y {
            x -= 1;
            y -= 1;
            paced.step()?;
            held.room(paced.sys, &mut kept, 1)?;
            kept.push((x, y));
        }
        (x, y) = (from_x, from_y);
    }
    while x > 0 && y > 0 {
        x -= 1;
        y -= 1;
        paced.step()?;
        held.room(paced.sys, &mut kept, 1)?;
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
