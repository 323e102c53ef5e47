//! `secrets.*`: a handle that stands for a secret.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{SecretName, fill, store::is_revealed};
use crate::{
    CallError, Services,
    capability::{Capability, CapabilityCall, Known, Spec},
    web::Job,
};

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Known>> {
    vec![Arc::new(Get)]
}

struct Get;

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct GetArguments {
    /// The name of the secret.
    name: String,
}

/// A secret, as far as the tool may see it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Handle {
    name: String,
    found: bool,
    handle: Option<String>,
    // The value itself, if it may be seen: as text, or in base64 where it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_base64: Option<String>,
}

impl Capability for Get {
    type Arguments = GetArguments;
    type Reply = Handle;

    fn spec(&self) -> Spec {
        Spec::new(
            "secrets.get",
            "Returns a handle that `http.request` replaces by the secret in a header; the value itself only with `secrets.reveal.<name>`",
        )
        .scoped_by("name")
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        arguments: GetArguments,
    ) -> Result<Handle, CallError> {
        let name: SecretName = arguments
            .name
            .parse()
            .map_err(|error: super::SecretError| CallError::invalid("name", &error.to_string()))?;
        // Reads a file: not on a thread that others wait on.
        Job::run(services, call, move |job| get(job, &name)).await
    }
}

fn get(job: &Job, name: &SecretName) -> Result<Handle, CallError> {
    let store = job.services.secrets.as_deref();
    let mut handle = Handle {
        name: name.as_str().to_owned(),
        found: false,
        handle: None,
        value: None,
        value_base64: None,
    };
    let Some(secret) = fill::find_granted(store, job.brokered(), &job.caller.tool, name)? else {
        return Ok(handle);
    };
    handle.found = true;
    handle.handle = Some(fill::handle(name));
    if is_revealed(&secret, job.brokered()) {
        let bytes = secret.value.expose();
        match std::str::from_utf8(bytes) {
            Ok(text) => handle.value = Some(text.to_owned()),
            Err(_) => handle.value_base64 = Some(data_encoding::BASE64.encode(bytes)),
        }
    }
    Ok(handle)
}
