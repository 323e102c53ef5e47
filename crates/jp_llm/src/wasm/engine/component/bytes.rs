//! Where arguments hold bytes: strings whose schema says `"contentEncoding": "base64"`. A schema is a
//! stranger's, so a way through it is bounded.

use serde_json::{Map, Value};

/// Words whose schemas, in a list, are about the same value.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// The most schemas that are looked at for one set of arguments; bytes beyond that stay text.
const MAX_STEPS: usize = 100_000;

/// Tells whether any part of a schema is about bytes.
pub(super) fn are_in(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => says_base64(map) || map.values().any(are_in),
        Value::Array(items) => items.iter().any(are_in),
        _ => false,
    }
}

fn says_base64(words: &Map<String, Value>) -> bool {
    words.get("contentEncoding").and_then(Value::as_str) == Some("base64")
}

/// Hands every text that stands for bytes to a function, with its place as a JSON pointer.
pub(super) fn each<E>(
    arguments: &mut Value,
    schema: &Value,
    change: impl FnMut(&str, &mut String) -> Result<(), E>,
) -> Result<(), E> {
    let mut walk = Walk {
        root: schema,
        change,
        at: String::new(),
        left: MAX_STEPS,
    };
    walk.value(arguments, &[schema])
}

/// A way through arguments and their schema at once; each value is visited once, with all that is said
/// about it. Arguments are not nested deeply.
struct Walk<'a, F> {
    /// The whole schema, in which references lead.
    root: &'a Value,
    change: F,
    /// Where it is in the arguments, as a JSON pointer.
    at: String,
    left: usize,
}

impl<'a, E, F: FnMut(&str, &mut String) -> Result<(), E>> Walk<'a, F> {
    fn value(&mut self, value: &mut Value, schemas: &[&'a Value]) -> Result<(), E> {
        let all = self.about_the_same(schemas);
        match value {
            Value::String(text) if all.iter().any(|words| says_base64(words)) => {
                (self.change)(&self.at, text)
            }
            Value::Object(map) => map.iter_mut().try_for_each(|(name, value)| {
                let of_name = |words: &&'a Map<String, Value>| {
                    let own = words.get("properties").and_then(|all| all.get(name));
                    own.or_else(|| words.get("additionalProperties"))
                };
                let schemas: Vec<&Value> = all.iter().filter_map(of_name).collect();
                self.below(value, &name.replace('~', "~0").replace('/', "~1"), &schemas)
            }),
            Value::Array(items) => {
                let schemas: Vec<&Value> =
                    all.iter().filter_map(|words| words.get("items")).collect();
                let mut items = items.iter_mut().enumerate();
                items.try_for_each(|(at, item)| self.below(item, &at.to_string(), &schemas))
            }
            _ => Ok(()),
        }
    }

    fn below(&mut self, value: &mut Value, name: &str, schemas: &[&'a Value]) -> Result<(), E> {
        if schemas.is_empty() {
            return Ok(());
        }
        let before = self.at.len();
        self.at.push('/');
        self.at.push_str(name);
        self.value(value, schemas)?;
        self.at.truncate(before);
        Ok(())
    }

    /// Follows references and alternatives. Each schema counts once, so circles end.
    fn about_the_same(&mut self, schemas: &[&'a Value]) -> Vec<&'a Map<String, Value>> {
        let mut found: Vec<&Map<String, Value>> = Vec::new();
        let mut left: Vec<&Value> = schemas.to_vec();
        while let Some(schema) = left.pop() {
            let Value::Object(words) = schema else {
                continue;
            };
            if found.iter().any(|known| std::ptr::eq(*known, words)) {
                continue;
            }
            let Some(steps) = self.left.checked_sub(found.len() + 1) else {
                break;
            };
            self.left = steps;
            found.push(words);
            let to = words.get("$ref").and_then(Value::as_str);
            let to = to.and_then(|to| to.strip_prefix('#'));
            left.extend(to.and_then(|to| self.root.pointer(to)));
            let lists = LISTS.iter().filter_map(|word| words.get(*word)?.as_array());
            left.extend(lists.flatten());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn places(schema: &Value, mut arguments: Value) -> Vec<String> {
        let mut found = Vec::new();
        let done: Result<(), ()> = each(&mut arguments, schema, |place, text| {
            found.push(format!("{place}={text}"));
            text.clear();
            Ok(())
        });
        assert_eq!(done, Ok(()));
        found.sort();
        found
    }

    #[test]
    fn bytes_are_found_where_the_schema_says_that_they_are() {
        let bytes = json!({"type": "string", "contentEncoding": "base64"});
        let schema = json!({
            "definitions": {"blob": {"type": "object", "properties": {"base64": bytes}}},
            "properties": {
                "one": bytes,
                "many": {"type": "array", "items": bytes},
                "file": {"oneOf": [{"$ref": "#/definitions/blob"}, {"$ref": "#/definitions/blob"}]},
                "a/b": bytes,
                "hex": {"type": "string", "contentEncoding": "base16"},
                "text": {"type": "string"},
            },
        });
        assert!(are_in(&schema) && !are_in(&json!({"properties": {"a": {"type": "string"}}})));
        let arguments = json!({"one": "1", "many": ["2", "3"], "file": {"base64": "4"}, "a/b": "5",
            "hex": "6", "text": "7", "other": "8"});
        assert_eq!(
            places(&schema, arguments),
            [
                "/a~1b=5",
                "/file/base64=4",
                "/many/0=2",
                "/many/1=3",
                "/one=1"
            ]
        );
        assert_eq!(places(&schema, json!({"one": 7})), [""; 0]);
    }

    #[test]
    fn a_schema_that_leads_in_circles_ends() {
        let circle = json!({"$ref": "#", "anyOf": [{"$ref": "#"}, {"$ref": "#"}],
            "properties": {"a": {"$ref": "#"}}, "contentEncoding": "base64"});
        assert_eq!(places(&circle, json!({"a": {"a": "x"}})), ["/a/a=x"]);
        let wide: Vec<Value> = (0..2_000).map(|_| json!({"anyOf": [{}]})).collect();
        let wide = json!({"items": {"anyOf": wide, "contentEncoding": "base64"}});
        let many: Vec<Value> = (0..1_000).map(|_| json!("x")).collect();
        assert!(places(&wide, many.into()).len() < 1_000);
    }
}
