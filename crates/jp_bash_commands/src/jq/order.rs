//! The order of values, and a stable sort by it. No recursion, and every step is counted.

use std::cmp::Ordering;
use std::sync::Arc;

use jp_bash_system::{PIECE, Stop};

use super::fuel::Fuel;
use super::number;
use super::text::Text;
use super::value::{Kind, Value};

enum Pair<'v> {
    Arrays(&'v [Value], &'v [Value], usize),
    Members(Vec<&'v (Text, Value)>, Vec<&'v (Text, Value)>, usize),
}

/// Compares two values.
pub(super) fn compare(fuel: &mut Fuel<'_>, a: &Value, b: &Value) -> Result<Ordering, Stop> {
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    let mut order = shallow(a, b, &mut pairs);
    loop {
        if order.is_ne() {
            return Ok(order);
        }
        let Some(top) = pairs.last_mut() else {
            return Ok(Ordering::Equal);
        };
        fuel.step()?;
        let next = match top {
            Pair::Arrays(a, b, at) => {
                *at += 1;
                match (a.get(*at - 1), b.get(*at - 1)) {
                    (Some(a), Some(b)) => Some((a, b)),
                    (None, None) => None,
                    (None, Some(_)) => return Ok(Ordering::Less),
                    (Some(_), None) => return Ok(Ordering::Greater),
                }
            }
            Pair::Members(a, b, at) => {
                *at += 1;
                match (a.get(*at - 1), b.get(*at - 1)) {
                    (Some(a), Some(b)) => Some((&a.1, &b.1)),
                    _ => None,
                }
            }
        };
        match next {
            Some((a, b)) => order = shallow(a, b, &mut pairs),
            None => {
                pairs.pop();
            }
        }
    }
}

/// Compares scalars; for containers of one kind notes what is left to compare.
fn shallow<'v>(a: &'v Value, b: &'v Value, pairs: &mut Vec<Pair<'v>>) -> Ordering {
    let (left, right) = (a.kind(), b.kind());
    if left != right {
        return left.cmp(&right);
    }
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            if !Arc::ptr_eq(a, b) {
                pairs.push(Pair::Arrays(a, b, 0));
            }
            Ordering::Equal
        }
        (Value::Object(a), Value::Object(b)) => {
            if Arc::ptr_eq(a, b) {
                return Ordering::Equal;
            }
            let (a, b) = (a.sorted(), b.sorted());
            let names = a
                .iter()
                .map(|(name, _)| name)
                .cmp(b.iter().map(|(name, _)| name));
            if names.is_eq() {
                pairs.push(Pair::Members(a, b, 0));
            }
            names
        }
        _ if left == Kind::Number => number::compare(a, b),
        _ => Ordering::Equal,
    }
}

/// Tells whether two values are equal.
pub(super) fn equal(fuel: &mut Fuel<'_>, a: &Value, b: &Value) -> Result<bool, Stop> {
    Ok(compare(fuel, a, b)?.is_eq())
}

/// How many items are put in their place between two asks.
const RUN: usize = 1024;

/// Sorts by the key of each item. A merge sort of our own: the library's may panic on an order that is
/// not total, and jq's is not (a NaN is below itself).
pub(super) fn sort<T>(
    fuel: &mut Fuel<'_>,
    items: Vec<T>,
    key: impl Fn(&T) -> &Value,
) -> Result<Vec<T>, Stop> {
    fuel.room(items.len() * size_of::<T>() * 2)?;
    let mut runs: Vec<Vec<T>> = Vec::new();
    for (number, item) in items.into_iter().enumerate() {
        if number.is_multiple_of(RUN) {
            fuel.pay(PIECE)?;
        }
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|_| run.len() < 8) => {
                let mut at = run.len();
                while at > 0
                    && let Some(before) = run.get(at - 1)
                    && compare(fuel, key(before), key(&item))?.is_gt()
                {
                    at -= 1;
                }
                run.insert(at, item);
            }
            _ => runs.push(vec![item]),
        }
    }
    // What was merged since the last ask: the first runs are far too short to ask for each.
    let mut placed = 0;
    while runs.len() > 1 {
        let mut merged = Vec::with_capacity(runs.len() / 2 + 1);
        let mut pairs = runs.into_iter();
        while let Some(left) = pairs.next() {
            placed += left.len() * 2;
            if placed >= RUN {
                placed = 0;
                fuel.pay(PIECE)?;
            }
            merged.push(match pairs.next() {
                Some(right) => merge(fuel, left, right, &key)?,
                None => left,
            });
        }
        runs = merged;
    }
    Ok(runs.pop().unwrap_or_default())
}

fn merge<T>(
    fuel: &mut Fuel<'_>,
    left: Vec<T>,
    right: Vec<T>,
    key: &impl Fn(&T) -> &Value,
) -> Result<Vec<T>, Stop> {
    let mut out = Vec::with_capacity(left.len() + right.len());
    let mut left = left.into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        if out.len() % RUN == RUN - 1 {
            fuel.pay(PIECE)?;
        }
        let take_right = compare(fuel, key(a), key(b))?.is_gt();
        out.extend(if take_right {
            right.next()
        } else {
            left.next()
        });
    }
    out.extend(left);
    out.extend(right);
    Ok(out)
}
