//! Sorting itself: lines in one block of memory, an entry with a rank for each, runs that are merged.

use std::cmp::Ordering;

use jp_bash_system::io::{Held, Input};
use jp_bash_system::{Limit, PIECE, Stop, SysError, System};

use super::sort_key::{Key, line_rank};

/// How lines are ordered.
pub(super) struct Order {
    pub(super) keys: Vec<Key>,
    pub(super) tab: Option<u8>,
    /// `-s` or `-u`: lines with equal keys stay in the order they came in.
    pub(super) stable: bool,
    /// Turns the comparison of whole lines round.
    pub(super) reverse: bool,
    pub(super) seed: Vec<u8>,
}

impl Order {
    /// Compares two lines, without their ends.
    pub(super) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        for key in &self.keys {
            match self.by_key(key, a, b) {
                Ordering::Equal => {}
                order => return order,
            }
        }
        self.last_resort(a, b)
    }

    /// Asks for what comparing two lines costs.
    pub(super) fn pay(&self, sys: &mut dyn System, a: &[u8], b: &[u8]) -> Result<(), Stop> {
        let mut cost = usize::min(a.len(), b.len());
        while cost > PIECE {
            cost -= PIECE;
            sys.work_bytes(PIECE)?;
        }
        sys.work_bytes(cost)
    }

    fn last_resort(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.stable && !self.keys.is_empty() {
            return Ordering::Equal;
        }
        if self.reverse { b.cmp(a) } else { a.cmp(b) }
    }

    fn by_key(&self, key: &Key, a: &[u8], b: &[u8]) -> Ordering {
        let (a_from, a_to) = key.find(a, self.tab);
        let (b_from, b_to) = key.find(b, self.tab);
        key.compare(
            a.get(a_from..a_to).unwrap_or_default(),
            b.get(b_from..b_to).unwrap_or_default(),
            &self.seed,
        )
    }
}

/// One line: where it lies, where its first key lies, and the rank of that key.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    rank: u64,
    start: u32,
    len: u32,
    key: u32,
    key_len: u32,
}

impl Entry {
    fn line<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        slice(text, self.start, self.len)
    }

    fn key<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        slice(text, self.key, self.key_len)
    }
}

fn slice(text: &[u8], start: u32, len: u32) -> &[u8] {
    let start = start as usize;
    text.get(start..start + len as usize).unwrap_or_default()
}

/// How many entries are sorted between two asks, at most.
const RUN: usize = 1 << 16;

/// How many entries of a sorted run are paid for at once.
const PAID_FOR: usize = 1024;

/// How many bytes the lines of one run have, at most: comparing must not take long either.
const RUN_BYTES: usize = 4 << 20;

/// The same where comparing is more than comparing bytes.
const SLOW_RUN_BYTES: usize = RUN_BYTES / 8;

/// All lines, each with its end.
#[derive(Default)]
pub(super) struct Lines {
    text: Vec<u8>,
    entries: Vec<Entry>,
    end: u8,
}

impl Lines {
    /// Makes an empty block for lines that end in this byte.
    pub(super) fn new(end: u8) -> Self {
        Self {
            end,
            ..Self::default()
        }
    }

    /// Reads a whole file.
    pub(super) fn read(
        &mut self,
        sys: &mut dyn System,
        input: &mut Input,
        held: &mut Held,
    ) -> Result<(), SysError> {
        loop {
            let bytes = input.fill(sys)?;
            if bytes.is_empty() {
                break;
            }
            let len = bytes.len();
            // One byte more for the end that the last line may lack.
            let need = self.text.len() + len + 1;
            if need > self.text.capacity() {
                let grown = usize::max(need, self.text.capacity() * 2);
                held.more(sys, grown - self.text.capacity())?;
                self.text
                    .try_reserve_exact(grown - self.text.len())
                    .map_err(|_| Stop::Limit(Limit::Memory))?;
            }
            self.text.extend_from_slice(bytes);
            input.consume(len);
            sys.work_bytes(len)?;
        }
        if self.text.last().is_some_and(|last| *last != self.end) {
            self.text.push(self.end);
        }
        // Positions are 32 bits wide.
        if u32::try_from(self.text.len()).is_err() {
            return Err(Stop::Limit(Limit::Memory).into());
        }
        Ok(())
    }

    /// Sorts everything that was read.
    pub(super) fn sort(
        &mut self,
        sys: &mut dyn System,
        order: &Order,
        held: &mut Held,
    ) -> Result<(), Stop> {
        self.enter_lines(sys, order, held)?;
        let text = &self.text;
        if let Some((first, rest)) = order.keys.split_first() {
            let by_key = |a: &Entry, b: &Entry| {
                let mut found = a.rank.cmp(&b.rank);
                if found.is_eq() && !first.decides(a.rank) {
                    found = first.compare(a.key(text), b.key(text), &order.seed);
                }
                if found.is_ne() {
                    return found;
                }
                let (left, right) = (a.line(text), b.line(text));
                for key in rest {
                    found = order.by_key(key, left, right);
                    if found.is_ne() {
                        return found;
                    }
                }
                order
                    .last_resort(left, right)
                    .then_with(|| a.start.cmp(&b.start))
            };
            sort_runs(sys, &mut self.entries, held, SLOW_RUN_BYTES, &by_key)
        } else if order.reverse {
            let backwards = |a: &Entry, b: &Entry| {
                b.rank
                    .cmp(&a.rank)
                    .then_with(|| b.line(text).cmp(a.line(text)))
            };
            sort_runs(sys, &mut self.entries, held, RUN_BYTES, &backwards)
        } else {
            let plain = |a: &Entry, b: &Entry| {
                a.rank
                    .cmp(&b.rank)
                    .then_with(|| a.line(text).cmp(b.line(text)))
            };
            sort_runs(sys, &mut self.entries, held, RUN_BYTES, &plain)
        }
    }

