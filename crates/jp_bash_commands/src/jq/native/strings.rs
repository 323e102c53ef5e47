//! Strings: conversion, trimming, splitting, code points.

use super::{Entry, one, two};
use crate::jq::fail::{self, Fail, Result};
use crate::jq::text::Text;
use crate::jq::value::Value;
use crate::jq::world::World;
use crate::jq::{format, json, ops, print};

pub(super) const TABLE: &[Entry] = &[
    ("tojson", 0, |world, args| {
        Ok(Value::owned(print::to_json(&mut world.fuel, &one(args))?))
    }),
    ("fromjson", 0, fromjson),
    ("tostring", 0, |world, args| match one(args) {
        text @ Value::String(_) => Ok(text),
        other => Ok(Value::owned(print::to_json(&mut world.fuel, &other)?)),
    }),
    ("tonumber", 0, tonumber),
    ("toboolean", 0, |world, args| {
        let value = one(args);
        match value.text() {
            _ if matches!(value, Value::Bool(_)) => Ok(value),
            Some(b"true") => Ok(Value::Bool(true)),
            Some(b"false") => Ok(Value::Bool(false)),
            _ => Err(fail::about(
                &mut world.fuel,
                &value,
                "cannot be parsed as a boolean",
            )),
        }
    }),
    ("format", 1, |world, args| {
        let (value, name) = two(args);
        match &name {
            Value::String(name) => format::apply(&mut world.fuel, name, value),
            _ => Err(fail::about(&mut world.fuel, &name, "is not a valid format")),
        }
    }),
    ("utf8bytelength", 0, |world, args| {
        let value = one(args);
        match value.text() {
            Some(text) => Ok(Value::count(text.len())),
            None => Err(fail::about(
                &mut world.fuel,
                &value,
                "only strings have UTF-8 byte length",
            )),
        }
    }),
    ("explode", 0, explode),
    ("implode", 0, implode),
    ("split", 1, |world, args| {
        let (text, by) = two(args);
        match (&text, &by) {
            (Value::String(text), Value::String(by)) => ops::split(&mut world.fuel, text, by),
            _ => Err(fail::error("split input and separator must be strings")),
        }
    }),
    ("join", 1, join),
    ("startswith", 1, |_, args| {
        edge(args, "startswith", <[u8]>::starts_with)
    }),
    ("endswith", 1, |_, args| {
        edge(args, "endswith", <[u8]>::ends_with)
    }),
    ("ltrimstr", 1, |_, args| Ok(trim_text(args, true, false))),
    ("rtrimstr", 1, |_, args| Ok(trim_text(args, false, true))),
    ("trimstr", 1, |_, args| Ok(trim_text(args, true, true))),
    ("trim", 0, |world, args| trim(world, args, str::trim)),
    ("ltrim", 0, |world, args| trim(world, args, str::trim_start)),
    ("rtrim", 0, |world, args| trim(world, args, str::trim_end)),
    ("ascii_downcase", 0, |_, args| {
        case(args, <[u8]>::to_ascii_lowercase)
    }),
    ("ascii_upcase", 0, |_, args| {
        case(args, <[u8]>::to_ascii_uppercase)
    }),
    ("ascii", 0, |_, args| {
        let code = one(args).number().unwrap_or(0.0);
        let byte = u8::try_from(ops::integer(code)).unwrap_or(0) & 0x7f;
        Ok(Value::string(&[byte]))
    }),
    ("_strindices", 1, string_indices),
];

fn fromjson(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let value = one(args);
    let Value::String(text) = &value else {
        return Err(fail::about(
            &mut world.fuel,
            &value,
            "only strings can be parsed",
        ));
    };
    world.fuel.steps(text.len())?;
    json::parse_one(text).map_err(|error| while_parsing(&error, text))
}

fn while_parsing(error: &json::NotOne, text: &Text) -> Fail {
    fail::error(format!("{error} (while parsing '{}')", text.as_str()))
}

fn tonumber(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let value = one(args);
    match &value {
        Value::Number(_) | Value::Literal(_) => Ok(value),
        Value::String(text) => {
            world.fuel.steps(text.len())?;
            match json::parse_one(text).map_err(|error| while_parsing(&error, text))? {
                number @ (Value::Number(_) | Value::Literal(_)) => Ok(number),
                _ => Err(fail::about(
                    &mut world.fuel,
                    &value,
                    "cannot be parsed as a number",
                )),
            }
        }
        _ => Err(fail::about(
            &mut world.fuel,
            &value,
            "cannot be parsed as a number",
        )),
    }
}

