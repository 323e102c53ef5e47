//! Associative arrays. A key that is a decimal integer is kept as one: it hashes faster and sorts as a number.
//!
//! `for (k in a)` walks integers first, ascending, then the other keys as they were first used: POSIX leaves
//! the order open, and this one is the same on every run.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::number;
use super::value::{Long, Meter, Short, Value};

/// A subscript.
#[derive(Clone)]
pub(super) enum Key {
    Int(i64),
    Short(Short),
    Long(Rc<Long>),
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Short(a), Self::Short(b)) => a == b,
            (Self::Long(a), Self::Long(b)) => a.bytes() == b.bytes(),
            _ => false,
        }
    }
}

impl Eq for Key {}

impl std::hash::Hash for Key {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Self::Int(int) => state.write_i64(*int),
            Self::Short(short) => state.write(short.bytes()),
            Self::Long(long) => state.write(long.bytes()),
        }
    }
}

/// Returns the integer that a text is the usual spelling of: `12`, `-3`, not `012`, `+1` or `-0`.
fn canonical(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let plain = match digits {
        [] => false,
        [b'0'] => digits.len() == text.len(),
        [b'0', ..] => false,
        _ => digits.len() <= 15 && digits.iter().all(u8::is_ascii_digit),
    };
    if !plain {
        return None;
    }
    let value = digits
        .iter()
        .fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    Some(if digits.len() < text.len() {
        -value
    } else {
        value
    })
}

impl Key {
    /// Makes a key of a text.
    #[inline]
    pub(super) fn text(text: &[u8], meter: &Meter) -> Self {
        if let Some(int) = canonical(text) {
            return Self::Int(int);
        }
        match Value::string(text, meter) {
            Value::Long(long) => Self::Long(long),
            Value::Short(short) => Self::Short(short),
            _ => Self::Int(0),
        }
    }

    /// Makes a key of a string or an integer; `None` if the value must be turned into a string first.
    #[inline]
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Num(num) => number::integer(*num)
                .filter(|int| int.unsigned_abs() < 1_000_000_000_000_000)
                .map(Self::Int),
            Value::Short(short) | Value::ShortInput(short) => {
                Some(canonical(short.bytes()).map_or(Self::Short(*short), Self::Int))
            }
            Value::Long(long) | Value::LongInput(long) => Some(Self::Long(Rc::clone(long))),
            Value::Uninit | Value::Regex(_) | Value::Array(_) => None,
        }
    }

    /// Returns the key as `for (k in a)` and `asorti` hand it out.
    pub(super) fn value(&self, meter: &Meter) -> Value {
        match self {
            Self::Int(int) => {
                let mut text = Vec::with_capacity(20);
                number::push_int(&mut text, *int);
                Value::string(&text, meter)
            }
            Self::Short(short) => Value::Short(*short),
            Self::Long(long) => Value::Long(Rc::clone(long)),
        }
    }
}

/// About what one element costs beside its strings.
const ELEMENT: usize = 96;

/// An array. Integer keys that grow from 0 or 1 without holes, as those of `split`, are in a list.
pub(super) struct Array {
    list: Vec<Option<Value>>,
    /// How many of the list are there.
    listed: usize,
    map: FxHashMap<Key, Element>,
    /// Integer keys in the map: while there are none, the list grows without looking.
    map_ints: usize,
    next: u32,
    counted: usize,
    meter: Meter,
}

struct Element {
    value: Value,
    /// When the key was first used.
    born: u32,
}

