//! Arrays and objects: length, keys, sorting, grouping, paths.

use std::cmp::Ordering;

use super::{Entry, one, three, two};
use crate::jq::fail::{self, Result};
use crate::jq::text::Text;
use crate::jq::value::{Value, float};
use crate::jq::world::World;
use crate::jq::{ops, order, paths};

pub(super) const TABLE: &[Entry] = &[
    ("length", 0, length),
    ("keys", 0, |world, args| keys(world, args, true)),
    ("keys_unsorted", 0, |world, args| keys(world, args, false)),
    ("has", 1, |_, args| {
        let (value, key) = two(args);
        paths::has(&value, &key)
    }),
    ("contains", 1, contains),
    ("add", 0, add),
    ("not", 0, |_, args| Ok(Value::Bool(!one(args).truthy()))),
    ("type", 0, |_, args| {
        Ok(Value::string(one(args).kind_name().as_bytes()))
    }),
    ("setpath", 2, |world, args| {
        let (value, path, new) = three(args);
        paths::set(&mut world.fuel, value, &path, new)
    }),
    ("delpaths", 1, |world, args| {
        let (value, list) = two(args);
        paths::delete(&mut world.fuel, value, &list)
    }),
    ("to_entries", 0, to_entries),
    ("reverse", 0, reverse),
    ("flatten", 0, |world, args| flatten(world, &one(args), 1e9)),
    ("flatten", 1, |world, args| {
        let (value, depth) = two(args);
        let depth = depth
            .number()
            .ok_or_else(|| fail::error("flatten depth must not be negative"))?;
        if depth < 0.0 {
            return Err(fail::error("flatten depth must not be negative"));
        }
        flatten(world, &value, depth)
    }),
    ("sort", 0, |world, args| {
        let items = items_to_sort(world, &one(args))?;
        Ok(Value::array(order::sort(&mut world.fuel, items, |item| {
            item
        })?))
    }),
    ("_sort_by", 1, |world, args| {
        let sorted = keyed(world, args)?;
        Ok(Value::array(
            sorted.into_iter().map(|(_, item)| item).collect(),
        ))
    }),
    ("_group_by", 1, |world, args| group(world, args, false)),
    ("_unique_by", 1, |world, args| group(world, args, true)),
    ("unique", 0, unique),
    ("min", 0, |world, args| extreme(world, args, Ordering::Less)),
    ("max", 0, |world, args| {
        extreme(world, args, Ordering::Greater)
    }),
    ("_min_by", 1, |world, args| {
        extreme(world, args, Ordering::Less)
    }),
    ("_max_by", 1, |world, args| {
        extreme(world, args, Ordering::Greater)
    }),
    ("bsearch", 1, bsearch),
    ("toarray", 0, |_, args| match one(args) {
        array @ Value::Array(_) => Ok(array),
        other => Ok(Value::array(vec![other])),
    }),
    ("transpose", 0, transpose),
];

fn length(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let value = one(args);
    Ok(match &value {
        Value::Null => Value::Number(0.0),
        Value::Bool(_) => return Err(fail::about(&mut world.fuel, &value, "has no length")),
        Value::Number(number) => Value::Number(number.abs()),
        Value::Literal(literal) => Value::Number(literal.number.abs()),
        Value::String(text) => {
            world.fuel.steps(text.len())?;
            Value::count(text.iter().filter(|byte| (**byte & 0xc0) != 0x80).count())
        }
        Value::Array(array) => Value::count(array.len()),
        Value::Object(object) => Value::count(object.len()),
    })
}

fn keys(world: &mut World<'_>, args: &mut [Value], sorted: bool) -> Result<Value> {
    let value = one(args);
    match &value {
        Value::Object(object) => {
            world.fuel.steps(object.len())?;
            let name = |(name, _): &(Text, Value)| Value::String(name.clone());
            Ok(Value::array(if sorted {
                object.sorted().into_iter().map(name).collect()
            } else {
                object.members().iter().map(name).collect()
            }))
        }
        Value::Array(array) => {
            world.fuel.room(array.len() * 24)?;
            world.fuel.pay(array.len() * 8)?;
            Ok(Value::array((0..array.len()).map(Value::count).collect()))
        }
        _ => Err(fail::about(&mut world.fuel, &value, "has no keys")),
    }
}

