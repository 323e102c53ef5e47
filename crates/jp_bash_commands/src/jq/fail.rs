//! Why the evaluation of a program stops: an error it may catch, its own wish, or a limit of the run.

use jp_bash_system::{Limit, Stop};

use super::fuel::Fuel;
use super::print;
use super::value::Value;

/// Why there is no result.
#[derive(Debug)]
pub(super) enum Fail {
    /// An error that `try` catches.
    Error(Value),
    /// `halt` and `halt_error`.
    Halt {
        status: i32,
        message: Option<Value>,
    },
    Stop(Stop),
}

impl From<Stop> for Fail {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

pub(super) type Result<T> = std::result::Result<T, Fail>;

/// Makes an error with a text.
pub(super) fn error(message: impl AsRef<[u8]>) -> Fail {
    Fail::Error(Value::string(message.as_ref()))
}

/// The memory of the run is used up.
pub(super) fn memory() -> Fail {
    Fail::Stop(Stop::Limit(Limit::Memory))
}

/// Shows a value in a message: its beginning only.
pub(super) fn brief(fuel: &mut Fuel<'_>, value: &Value) -> Result<String> {
    const MOST: usize = 11;
    let shown = match value {
        // A long string is cut before it is escaped, for its cost.
        Value::String(text) if text.len() > 64 => {
            let mut end = 64;
            while !text.as_str().is_char_boundary(end) {
                end -= 1;
            }
            let mut out = Vec::new();
            print::quote(&mut out, text.get(..end).unwrap_or_default(), false);
            out
        }
        _ => print::to_json(fuel, value)?,
    };
    let shown = String::from_utf8_lossy(&shown);
    if shown.len() <= MOST + 3 {
        return Ok(shown.into_owned());
    }
    let mut end = MOST;
    while !shown.is_char_boundary(end) {
        end -= 1;
    }
    Ok(format!("{}...", shown.get(..end).unwrap_or_default()))
}

/// Makes the error `number (1) cannot be …`.
pub(super) fn about(fuel: &mut Fuel<'_>, value: &Value, what: &str) -> Fail {
    match brief(fuel, value) {
        Ok(shown) => error(format!("{} ({shown}) {what}", value.kind_name())),
        Err(fail) => fail,
    }
}

/// Makes the error `number (1) and string ("a") cannot be …`.
pub(super) fn about_two(fuel: &mut Fuel<'_>, a: &Value, b: &Value, what: &str) -> Fail {
    match (brief(fuel, a), brief(fuel, b)) {
        (Ok(left), Ok(right)) => error(format!(
            "{} ({left}) and {} ({right}) {what}",
            a.kind_name(),
            b.kind_name()
        )),
        (Err(fail), _) | (_, Err(fail)) => fail,
    }
}
