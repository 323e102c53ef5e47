//! How much arguments take as JSON. Nothing is kept of what is written to see that.

use std::io::{self, Write};

use serde_json::{Map, Value};

/// Tells whether values take no more than so many bytes. Most are so small that nothing has to be
/// written to see that.
pub(crate) fn fits(values: &Map<String, Value>, most: usize) -> bool {
    at_most_all(values) <= most || exactly(values) <= most
}

/// Returns what a value takes at most: a byte of a text may become six, as in `\u001f`.
fn at_most(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 32,
        Value::String(text) => 6 * text.len() + 2,
        Value::Array(values) => values.iter().map(|value| at_most(value) + 1).sum::<usize>() + 2,
        Value::Object(values) => at_most_all(values),
    }
}

fn at_most_all(values: &Map<String, Value>) -> usize {
    let each = |(name, value): (&String, &Value)| 6 * name.len() + at_most(value) + 4;
    values.iter().map(each).sum::<usize>() + 2
}

fn exactly(values: &Map<String, Value>) -> usize {
    let mut counted = Counted(0);
    match serde_json::to_writer(&mut counted, values) {
        Ok(()) => counted.0,
        Err(_) => usize::MAX,
    }
}

/// Counts bytes.
struct Counted(usize);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Texts most of which grow when they are written.
    const TEXT: &str = r#"[\x00-\x1f"\\aé]{0,8}"#;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            TEXT.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((TEXT, inner), 0..4)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_value_takes_more_than_it_is_thought_to(value in values()) {
            let written = value.to_string().len();
            prop_assert!(written <= at_most(&value), "{written} > {}", at_most(&value));
        }
    }

    #[test]
    fn the_limit_is_exact_however_the_bytes_come_about() {
        for value in [
            json!("\u{1f}".repeat(100)),
            json!("plain".repeat(100)),
            json!(vec![1.5; 50]),
        ] {
            let values: Map<String, Value> = [("value".to_owned(), value)].into_iter().collect();
            let takes = Value::Object(values.clone()).to_string().len();
            assert!(fits(&values, takes));
            assert!(!fits(&values, takes - 1));
        }
    }
}