fn contains(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let (a, b) = two(args);
    if a.kind_name() != b.kind_name() {
        let what = "cannot have their containment checked";
        return Err(fail::about_two(&mut world.fuel, &a, &b, what));
    }
    Ok(Value::Bool(ops::contains(&mut world.fuel, &a, &b, 0)?))
}

fn add(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let value = one(args);
    let mut sum = Value::Null;
    match &value {
        Value::Array(items) => {
            for item in items.iter() {
                world.fuel.step()?;
                sum = ops::add(&mut world.fuel, sum, item.clone())?;
            }
        }
        Value::Object(object) => {
            for (_, item) in object.members() {
                world.fuel.step()?;
                sum = ops::add(&mut world.fuel, sum, item.clone())?;
            }
        }
        _ => {
            let shown = fail::brief(&mut world.fuel, &value)?;
            return Err(fail::error(format!(
                "Cannot iterate over {} ({shown})",
                value.kind_name()
            )));
        }
    }
    Ok(sum)
}

fn to_entries(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let value = one(args);
    let entry =
        |key, value| Value::object([(Text::from("key"), key), (Text::from("value"), value)]);
    match &value {
        Value::Object(object) => {
            world.fuel.room(object.len() * 400)?;
            let mut entries = Vec::with_capacity(object.len());
            for (name, value) in object.members() {
                world.fuel.step()?;
                entries.push(entry(Value::String(name.clone()), value.clone()));
            }
            Ok(Value::array(entries))
        }
        Value::Array(items) => {
            world.fuel.room(items.len() * 400)?;
            let mut entries = Vec::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                world.fuel.step()?;
                entries.push(entry(Value::count(at), item.clone()));
            }
            Ok(Value::array(entries))
        }
        _ => Err(fail::about(&mut world.fuel, &value, "has no keys")),
    }
}

fn reverse(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let value = one(args);
    match &value {
        Value::Null => Ok(Value::array(Vec::new())),
        Value::Array(items) => {
            world.fuel.room(items.len() * 24)?;
            Ok(Value::array(items.iter().rev().cloned().collect()))
        }
        // The real one walks from the length down, so what has none of its members ends up empty.
        Value::Object(object) if object.len() == 0 => Ok(Value::array(Vec::new())),
        Value::String(text) if text.is_empty() => Ok(Value::array(Vec::new())),
        _ => Err(ops::cannot_index(&value, &Value::Number(0.0))),
    }
}

/// Flattens without recursion: a list of arrays that are being walked through.
fn flatten(world: &mut World<'_>, value: &Value, depth: f64) -> Result<Value> {
    let first: Vec<Value> = match value {
        Value::Array(items) => items.to_vec(),
        Value::Object(object) => object
            .members()
            .iter()
            .map(|(_, value)| value.clone())
            .collect(),
        _ => {
            let shown = fail::brief(&mut world.fuel, value)?;
            return Err(fail::error(format!(
                "Cannot iterate over {} ({shown})",
                value.kind_name()
            )));
        }
    };
    let mut out = Vec::new();
    let mut open = vec![first.into_iter()];
    while let Some(top) = open.last_mut() {
        world.fuel.step()?;
        match top.next() {
            None => {
                open.pop();
            }
            Some(Value::Array(items)) if float(open.len()) <= depth => {
                let inner: Vec<Value> = items.iter().cloned().collect();
                open.push(inner.into_iter());
            }
            Some(item) => {
                if out.len() == out.capacity() {
                    world.fuel.room(out.len() * 48)?;
                }
                out.push(item);
            }
        }
    }
    Ok(Value::array(out))
}

fn items_to_sort(world: &mut World<'_>, value: &Value) -> Result<Vec<Value>> {
    match value {
        Value::Array(items) => {
            let bytes = items.len().saturating_mul(size_of::<Value>());
            world.fuel.room(bytes)?;
            world.fuel.pay(bytes)?;
            Ok(items.to_vec())
        }
        _ => Err(fail::about(
            &mut world.fuel,
            value,
            "cannot be sorted, as it is not an array",
        )),
    }
}

