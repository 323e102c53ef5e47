//! Why arguments do not fit their type: where, what was there, and what was expected.

use std::fmt;

use serde::de::{self, Expected, Unexpected};
use serde_json::Value;

/// The longest part of a guest's own words that is repeated to it, in characters.
const QUOTED: usize = 80;

/// Why arguments do not fit. Boxed, because it is large and rare.
#[derive(Debug)]
pub(super) struct Problem(Box<Parts>);

#[derive(Debug)]
struct Parts {
    what: What,
    /// The value that does not fit, once it is known.
    found: Option<Found>,
    /// The way to it, from the inside out.
    place: Vec<Step>,
}

#[derive(Debug)]
enum What {
    /// A value is not what it should be.
    Invalid { expected: String },
    /// An argument is not there.
    Missing,
    /// There is no such argument.
    Unknown {
        /// Those there are.
        known: &'static [&'static str],
    },
    /// Something else.
    Other(String),
}

#[derive(Debug)]
enum Found {
    /// A value that is short enough to be repeated.
    Scalar(String),
    /// What kind of value it is, or how large.
    Described(String),
}

/// One step on the way to a value.
#[derive(Debug)]
pub(super) enum Step {
    /// Into an object.
    Field(String),
    /// Into a list.
    Index(usize),
}

impl Problem {
    /// Makes the problem of a value that is not what it should be.
    pub(super) fn expected(expected: impl Into<String>) -> Self {
        let expected = expected.into();
        Self::of(What::Invalid { expected })
    }

    fn of(what: What) -> Self {
        Self(Box::new(Parts {
            what,
            found: None,
            place: Vec::new(),
        }))
    }

    fn at(mut self, name: &str) -> Self {
        self.0.place.push(Step::field(name));
        self
    }

    /// Adds where the value was found, and what it is unless that is known already.
    pub(super) fn inside(mut self, step: Step, value: &Value) -> Self {
        self.0.found.get_or_insert_with(|| Found::of(value));
        self.0.place.push(step);
        self
    }
}

impl Step {
    pub(super) fn field(name: &str) -> Self {
        Self::Field(jp_text::start(name, QUOTED))
    }
}

impl Found {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Described("null".to_owned()),
            Value::String(text) => Self::Scalar(format!("\"{}\"", jp_text::start(text, QUOTED))),
            Value::Array(_) => Self::Described("a list".to_owned()),
            Value::Object(_) => Self::Described("an object".to_owned()),
            value => Self::Scalar(value.to_string()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { what, found, place } = &*self.0;
        let place = Place(place);
        match (what, found) {
            (What::Missing, _) => write!(f, "missing argument `{place}`"),
            (What::Unknown { known }, _) => {
                write!(f, "unknown argument `{place}`; expected ")?;
                match known {
                    [] => f.write_str("none"),
                    known => write!(f, "one of {}", known.join(", ")),
                }
            }
            (What::Invalid { expected }, Some(Found::Scalar(value))) => {
                write!(
                    f,
                    "invalid value `{value}` for `{place}`: expected {expected}"
                )
            }
            (What::Invalid { expected }, Some(Found::Described(found))) => {
                write!(
                    f,
                    "invalid value for `{place}`: expected {expected}, found {found}"
                )
            }
            (What::Invalid { expected }, None) => write!(f, "expected {expected}"),
            (What::Other(problem), _) if place.0.is_empty() => f.write_str(problem),
            (What::Other(problem), _) => write!(f, "invalid `{place}`: {problem}"),
        }
    }
}

/// The way to a value, as in `items[1].title`.
struct Place<'a>(&'a [Step]);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().rev().enumerate() {
            match step {
                Step::Field(name) if at == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::of(What::Other(message.to_string()))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected.to_string())
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected.to_string())
    }

    fn invalid_length(len: usize, expected: &dyn Expected) -> Self {
        let mut problem = Self::expected(expected.to_string());
        problem.0.found = Some(Found::Described(len.to_string()));
        problem
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::expected(format!("one of {}", expected.join(", ")))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::of(What::Unknown { known: expected }).at(field)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::of(What::Missing).at(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::custom("is given twice, under two names").at(field)
    }
}

/// Makes the error of a value that is not `expected`, for types that check what they read.
pub(crate) fn misfit<E: de::Error>(expected: &str) -> E {
    E::invalid_value(Unexpected::Other("value"), &expected)
}
