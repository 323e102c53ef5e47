//! What an awk variable holds: nothing yet, a number, a string, a string from input, a regex, an array.
//!
//! Short strings live inside the value, so that fields and array keys need no allocation. Knows no program.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::array::Array;
use super::number;

/// Bytes that strings and arrays hold now; shared by all of them, so that dropping one is seen.
#[derive(Clone, Default)]
pub(super) struct Meter(Rc<Counts>);

#[derive(Default)]
struct Counts {
    held: Cell<u64>,
    /// Bytes of long strings that were looked at or made since the budget was last asked.
    touched: Cell<usize>,
}

impl Meter {
    #[inline]
    pub(super) fn held(&self) -> u64 {
        self.0.held.get()
    }

    pub(super) fn add(&self, bytes: usize) {
        let held = &self.0.held;
        held.set(held.get().saturating_add(bytes as u64));
        self.touch(bytes);
    }

    pub(super) fn sub(&self, bytes: usize) {
        let held = &self.0.held;
        held.set(held.get().saturating_sub(bytes as u64));
    }

    /// Notes that bytes are gone through.
    #[inline]
    pub(super) fn touch(&self, bytes: usize) {
        let touched = &self.0.touched;
        touched.set(touched.get().saturating_add(bytes));
    }

    #[inline]
    pub(super) fn touched(&self) -> usize {
        self.0.touched.get()
    }

    /// Returns what was gone through, and forgets it.
    pub(super) fn take_touched(&self) -> usize {
        self.0.touched.take()
    }
}

/// How many bytes a value holds without an allocation.
pub(super) const SHORT: usize = 22;

/// A string of at most [`SHORT`] bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Short {
    len: u8,
    bytes: [u8; SHORT],
}

impl Short {
    /// Copies bytes, if they are few enough.
    #[inline]
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; SHORT];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        let len = u8::try_from(text.len()).ok()?;
        Some(Self { len, bytes })
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Changes the case in place, if all characters are ASCII; else nothing.
    #[inline]
    pub(super) fn change_case(&mut self, upper: bool) -> bool {
        // Behind the text there are zeros, so that all of the array can be looked at.
        if !self.bytes.is_ascii() {
            return false;
        }
        if upper {
            self.bytes.make_ascii_uppercase();
        } else {
            self.bytes.make_ascii_lowercase();
        }
        true
    }
}

/// A longer string, counted by the meter while it lives.
pub(super) struct Long {
    bytes: Vec<u8>,
    counted: usize,
    meter: Meter,
}

impl Long {
    pub(super) fn new(bytes: Vec<u8>, meter: &Meter) -> Self {
        let counted = bytes.capacity() + 64;
        meter.add(counted);
        Self {
            bytes,
            counted,
            meter: meter.clone(),
        }
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.meter.touch(self.bytes.len());
        &self.bytes
    }

    /// Holds another text from now on.
    pub(super) fn refill(&mut self, text: &[u8]) {
        self.bytes.clear();
        self.append(text);
    }

    /// Appends in place.
    pub(super) fn append(&mut self, more: &[u8]) {
        self.meter.touch(more.len());
        self.bytes.extend_from_slice(more);
        let counted = self.bytes.capacity() + 64;
        self.meter.add(counted);
        self.meter.sub(self.counted);
        self.counted = counted;
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        self.meter.sub(self.counted);
    }
}

/// An array that several names may share (parameters).
pub(super) type ArrayRef = Rc<RefCell<Array>>;

/// A value. The `Input` kinds came from outside (fields, `getline`, `-v`): they count as numbers where they look like one.
#[derive(Clone, Default)]
pub(super) enum Value {
    #[default]
    Uninit,
    Num(f64),
    Short(Short),
    Long(Rc<Long>),
    ShortInput(Short),
    LongInput(Rc<Long>),
    /// A regex constant as an argument: an index into the program's regexes.
    Regex(u32),
    Array(ArrayRef),
}

/// How a value takes part in comparisons.
pub(super) enum Side {
    Num(f64),
    /// From outside and looks like a number: one against numbers, its own text against strings.
    StrNum(f64),
    Str,
    Uninit,
}

impl Value {
    /// Makes a string.
    #[inline]
    pub(super) fn string(text: &[u8], meter: &Meter) -> Self {
        match Short::new(text) {
            Some(short) => Self::Short(short),
            None => Self::Long(Rc::new(Long::new(text.to_vec(), meter))),
        }
    }

    /// Makes a string from an owned buffer.
    pub(super) fn owned(text: Vec<u8>, meter: &Meter) -> Self {
        match Short::new(&text) {
            Some(short) => Self::Short(short),
            None => Self::Long(Rc::new(Long::new(text, meter))),
        }
    }

    /// Makes a string that came from outside.
    #[inline]
    pub(super) fn input(text: &[u8], meter: &Meter) -> Self {
        match Short::new(text) {
            Some(short) => Self::ShortInput(short),
            None => Self::LongInput(Rc::new(Long::new(text.to_vec(), meter))),
        }
    }

    pub(super) fn truth_value(truth: bool) -> Self {
        Self::Num(if truth { 1.0 } else { 0.0 })
    }

    /// Returns the text, if the value is a string.
    #[inline]
    pub(super) fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Short(short) | Self::ShortInput(short) => Some(short.bytes()),
            Self::Long(long) | Self::LongInput(long) => Some(long.bytes()),
            _ => None,
        }
    }

    /// Returns the number: that of the string's beginning, 0 for what has none.
    #[inline]
    pub(super) fn num(&self) -> f64 {
        match self {
            Self::Num(num) => *num,
            Self::Uninit | Self::Regex(_) | Self::Array(_) => 0.0,
            _ => number::prefix(self.text().unwrap_or_default()).0,
        }
    }

    /// Tells whether the value is true.
    #[inline]
    pub(super) fn truth(&self) -> bool {
        match self {
            Self::Num(num) => *num != 0.0,
            Self::Uninit | Self::Regex(_) | Self::Array(_) => false,
            Self::Short(short) => !short.bytes().is_empty(),
            Self::Long(_) => true,
            Self::ShortInput(_) | Self::LongInput(_) => {
                let text = self.text().unwrap_or_default();
                number::whole(text).map_or(!text.is_empty(), |num| num != 0.0)
            }
        }
    }

    /// Returns how the value compares.
    #[inline]
    pub(super) fn side(&self) -> Side {
        match self {
            Self::Num(num) => Side::Num(*num),
            Self::Uninit | Self::Regex(_) | Self::Array(_) => Side::Uninit,
            Self::Short(_) | Self::Long(_) => Side::Str,
            Self::ShortInput(_) | Self::LongInput(_) => {
                let text = self.text().unwrap_or_default();
                match number::whole(text) {
                    Some(num) => Side::StrNum(num),
                    None => Side::Str,
                }
            }
        }
    }

    /// Returns the value as a string from outside, which it becomes by `getline`, `split` and assignment of `$0`.
    pub(super) fn into_input(self) -> Self {
        match self {
            Self::Short(short) => Self::ShortInput(short),
            Self::Long(long) => Self::LongInput(long),
            other => other,
        }
    }
}
