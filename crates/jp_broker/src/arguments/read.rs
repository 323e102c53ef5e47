//! Reads JSON values into types, and keeps account of the way to each value.
//!
//! A reader of our own, so that each type is compiled once and an error can show the value it is
//! about: serde_json's has the words of a programmer, and would need a second one around it to say
//! where in the arguments something is wrong.

use std::slice;

use serde::{
    Deserializer,
    de::{
        DeserializeSeed, IntoDeserializer as _, MapAccess, SeqAccess, Unexpected, Visitor,
        value::BorrowedStrDeserializer,
    },
    forward_to_deserialize_any,
};
use serde_json::{Map, Value, map};

use super::problem::{Problem, Step};

/// What is read.
#[derive(Clone, Copy)]
pub(super) enum Reader<'de> {
    /// All arguments, without those of these names.
    Arguments(&'de Map<String, Value>, &'static [&'static str]),
    /// The value of one.
    Value(&'de Value),
}

impl<'de> Reader<'de> {
    fn value(self) -> Option<&'de Value> {
        match self {
            Self::Arguments(..) => None,
            Self::Value(value) => Some(value),
        }
    }

    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let (map, dropped): (_, &[&str]) = match self {
            Self::Arguments(map, dropped) => (map, dropped),
            Self::Value(Value::Object(map)) => (map, &[]),
            Self::Value(_) => return Err(Problem::expected("an object")),
        };
        visitor.visit_map(Fields {
            rest: map.iter(),
            dropped,
            current: None,
        })
    }

    fn text(self) -> Result<&'de str, Problem> {
        let text = self.value().and_then(Value::as_str);
        text.ok_or_else(|| Problem::expected("a string"))
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.value() {
            Some(Value::Null) => visitor.visit_unit(),
            Some(Value::Bool(flag)) => visitor.visit_bool(*flag),
            Some(Value::Number(number)) => {
                if let Some(whole) = number.as_i64() {
                    visitor.visit_i64(whole)
                } else if let Some(whole) = number.as_u64() {
                    visitor.visit_u64(whole)
                } else {
                    visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN))
                }
            }
            Some(Value::String(text)) => visitor.visit_borrowed_str(text),
            Some(Value::Array(values)) => visitor.visit_seq(Elements {
                rest: values.iter().enumerate(),
            }),
            Some(Value::Object(_)) | None => self.object(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.value() {
            Some(Value::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.value().and_then(Value::as_i64) {
            Some(whole) => visitor.visit_i64(whole),
            None => Err(Problem::expected("a whole number")),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.value().and_then(Value::as_f64) {
            Some(number) => visitor.visit_f64(number),
            None => Err(Problem::expected("a number")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_str(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.value() {
            Some(Value::Array(_)) => self.deserialize_any(visitor),
            _ => Err(Problem::expected("a list")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.object(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.object(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_enum(self.text()?.into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 u8 u16 u32 u64 f32 char bytes byte_buf unit unit_struct tuple tuple_struct
        identifier
    }
}

/// The fields of an object.
struct Fields<'de> {
    rest: map::Iter<'de>,
    dropped: &'static [&'static str],
    current: Option<(&'de str, &'de Value)>,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        let dropped = self.dropped;
        let kept = |(key, _): &(&String, &Value)| !dropped.contains(&key.as_str());
        let Some((key, value)) = self.rest.find(kept) else {
            return Ok(None);
        };
        self.current = Some((key, value));
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        let Some((key, value)) = self.current.take() else {
            return Err(serde::de::Error::invalid_type(
                Unexpected::Map,
                &"a key before its value",
            ));
        };
        seed.deserialize(Reader::Value(value))
            .map_err(|problem| problem.inside(Step::field(key), value))
    }
}

/// The elements of a list.
struct Elements<'de> {
    rest: std::iter::Enumerate<slice::Iter<'de, Value>>,
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        let Some((index, value)) = self.rest.next() else {
            return Ok(None);
        };
        seed.deserialize(Reader::Value(value))
            .map(Some)
            .map_err(|problem| problem.inside(Step::Index(index), value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}
