//! What makes a function a capability: arguments read into their type, one transaction, the user
//! from the host.

use std::sync::Arc;

use rusqlite::Connection;
use serde::Serialize;

use super::{Access, Failure, Quotas};
use crate::{
    CallError, Code, Services,
    arguments::{Arguments, Shape},
    capability::{Capability, CapabilityCall, Known, Spec},
};

/// Where a handler works: one transaction, for one user.
pub(super) struct Scope<'a> {
    /// The transaction; it is committed when the handler returns a result. A handler that
    /// [writes once](writes_once) has each statement for itself.
    pub(super) transaction: &'a Connection,
    /// Whose rows these are.
    pub(super) user: &'a str,
    /// The tool that calls.
    pub(super) tool: &'a str,
    /// The time in seconds since 1970.
    pub(super) now: i64,
    /// How much the user may keep.
    pub(super) quotas: &'a Quotas,
}

impl Scope<'_> {
    /// Returns what is noted beside a prompt that will run unattended: who put it there.
    pub(super) fn origin(&self) -> String {
        format!("tool:{}", self.tool)
    }
}

type Run<A, R> = fn(&Scope<'_>, &A) -> Result<R, Failure>;

struct Handler<A: 'static, R: 'static> {
    spec: Spec,
    access: Access,
    run: Run<A, R>,
}

/// What a handler answers.
pub(super) trait Reply: Serialize + Shape + Send + 'static {}

impl<T: Serialize + Shape + Send + 'static> Reply for T {}

/// Makes a capability that only looks.
pub(super) fn reads<A: Arguments, R: Reply>(spec: Spec, run: Run<A, R>) -> Arc<dyn Known> {
    let access = Access::Read;
    Arc::new(Handler { spec, access, run })
}

/// Makes a capability that changes something.
pub(super) fn writes<A: Arguments, R: Reply>(spec: Spec, run: Run<A, R>) -> Arc<dyn Known> {
    let access = Access::Write;
    Arc::new(Handler { spec, access, run })
}

/// Makes a capability that changes something with a single statement, read to its end: that is a
/// transaction by itself, and nothing has to be begun and ended around it.
pub(super) fn writes_once<A: Arguments, R: Reply>(spec: Spec, run: Run<A, R>) -> Arc<dyn Known> {
    let access = Access::WriteOnce;
    Arc::new(Handler { spec, access, run })
}

impl<A: Arguments, R: Reply> Capability for Handler<A, R> {
    type Arguments = A;
    type Reply = R;

    // Guests made for the seed pass on the `action` that led here: the name has said it already.
    const DROPPED: &'static [&'static str] = &["user_id", "action"];

    fn spec(&self) -> Spec {
        self.spec
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        arguments: A,
    ) -> Result<R, CallError> {
        let Some(store) = &services.store else {
            let message = format!(
                "{} needs a store, and this host has none; configure a file for it",
                call.name
            );
            return Err(CallError::new(Code::Unavailable, message));
        };
        let now = services.unix();
        let work = |transaction: &Connection| {
            let scope = Scope {
                transaction,
                user: &call.caller.user,
                tool: &call.caller.tool,
                now,
                quotas: store.quotas(),
            };
            (self.run)(&scope, &arguments)
        };
        let until = (call.caller.deadline, &call.caller.cancel);
        store.call(self.access, until, work).await
    }
}
