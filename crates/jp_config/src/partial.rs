//! A configuration in which any value may be absent: what one layer says, or several together.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    app::AppConfig,
    assign::Assignment,
    diagnose::{self, Finding},
    error::{ConfigError, Origin, Place},
    tree::{self, Spot},
};

/// What one or several layers say. Every key in it is known and every value is valid.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialAppConfig(Value);

impl Default for PartialAppConfig {
    fn default() -> Self {
        Self(Value::Object(serde_json::Map::new()))
    }
}

impl PartialAppConfig {
    /// Checks a tree. Keys that are set to `null` count as absent.
    ///
    /// # Errors
    ///
    /// When a key is not known or a value cannot be had.
    pub fn from_value(mut tree: Value) -> Result<Self, ConfigError> {
        tree::strip_nulls(&mut tree);
        diagnose::check(&tree).map_err(error_of)?;
        Ok(Self(tree))
    }

    /// Returns the tree.
    #[must_use]
    pub const fn as_value(&self) -> &Value {
        &self.0
    }

    /// Puts a higher layer over this one: it wins key by key, and tables are merged.
    pub fn merge(&mut self, higher: Self) {
        tree::merge(&mut self.0, higher.0, Spot::Root);
    }

    /// Returns what has to change to get `next`; `None` if they are equal.
    #[must_use]
    pub fn delta(&self, next: &Self) -> Option<ConfigDelta> {
        tree::delta(&self.0, &next.0, Spot::Root).map(ConfigDelta)
    }

    /// Applies a change that was kept.
    ///
    /// # Errors
    ///
    /// When the result would not be a valid configuration; nothing is changed then.
    pub fn apply(&mut self, delta: &ConfigDelta) -> Result<(), ConfigError> {
        let mut changed = self.0.clone();
        tree::merge(&mut changed, delta.0.clone(), Spot::Root);
        *self = Self::from_value(changed)?;
        Ok(())
    }

    /// Applies `key=value`, `key:=json`, `key+=value`, `key:+=json` or a JSON object.
    ///
    /// # Errors
    ///
    /// When the text is not an assignment, the key is unknown or the value is invalid; nothing is
    /// changed then.
    pub fn assign(&mut self, text: &str) -> Result<(), ConfigError> {
        let place = || Place::of(Origin::Assignment(text.to_string()));
        let located = |mut error: ConfigError| {
            error.place.get_or_insert_with(|| Box::new(place()));
            error
        };
        let mut changed = self.0.clone();
        let assignment = Assignment::parse(text).map_err(located)?;
        assignment.apply(&mut changed).map_err(located)?;
        *self = Self::from_value(changed).map_err(located)?;
        Ok(())
    }

    pub(crate) fn of(config: &AppConfig) -> Result<Self, ConfigError> {
        let tree = serde_json::to_value(config).unwrap_or_default();
        Self::from_value(tree)
    }

    pub(crate) fn complete(self) -> Result<AppConfig, ConfigError> {
        complete(self.0).map_err(error_of)
    }
}

/// Reads a merged tree, in which required values must be there.
pub(crate) fn complete(tree: Value) -> Result<AppConfig, Finding> {
    AppConfig::deserialize(&tree).map_err(|error| diagnose::find(&tree, &error.to_string()))
}

fn error_of((path, problem): Finding) -> ConfigError {
    ConfigError::of_key(tree::dotted(&path), problem)
}

/// What has to change in one configuration to get another; a key set to `null` goes away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfigDelta(Value);

impl ConfigDelta {
    /// Returns the tree of changes.
    #[must_use]
    pub const fn as_value(&self) -> &Value {
        &self.0
    }
}
