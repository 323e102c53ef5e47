//! `search.*`: what the internet has on a question, by the engine the host configures.

mod responses;
mod searxng;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ApiRequest, CallError, Endpoint, Services,
    arguments::kinds::Filled,
    capability::{Capability, CapabilityCall, Known, Spec},
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
pub(crate) fn all() -> Vec<Arc<dyn Known>> {
    vec![Arc::new(Internet)]
}

struct Internet;

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct InternetArguments {
    /// What to search for.
    query: Filled<MAX_QUERY>,
}

/// What was found, as one text.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Searched {
    status: Success,
    result: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_used: Option<String>,
}

/// This family has a word of its own for what the others call `ok`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Success {
    Success,
}

impl Capability for Internet {
    type Arguments = InternetArguments;
    type Reply = Searched;

    fn spec(&self) -> Spec {
        Spec::new(
            "search.internet",
            "Searches the internet; the configured engine's host needs a `net` grant",
        )
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        InternetArguments { query }: InternetArguments,
    ) -> Result<Searched, CallError> {
        let provider = services.search.clone();
        let provider =
            provider.ok_or_else(|| not_configured("search.internet", "broker.search"))?;
        let found = Job::run(services, call, move |job| {
            let answer = ask(job, provider.endpoint(), provider.request(&query))?;
            provider.read(&answer)
        })
        .await?;
        Ok(shown(found))
    }
}

fn shown(found: Found) -> Searched {
    let mut result = found.text.trim().to_owned();
    if !found.sources.is_empty() {
        result.push_str("\n\n**Sources:**");
    }
    for (at, source) in found.sources.iter().enumerate() {
        result.push_str(&format!("\n{}. {} - {}", at + 1, source.title, source.url));
    }
    Searched {
        status: Success::Success,
        result,
        model_used: found.model,
    }
}
