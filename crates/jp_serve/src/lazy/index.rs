//! A text index over tools: BM25 over names, descriptions and parameters.

use std::collections::BTreeMap;

use rmcp::model::Tool;
use serde_json::Value;

/// How much a word counts by where it stands.
const NAME: f32 = 4.0;
const TITLE: f32 = 2.0;
const DESCRIPTION: f32 = 1.0;
const PARAMETER: f32 = 0.5;

/// Words that say nothing of what a tool does.
const EMPTY: &[&str] = &[
    "a", "an", "and", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that", "the", "to",
    "with",
];

/// How fast a word that is said again stops to count, and how much long texts are held back: the usual.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.75;

/// What a word counts that only starts like a searched one.
const PREFIX: f32 = 0.5;

/// Shorter words start too many others.
const SHORTEST_PREFIX: usize = 3;

/// More words of a query are passed over.
const MOST_WORDS: usize = 32;

/// A text index over tools.
pub(crate) struct Index {
    /// For each word the tools that have it, and how much.
    words: BTreeMap<String, Vec<(usize, f32)>>,
    lengths: Vec<f32>,
    mean: f32,
}

impl Index {
    pub(crate) fn of(tools: &[Tool]) -> Self {
        let mut words: BTreeMap<String, Vec<(usize, f32)>> = BTreeMap::new();
        let mut lengths = Vec::with_capacity(tools.len());
        for (at, tool) in tools.iter().enumerate() {
            let mut own: BTreeMap<String, f32> = BTreeMap::new();
            let mut add = |text: &str, weight: f32| {
                for word in split(text) {
                    *own.entry(word).or_default() += weight;
                }
            };
            add(&tool.name, NAME);
            add(tool.title.as_deref().unwrap_or_default(), TITLE);
            add(tool.description.as_deref().unwrap_or_default(), DESCRIPTION);
            for (name, schema) in parameters(tool) {
                add(name, PARAMETER);
                add(
                    schema["description"].as_str().unwrap_or_default(),
                    PARAMETER,
                );
            }
            lengths.push(own.values().sum());
            for (word, weight) in own {
                words.entry(word).or_default().push((at, weight));
            }
        }
        let count = lengths.len().max(1);
        let mean = lengths.iter().sum::<f32>() / float(count);
        Self {
            words,
            lengths,
            mean: mean.max(1.0),
        }
    }

    /// Returns where the tools stand that fit a query best, the best one first.
    pub(crate) fn search(&self, query: &str, most: usize) -> Vec<usize> {
        let mut scores = vec![0.0_f32; self.lengths.len()];
        for word in split(query).take(MOST_WORDS) {
            self.score(&word, &mut scores);
        }
        let mut found: Vec<usize> = (0..scores.len())
            .filter(|at| score(&scores, *at) > 0.0)
            .collect();
        found.sort_by(|a, b| {
            score(&scores, *b)
                .total_cmp(&score(&scores, *a))
                .then(a.cmp(b))
        });
        found.truncate(most);
        found
    }

    fn score(&self, word: &str, scores: &mut [f32]) {
        if let Some(tools) = self.words.get(word) {
            self.count(tools, 1.0, scores);
        }
        if word.len() < SHORTEST_PREFIX {
            return;
        }
        let longer = self.words.range(word.to_owned()..);
        let longer = longer.take_while(|(known, _)| known.starts_with(word));
        for (_, tools) in longer.filter(|(known, _)| *known != word) {
            self.count(tools, PREFIX, scores);
        }
    }

    fn count(&self, tools: &[(usize, f32)], part: f32, scores: &mut [f32]) {
        let (all, with) = (float(self.lengths.len()), float(tools.len()));
        let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
        for (at, weight) in tools {
            let length = self.lengths.get(*at).copied().unwrap_or_default() / self.mean;
            let held = SATURATION * (1.0 - LENGTH + LENGTH * length);
            if let Some(score) = scores.get_mut(*at) {
                *score += part * rarity * weight * (SATURATION + 1.0) / (weight + held);
            }
        }
    }
}

fn score(scores: &[f32], at: usize) -> f32 {
    scores.get(at).copied().unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 16 million tools")]
const fn float(count: usize) -> f32 {
    count as f32
}

fn parameters(tool: &Tool) -> impl Iterator<Item = (&String, &Value)> {
    let properties = tool
        .input_schema
        .get("properties")
        .and_then(Value::as_object);
    properties.into_iter().flatten()
}

/// Splits a text into words of small letters, also where a name has a bar, an underscore or a capital.
fn split(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_small = false;
    for c in text.chars() {
        let ends = !c.is_alphanumeric() || (c.is_uppercase() && was_small);
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    words.push(word);
    words
        .into_iter()
        .filter(|word| !word.is_empty() && !EMPTY.contains(&word.as_str()))
        .map(|word| stem(&word))
}

/// Cuts the plural off.
fn stem(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(one) if one.len() >= SHORTEST_PREFIX && !one.ends_with('s') => one.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &'static str, description: &'static str, parameters: &Value) -> Tool {
        let mut tool = Tool::new(name, description, serde_json::Map::new());
        let schema = json!({"type": "object", "properties": parameters});
        tool.input_schema = std::sync::Arc::new(schema.as_object().unwrap().clone());
        tool
    }

    fn tools() -> Vec<Tool> {
        vec![
            tool(
                "todo_create",
                "Adds an item to the list of things to do.",
                &json!({"title": {}}),
            ),
            tool(
                "http_call",
                "Sends a request to a server.",
                &json!({"url": {"description": "where to"}}),
            ),
            tool(
                "readFile",
                "Reads a file.",
                &json!({"path": {"description": "of the file"}}),
            ),
            tool(
                "grep",
                "Searches files for a pattern.",
                &json!({"pattern": {}}),
            ),
        ]
    }

    fn found(query: &str) -> Vec<String> {
        let tools = tools();
        let at = Index::of(&tools).search(query, 10);
        at.into_iter()
            .map(|at| tools[at].name.to_string())
            .collect()
    }

    #[test]
    fn the_best_comes_first() {
        assert_eq!(found("todo"), ["todo_create"]);
        assert_eq!(found("read file")[0], "readFile");
        assert_eq!(found("search files")[0], "grep");
        assert_eq!(found("send requests to a URL")[0], "http_call");
        // The start of a word is enough, and its plural does no harm.
        assert_eq!(found("patt"), ["grep"]);
        assert_eq!(found("todos"), ["todo_create"]);
        assert!(found("").is_empty() && found("zebra !!").is_empty());
    }

    #[test]
    fn names_are_split_where_people_would() {
        let words: Vec<String> = split("readFile HTTP_call x-b.c the Größe").collect();
        assert_eq!(
            words,
            ["read", "file", "http", "call", "x", "b", "c", "größe"]
        );
    }

    #[test]
    fn hostile_queries_are_bounded() {
        let many = "a ".repeat(1_000_000);
        assert!(found(&many).len() <= 4);
        assert!(found(&"x".repeat(1_000_000)).is_empty());
    }
}
