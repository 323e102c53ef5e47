//! Values that may be written in more than one way.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

use super::kinds::{Title, Word};

/// A thing that is named by its title, or described by an object.
#[derive(Debug)]
pub(crate) struct Entry<T>(pub(crate) T);

impl<'de, T: Deserialize<'de> + From<Title>> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TitleOrObject(PhantomData)).map(Self)
    }
}

struct TitleOrObject<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + From<Title>> Visitor<'de> for TitleOrObject<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an object")
    }

    fn visit_str<E: de::Error>(self, title: &str) -> Result<T, E> {
        Title::new(title.to_owned()).map(T::from)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields))
    }
}

/// What another thing is called: an id, a number or a title.
#[derive(Debug, Clone)]
pub(crate) struct Reference(Word);

impl Reference {
    /// Returns it as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextOrNumber)
    }
}

struct TextOrNumber;

impl Visitor<'_> for TextOrNumber {
    type Value = Reference;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a whole number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Reference, E> {
        Word::new(text.to_owned()).map(Reference)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Reference, E> {
        self.visit_str(&number.to_string())
    }
}

/// References, or only one of them.
#[derive(Debug)]
pub(crate) struct References(pub(crate) Vec<Reference>);

impl<'de> Deserialize<'de> for References {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OneOrMany)
    }
}

struct OneOrMany;

impl<'de> Visitor<'de> for OneOrMany {
    type Value = References;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of strings and whole numbers")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<References, E> {
        TextOrNumber
            .visit_str(text)
            .map(|one| References(vec![one]))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<References, E> {
        TextOrNumber
            .visit_i64(number)
            .map(|one| References(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<References, A::Error> {
        let mut references = Vec::new();
        while let Some(one) = list.next_element()? {
            references.push(one);
        }
        Ok(References(references))
    }
}
