//! The words of steps that have more than one spelling.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::arguments::{
    kinds::{Text, TimeOrMilliseconds},
    misfit,
};

/// Who does a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(super) enum Owner {
    Human,
    Agent,
}

/// How pressing a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(super) enum Priority {
    Low,
    Normal,
    High,
    Urgent,
}

const OWNERS: [(&str, Owner); 4] = [
    ("human", Owner::Human),
    ("agent", Owner::Agent),
    ("ai", Owner::Agent),
    ("assistant", Owner::Agent),
];
const PRIORITIES: [(&str, Priority); 9] = [
    ("low", Priority::Low),
    ("normal", Priority::Normal),
    ("high", Priority::High),
    ("urgent", Priority::Urgent),
    ("medium", Priority::Normal),
    ("p0", Priority::Urgent),
    ("p1", Priority::High),
    ("p2", Priority::Normal),
    ("p3", Priority::Low),
];

impl Owner {
    /// Returns its word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
        }
    }
}

impl Priority {
    /// Returns its word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Urgent => "urgent",
        }
    }
}

impl<'de> Deserialize<'de> for Owner {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let found = choose(&String::deserialize(from)?, &OWNERS);
        found.ok_or_else(|| misfit("one of human, agent"))
    }
}

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let found = choose(&String::deserialize(from)?, &PRIORITIES);
        found.ok_or_else(|| misfit("one of low, normal, high, urgent"))
    }
}

fn choose<T: Copy>(found: &str, known: &[(&str, T)]) -> Option<T> {
    let found = found.trim();
    let mut known = known.iter();
    let known = known.find(|(word, _)| word.eq_ignore_ascii_case(found));
    known.map(|(_, meaning)| *meaning)
}

/// When a step is due: a time as it was given, or words.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Due {
    At(i64),
    Words(String),
}

impl<'de> Deserialize<'de> for Due {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TimeOrWords)
    }
}

struct TimeOrWords;

impl de::Visitor<'_> for TimeOrWords {
    type Value = Due;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number or a string")
    }

    fn visit_i64<E: de::Error>(self, time: i64) -> Result<Due, E> {
        TimeOrMilliseconds::new(time).map(|time| Due::At(time.given()))
    }

    fn visit_str<E: de::Error>(self, words: &str) -> Result<Due, E> {
        Text::<256>::new(words.to_owned()).map(|words| Due::Words(words.to_string()))
    }
}

/// Models are asked for a time; words are taken from guests that send them.
#[cfg(test)]
impl schemars::JsonSchema for Due {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Due".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        TimeOrMilliseconds::json_schema(generator)
    }
}