impl Array {
    pub(super) fn new(meter: &Meter) -> Self {
        Self {
            list: Vec::new(),
            listed: 0,
            map: FxHashMap::default(),
            map_ints: 0,
            next: 0,
            counted: 0,
            meter: meter.clone(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.listed + self.map.len()
    }

    pub(super) fn contains(&self, key: &Key) -> bool {
        self.get(key).is_some()
    }

    /// Returns the place in the list that a key has, or would have next.
    #[inline]
    fn place(&self, key: &Key) -> Option<usize> {
        match key {
            Key::Int(int) => usize::try_from(*int)
                .ok()
                .filter(|at| *at <= self.list.len()),
            _ => None,
        }
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Value> {
        if let Some(at) = self.place(key)
            && let Some(slot) = self.list.get(at)
        {
            return slot.as_ref();
        }
        self.map.get(key).map(|element| &element.value)
    }

    /// Returns the element, made if it is missing.
    #[inline]
    pub(super) fn slot(&mut self, key: Key) -> &mut Value {
        if self.list.is_empty() && matches!(key, Key::Int(1)) && self.map_ints == 0 {
            self.list.push(None);
        }
        match self.place(&key) {
            Some(at) => self.list_slot(at, &key),
            None => self.map_slot(key),
        }
    }

    #[inline]
    fn list_slot(&mut self, at: usize, key: &Key) -> &mut Value {
        if at == self.list.len() {
            let moved = if self.map_ints > 0 {
                self.map.remove(key)
            } else {
                None
            };
            if moved.is_some() {
                self.map_ints -= 1;
                self.listed += 1;
            }
            self.list.push(moved.map(|element| element.value));
        }
        let Self {
            list,
            listed,
            counted,
            meter,
            map,
            ..
        } = self;
        let slot = match list.get_mut(at) {
            Some(slot) => slot,
            // The list was just made long enough; the map keeps this total anyway.
            None => {
                let born = 0;
                let value = Value::Uninit;
                return &mut map
                    .entry(key.clone())
                    .or_insert(Element { value, born })
                    .value;
            }
        };
        slot.get_or_insert_with(|| {
            *listed += 1;
            *counted += ELEMENT;
            meter.add(ELEMENT);
            Value::Uninit
        })
    }

    fn map_slot(&mut self, key: Key) -> &mut Value {
        let is_int = matches!(key, Key::Int(_));
        let Self {
            map,
            next,
            counted,
            meter,
            map_ints,
            ..
        } = self;
        let element = map.entry(key).or_insert_with(|| {
            *next = next.saturating_add(1);
            *counted += ELEMENT;
            *map_ints += usize::from(is_int);
            meter.add(ELEMENT);
            Element {
                value: Value::Uninit,
                born: *next,
            }
        });
        &mut element.value
    }

    pub(super) fn set(&mut self, key: Key, value: Value) {
        *self.slot(key) = value;
    }

    pub(super) fn remove(&mut self, key: &Key) {
        let listed = self.place(key).and_then(|at| self.list.get_mut(at));
        let gone = match listed {
            Some(slot) => {
                let gone = slot.take().is_some();
                self.listed -= usize::from(gone);
                gone
            }
            None => {
                let gone = self.map.remove(key).is_some();
                self.map_ints -= usize::from(gone && matches!(key, Key::Int(_)));
                gone
            }
        };
        if gone {
            self.counted = self.counted.saturating_sub(ELEMENT);
            self.meter.sub(ELEMENT);
        }
    }

    pub(super) fn clear(&mut self) {
        self.list = Vec::new();
        self.listed = 0;
        self.map = FxHashMap::default();
        self.map_ints = 0;
        self.meter.sub(self.counted);
        self.counted = 0;
        self.next = 0;
    }

    /// Returns the keys in the order of a loop.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut found: Vec<(&Key, u32)> = self.map.iter().map(|(key, e)| (key, e.born)).collect();
        found.sort_unstable_by(|(a, born_a), (b, born_b)| match (a, b) {
            (Key::Int(a), Key::Int(b)) => a.cmp(b),
            (Key::Int(_), _) => std::cmp::Ordering::Less,
            (_, Key::Int(_)) => std::cmp::Ordering::Greater,
            _ => born_a.cmp(born_b),
        });
        let listed = self
            .list
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.is_some());
        let listed = listed.filter_map(|(at, _)| i64::try_from(at).ok().map(Key::Int));
        // Negative keys come before the list, larger ones behind it.
        let negative = found.partition_point(|(key, _)| matches!(key, Key::Int(int) if *int < 0));
        let (before, after) = found.split_at(negative);
        let mut keys = Vec::with_capacity(self.len());
        keys.extend(before.iter().map(|(key, _)| (*key).clone()));
        keys.extend(listed);
        keys.extend(after.iter().map(|(key, _)| (*key).clone()));
        keys
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        self.meter.sub(self.counted);
    }
}

#[cfg(test)]
mod tests {
    use super::{Array, Key};
    use crate::awk::value::{Meter, Value};

    /// The keys a loop would visit.
    fn order(array: &Array, meter: &Meter) -> String {
        let keys = array.keys();
        let shown: Vec<String> = keys
            .iter()
            .map(|key| {
                String::from_utf8_lossy(key.value(meter).text().unwrap_or_default()).into_owned()
            })
            .collect();
        shown.join(" ")
    }

    #[test]
    fn integers_come_first_and_ascending_whatever_the_order_of_use() {
        let meter = Meter::default();
        let mut array = Array::new(&meter);
        for key in ["x", "5", "1", "2", "-3", "b", "4", "3", "100", "0", "007"] {
            array.set(Key::text(key.as_bytes(), &meter), Value::Num(1.0));
        }
        assert_eq!(order(&array, &meter), "-3 0 1 2 3 4 5 100 x b 007");
        assert_eq!(array.len(), 11);
        array.remove(&Key::Int(2));
        array.remove(&Key::Int(100));
        array.remove(&Key::Int(100));
        assert_eq!(order(&array, &meter), "-3 0 1 3 4 5 x b 007");
        assert!(array.get(&Key::Int(2)).is_none());
        assert_eq!(array.len(), 9);
    }

    #[test]
    fn what_is_held_is_given_back() {
        let meter = Meter::default();
        let mut array = Array::new(&meter);
        for int in 0..100 {
            array.set(Key::Int(int * 7), Value::string(&[b'x'; 100], &meter));
        }
        assert!(meter.held() > 100 * 100);
        array.clear();
        assert_eq!(meter.held(), 0);
        array.set(Key::Int(1), Value::Uninit);
        drop(array);
        assert_eq!(meter.held(), 0);
    }
}
