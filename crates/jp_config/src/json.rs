//! JSON that refuses a key twice, where the usual reader keeps the last and says nothing, and JSON
//! with comments.

use core::{fmt, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// Parses a JSON text; nesting is limited by the reader.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<Strict>(text).map(|strict| strict.0)
}

/// Puts spaces in the place of comments, so that everything else stays where it stands.
pub(crate) fn without_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut at, mut kept) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let end = match (byte, bytes.get(at + 1)) {
            (b'"', _) => {
                at = string_end(bytes, at);
                continue;
            }
            (b'/', Some(b'/')) => text.get(at..).and_then(|rest| rest.find('\n')),
            // One that is not closed is left for the parser to complain about.
            (b'/', Some(b'*')) => match text.get(at + 2..).and_then(|rest| rest.find("*/")) {
                Some(length) => Some(length + 4),
                None => break,
            },
            _ => {
                at += 1;
                continue;
            }
        };
        let end = end.map_or(bytes.len(), |length| at + length);
        out.push_str(text.get(kept..at).unwrap_or_default());
        let comment = text.get(at..end).unwrap_or_default().bytes();
        out.extend(comment.map(|b| if b == b'\n' { '\n' } else { ' ' }));
        (at, kept) = (end, end);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    out
}

/// Finds where a key, or an item of a list, stands in a text that has been parsed; as much of the
/// path as the text has.
pub(crate) fn key_at(text: &str, path: &[String]) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // Tables and lists around the place; `matched` of them are those that the path names.
    let (mut depth, mut matched, mut found) = (0_usize, 0_usize, None);
    // Which item comes next, if the innermost of them is a list.
    let mut item: Option<usize> = None;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth == matched + 1 {
                    item = (*byte == b'[').then_some(0);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth < matched {
                    return found;
                }
            }
            // The value of the last key that was found is over.
            b',' if matched > 0 && depth == matched => return found,
            b',' if depth == matched + 1 => item = item.map(|item| item + 1),
            b'"' => {
                let end = string_end(bytes, at);
                let wanted = path.get(matched).filter(|_| depth == matched + 1);
                if let Some(wanted) = wanted.filter(|_| is_key(bytes, end))
                    && serde_json::from_str::<String>(text.get(at..end)?).ok()? == **wanted
                {
                    found = Some(at..end);
                    matched += 1;
                    if matched == path.len() {
                        return found;
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
        let starts = matches!(byte, b'[' | b',') && depth == matched + 1;
        let wanted = path.get(matched).and_then(|part| part.parse().ok());
        if starts && item.is_some() && wanted == item {
            let rest = bytes.get(at..).unwrap_or_default();
            let start = at + rest.iter().position(|b| !b.is_ascii_whitespace())?;
            found = Some(start..start + 1);
            matched += 1;
            if matched == path.len() {
                return found;
            }
        }
    }
    found
}

/// Returns the place behind a string that starts at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_key(bytes: &[u8], end: usize) -> bool {
    let rest = bytes.get(end..).unwrap_or_default();
    rest.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':')
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key `{key}` occurs twice"
                )));
            }
            let Strict(value) = map.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_where_they_stand() {
        let text = "{\"a\": {\"b\\\"\": [{\"c\": 1}], \"x\": {\"c\": 3}},\n \"c\": \"a\", \"d\": {\"c\": 2}}";
        let at = |path: &[&str]| {
            let path: Vec<String> = path.iter().map(ToString::to_string).collect();
            key_at(text, &path).map(|span| (span.start, text[span].to_string()))
        };
        let whole = |path: &[&str]| at(path).map(|(_, key)| key);
        assert_eq!(at(&["c"]).unwrap().0, text.find("\n").unwrap() + 2);
        assert_eq!(at(&["d", "c"]).unwrap().0, text.rfind("\"c\"").unwrap());
        assert_eq!(whole(&["a", "b\"", "c"]), Some(r#""b\"""#.to_owned()));
        assert_eq!(whole(&["a", "x", "c"]), Some("\"c\"".to_owned()));
        assert_eq!((whole(&["no"]), at(&[])), (None, None));
    }

    #[test]
    fn items_of_lists_are_found_where_they_stand() {
        let text = r#"{"x": [1, 2], "a": [ ["p", "q"], "r,]", {"k": 3, "k2": [7]}, 4 ], "b": []}"#;
        let at = |path: &[&str]| {
            let path: Vec<String> = path.iter().map(ToString::to_string).collect();
            key_at(text, &path).map(|span| text[span.start..].chars().take(4).collect::<String>())
        };
        for (path, start) in [
            (&["a", "0"][..], "[\"p\""),
            (&["a", "0", "1"], "\"q\"]"),
            (&["a", "1"], "\"r,]"),
            (&["a", "2", "k2", "0"], "7]},"),
            (&["a", "3"], "4 ],"),
            (&["a", "4"], "\"a\":"),
            (&["b", "x"], "\"b\":"),
        ] {
            assert_eq!(at(path).as_deref(), Some(start), "{path:?}");
        }
    }

    #[test]
    fn comments_leave_everything_where_it_stands() {
        let text = "{ // ä \"x\": 1\n \"a\": \"// no\\\" /* no */\", /* \n */ \"b\": 2 } // end";
        let plain = without_comments(text);
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain.find("\"b\""), text.find("\"b\""));
        let value = parse(&plain).unwrap();
        assert_eq!(value, serde_json::json!({"a": "// no\" /* no */", "b": 2}));
        for bad in ["{} /*", "{ /", "\"", "{ /*/ }", "// \\"] {
            assert!(parse(&without_comments(bad)).is_err(), "{bad}");
        }
    }
}
