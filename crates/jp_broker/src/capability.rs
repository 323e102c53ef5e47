//! What every capability looks like, and what it is told about a call.

use async_trait::async_trait;
use jp_policy::BrokeredName;
use serde::de::{DeserializeOwned, value::MapDeserializer};
use serde_json::{Map, Value};

use crate::{Answer, CallError, Caller, Code, Services};

/// What is said about a capability, in the docs and to those who write a grant.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Its name, such as `kv.sqlite.todo.create`.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its arguments in brief; `*` marks the required ones: `title*, notes`.
    pub arguments: &'static str,
    /// Its result in brief: `{status, item}`.
    pub result: &'static str,
    /// The tool whose data it works on; others need that tool's grant besides their own.
    pub owner: Option<&'static str>,
    /// The argument whose value is part of the name that must be granted: `secrets.get` with
    /// `name: "github_pat"` needs `secrets.get.github_pat`.
    pub scope: Option<&'static str>,
}

/// One call of a capability.
#[derive(Clone, Copy)]
pub struct CapabilityCall<'a> {
    /// Who calls.
    pub caller: &'a Caller,
    /// The full name that was granted, scope included.
    pub name: &'a BrokeredName,
    /// What the guest sent.
    pub arguments: &'a Map<String, Value>,
}

/// The arguments of a capability: a struct that serde checks, unknown fields refused.
pub trait Arguments: DeserializeOwned {}

impl<T: DeserializeOwned> Arguments for T {}

impl CapabilityCall<'_> {
    /// Reads the arguments into their type. `user_id` is dropped before: seed-conformant guests send
    /// it, and it decides nothing.
    ///
    /// # Errors
    ///
    /// [`Code::InvalidArgs`] naming the field.
    pub fn arguments<T: Arguments>(&self) -> Result<T, CallError> {
        self.arguments_but(&[])
    }

    /// Reads the arguments as [`Self::arguments`] does, without some more that decide nothing.
    pub(crate) fn arguments_but<T: Arguments>(&self, dropped: &[&str]) -> Result<T, CallError> {
        let kept = self.arguments.iter().filter_map(|(name, value)| {
            let name = name.as_str();
            (name != "user_id" && !dropped.contains(&name)).then_some((name, value))
        });
        // Noting the way to each value costs more than reading it: that is for those that do not fit.
        if let Ok(read) = T::deserialize(MapDeserializer::<_, serde_json::Error>::new(kept.clone()))
        {
            return Ok(read);
        }
        serde_path_to_error::deserialize(MapDeserializer::new(kept)).map_err(
            |error: serde_path_to_error::Error<serde_json::Error>| {
                let field = error.path().to_string();
                let problem = error.into_inner().to_string();
                let message = match field.as_str() {
                    "." => problem,
                    _ => format!("`{field}`: {problem}"),
                };
                CallError::new(Code::InvalidArgs, message)
            },
        )
    }
}

/// Something the host does on a tool's behalf.
#[async_trait]
pub trait Capability: Send + Sync {
    /// Returns what is said about it.
    fn spec(&self) -> &Spec;

    /// Does it. The broker has checked the grant; arguments are still the guest's own.
    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError>;
}
