//! `secrets.*`: a handle that stands for a secret.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{SecretName, fill, store::is_revealed};
use crate::{Answer, CallError, Capability, CapabilityCall, Services, Spec, web::Job};

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Capability>> {
    vec![Arc::new(Get)]
}

struct Get;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct GetArguments {
    name: String,
}

#[async_trait]
impl Capability for Get {
    fn spec(&self) -> &Spec {
        &Spec {
            name: "secrets.get",
            summary: "Returns a handle that `http.request` replaces by the secret in a header; the value itself only with `secrets.reveal.<name>`",
            arguments: "name*",
            result: "{name, found, handle}",
            owner: None,
            scope: Some("name"),
        }
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError> {
        let arguments: GetArguments = call.arguments()?;
        let name: SecretName = arguments
            .name
            .parse()
            .map_err(|error: super::SecretError| CallError::invalid("name", &error.to_string()))?;
        // Reads a file: not on a thread that others wait on.
        let found = Job::run(services, call, move |job| get(job, &name)).await;
        found.map(Answer::from)
    }
}

fn get(job: &Job, name: &SecretName) -> Result<Value, CallError> {
    let store = job.services.secrets.as_deref();
    let found = fill::find_granted(store, job.brokered(), &job.caller.tool, name)?;
    let Some(secret) = found else {
        return Ok(json!({ "name": name.as_str(), "found": false, "handle": null }));
    };
    let mut answer = json!({
        "name": name.as_str(),
        "found": true,
        "handle": fill::handle(name),
    });
    if is_revealed(&secret, job.brokered()) {
        let bytes = secret.value.expose();
        let (field, value) = match std::str::from_utf8(bytes) {
            Ok(text) => ("value", text.to_owned()),
            Err(_) => ("value_base64", data_encoding::BASE64.encode(bytes)),
        };
        answer[field] = value.into();
    }
    Ok(answer)
}
