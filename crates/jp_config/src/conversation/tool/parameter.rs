//! The parameters of a tool and their JSON Schema.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map as Object, Value};

use crate::{app::Map, scalar::scalar, stage::is_default};

/// One parameter of a tool, or a part of one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolParameterConfig {
    /// Its JSON type, or a list of them.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub kind: Option<ParameterType>,
    /// The value it has when a call leaves it out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub default: Option<Value>,
    /// Whether a call must have it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub required: bool,
    /// One line about it, before the description.
    #[serde(default, skip_serializing_if = "is_default")]
    pub summary: Option<String>,
    /// What it means.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: Option<String>,
    /// How it is used.
    #[serde(default, skip_serializing_if = "is_default")]
    pub examples: Option<String>,
    /// The values it can have.
    #[serde(rename = "enum", default, skip_serializing_if = "is_default")]
    pub enumeration: Vec<Value>,
    /// What the items of an array are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub items: Option<Box<ToolParameterConfig>>,
    /// What the properties of an object are.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(with = "std::collections::BTreeMap<String, ToolParameterConfig>")]
    pub properties: Map<ToolParameterConfig>,
}

impl ToolParameterConfig {
    /// Returns the JSON Schema of this parameter; what is not set is left out.
    #[must_use]
    pub fn to_json_schema(&self) -> Value {
        let mut schema = Object::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                schema.insert(key.to_string(), value);
            }
        };
        set("type", self.kind.clone().map(Value::from));
        let texts = [&self.summary, &self.description];
        let texts: Vec<&str> = texts.into_iter().flatten().map(String::as_str).collect();
        let description = (!texts.is_empty()).then(|| Value::String(texts.join("\n\n")));
        set("description", description);
        let example = self.examples.clone().map(Value::String);
        set(
            "examples",
            example.map(|example| Value::Array(vec![example])),
        );
        set("default", self.default.clone());
        let values = &self.enumeration;
        set(
            "enum",
            (!values.is_empty()).then(|| Value::Array(values.clone())),
        );
        set(
            "items",
            self.items.as_ref().map(|items| items.to_json_schema()),
        );
        if !self.properties.is_empty() {
            let properties = self.properties.iter();
            let properties = properties.map(|(name, part)| (name.clone(), part.to_json_schema()));
            set("properties", Some(Value::Object(properties.collect())));
            set("required", required(&self.properties));
        }
        Value::Object(schema)
    }
}

impl ToolParameterConfig {
    /// Returns the first key in it that would have no effect, and why.
    pub(crate) fn unheard(&self) -> Option<(Vec<String>, &'static str)> {
        let is = |name: TypeName| match &self.kind {
            None => true,
            Some(ParameterType::One(kind)) => *kind == name,
            Some(ParameterType::Any(kinds)) => kinds.contains(&name),
        };
        let key = |key: &str| vec![key.to_owned()];
        if !self.properties.is_empty() && !is(TypeName::Object) {
            return Some((key("properties"), "only an `object` has properties"));
        }
        let below = |start: Vec<String>| {
            move |(path, why): (Vec<String>, &'static str)| ([start.clone(), path].concat(), why)
        };
        if let Some(items) = &self.items {
            if !is(TypeName::Array) {
                return Some((key("items"), "only an `array` has items"));
            }
            if items.required {
                let path = ["items", "required"].map(str::to_owned).to_vec();
                return Some((path, "an array may be empty: its items are never required"));
            }
            if let Some(found) = items.unheard() {
                return Some(below(key("items"))(found));
            }
        }
        self.properties.iter().find_map(|(name, part)| {
            let start = vec!["properties".to_owned(), name.clone()];
            part.unheard().map(below(start))
        })
    }
}

/// Returns the names of the parameters that must be there, if there are any.
pub(super) fn required(parameters: &Map<ToolParameterConfig>) -> Option<Value> {
    let names = parameters.iter().filter(|(_, part)| part.required);
    let names: Vec<Value> = names.map(|(name, _)| name.as_str().into()).collect();
    (!names.is_empty()).then_some(Value::Array(names))
}

/// The JSON type of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum ParameterType {
    /// One type.
    One(TypeName),
    /// Any of these.
    Any(Vec<TypeName>),
}

scalar! {
    ParameterType: "`string`, `number`, `integer`, `boolean`, `array`, `object`, `null` or a list of these",
    schema {
        "anyOf": [
            { "enum": ["string", "number", "integer", "boolean", "array", "object", "null"] },
            {
                "type": "array", "minItems": 1,
                "items": { "enum": ["string", "number", "integer", "boolean", "array", "object", "null"] }
            },
        ]
    },
    read |value| match value {
        Value::Array(names) if !names.is_empty() => {
            names.iter().map(TypeName::read).collect::<Option<Vec<_>>>().map(Self::Any)
        }
        one => TypeName::read(one).map(Self::One),
    },
    write |this| match this {
        ParameterType::One(name) => name.as_str().into(),
        ParameterType::Any(names) => names.into_iter().map(TypeName::as_str).collect(),
    },
}

/// A JSON type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeName {
    /// A text.
    String,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A list.
    Array,
    /// A table.
    Object,
    /// Nothing.
    Null,
}

impl TypeName {
    const ALL: [Self; 7] = [
        Self::String,
        Self::Number,
        Self::Integer,
        Self::Boolean,
        Self::Array,
        Self::Object,
        Self::Null,
    ];

    /// Returns the type's name in JSON Schema.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
            Self::Null => "null",
        }
    }

    fn read(value: &Value) -> Option<Self> {
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}
