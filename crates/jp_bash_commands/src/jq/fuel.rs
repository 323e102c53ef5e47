//! What a program of jq costs: steps and held bytes, counted against the budget of the run.

use jp_bash_system::{PIECE, Stop, System};

use super::value::{take_live, take_made};

/// How many steps pass between two looks at what they made.
const STEPS: u32 = 8;

/// How many looks are one turn of the budget.
const LOOKS: u32 = 4;

/// How far the held bytes may move before the budget is told.
const SLACK: u64 = 64 * 1024;

/// Counts for one run; the only way from the inside of jq to the system.
pub(super) struct Fuel<'s> {
    pub(super) sys: &'s mut dyn System,
    left: u32,
    looks: u32,
    held: i64,
    told: u64,
}

impl<'s> Fuel<'s> {
    pub(super) fn new(sys: &'s mut dyn System) -> Self {
        take_live();
        take_made();
        Self {
            sys,
            left: STEPS,
            looks: LOOKS,
            held: 0,
            told: 0,
        }
    }

    /// Counts one step.
    #[inline]
    pub(super) fn step(&mut self) -> Result<(), Stop> {
        if self.left > 0 {
            self.left -= 1;
            return Ok(());
        }
        self.look()
    }

    #[inline(never)]
    fn look(&mut self) -> Result<(), Stop> {
        self.left = STEPS;
        self.looks -= 1;
        if self.looks == 0 {
            self.looks = LOOKS;
            self.sys.turns(1)?;
        }
        self.sync()
    }

    /// Counts many steps at once, as for a scan over that many bytes or items.
    pub(super) fn steps(&mut self, n: usize) -> Result<(), Stop> {
        const TURN: usize = (STEPS * LOOKS * 8) as usize;
        let mut left = n;
        while left >= TURN {
            let now = usize::min(left, PIECE);
            self.sys.turns((now / TURN) as u64)?;
            self.sys.work_bytes(now)?;
            left -= now;
        }
        self.step()
    }

    /// Asks the budget for going through that many bytes.
    pub(super) fn pay(&mut self, bytes: usize) -> Result<(), Stop> {
        let mut left = bytes;
        while left > PIECE {
            left -= PIECE;
            self.sys.work_bytes(PIECE)?;
        }
        self.sys.work_bytes(left)
    }

    /// Tells the budget what is held now.
    #[inline]
    pub(super) fn sync(&mut self) -> Result<(), Stop> {
        let made = take_made();
        if made > PIECE {
            self.pay(made)?;
        }
        self.held = self.held.saturating_add(take_live());
        let held = u64::try_from(self.held).unwrap_or(0);
        if held > self.told {
            let more = held - self.told + SLACK;
            self.sys.reserve(more)?;
            self.told += more;
        } else if self.told - held > 4 * SLACK {
            let less = self.told - held - SLACK;
            self.sys.release(less);
            self.told -= less;
        }
        Ok(())
    }

    /// Asks whether that many bytes may be allocated, before they are.
    pub(super) fn room(&mut self, bytes: usize) -> Result<(), Stop> {
        if bytes as u64 > SLACK {
            self.sync()?;
            self.sys.reserve(bytes as u64)?;
            self.sys.release(bytes as u64);
        }
        Ok(())
    }

    /// Gives everything back; called when all values are gone.
    pub(super) fn finish(self) {
        take_live();
        self.sys.release(self.told);
    }
}
