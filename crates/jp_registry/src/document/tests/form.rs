//! Form does not count: for any value, however it is written.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::MAX;
use crate::document::{canonical, number, parse};

/// Writes a value in some other form: order, space, comments and escapes by `seed`.
fn noisy(value: &Value, seed: &mut u32, out: &mut String) {
    gap(seed, out);
    match value {
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                noisy(item, seed, out);
            }
            gap(seed, out);
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            let mut entries: Vec<_> = object.iter().collect();
            if next(seed).is_multiple_of(2) {
                entries.reverse();
            }
            for (n, (key, item)) in entries.into_iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                noisy(&json!(key), seed, out);
                gap(seed, out);
                out.push(':');
                noisy(item, seed, out);
            }
            out.push('}');
        }
        Value::String(text) if next(seed).is_multiple_of(2) => {
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
            out.push_str(&format!("\"{}\"", units.collect::<String>()));
        }
        Value::Number(n) if n.is_f64() => {
            out.push_str(&format!("{:E}", n.as_f64().unwrap()));
        }
        other => out.push_str(&other.to_string()),
    }
    gap(seed, out);
}

fn next(seed: &mut u32) -> u32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    *seed >> 16
}

fn gap(seed: &mut u32, out: &mut String) {
    let gaps = [
        "",
        " ",
        "\n",
        "\t\r\n",
        "// \" {[\n",
        "/* \"é // * */",
        "/**/",
    ];
    let at = usize::try_from(next(seed)).unwrap() % gaps.len();
    out.push_str(gaps[at]);
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-number::MAX_SAFE..=number::MAX_SAFE).prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |f| f.is_finite().then(|| json!(f))),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_form_is_its_own(value in values(), mut seed in any::<u32>()) {
        let once = canonical(&value).unwrap();
        let read_back = parse(&once, MAX).unwrap();
        prop_assert_eq!(&canonical(&read_back).unwrap(), &once);
        let mut text = String::new();
        noisy(&value, &mut seed, &mut text);
        let noisy = parse(text.as_bytes(), MAX).unwrap();
        prop_assert_eq!(&canonical(&noisy).unwrap(), &once);
        // One value for each canonical form, not only the other way round.
        prop_assert_eq!(noisy, read_back);
    }

    #[test]
    fn any_bytes_are_refused_or_have_one_form(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(value) = parse(&bytes, MAX) {
            let form = canonical(&value).unwrap();
            prop_assert_eq!(parse(&form, MAX).unwrap(), value);
        }
    }

    #[test]
    fn json_like_text_is_refused_or_has_one_form(text in "[\\[\\]{}\",:/*0-9eE+.a\\\\n -]{0,40}") {
        if let Ok(value) = parse(text.as_bytes(), MAX) {
            let form = canonical(&value).unwrap();
            prop_assert_eq!(parse(&form, MAX).unwrap(), value);
        }
    }
}
