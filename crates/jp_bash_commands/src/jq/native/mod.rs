//! The builtins that are written in Rust, by name and number of arguments.

mod collections;
mod dates;
mod machine;
mod matching;
mod math;
mod strings;

use super::fail::Result;
use super::text::Text;
use super::value::Value;
use super::world::World;

pub(super) use matching::Compiled as Pattern;

/// A builtin: its input is the first value, its arguments follow.
type Native = fn(&mut World<'_>, &mut [Value]) -> Result<Value>;

/// Name, number of arguments, function.
type Entry = (&'static str, usize, Native);

const TABLES: &[&[Entry]] = &[
    collections::TABLE,
    strings::TABLE,
    math::TABLE,
    dates::TABLE,
    matching::TABLE,
    machine::TABLE,
];

/// Finds a builtin. The number stands for table and row.
pub(super) fn find(name: &Text, arity: usize) -> Option<u16> {
    TABLES.iter().enumerate().find_map(|(table, entries)| {
        let row = entries
            .iter()
            .position(|(theirs, args, _)| *args == arity && theirs.as_bytes() == &**name)?;
        u16::try_from(table << 8 | row).ok()
    })
}

/// Calls a builtin.
pub(super) fn call(world: &mut World<'_>, id: u16, args: &mut [Value]) -> Result<Value> {
    let entry = TABLES
        .get(usize::from(id >> 8))
        .and_then(|table| table.get(usize::from(id & 0xff)));
    match entry {
        Some((_, _, native)) => native(world, args),
        None => Ok(Value::Null),
    }
}

/// Lists `name/arity` of all that are written in Rust.
pub(super) fn names() -> impl Iterator<Item = (&'static str, usize)> {
    TABLES
        .iter()
        .flat_map(|table| table.iter())
        .map(|(name, arity, _)| (*name, *arity))
}

/// Returns the input and one argument.
fn two(args: &mut [Value]) -> (Value, Value) {
    let mut all = args.iter_mut().map(std::mem::take);
    (
        all.next().unwrap_or_default(),
        all.next().unwrap_or_default(),
    )
}

/// Returns the input and two arguments.
fn three(args: &mut [Value]) -> (Value, Value, Value) {
    let mut all = args.iter_mut().map(std::mem::take);
    let mut take = || all.next().unwrap_or_default();
    (take(), take(), take())
}

fn one(args: &mut [Value]) -> Value {
    args.first_mut().map(std::mem::take).unwrap_or_default()
}