/// Pairs items with their keys, in the order of the keys.
fn keyed(world: &mut World<'_>, args: &mut [Value]) -> Result<Vec<(Value, Value)>> {
    let (value, keys) = two(args);
    let items = items_to_sort(world, &value)?;
    let keys = items_to_sort(world, &keys)?;
    let pairs = keys.into_iter().zip(items).collect();
    Ok(order::sort(&mut world.fuel, pairs, |(key, _)| key)?)
}

fn group(world: &mut World<'_>, args: &mut [Value], firsts: bool) -> Result<Value> {
    let mut out: Vec<Value> = Vec::new();
    let mut group: Vec<Value> = Vec::new();
    let mut last: Option<Value> = None;
    let close = |group: &mut Vec<Value>, out: &mut Vec<Value>| {
        if !group.is_empty() {
            let group = std::mem::take(group);
            out.extend(if firsts {
                group.into_iter().next()
            } else {
                Some(Value::array(group))
            });
        }
    };
    for (key, item) in keyed(world, args)? {
        let same = match &last {
            Some(last) => order::equal(&mut world.fuel, last, &key)?,
            None => false,
        };
        if !same {
            close(&mut group, &mut out);
        }
        last = Some(key);
        group.push(item);
    }
    close(&mut group, &mut out);
    Ok(Value::array(out))
}

fn unique(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let items = items_to_sort(world, &one(args))?;
    let mut out: Vec<Value> = Vec::new();
    for item in order::sort(&mut world.fuel, items, |item| item)? {
        let same = match out.last() {
            Some(last) => order::equal(&mut world.fuel, last, &item)?,
            None => false,
        };
        if !same {
            out.push(item);
        }
    }
    Ok(Value::array(out))
}

/// Finds the least (the first of equals) or the greatest (the last of equals).
fn extreme(world: &mut World<'_>, args: &mut [Value], wanted: Ordering) -> Result<Value> {
    let by_key = args.len() > 1;
    let (value, keys) = two(args);
    let keys = if by_key { keys } else { value.clone() };
    let (Value::Array(items), Value::Array(keys)) = (&value, &keys) else {
        let what = "cannot be iterated over";
        return Err(fail::about_two(&mut world.fuel, &value, &keys, what));
    };
    let mut best: Option<(&Value, &Value)> = None;
    for (key, item) in keys.iter().zip(items.iter()) {
        let better = match best {
            None => true,
            Some((held, _)) => {
                let order = order::compare(&mut world.fuel, key, held)?;
                order == wanted || (order.is_eq() && wanted.is_gt())
            }
        };
        if better {
            best = Some((key, item));
        }
    }
    Ok(best.map(|(_, item)| item.clone()).unwrap_or_default())
}

fn bsearch(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let (value, wanted) = two(args);
    let Value::Array(items) = &value else {
        return Err(fail::about(
            &mut world.fuel,
            &value,
            "cannot be searched from",
        ));
    };
    let (mut low, mut high) = (0, items.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let Some(item) = items.get(middle) else { break };
        match order::compare(&mut world.fuel, item, &wanted)? {
            Ordering::Equal => return Ok(Value::count(middle)),
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
        }
    }
    Ok(Value::Number(-1.0 - float(low)))
}

fn transpose(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let value = one(args);
    let Value::Array(rows) = &value else {
        let shown = fail::brief(&mut world.fuel, &value)?;
        return Err(fail::error(format!(
            "Cannot iterate over {} ({shown})",
            value.kind_name()
        )));
    };
    let mut width = 0;
    for row in rows.iter() {
        width = width.max(match row {
            Value::Array(row) => row.len(),
            Value::Null => 0,
            other => return Err(ops::cannot_index(other, &Value::Number(0.0))),
        });
    }
    world
        .fuel
        .room(width.saturating_mul(rows.len() * 24 + 96))?;
    world.fuel.steps(width.saturating_mul(rows.len()))?;
    let cell = |row: &Value, at: usize| match row {
        Value::Array(row) => row.get(at).cloned().unwrap_or_default(),
        _ => Value::Null,
    };
    let mut columns = Vec::with_capacity(width);
    for at in 0..width {
        world.fuel.step()?;
        columns.push(Value::array(rows.iter().map(|row| cell(row, at)).collect()));
    }
    Ok(Value::array(columns))
}
