//! Texts of the configuration in which `{name}` stands for a value.

/// Fills values in, each where its name stands in braces; all other braces stay as they are, and a value
/// is never looked into. Nothing if the text would have more than `most` bytes: a short text can name a
/// long value a thousand times.
pub(crate) fn fill(text: &str, values: &[(&str, &str)], most: usize) -> Option<String> {
    let mut filled = String::new();
    let mut left = text;
    while let Some(at) = left.find('{') {
        let (before, from) = left.split_at(at);
        filled.push_str(before);
        let named = from.get(1..).and_then(|inner| inner.split_once('}'));
        let value = named.and_then(|(name, behind)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((*value, behind))
        });
        (left, _) = match value {
            Some((value, behind)) => (behind, filled.push_str(value)),
            None => (from.get(1..).unwrap_or_default(), filled.push('{')),
        };
        if filled.len() > most {
            return None;
        }
    }
    filled.push_str(left);
    (filled.len() <= most).then_some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_where_their_names_stood_and_nowhere_else() {
        let values = [("id", "{other}"), ("other", "x")];
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("{id}", "{other}"),
            ("a {other} b {other}", "a x b x"),
            (r#"{"id": "{other}"}"#, r#"{"id": "x"}"#),
            ("{unknown} {", "{unknown} {"),
            ("{{other}}", "{x}"),
            ("{ot{other}her}", "{otxher}"),
            ("ä{other}ö", "äxö"),
        ] {
            assert_eq!(
                fill(text, &values, 100).as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn a_text_that_grows_too_long_is_none() {
        let long = "y".repeat(1_000);
        assert_eq!(fill(&"{a}".repeat(1_000), &[("a", &long)], 10_000), None);
        assert!(fill(&"{a}".repeat(10), &[("a", &long)], 10_000).is_some());
        assert_eq!(fill("12345", &[], 4), None);
    }
}
