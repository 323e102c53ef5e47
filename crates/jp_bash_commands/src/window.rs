//! The end of a stream, kept in pieces: what `head -n -N` holds back and `tail -n N` waits for.

use std::collections::VecDeque;

use jp_bash_system::io::{CHUNK, Held};
use jp_bash_system::{Stop, System};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    /// Lines that end in this byte.
    Lines(u8),
}

struct Piece {
    bytes: Vec<u8>,
    units: u64,
}

/// Holds the last `keep` units of what was pushed, and whatever shares a piece with them.
pub(crate) struct Window {
    unit: Unit,
    keep: u64,
    total: u64,
    pieces: VecDeque<Piece>,
    held: Held,
}

impl Window {
    /// Makes an empty window.
    pub(crate) fn new(unit: Unit, keep: u64) -> Self {
        Self {
            unit,
            keep,
            total: 0,
            pieces: VecDeque::new(),
            held: Held::default(),
        }
    }

    /// Adds bytes; a piece that can no longer be among the last `keep` units is handed to `gone`.
    pub(crate) fn push(
        &mut self,
        sys: &mut dyn System,
        bytes: &[u8],
        mut gone: impl FnMut(&mut dyn System, &[u8]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let units = count(self.unit, bytes);
        self.total += units;
        match self.pieces.back_mut() {
            Some(last) if last.bytes.len() + bytes.len() <= CHUNK => {
                last.bytes.extend_from_slice(bytes);
                last.units += units;
            }
            _ => {
                let room = usize::max(CHUNK, bytes.len());
                self.held.more(sys, room)?;
                let mut piece = Vec::with_capacity(room);
                piece.extend_from_slice(bytes);
                self.pieces.push_back(Piece {
                    bytes: piece,
                    units,
                });
            }
        }
        // One unit more is kept than asked for: the last line may lack its end and then counts too.
        while let Some(first) = self.pieces.front() {
            if self.pieces.len() < 2 || self.total - first.units <= self.keep {
                break;
            }
            self.total -= first.units;
            self.held.less(sys, first.bytes.capacity());
            gone(sys, &first.bytes)?;
            self.pieces.pop_front();
        }
        Ok(())
    }

    /// Ends the stream: hands out what comes before the last `keep` units (`Part::Before`) or those units.
    pub(crate) fn finish(
        &mut self,
        sys: &mut dyn System,
        part: Part,
        mut put: impl FnMut(&mut dyn System, &[u8]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let unended = match (
            self.unit,
            self.pieces.back().and_then(|piece| piece.bytes.last()),
        ) {
            (Unit::Lines(end), Some(last)) => u64::from(*last != end),
            _ => 0,
        };
        let mut before = (self.total + unended).saturating_sub(self.keep);
        for piece in &self.pieces {
            let cut = position_after(self.unit, &piece.bytes, before).unwrap_or(piece.bytes.len());
            before = before.saturating_sub(piece.units);
            let (left, right) = piece
                .bytes
                .split_at_checked(cut)
                .unwrap_or((&piece.bytes, b""));
            put(sys, if part == Part::Before { left } else { right })?;
        }
        Ok(())
    }

    /// Gives the memory back.
    pub(crate) fn end(mut self, sys: &mut dyn System) {
        self.held.end(sys);
    }
}

/// Which side of the cut is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Before,
    Last,
}

fn count(unit: Unit, bytes: &[u8]) -> u64 {
    let n = match unit {
        Unit::Bytes => bytes.len(),
        Unit::Lines(end) => memchr::memchr_iter(end, bytes).count(),
    };
    n as u64
}

/// Returns where `units` units end in the piece; `None` if they reach beyond it.
pub(crate) fn position_after(unit: Unit, bytes: &[u8], units: u64) -> Option<usize> {
    let units = usize::try_from(units).ok()?;
    match unit {
        _ if units == 0 => Some(0),
        Unit::Bytes => (units <= bytes.len()).then_some(units),
        Unit::Lines(end) => memchr::memchr_iter(end, bytes)
            .nth(units - 1)
            .map(|at| at + 1),
    }
}
