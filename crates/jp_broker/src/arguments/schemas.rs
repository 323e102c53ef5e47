//! The JSON Schemas of the kinds of values. Keywords that start with `x-` are for the reference page
//! and the tables of the builtin tools: they say what JSON Schema cannot.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{
    entry::{Entry, Reference, References},
    kinds::{
        Filled, LAST_TIME, MOST_ROWS, Many, Positive, Rows, Text, Time, TimeOrMilliseconds, Whole,
    },
};

/// Implements the trait for a type: its parameters in brackets, its name, its schema.
macro_rules! schema {
    ([$($parameters:tt)*] $type:ty, |$generator:ident| $schema:expr) => {
        impl<$($parameters)*> JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                std::any::type_name::<Self>().into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

schema!([const MOST: usize] Filled<MOST>, |_g| json_schema!({
    "type": "string", "minLength": 1, "x-bytes": MOST,
}));
schema!([const MOST: usize] Text<MOST>, |_g| json_schema!({
    "type": "string", "x-bytes": MOST,
}));
schema!([const LEAST: i64, const MOST: i64] Whole<LEAST, MOST>, |_g| json_schema!({
    "type": "integer", "minimum": LEAST, "maximum": MOST,
}));
schema!([] Time, |_g| json_schema!({
    "type": "integer", "minimum": 0, "maximum": LAST_TIME,
}));
schema!([] TimeOrMilliseconds, |_g| json_schema!({
    "type": "integer", "minimum": 0, "maximum": LAST_TIME * 1000 + 999,
}));
schema!([const USUAL: i64, const LEAST: i64] Rows<USUAL, LEAST>, |_g| match LEAST {
    0 => json_schema!({
        "type": "integer", "minimum": 0, "maximum": MOST_ROWS, "default": USUAL, "x-zero": "all",
    }),
    _ => json_schema!({
        "type": "integer", "minimum": LEAST, "maximum": MOST_ROWS, "default": USUAL,
    }),
});
schema!([] Positive, |_g| json_schema!({ "type": "number", "exclusiveMinimum": 0 }));
schema!([T: JsonSchema, const MOST: usize] Many<T, MOST>, |generator| json_schema!({
    "type": "array", "items": generator.subschema_for::<T>(), "maxItems": MOST,
}));
schema!([T: JsonSchema] Entry<T>, |generator| json_schema!({
    "anyOf": [{ "type": "string" }, generator.subschema_for::<T>()],
}));
schema!([] Reference, |_g| json_schema!({ "type": ["string", "integer"] }));
schema!([] References, |generator| json_schema!({
    "type": "array", "items": generator.subschema_for::<Reference>(),
}));
