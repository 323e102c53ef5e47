//! `clock.*`: the time.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use crate::{Answer, CallError, Capability, CapabilityCall, Services, Spec};

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Capability>> {
    vec![Arc::new(NowUnix)]
}

struct NowUnix;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[async_trait]
impl Capability for NowUnix {
    fn spec(&self) -> &Spec {
        &Spec {
            name: "clock.now_unix",
            summary: "Tells the time in seconds since 1970",
            arguments: "",
            result: "{unix}",
            owner: None,
            scope: None,
        }
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError> {
        let Nothing {} = call.arguments()?;
        Ok(json!({ "unix": services.unix() }).into())
    }
}
