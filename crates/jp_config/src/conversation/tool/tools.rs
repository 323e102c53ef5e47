//! The table of all tools, with `'*'` among them.

use core::{fmt, marker::PhantomData};
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
    ser::SerializeMap,
};

use super::{Enable, ResultMode, RunMode, StyleConfig, ToolConfig, ToolConfigWithDefaults};
use crate::{
    app::Map,
    stage::{Complete, Stage, is_default},
};

/// The key of what holds for all tools.
const ALL: &str = "*";

/// The tools, and what holds for all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolsConfig<R: Stage = Complete> {
    /// What holds for every tool that does not say otherwise (`'*'`).
    pub defaults: ToolDefaults,
    /// The tools by id.
    pub tools: Map<ToolConfig<R>>,
}

/// What holds for every tool that does not say otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolDefaults {
    /// Whether models are offered the tools.
    #[serde(default, skip_serializing_if = "is_default")]
    pub enable: Option<Enable>,
    /// Who decides that a tool runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub run: Option<RunMode>,
    /// Who decides that a result is delivered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub result: Option<ResultMode>,
    /// How calls and results are shown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub style: Option<StyleConfig>,
}

impl<R: Stage> Default for ToolsConfig<R> {
    fn default() -> Self {
        Self {
            defaults: ToolDefaults::default(),
            tools: Map::new(),
        }
    }
}

impl<R: Stage> ToolsConfig<R> {
    /// Returns whether no tool is configured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && is_default(&self.defaults)
    }
}

impl ToolsConfig {
    /// Returns a tool together with what holds for all tools.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<ToolConfigWithDefaults> {
        let tool = self.tools.get(id)?;
        Some(ToolConfigWithDefaults::new(
            tool.clone(),
            self.defaults.clone(),
        ))
    }

    /// Returns all tools with their ids, in the order of the files.
    pub fn iter(&self) -> impl Iterator<Item = (&str, ToolConfigWithDefaults)> {
        self.tools.iter().map(|(id, tool)| {
            let tool = ToolConfigWithDefaults::new(tool.clone(), self.defaults.clone());
            (id.as_str(), tool)
        })
    }
}

impl<R: Stage> Serialize for ToolsConfig<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !is_default(&self.defaults) {
            map.serialize_entry(ALL, &self.defaults)?;
        }
        for (id, tool) in &self.tools {
            map.serialize_entry(id, tool)?;
        }
        map.end()
    }
}

impl<'de, R: Stage> Deserialize<'de> for ToolsConfig<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ToolsVisitor(PhantomData))
    }
}

struct ToolsVisitor<R>(PhantomData<R>);

impl<'de, R: Stage> Visitor<'de> for ToolsVisitor<R> {
    type Value = ToolsConfig<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of tools")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut config = ToolsConfig::default();
        while let Some(id) = map.next_key::<String>()? {
            if id == ALL {
                config.defaults = map.next_value()?;
            } else {
                let tool = map.next_value()?;
                config.tools.insert(id, tool);
            }
        }
        Ok(config)
    }
}

impl<R: Stage> JsonSchema for ToolsConfig<R> {
    fn schema_name() -> Cow<'static, str> {
        "ToolsConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let defaults = generator.subschema_for::<ToolDefaults>();
        let tool = generator.subschema_for::<ToolConfig<R>>();
        schemars::json_schema!({
            "type": "object",
            "properties": { ALL: defaults },
            "additionalProperties": tool,
        })
    }
}
