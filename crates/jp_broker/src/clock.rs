//! `clock.*`: the time.

use std::sync::Arc;

use serde::Serialize;

use crate::{
    CallError, Services,
    arguments::Nothing,
    capability::{Capability, CapabilityCall, Known, Spec},
};

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Known>> {
    vec![Arc::new(NowUnix)]
}

struct NowUnix;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Now {
    /// The seconds since 1970.
    unix: i64,
}

impl Capability for NowUnix {
    type Arguments = Nothing;
    type Reply = Now;

    fn spec(&self) -> Spec {
        Spec::new("clock.now_unix", "Returns the time in seconds since 1970")
    }

    async fn call(
        &self,
        services: &Services,
        _: &CapabilityCall<'_>,
        Nothing {}: Nothing,
    ) -> Result<Now, CallError> {
        let unix = services.unix();
        Ok(Now { unix })
    }
}
