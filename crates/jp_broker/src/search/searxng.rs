//! SearXNG, and what answers like it: `/search?q=…&format=json`.

use serde_json::Value;
use url::form_urlencoded;

use super::{Found, SearchProvider, Source};
use crate::{ApiBody, ApiRequest, CallError, Endpoint, endpoint::unexpected};

/// How many results are passed on, and how much of each; the text says what was left out.
const MAX_RESULTS: usize = 10;
const MAX_CONTENT: usize = 500;

/// A SearXNG instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearxNg {
    /// Where it is; `/search` is added.
    pub endpoint: Endpoint,
}

impl SearchProvider for SearxNg {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn request(&self, query: &str) -> ApiRequest {
        let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
        ApiRequest {
            path: format!("/search?q={query}&format=json"),
            body: ApiBody::None,
        }
    }

    fn read(&self, answer: &Value) -> Result<Found, CallError> {
        let results = answer["results"].as_array();
        let results = results.ok_or_else(|| unexpected("the search engine", "no `results`"))?;
        let mut found = Found::default();
        for result in results.iter().take(MAX_RESULTS) {
            let text = |field: &str| result[field].as_str().unwrap_or_default().trim().to_owned();
            let (title, content) = (
                text("title"),
                jp_text::shorten(&text("content"), MAX_CONTENT).into_owned(),
            );
            found.text.push_str(&format!("{title}\n{content}\n\n"));
            found.sources.push(Source {
                title,
                url: text("url"),
            });
        }
        let more = results.len().saturating_sub(MAX_RESULTS);
        if more > 0 {
            found
                .text
                .push_str(&format!("[{more} more results left out]"));
        }
        if results.is_empty() {
            found.text.push_str("No results.");
        }
        Ok(found)
    }
}
