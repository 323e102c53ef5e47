//! What every capability looks like, and what it knows about a call.

use std::future::Future;

use async_trait::async_trait;
use jp_policy::BrokeredName;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    Answer, CallError, Caller, Services,
    arguments::{self, Arguments, Shape},
};

/// The name of a capability and what grants have to know about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec {
    /// Its name, such as `kv.sqlite.todo.create`.
    pub(crate) name: &'static str,
    /// What it does, in one line.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reference page"))]
    pub(crate) summary: &'static str,
    /// The tool whose data it works on; others need that tool's grant besides their own.
    pub(crate) owner: Option<&'static str>,
    /// The argument whose value is part of the name that must be granted: `secrets.get` with
    /// `name: "github_pat"` needs `secrets.get.github_pat`.
    pub(crate) scope: Option<&'static str>,
}

impl Spec {
    /// Names a capability and says in one line what it does.
    pub(crate) const fn new(name: &'static str, summary: &'static str) -> Self {
        Self {
            name,
            summary,
            owner: None,
            scope: None,
        }
    }

    /// Says on whose data it works.
    pub(crate) const fn on_data_of(self, tool: &'static str) -> Self {
        Self {
            owner: Some(tool),
            ..self
        }
    }

    /// Says which argument is part of the name that must be granted.
    pub(crate) const fn scoped_by(self, argument: &'static str) -> Self {
        Self {
            scope: Some(argument),
            ..self
        }
    }
}

/// One call of a capability.
#[derive(Clone, Copy)]
pub(crate) struct CapabilityCall<'a> {
    /// Who calls.
    pub(crate) caller: &'a Caller,
    /// The full name that was granted, scope included.
    pub(crate) name: &'a BrokeredName,
    /// What the guest sent.
    pub(crate) arguments: &'a Map<String, Value>,
}

/// Something the host does on a tool's behalf.
pub(crate) trait Capability: Send + Sync + 'static {
    /// What it takes. Reading it is the check of the arguments.
    type Arguments: Arguments;
    /// What it answers.
    type Reply: Serialize + Shape + Send;

    /// Arguments that are dropped before the others are read. Guests made for the seed send
    /// `user_id`, and it decides nothing.
    const DROPPED: &'static [&'static str] = &["user_id"];

    /// Returns its name and what grants have to know about it.
    fn spec(&self) -> Spec;

    /// Does it. The broker has checked the grant.
    fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<Self::Reply, CallError>> + Send;
}

/// A capability in the table, whatever it takes and answers.
#[async_trait]
pub(crate) trait Known: Send + Sync {
    /// Returns its name and what grants have to know about it.
    fn spec(&self) -> Spec;

    /// Reads the arguments, does it and writes the answer.
    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError>;

    /// Returns the schemas of its arguments and its answer.
    #[cfg(test)]
    fn shapes(&self) -> crate::reference::Shapes;

    /// Reads arguments and does nothing.
    #[cfg(test)]
    fn check(&self, arguments: &Map<String, Value>) -> Result<(), CallError>;
}

#[async_trait]
impl<T: Capability> Known for T {
    fn spec(&self) -> Spec {
        Capability::spec(self)
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError> {
        let arguments = arguments::read(call.arguments, T::DROPPED)?;
        let reply = Capability::call(self, services, call, arguments).await?;
        Answer::of(&reply)
    }

    #[cfg(test)]
    fn shapes(&self) -> crate::reference::Shapes {
        crate::reference::Shapes::of::<T::Arguments, T::Reply>()
    }

    #[cfg(test)]
    fn check(&self, arguments: &Map<String, Value>) -> Result<(), CallError> {
        arguments::read::<T::Arguments>(arguments, T::DROPPED).map(drop)
    }
}
