//! The trace context of W3C, as the protocol carries it in `_meta`: which trace a request belongs to.
//!
//! It is a stranger's text that is handed on to other strangers, so it is taken only in the form and the
//! size that W3C gives it. What does not fit is left out, as W3C asks: a call is never refused for it.

use serde_json::{Map, Value};

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";
const BAGGAGE: &str = "baggage";

/// The lengths of the four parts of a `traceparent`: version, trace, parent, flags.
const PARTS: [usize; 4] = [2, 32, 16, 2];

/// The most bytes of each: so many everybody hands on.
const MAX_TRACESTATE: usize = 512;
const MAX_BAGGAGE: usize = 8_192;

/// Their entries.
const MAX_STATES: usize = 32;
const MAX_ITEMS: usize = 64;

/// Which trace a request belongs to, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceContext {
    traceparent: Option<String>,
    tracestate: Option<String>,
    baggage: Option<String>,
}

impl TraceContext {
    /// Takes what is well formed of the `_meta` of a request. A state without a trace says nothing.
    #[must_use]
    pub fn of(meta: &Map<String, Value>) -> Self {
        let text = |key: &str| meta.get(key).and_then(Value::as_str);
        let take = |key: &str, fits: fn(&str) -> bool| {
            let found = text(key).filter(|text| fits(text));
            found.map(str::to_owned)
        };
        let traceparent = take(TRACEPARENT, is_traceparent);
        let tracestate = take(TRACESTATE, is_tracestate).filter(|_| traceparent.is_some());
        Self {
            traceparent,
            tracestate,
            baggage: take(BAGGAGE, is_baggage),
        }
    }

    /// Returns the trace and the span that the request came from.
    #[must_use]
    pub fn traceparent(&self) -> Option<&str> {
        self.traceparent.as_deref()
    }

    /// Returns what there is to hand on, by its keys in `_meta`.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            (TRACEPARENT, &self.traceparent),
            (TRACESTATE, &self.tracestate),
            (BAGGAGE, &self.baggage),
        ];
        let all = all.into_iter();
        all.filter_map(|(key, value)| Some((key, value.as_deref()?)))
    }
}

/// `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`. Only this version is known; another one
/// may say something else in the same place.
fn is_traceparent(text: &str) -> bool {
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let mut parts = text.split('-');
    let fits = PARTS.into_iter().enumerate().all(|(at, length)| {
        let part = parts.next().unwrap_or_default();
        let is_named = at == 0 || at == 3 || part.bytes().any(|b| b != b'0');
        part.len() == length && part.bytes().all(hex) && is_named
    });
    fits && parts.next().is_none() && text.starts_with("00-")
}

fn is_tracestate(text: &str) -> bool {
    let key = |key: &str| {
        let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-*/@".contains(&b);
        !key.is_empty() && key.len() <= 256 && key.bytes().all(letter)
    };
    is_list(text, MAX_TRACESTATE, MAX_STATES, |entry| {
        let entry = entry.split_once('=');
        entry.is_some_and(|(name, value)| key(name) && !value.is_empty() && !value.contains('='))
    })
}

fn is_baggage(text: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    is_list(text, MAX_BAGGAGE, MAX_ITEMS, |entry| {
        let entry = entry.split_once('=');
        entry.is_some_and(|(name, _)| {
            let name = name.trim_end();
            !name.is_empty() && name.bytes().all(token)
        })
    })
}

/// Tells whether a text is a list that is neither too long nor holds anything that cannot be seen.
fn is_list(text: &str, bytes: usize, entries: usize, fits: impl Fn(&str) -> bool) -> bool {
    let visible = |b: u8| (b' '..=b'~').contains(&b);
    text.len() <= bytes
        && text.bytes().all(visible)
        && text.split(',').count() <= entries
        && text.split(',').all(|entry| fits(entry.trim()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn taken(meta: &Value) -> Vec<(&'static str, String)> {
        let trace = TraceContext::of(meta.as_object().unwrap());
        let entries = trace.entries();
        entries
            .map(|(key, value)| (key, value.to_owned()))
            .collect()
    }

    #[test]
    fn what_is_well_formed_is_handed_on() {
        let state = "rojo=00f067aa0ba902b7, tenant@congo=t61rcWkgMzE";
        let baggage = "userId=alice,isProduction=false;a=b";
        let meta =
            json!({"traceparent": PARENT, "tracestate": state, "baggage": baggage, "other": 1});
        let expected = [
            ("traceparent", PARENT.to_owned()),
            ("tracestate", state.to_owned()),
            ("baggage", baggage.to_owned()),
        ];
        assert_eq!(taken(&meta), expected);
        let trace = TraceContext::of(meta.as_object().unwrap());
        assert_eq!(trace.traceparent(), Some(PARENT));
    }

    #[test]
    fn what_is_not_is_left_out() {
        for parent in [
            "",
            "00",
            "4bf92f3577b34da6a3ce929d0e0e4736",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473\u{e9}-00f067aa0ba902b7-01",
        ] {
            let meta = json!({"traceparent": parent, "tracestate": "a=b"});
            assert_eq!(taken(&meta), [], "{parent}");
        }
        let many = |count: usize| vec!["a=b"; count].join(",");
        for (key, value) in [
            ("tracestate", json!(7)),
            ("tracestate", json!("a=b\r\nx: y")),
            ("tracestate", json!("A=b")),
            ("tracestate", json!("a")),
            ("tracestate", json!(many(33))),
            ("tracestate", json!(format!("a={}", "x".repeat(512)))),
            ("baggage", json!({"a": "b"})),
            ("baggage", json!("a=\u{202e}")),
            ("baggage", json!("a b=c")),
            ("baggage", json!(many(65))),
            ("baggage", json!(format!("a={}", "x".repeat(8_192)))),
        ] {
            let mut meta = json!({"traceparent": PARENT});
            meta[key] = value;
            let expected = [("traceparent", PARENT.to_owned())];
            assert_eq!(taken(&meta), expected, "{meta}");
        }
    }
}
