//! From the bytes a caller sent to the one answer of the tool. Runs in the sandbox.

use std::ops::RangeInclusive;

use serde_json::{Map, Number, Value};

use crate::envelope::{Refusal, capability_call};
use crate::tool::USER_ID;
use crate::{Action, Argument, Kind, ModuleTool, Need};

/// What the ABI lets a host send.
const MAX_INPUT: usize = 256 * 1024;

/// Whole numbers up to here are exact as floating-point numbers.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

impl ModuleTool {
    /// Answers a call: with a capability call, or with what is wrong with the arguments.
    #[must_use]
    pub fn answer(&self, input: &[u8]) -> Vec<u8> {
        let answer = match self.request(input) {
            Ok((action, arguments)) => capability_call(action.call, arguments),
            Err(refusal) => refusal.answer(),
        };
        // A value whose keys are strings can always be written.
        serde_json::to_vec(&answer).unwrap_or_default()
    }

    fn request(&self, input: &[u8]) -> Result<(&'static Action, Map<String, Value>), Refusal> {
        if input.len() > MAX_INPUT {
            return Err(Refusal::TooLarge { limit: MAX_INPUT });
        }
        // serde_json stops at 128 levels, so depth cannot exhaust the stack.
        let Ok(Value::Object(mut input)) = serde_json::from_slice(input) else {
            return Err(Refusal::NotAnObject);
        };
        let action = self.pick(&mut input)?;
        let mut output = Map::new();
        for argument in [USER_ID].iter().chain(action.arguments) {
            if let Some(value) = take(argument, &mut input, argument.name)? {
                output.insert(argument.name.to_owned(), value);
            }
        }
        if !action.one_of.is_empty() && !action.one_of.iter().any(|key| output.contains_key(*key)) {
            return Err(Refusal::Missing {
                key: action.one_of.join(" or "),
            });
        }
        // What would be dropped may have been meant: `clear` with a title is not `clear`.
        match input.into_iter().find(|(_, value)| !value.is_null()) {
            Some((key, _)) => Err(Refusal::Unknown { key }),
            None => Ok((action, output)),
        }
    }

    /// Takes the action out of the input and finds what it stands for.
    fn pick(&self, input: &mut Map<String, Value>) -> Result<&'static Action, Refusal> {
        if !self.has_actions() {
            return self.actions.first().ok_or(Refusal::UnsupportedAction);
        }
        match input.remove("action") {
            None | Some(Value::Null) => Err(Refusal::Missing {
                key: "action".to_owned(),
            }),
            Some(Value::String(word)) => self.action(&word).ok_or(Refusal::UnsupportedAction),
            Some(_) => Err(Refusal::UnsupportedAction),
        }
    }
}

/// Takes an argument out of the input under its first name that is there, and checks it.
fn take(
    argument: &Argument,
    input: &mut Map<String, Value>,
    place: &str,
) -> Result<Option<Value>, Refusal> {
    let mut found = None;
    for name in [&argument.name].into_iter().chain(argument.aliases) {
        let value = input.remove(*name).filter(|value| !value.is_null());
        found = found.or(value);
    }
    let missing = || Refusal::Missing {
        key: place.to_owned(),
    };
    match found {
        Some(value) => match check(argument.kind, value, place)? {
            // An empty list of things to do is no list of things to do.
            Value::Array(list) if list.is_empty() && argument.need == Need::Required => {
                Err(missing())
            }
            value => Ok(Some(value)),
        },
        None if argument.need == Need::Required => Err(missing()),
        None => Ok(None),
    }
}

/// Checks a value against its kind and returns it in the form the host expects.
fn check(kind: Kind, value: Value, place: &str) -> Result<Value, Refusal> {
    let invalid = |must: String| {
        Err(Refusal::Invalid {
            key: place.to_owned(),
            must,
        })
    };
    match (kind, value) {
        (Kind::Text | Kind::Reference, value @ Value::String(_))
        | (Kind::Object, value @ Value::Object(_))
        | (Kind::Json, value) => Ok(value),
        (Kind::Word(words), Value::String(word)) if words.contains(&word.as_str()) => {
            Ok(Value::String(word))
        }
        (Kind::Positive, Value::Number(number)) if number.as_f64().is_some_and(|n| n > 0.0) => {
            Ok(Value::Number(number))
        }
        (Kind::Integer | Kind::Between(..), Value::Number(number)) => match whole(&number) {
            Some(whole) if kind.range().contains(&whole) => Ok(whole.into()),
            _ => invalid(kind.in_words()),
        },
        (Kind::Reference, Value::Number(number)) => match whole(&number) {
            Some(whole) => Ok(whole.to_string().into()),
            None => invalid(kind.in_words()),
        },
        (Kind::Integers | Kind::References | Kind::Entries(_), Value::Array(list)) => list
            .into_iter()
            .enumerate()
            .map(|(index, element)| check_element(kind, element, &format!("{place}[{index}]")))
            .collect(),
        _ => invalid(kind.in_words()),
    }
}

/// Checks an element of a list.
fn check_element(kind: Kind, element: Value, place: &str) -> Result<Value, Refusal> {
    match (kind, element) {
        (Kind::Integers, element) => check(Kind::Integer, element, place),
        (Kind::References, element) => check(Kind::Reference, element, place),
        (Kind::Entries(_), element @ Value::String(_)) => Ok(element),
        (Kind::Entries(fields), Value::Object(mut entry)) => {
            let mut checked = Map::new();
            for field in fields {
                let place = format!("{place}.{}", field.name);
                if let Some(value) = take(field, &mut entry, &place)? {
                    checked.insert(field.name.to_owned(), value);
                }
            }
            checked.append(&mut entry);
            Ok(Value::Object(checked))
        }
        _ => Err(Refusal::Invalid {
            key: place.to_owned(),
            must: "a string or an object".to_owned(),
        }),
    }
}

/// Reads a whole number, also one written `3.0` or `3e2`, as JSON Schema does.
fn whole(number: &Number) -> Option<i64> {
    if let Some(whole) = number.as_i64() {
        return Some(whole);
    }
    let float = number.as_f64()?;
    if float.fract() != 0.0 || float.abs() > MAX_EXACT {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it has no fraction and is far below the largest i64"
    )]
    Some(float as i64)
}

impl Kind {
    /// Returns the whole numbers allowed.
    const fn range(self) -> RangeInclusive<i64> {
        match self {
            Self::Between(smallest, largest) => smallest..=largest,
            _ => i64::MIN..=i64::MAX,
        }
    }

    /// Says what a value must be.
    fn in_words(self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Integer => "a whole number".to_owned(),
            Self::Between(smallest, largest) => {
                format!("a whole number between {smallest} and {largest}")
            }
            Self::Positive => "a number above 0".to_owned(),
            Self::Integers => "a list of whole numbers".to_owned(),
            Self::Reference => "a string or a whole number".to_owned(),
            Self::References => "a list of strings and whole numbers".to_owned(),
            Self::Entries(_) => "a list of strings and objects".to_owned(),
            Self::Object => "an object".to_owned(),
            Self::Json => "a value".to_owned(),
        }
    }
}
