//! A look at a message that cannot be read: which request it answers, if any. Makes no values of it.

use rmcp::model::RequestId;

/// The longest id that is looked at; ours are numbers.
const MAX_ID: usize = 100;

/// What the outermost keys of a text say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Glance {
    /// The request it names.
    pub(crate) id: Option<RequestId>,
    /// It names the version of the protocol.
    pub(crate) has_version: bool,
    /// It asks for something, or says something unasked.
    pub(crate) has_method: bool,
    has_result: bool,
}

impl Glance {
    /// Looks at a text that need not be JSON.
    pub(crate) fn at(text: &[u8]) -> Self {
        let (mut glance, mut rest, mut depth) = (Self::default(), text.trim_ascii_start(), 0_usize);
        if rest.first() != Some(&b'{') {
            return glance;
        }
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'{' | b'[' => depth = depth.saturating_add(1),
                b'}' | b']' => depth = depth.saturating_sub(1),
                b'"' => {
                    let (word, after) = string(rest);
                    rest = after;
                    if let (1, Some(value)) = (depth, rest.trim_ascii_start().strip_prefix(b":")) {
                        glance.note(word, value);
                    }
                }
                _ => {}
            }
        }
        glance
    }

    /// Returns whether it was meant as an answer.
    pub(crate) const fn is_answer(&self) -> bool {
        self.has_result && !self.has_method
    }

    fn note(&mut self, key: &[u8], value: &[u8]) {
        match key {
            b"jsonrpc" => self.has_version = true,
            b"method" => self.has_method = true,
            b"result" | b"error" => self.has_result = true,
            b"id" if self.id.is_none() => {
                let start = value.get(..MAX_ID).unwrap_or(value);
                let read = serde_json::Deserializer::from_slice(start);
                self.id = read.into_iter().next().and_then(Result::ok);
            }
            _ => {}
        }
    }
}

/// Splits behind the end of a string whose quote was just read.
fn string(text: &[u8]) -> (&[u8], &[u8]) {
    let mut is_escaped = false;
    let end = text.iter().position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (word, rest.get(1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<RequestId> {
        Glance::at(text.as_bytes()).id
    }

    #[test]
    fn only_the_outermost_keys_are_looked_at() {
        let text = r#" {"result": {"id": 1, "method": "x", "t": "\"id\": 2, {"}, "id" : 3 , "x"#;
        assert_eq!(id(text), Some(RequestId::Number(3)));
        assert!(Glance::at(text.as_bytes()).is_answer());
        assert_eq!(
            id(r#"{"id":"a,b","error":1e999}"#),
            Some(RequestId::String("a,b".into()))
        );
        assert_eq!(id(r#"[{"id":1}]"#), None);
        assert_eq!(id(r#""id":1"#), None);
        assert_eq!(id(r#"{"id":{}}"#), None);
        assert_eq!(id(r#"{"a":"id"#), None);
        let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(1000));
        assert_eq!(id(&long), None);
    }

    #[test]
    fn what_asks_does_not_answer() {
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"ping","result":1}"#;
        assert!(!Glance::at(text).is_answer());
    }
}
