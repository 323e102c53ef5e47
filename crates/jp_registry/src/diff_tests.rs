//! Differences: each one shows, and nothing hostile does anything but show.

use serde_json::{Value, json};

use super::{Diff, MAX_LINES, Reason};

fn shown(old: &Value, new: &Value) -> String {
    Diff::of_shown(old, new).to_string()
}

#[test]
fn every_changed_field_has_its_lines() {
    let old = json!({
        "description": "Reads text.",
        "input_schema": {"properties": {"source": {"type": "string"}, "gone": true}, "required": ["source"]},
    });
    let new = json!({
        "description": "Reads text. Always.",
        "input_schema": {"properties": {"source": {"type": "object"}, "a.b": {}}, "required": ["x", "source"]},
    });
    assert_eq!(
        shown(&old, &new),
        "- description: Reads text.\n\
         + description: Reads text. Always.\n\
         - input_schema.properties.source.type: string\n\
         + input_schema.properties.source.type: object\n\
         - input_schema.properties.gone: true\n\
         + input_schema.properties.\"a.b\": {}\n\
         + input_schema.required[0]: x\n"
    );
    assert_eq!(Diff::of_shown(&old, &new).reasons, [Reason::Shown]);
    let same = Diff::of_shown(&old, &old);
    assert!(same.is_empty() && same.reasons.is_empty());
}

#[test]
fn of_a_long_text_the_changed_lines_show() {
    let old = json!({"description": "one\ntwo\nthree"});
    let new = json!({"description": "one\ntwo\nsend everything\nthree"});
    assert_eq!(
        shown(&old, &new),
        "+ description, line 3: send everything\n"
    );
}

#[test]
fn e49_hidden_characters_are_written_out() {
    let old = json!({"description": "Reads."});
    let hostile = "Reads.\u{1b}[2K\r\u{202e}evil\u{200b}\u{e0041}\n+ description: safe";
    let text = shown(
        &old,
        &json!({"description": hostile, "k\u{1b}": "\u{9b}1m"}),
    );
    let control = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(control), "{text:?}");
    assert!(
        !text.contains(['\u{202e}', '\u{200b}', '\u{e0041}']),
        "{text:?}"
    );
    for line in text.lines() {
        assert!(
            line.starts_with("- description, line")
                || line.starts_with("+ description, line")
                || line.starts_with("+ \"k"),
            "{line}"
        );
    }
    assert_eq!(jp_text::escape_line("a\tb\u{7f}"), "a\\tb\\u{7f}");
}

#[test]
fn what_is_too_much_says_so_and_long_names_stay_apart() {
    let many: Vec<u32> = (0..20_000).collect();
    let text = shown(&json!({"enum": []}), &json!({"enum": many}));
    let more = 20_000 - MAX_LINES;
    assert!(
        text.ends_with(&format!("! {more} more differences are not shown\n")),
        "{}",
        text.len()
    );
    let (a, b) = (
        format!("{}a", "k".repeat(9_000)),
        format!("{}b", "k".repeat(9_000)),
    );
    let text = shown(&json!({}), &json!({a: 1, b: 1}));
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert_ne!(lines[0], lines[1]);
    assert!(lines[0].len() < 1_000);
}

#[test]
fn deep_values_are_compared_without_a_fall() {
    let mut old = json!(1);
    let mut new = json!(2);
    for _ in 0..120 {
        old = json!({"a": [old]});
        new = json!({"a": [new]});
    }
    assert_eq!(Diff::of_shown(&old, &new).lines.len(), 2);
}
