//! How much a tool may use, as people write it: `"256MB"`, `"30s"`.

use jp_policy::LimitsRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{scalar::scalar, stage::is_default};

/// How much a call may use; what is not set stays at the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsConfig {
    /// Memory: `"256MB"`, or bytes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory: Option<ByteSize>,
    /// Time on the clock: `"500ms"`, `"30s"`, `"5m"`, or milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub time: Option<Millis>,
    /// Units of work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fuel: Option<u64>,
    /// The size of the result and of each captured stream: `"10MB"`, or bytes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: Option<ByteSize>,
}

impl LimitsConfig {
    /// Returns these limits as the policy reads them.
    #[must_use]
    pub(crate) fn to_request(self) -> LimitsRequest {
        LimitsRequest {
            memory: self.memory.map(|size| size.0),
            time_ms: self.time.map(|time| time.0),
            fuel: self.fuel,
            output: self.output.map(|size| size.0),
        }
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct ByteSize(pub u64);

scalar! {
    ByteSize: "a size such as `256MB`, `64KiB` or a number of bytes",
    schema { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": "^[0-9]+ ?(B|KB|MB|GB|KiB|MiB|GiB)$" }] },
    read |value| quantity(value, &[
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
        ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("B", 1),
    ]).map(Self),
    write |this| Value::from(this.0),
}

/// A number of milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Millis(pub u64);

scalar! {
    Millis: "a time such as `500ms`, `30s`, `5m` or a number of milliseconds",
    schema { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": "^[0-9]+ ?(ms|s|m|h)$" }] },
    read |value| quantity(value, &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]).map(Self),
    write |this| Value::from(this.0),
}

/// Reads a whole number, or a text of a whole number and a unit. Text without a unit is refused:
/// a reader could not know whether `"30"` means seconds.
fn quantity(value: &Value, units: &[(&str, u64)]) -> Option<u64> {
    let text = match value {
        Value::Number(number) => return number.as_u64(),
        Value::String(text) => text,
        _ => return None,
    };
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}
