//! The messages about arguments that do not fit.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Entry, Reference,
    kinds::{Many, Rows, Title, Whole, or_usual},
    read,
};

#[derive(
    Debug, Default, Clone, Copy, PartialEq, Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
enum Which {
    #[default]
    Open,
    All,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some fields are only read")]
struct Thing {
    title: Title,
    points: Option<Whole<1, 100>>,
    #[serde(default, deserialize_with = "or_usual")]
    which: Which,
    #[serde(default)]
    limit: Rows<20, 1>,
    parts: Option<Many<Entry<Thing>, 2>>,
    refs: Option<Vec<Reference>>,
    data: Option<Map<String, Value>>,
}

impl From<Title> for Thing {
    fn from(title: Title) -> Self {
        Self {
            title,
            points: None,
            which: Which::Open,
            limit: Rows::default(),
            parts: None,
            refs: None,
            data: None,
        }
    }
}

fn thing(arguments: &Value) -> Result<Thing, String> {
    let arguments = arguments.as_object().unwrap();
    read(arguments, &["user_id"]).map_err(|error| error.message)
}

#[test]
fn a_value_that_does_not_fit_is_named_with_what_was_expected() {
    let long = "x".repeat(1025);
    let with = |name: &str, value: Value| json!({ "title": "t", name: value });
    for (arguments, expected) in [
        (json!({}), "missing argument `title`"),
        (
            json!({ "title": null }),
            "invalid value for `title`: expected a string, found null",
        ),
        (
            json!({ "title": 5 }),
            "invalid value `5` for `title`: expected a string",
        ),
        (
            json!({ "title": " \n" }),
            "invalid value `\" \\n\"` for `title`: expected a text that is not empty",
        ),
        (
            json!({ "title": long }),
            "invalid value for `title`: expected at most 1024 bytes, found 1025",
        ),
        (
            with("points", 0.into()),
            "invalid value `0` for `points`: expected 1 to 100",
        ),
        (
            with("points", "7".into()),
            "invalid value `\"7\"` for `points`: expected a whole number",
        ),
        (
            with("points", json!({})),
            "invalid value for `points`: expected a whole number, found an object",
        ),
        (
            with("which", "closed".into()),
            "invalid value `\"closed\"` for `which`: expected one of open, all",
        ),
        (
            with("limit", 1001.into()),
            "invalid value `1001` for `limit`: expected 1 to 1000",
        ),
        (
            with("colour", 1.into()),
            "unknown argument `colour`; expected one of title, points, which, limit, parts, refs, data",
        ),
        (
            with("parts", json!(["a", 5])),
            "invalid value `5` for `parts[1]`: expected a string or an object",
        ),
        (
            with("parts", json!(["a", {}])),
            "missing argument `parts[1].title`",
        ),
        (
            with(
                "parts",
                json!([{ "title": "a", "parts": [{ "title": "b", "x": 1 }] }]),
            ),
            "unknown argument `parts[0].parts[0].x`; expected one of title, points, which, limit, parts, refs, data",
        ),
        (
            with("parts", json!(["a", "b", "c"])),
            "invalid value for `parts`: expected at most 2 entries, found 3",
        ),
        (
            with("refs", json!(["a", 7, 1.5])),
            "invalid value `1.5` for `refs[2]`: expected a string or a whole number",
        ),
        (
            with("data", json!([])),
            "invalid value for `data`: expected an object, found a list",
        ),
    ] {
        assert_eq!(thing(&arguments).unwrap_err(), expected, "{arguments}");
    }
}

#[test]
fn what_is_left_out_or_null_has_its_usual_value() {
    let left_out = thing(&json!({ "title": "t", "user_id": 5 })).unwrap();
    let nulls = json!({ "title": "t", "points": null, "which": null, "limit": null });
    for thing in [left_out, thing(&nulls).unwrap()] {
        assert_eq!(thing.which, Which::Open);
        assert_eq!(thing.limit.get(), 20);
        assert!(thing.points.is_none());
    }
    let data = json!({ "a": [1, 2.5, u64::MAX, "\u{e9}", null, { "b": false }] });
    let read = thing(&json!({ "title": "t", "data": data })).unwrap();
    assert_eq!(Value::from(read.data), data);
}

#[test]
fn what_a_guest_wrote_is_shortened_and_stays_on_one_line() {
    let name = "x\n".repeat(10_000);
    let message = thing(&json!({ "title": "t", name: 1 })).unwrap_err();
    assert!(message.len() < 600 && !message.contains('\n'), "{message}");
    let message = thing(&json!({ "title": "t", "points": "\u{1b}[2J".repeat(10_000) }));
    let message = message.unwrap_err();
    assert!(
        message.len() < 1200 && !message.contains('\u{1b}'),
        "{message}"
    );
}