    fn enter_lines(
        &mut self,
        sys: &mut dyn System,
        order: &Order,
        held: &mut Held,
    ) -> Result<(), Stop> {
        let mut lines = 0;
        for piece in self.text.chunks(PIECE) {
            sys.work_bytes(piece.len() / 8)?;
            lines += memchr::memchr_iter(self.end, piece).count();
        }
        held.more(sys, lines.saturating_mul(size_of::<Entry>()))?;
        self.entries
            .try_reserve_exact(lines)
            .map_err(|_| Stop::Limit(Limit::Memory))?;
        let mut start = 0;
        let mut asked = 0;
        for at in memchr::memchr_iter(self.end, &self.text) {
            while at >= asked + PIECE {
                asked += PIECE;
                sys.work_bytes(PIECE)?;
            }
            let line = self.text.get(start..at).unwrap_or_default();
            let (from, to) = order
                .keys
                .first()
                .map_or((0, 0), |key| key.find(line, order.tab));
            let rank = match order.keys.first() {
                Some(key) => key.rank(line.get(from..to).unwrap_or_default(), &order.seed),
                None => line_rank(line),
            };
            let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            self.entries.push(Entry {
                rank,
                start: narrow(start),
                len: narrow(at - start),
                key: narrow(start + from),
                key_len: narrow(to - from),
            });
            start = at + 1;
        }
        Ok(())
    }

    /// Returns the sorted lines, each with its end.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().map(|entry| {
            let start = entry.start as usize;
            self.text
                .get(start..=start + entry.len as usize)
                .unwrap_or_default()
        })
    }
}

/// Sorts in runs and merges them, so that a huge input still sees its time limit.
fn sort_runs(
    sys: &mut dyn System,
    entries: &mut Vec<Entry>,
    held: &mut Held,
    run_bytes: usize,
    compare: &impl Fn(&Entry, &Entry) -> Ordering,
) -> Result<(), Stop> {
    let width = run_length(entries, run_bytes);
    for run in entries.chunks_mut(width) {
        run.sort_unstable_by(compare);
        sys.work(64)?;
        for _ in 0..run.len() / PAID_FOR {
            sys.work_bytes(PIECE)?;
        }
    }
    if entries.len() <= width {
        return Ok(());
    }
    if runs_follow(sys, entries, width, compare)? {
        return Ok(());
    }
    held.more(sys, entries.len().saturating_mul(size_of::<Entry>()))?;
    let mut merged = Vec::new();
    merged
        .try_reserve_exact(entries.len())
        .map_err(|_| Stop::Limit(Limit::Memory))?;
    let mut width = width;
    while width < entries.len() {
        for pair in entries.chunks(width * 2) {
            let (left, right) = pair.split_at_checked(width).unwrap_or((pair, &[]));
            merge(sys, left, right, &mut merged, compare)?;
        }
        std::mem::swap(entries, &mut merged);
        merged.clear();
        width *= 2;
    }
    Ok(())
}

/// Tells whether each run ends before the next one begins, so that there is nothing to merge.
fn runs_follow(
    sys: &mut dyn System,
    entries: &[Entry],
    width: usize,
    compare: &impl Fn(&Entry, &Entry) -> Ordering,
) -> Result<bool, Stop> {
    let mut cost = Cost::default();
    for at in (width..entries.len()).step_by(width) {
        let (Some(last), Some(first)) = (entries.get(at - 1), entries.get(at)) else {
            break;
        };
        cost.pay(sys, last, first)?;
        if compare(first, last).is_lt() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What comparing entries costs at most, in bytes that were not asked for yet.
#[derive(Default)]
struct Cost(usize);

impl Cost {
    fn pay(&mut self, sys: &mut dyn System, a: &Entry, b: &Entry) -> Result<(), Stop> {
        self.0 += usize::min(a.len as usize, b.len as usize) + 16;
        while self.0 >= PIECE {
            self.0 -= PIECE;
            sys.work_bytes(PIECE)?;
        }
        Ok(())
    }
}

/// Returns how many entries make a run: as many as there are bytes for, wherever the run begins.
fn run_length(entries: &[Entry], run_bytes: usize) -> usize {
    let longest = |width: usize| {
        let bytes = |run: &[Entry]| run.iter().map(|entry| entry.len as usize).sum();
        entries.chunks(width).map(bytes).max().unwrap_or(0)
    };
    let mut width = RUN;
    while width > 1 && longest(width) > run_bytes {
        width /= 4;
    }
    usize::max(width, 1)
}

fn merge(
    sys: &mut dyn System,
    mut left: &[Entry],
    mut right: &[Entry],
    merged: &mut Vec<Entry>,
    compare: &impl Fn(&Entry, &Entry) -> Ordering,
) -> Result<(), Stop> {
    let mut cost = Cost::default();
    while let (Some((a, a_rest)), Some((b, b_rest))) = (left.split_first(), right.split_first()) {
        cost.pay(sys, a, b)?;
        if compare(b, a).is_lt() {
            merged.push(*b);
            right = b_rest;
        } else {
            merged.push(*a);
            left = a_rest;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    sys.work(1)
}
