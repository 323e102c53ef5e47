//! Endpoints that speak OpenAI's responses, with a model that searches by itself.

use serde_json::{Value, json};

use super::{Found, SearchProvider, Source};
use crate::{ApiBody, ApiRequest, CallError, Endpoint, endpoint::unexpected};

/// How many sources are passed on; the text says when there were more.
const MAX_SOURCES: usize = 50;

/// A model that searches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Responses {
    /// Where it is; `/responses` is added.
    pub endpoint: Endpoint,
    /// The model.
    pub model: String,
}

impl SearchProvider for Responses {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn request(&self, query: &str) -> ApiRequest {
        ApiRequest {
            path: "/responses".to_owned(),
            body: ApiBody::Json(json!({
                "model": self.model,
                "input": [{ "role": "user", "content": query }],
                "tools": [{ "type": "web_search" }],
            })),
        }
    }

    fn read(&self, answer: &Value) -> Result<Found, CallError> {
        let output = answer["output"].as_array();
        let output = output.ok_or_else(|| unexpected("the model", "no `output`"))?;
        let parts: Vec<&Value> = output
            .iter()
            .filter(|item| item["type"] == "message")
            .filter_map(|item| item["content"].as_array())
            .flatten()
            .filter(|part| part["type"] == "output_text")
            .collect();
        if parts.is_empty() {
            return Err(unexpected("the model", "no text in `output`"));
        }
        let texts = parts.iter().filter_map(|part| part["text"].as_str());
        let mut text = texts.collect::<Vec<_>>().join("\n");
        let mut sources: Vec<Source> = Vec::new();
        let citations = parts
            .iter()
            .filter_map(|part| part["annotations"].as_array())
            .flatten()
            .filter(|citation| citation["type"] == "url_citation");
        for citation in citations {
            let url = citation["url"].as_str().unwrap_or_default();
            if url.is_empty() || sources.iter().any(|known| known.url == url) {
                continue;
            }
            if sources.len() == MAX_SOURCES {
                text.push_str("\n[more sources left out]");
                break;
            }
            sources.push(Source {
                title: citation["title"].as_str().unwrap_or(url).to_owned(),
                url: url.to_owned(),
            });
        }
        let model = answer["model"].as_str().unwrap_or(&self.model);
        Ok(Found {
            text,
            sources,
            model: Some(model.to_owned()),
        })
    }
}
