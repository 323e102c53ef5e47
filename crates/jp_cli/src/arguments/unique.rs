//! Finds a key that an object has twice: JSON parsers differ in which of the two they take, so that
//! what was checked need not be what is used.

use std::{cell::RefCell, collections::BTreeSet, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};

/// As much of a key is shown.
const SHOWN: usize = 80;

/// Returns the first key that an object of the text has twice. A text that is no JSON has none.
pub(super) fn twice(json: &[u8]) -> Option<String> {
    let found = RefCell::new(None);
    let mut from = serde_json::Deserializer::from_slice(json);
    // Other mistakes are reported by the code that reads the text.
    let _ = Unique { found: &found }.deserialize(&mut from);
    found.into_inner()
}

#[derive(Clone, Copy)]
struct Unique<'a> {
    found: &'a RefCell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value_seed(self)?;
            if keys.contains(&key) {
                *self.found.borrow_mut() = Some(key.chars().take(SHOWN).collect());
                return Err(A::Error::custom("duplicate key"));
            }
            keys.insert(key);
        }
        Ok(())
    }
}
