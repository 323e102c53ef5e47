//! The parser: JSON to a value, with no key twice and each number in one form.

use std::{cell::RefCell, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use super::{DocumentError, number::MAX_SAFE};

/// As much of a key is shown.
const SHOWN: usize = 80;

/// Reads the whole text.
pub(super) fn read(text: &str) -> Result<Value, DocumentError> {
    let twice = RefCell::new(None);
    let mut from = serde_json::Deserializer::from_str(text);
    let read = Strict { twice: &twice }.deserialize(&mut from);
    let read = read.and_then(|value| from.end().map(|()| value));
    read.map_err(|error| match twice.take() {
        Some(key) => DocumentError::Duplicate {
            key,
            line: error.line(),
            column: error.column(),
        },
        None => DocumentError::Syntax {
            line: error.line(),
            column: error.column(),
            reason: reason(&error),
        },
    })
}

/// The message alone: the position is printed in front of it.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    /// The key that was there twice, once one was.
    twice: &'a RefCell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() <= MAX_SAFE.unsigned_abs() {
            return Ok(Value::Number(value.into()));
        }
        // The scan let it pass: a double keeps it.
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        if let Ok(value) = i64::try_from(value) {
            return self.visit_i64(value);
        }
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let safe = value.fract() == 0.0 && value.abs() <= MAX_SAFE as f64;
        if safe {
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
            return Ok(Value::Number((value as i64).into()));
        }
        let number = Number::from_f64(value);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number is too large"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                let shown = jp_text::shorten(&key, SHOWN).into_owned();
                *self.twice.borrow_mut() = Some(shown);
                return Err(A::Error::custom("a key is there twice"));
            }
            object.insert(key, map.next_value_seed(self)?);
        }
        Ok(Value::Object(object))
    }
}
