//! What searches and compilers ask while they work, so that limits and a cancel are seen inside of them.
//!
//! Work is announced before it is done: never more than [`WINDOW`] bytes of text at once, and the run is asked
//! whenever a kilobyte of text, or as many steps, have been announced since it was asked last.

use std::cell::Cell;

use jp_bash_system::{Budget, Stop, System};

/// The most text that is searched in one go.
pub const WINDOW: usize = 62 << 10;

/// So many bytes or steps are one unit of work.
const UNIT: u32 = 1024;

/// What is asked: a run's budget, directly or through the system calls of a command.
pub trait Asks {
    /// Counts work; a unit is about a kilobyte.
    fn work(&mut self, units: u32) -> Result<(), Stop>;
    /// Counts bytes about to be held.
    fn reserve(&mut self, bytes: u64) -> Result<(), Stop>;
    /// Gives bytes back.
    fn release(&mut self, bytes: u64);
}

impl Asks for dyn System + '_ {
    fn work(&mut self, units: u32) -> Result<(), Stop> {
        System::work(self, units)
    }
    fn reserve(&mut self, bytes: u64) -> Result<(), Stop> {
        System::reserve(self, bytes)
    }
    fn release(&mut self, bytes: u64) {
        System::release(self, bytes);
    }
}

impl Asks for &Budget {
    fn work(&mut self, units: u32) -> Result<(), Stop> {
        Budget::work(self, units)
    }
    fn reserve(&mut self, bytes: u64) -> Result<(), Stop> {
        Budget::reserve(self, bytes)
    }
    fn release(&mut self, bytes: u64) {
        Budget::release(self, bytes);
    }
}

impl<A: Asks + ?Sized> Asks for &mut A {
    fn work(&mut self, units: u32) -> Result<(), Stop> {
        (**self).work(units)
    }
    fn reserve(&mut self, bytes: u64) -> Result<(), Stop> {
        (**self).reserve(bytes)
    }
    fn release(&mut self, bytes: u64) {
        (**self).release(bytes);
    }
}

/// What was announced and not asked about yet, and what is held; kept with the pattern between searches.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    owed: Cell<u32>,
    held: Cell<u64>,
    /// What is held, but no longer counted by the run.
    settled: Cell<u64>,
}

impl Tally {
    /// Returns how many bytes are held.
    pub(crate) fn size(&self) -> u64 {
        self.held.get().saturating_add(self.settled.get())
    }

    /// Tells whether anything is reserved.
    pub(crate) fn owes(&self) -> bool {
        self.held.get() > 0
    }

    /// Announces work, and asks whenever there is a unit of it.
    #[inline]
    pub(super) fn announce<A: Asks + ?Sized>(
        &self,
        asks: &mut A,
        count: usize,
    ) -> Result<(), Stop> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let owed = self.owed.get().saturating_add(count);
        if owed < UNIT {
            self.owed.set(owed);
            return Ok(());
        }
        self.owed.set(0);
        #[cfg(test)]
        record::asked();
        asks.work(owed / UNIT)
    }

    /// Announces that so many bytes of text are looked at.
    #[inline]
    pub(super) fn bytes<A: Asks + ?Sized>(&self, asks: &mut A, count: usize) -> Result<(), Stop> {
        self.announce(asks, count)?;
        #[cfg(test)]
        record::bytes(count);
        Ok(())
    }

    /// Gives back all that was reserved; who keeps the pattern bounds it.
    pub(crate) fn settle<A: Asks + ?Sized>(&self, asks: &mut A) {
        let held = self.held.replace(0);
        if held > 0 {
            asks.release(held);
            self.settled.set(self.settled.get().saturating_add(held));
        }
    }
}

/// Announces work.
pub(crate) struct Meter<'a> {
    asks: &'a mut dyn Asks,
    tally: &'a Tally,
}

impl<'a> Meter<'a> {
    /// Makes a meter that goes on where the tally is.
    #[inline]
    pub(crate) fn new(asks: &'a mut dyn Asks, tally: &'a Tally) -> Self {
        Self { asks, tally }
    }

    /// Announces that so many bytes of text are looked at.
    #[inline]
    pub(crate) fn bytes(&mut self, count: usize) -> Result<(), Stop> {
        self.tally.bytes(self.asks, count)
    }

    /// Announces so many steps of a matcher that costs something at each.
    #[inline]
    pub(crate) fn steps(&mut self, count: usize) -> Result<(), Stop> {
        self.tally.announce(self.asks, count)?;
        #[cfg(test)]
        record::steps(count);
        Ok(())
    }

    /// Counts bytes that are about to be held.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), Stop> {
        let bytes = bytes as u64;
        self.asks.reserve(bytes)?;
        self.tally.held.set(self.tally.held.get() + bytes);
        Ok(())
    }

    /// Returns how many bytes are held.
    pub(crate) fn held(&self) -> u64 {
        self.tally.held.get()
    }

    /// Gives back what was reserved since so many bytes were held.
    pub(crate) fn release_to(&mut self, before: u64) {
        let held = self.tally.held.get();
        if held > before {
            self.tally.held.set(before);
            self.asks.release(held - before);
        }
    }
}

/// Makes room for one more item; what the list grows by is counted first.
#[inline]
pub(super) fn push<T>(list: &mut Vec<T>, item: T, meter: &mut Meter<'_>) -> Result<(), Stop> {
    if list.len() == list.capacity() {
        let more = usize::max(list.capacity(), 16);
        meter.reserve(more * size_of::<T>())?;
        list.reserve_exact(more);
    }
    list.push(item);
    Ok(())
}

/// What tests see of all meters of their thread.
#[cfg(test)]
pub(crate) mod record {
    use std::cell::Cell;

    thread_local! {
        static SINCE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
        static MOST: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
        static ALL: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    }

    pub(super) fn bytes(count: usize) {
        add((count, 0));
    }

    pub(super) fn steps(count: usize) {
        add((0, count));
    }

    fn add((bytes, steps): (usize, usize)) {
        let (b, s) = SINCE.get();
        let since = (b + bytes, s + steps);
        SINCE.set(since);
        let (b, s) = MOST.get();
        MOST.set((b.max(since.0), s.max(since.1)));
        let (b, s) = ALL.get();
        ALL.set((b + bytes, s + steps));
    }

    pub(super) fn asked() {
        SINCE.set((0, 0));
    }

    /// Runs something; returns the most bytes and steps between two asks, and all of them.
    pub(crate) fn of<T>(run: impl FnOnce() -> T) -> (T, (usize, usize), (usize, usize)) {
        SINCE.set((0, 0));
        MOST.set((0, 0));
        ALL.set((0, 0));
        let result = run();
        (result, MOST.get(), ALL.get())
    }
}