fn explode(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let Value::String(text) = one(args) else {
        return Err(fail::error("explode input must be a string"));
    };
    world.fuel.room(text.len() * 24)?;
    world.fuel.steps(text.len())?;
    let codes = text.as_str().chars();
    Ok(Value::array(
        codes
            .map(|char| Value::Number(f64::from(u32::from(char))))
            .collect(),
    ))
}

fn implode(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let Value::Array(codes) = one(args) else {
        return Err(fail::error("implode input must be an array"));
    };
    world.fuel.steps(codes.len())?;
    let mut text = String::new();
    for code in codes.iter() {
        let Some(code) = code.number() else {
            return Err(fail::error("Unicode codepoint must be numeric"));
        };
        let code = u32::try_from(ops::integer(code)).unwrap_or(u32::MAX);
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Ok(Value::owned(text.into_bytes()))
}

fn join(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let (value, by) = two(args);
    let items: Vec<Value> = match &value {
        Value::Array(items) => items.to_vec(),
        Value::Object(object) => object
            .members()
            .iter()
            .map(|(_, value)| value.clone())
            .collect(),
        _ => {
            let shown = fail::brief(&mut world.fuel, &value)?;
            return Err(fail::error(format!(
                "Cannot iterate over {} ({shown})",
                value.kind_name()
            )));
        }
    };
    if items.is_empty() {
        return Ok(Value::string(b""));
    }
    let mut sum = Value::string(b"");
    for (at, item) in items.into_iter().enumerate() {
        world.fuel.step()?;
        if at > 0 {
            sum = ops::add(&mut world.fuel, sum, by.clone())?;
        }
        let item = match item {
            Value::Null => Value::string(b""),
            Value::Bool(_) | Value::Number(_) | Value::Literal(_) => {
                Value::owned(print::to_json(&mut world.fuel, &item)?)
            }
            other => other,
        };
        sum = ops::add(&mut world.fuel, sum, item)?;
    }
    Ok(sum)
}

fn edge(args: &mut [Value], name: &str, test: fn(&[u8], &[u8]) -> bool) -> Result<Value> {
    let (text, part) = two(args);
    match (text.text(), part.text()) {
        (Some(text), Some(part)) => Ok(Value::Bool(test(text, part))),
        _ => Err(fail::error(format!("{name}() requires string inputs"))),
    }
}

/// Removes a text from the ends; whatever does not fit is left as it is.
fn trim_text(args: &mut [Value], start: bool, end: bool) -> Value {
    let (value, part) = two(args);
    let (Some(mut text), Some(part)) = (value.text(), part.text()) else {
        return value;
    };
    let len = text.len();
    if start {
        text = text.strip_prefix(part).unwrap_or(text);
    }
    if end {
        text = text.strip_suffix(part).unwrap_or(text);
    }
    if text.len() == len {
        value
    } else {
        Value::string(text)
    }
}

fn trim(world: &mut World<'_>, args: &mut [Value], cut: fn(&str) -> &str) -> Result<Value> {
    let value = one(args);
    match &value {
        Value::String(text) => {
            world.fuel.steps(text.len())?;
            Ok(Value::string(cut(text.as_str()).as_bytes()))
        }
        _ => Err(fail::error("trim input must be a string")),
    }
}

fn case(args: &mut [Value], change: fn(&[u8]) -> Vec<u8>) -> Result<Value> {
    match one(args).text() {
        Some(text) => Ok(Value::owned(change(text))),
        // The real ones are made of `explode`, and say so.
        None => Err(fail::error("explode input must be a string")),
    }
}

/// Finds a text in another; places count code points.
fn string_indices(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let (text, part) = two(args);
    let (Some(text), Some(part)) = (text.text(), part.text()) else {
        return Err(fail::error("indices input must be strings"));
    };
    if part.is_empty() {
        return Ok(Value::Null);
    }
    let mut found = Vec::new();
    let (mut at, mut chars, mut from) = (0, 0, 0);
    // Occurrences may overlap.
    while let Some(next) = text
        .get(from..)
        .and_then(|rest| memchr::memmem::find(rest, part))
    {
        let place = from + next;
        let between = text.get(at..place).unwrap_or_default();
        world.fuel.steps(between.len())?;
        chars += between
            .iter()
            .filter(|byte| (**byte & 0xc0) != 0x80)
            .count();
        at = place;
        found.push(Value::count(chars));
        from = place + 1;
    }
    Ok(Value::array(found))
}
