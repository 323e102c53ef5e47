//! A short way to write values that have more than one form in a file, such as `true` or `"on"`.

/// Implements reading, writing and the schema of such a value. The type must say
/// `#[serde(try_from = "Value", into = "Value")]`.
macro_rules! scalar {
    (
        $type:ty: $expected:literal,
        schema { $($schema:tt)* },
        read |$value:ident| $read:expr,
        write |$this:ident| $write:expr $(,)?
    ) => {
        impl TryFrom<serde_json::Value> for $type {
            type Error = crate::value::ValueError;

            fn try_from(value: serde_json::Value) -> Result<Self, Self::Error> {
                let $value = &value;
                let read: Option<Self> = $read;
                read.ok_or_else(|| crate::value::ValueError::form($expected, &value))
            }
        }

        impl From<$type> for serde_json::Value {
            fn from($this: $type) -> Self {
                $write
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ $($schema)* })
            }
        }
    };
}

pub(crate) use scalar;
use serde_json::Value;

/// What a value is, for an error message.
pub(crate) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_string(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Number(number) => format!("`{number}`"),
        Value::String(text) => format!("`{}`", jp_text::shorten(text, 60)),
        Value::Array(_) => "a list".to_string(),
        Value::Object(_) => "a table".to_string(),
    }
}
