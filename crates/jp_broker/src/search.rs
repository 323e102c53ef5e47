//! `search.*`: what the internet has on a question, by the engine the host configures.

mod responses;
mod searxng;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::{
    Answer, ApiRequest, CallError, Capability, CapabilityCall, Endpoint, Services, Spec,
    endpoint::{ask, not_configured},
    web::Job,
};

pub use responses::Responses;
pub use searxng::SearxNg;

/// Longer queries are refused; engines refuse them too.
const MAX_QUERY: usize = 4096;

/// A search engine: what to ask it, and how to read its answer. It does not go out itself.
pub trait SearchProvider: Send + Sync {
    /// Returns where the engine is.
    fn endpoint(&self) -> &Endpoint;

    /// Returns what to ask it.
    fn request(&self, query: &str) -> ApiRequest;

    /// Reads its answer.
    ///
    /// # Errors
    ///
    /// When the answer is not what the engine should say.
    fn read(&self, answer: &Value) -> Result<Found, CallError>;
}

/// What an engine found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// What it has to say.
    pub text: String,
    /// Where it has it from.
    pub sources: Vec<Source>,
    /// The model that wrote the text, if one did.
    pub model: Option<String>,
}

/// Where something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What the page calls itself.
    pub title: String,
    /// Where it is.
    pub url: String,
}

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Capability>> {
    vec![Arc::new(Internet)]
}

struct Internet;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct InternetArguments {
    query: String,
}

#[async_trait]
impl Capability for Internet {
    fn spec(&self) -> &Spec {
        &Spec {
            name: "search.internet",
            summary: "Searches the internet; the configured engine's host needs a `net` grant",
            arguments: "query*",
            result: "{status, result, model_used}",
            owner: None,
            scope: None,
        }
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError> {
        let InternetArguments { query } = call.arguments()?;
        let provider = services.search.clone();
        let provider =
            provider.ok_or_else(|| not_configured("search.internet", "broker.search"))?;
        if query.trim().is_empty() || query.len() > MAX_QUERY {
            let problem = format!("must have between 1 and {MAX_QUERY} bytes");
            return Err(CallError::invalid("query", &problem));
        }
        let found = Job::run(services, call, move |job| {
            let answer = ask(job, provider.endpoint(), provider.request(&query))?;
            provider.read(&answer)
        })
        .await?;
        Ok(shown(&found).into())
    }
}

fn shown(found: &Found) -> Value {
    let mut result = found.text.trim().to_owned();
    if !found.sources.is_empty() {
        result.push_str("\n\n**Sources:**");
    }
    for (at, source) in found.sources.iter().enumerate() {
        result.push_str(&format!("\n{}. {} - {}", at + 1, source.title, source.url));
    }
    let mut answer = json!({ "status": "success", "result": result });
    if let Some(model) = &found.model {
        answer["model_used"] = model.as_str().into();
    }
    answer
}
