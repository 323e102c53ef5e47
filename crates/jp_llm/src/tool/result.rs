//! Step 7 of the pipeline, where a tool said beforehand what its results look like: what it says must
//! fit that. Shares its validators with the checks of arguments.
//!
//! A result that does not fit is the tool's fault, never the model's, so it is not handed on.

use serde_json::Value;

use super::arguments::{Checker, first_problem};

/// A result that is not what the tool said it would be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfit {
    /// Where in the result, as a JSON pointer; `/` for all of it.
    pub(super) path: String,
    /// What is wrong there, and which rule it breaks.
    pub(super) reason: String,
}

/// Reads the text of a tool that has no other way to say data. Its size is bounded by the limit on
/// output, its depth by the reader.
pub(super) fn read(content: &str) -> Result<Value, Unfit> {
    serde_json::from_str(content).map_err(|error| whole(format!("the result is not JSON: {error}")))
}

/// Checks a result.
pub(super) fn check(checker: &Checker, value: &Value) -> Result<(), Unfit> {
    let validator = checker
        .validator()
        .map_err(|error| whole(error.to_string()))?;
    match first_problem(validator, value) {
        None => Ok(()),
        Some((path, reason)) => Err(Unfit { path, reason }),
    }
}

fn whole(reason: String) -> Unfit {
    Unfit {
        path: "/".to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::arguments::SchemaBy, *};

    fn checked(schema: &Value, content: &str) -> Result<(), (String, String)> {
        let checker = Checker::new(schema, SchemaBy::Manifest).unwrap();
        let checked = read(content).and_then(|value| check(&checker, &value));
        checked.map_err(|unfit| (unfit.path, unfit.reason))
    }

    #[test]
    fn a_result_that_does_not_fit_names_the_path_and_the_rule() {
        let schema = json!({"type": "object", "properties": {
            "blocks": {"type": "array", "items": {"type": "object", "properties": {
                "confidence": {"type": "number"}}}}}});
        assert_eq!(
            checked(&schema, r#"{"blocks": [{"confidence": 0.5}]}"#),
            Ok(())
        );
        let (path, reason) =
            checked(&schema, r#"{"blocks": [{}, {"confidence": "high"}]}"#).unwrap_err();
        assert_eq!(path, "/blocks/1/confidence");
        assert!(
            reason.contains("number") && reason.contains("type"),
            "{reason}"
        );
    }

    #[test]
    fn a_result_that_is_not_json_does_not_fit() {
        for text in [
            "",
            "plain words",
            "{\"a\": 1} and more",
            &"[".repeat(100_000),
        ] {
            let (path, reason) = checked(&json!({}), text).unwrap_err();
            assert_eq!(path, "/");
            assert!(reason.starts_with("the result is not JSON"), "{reason}");
        }
    }

    #[test]
    fn formats_of_a_manifest_are_honoured() {
        let schema = json!({"type": "string", "format": "date"});
        assert_eq!(checked(&schema, "\"2026-04-01\""), Ok(()));
        assert!(checked(&schema, "\"yesterday\"").is_err());
    }

    #[test]
    fn what_is_wrong_is_told_in_few_words() {
        let long = format!("\"{}\"", "x".repeat(1_000_000));
        let (_, reason) = checked(&json!({"type": "integer"}), &long).unwrap_err();
        assert!(reason.len() < 2_000, "{}", reason.len());
    }
}
