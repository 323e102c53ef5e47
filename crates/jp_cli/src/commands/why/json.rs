//! The same for programs.

use jp_config::{Origin, Place};
use jp_llm::{Fact, Said, Weighed};
use serde_json::{Value, json};

use super::Explained;
use crate::commands::JSON_VERSION;

impl Explained<'_> {
    pub(super) fn json(&self) -> Value {
        let preview = self.why.preview.as_ref();
        let denied = preview.err();
        let facts = self.why.facts();
        let annotations = facts.as_ref().map(|facts| {
            let read_only = facts.read_only.holds;
            json!({
                "readOnlyHint": fact(&facts.read_only),
                "openWorldHint": fact(&facts.open_world),
                "destructiveHint": (!read_only).then(|| json!({"value": true, "because": []})),
            })
        });
        json!({
            "version": JSON_VERSION,
            "tool": self.tool.name,
            "source": self.tool.source.to_string(),
            "allowed": denied.is_none(),
            "denied": denied.map(ToString::to_string),
            "hint": denied.and_then(|error| error.hint()),
            "grant": preview.ok().map(|preview| preview.grant.capabilities().to_string()),
            "capabilities": self.why.weighed.iter().map(weighed).collect::<Vec<_>>(),
            "annotations": annotations,
        })
    }
}

fn weighed(one: &Weighed) -> Value {
    let sides = super::SIDES.into_iter();
    let decides = sides
        .clone()
        .find(|(side, _)| *side == one.decided_by())
        .map(|(_, name)| name);
    let says = sides.map(|(side, name)| (name.to_owned(), said(one.said_by(side))));
    json!({
        "capability": one.capability.to_string(),
        "words": one.capability.words(),
        "when": one.when,
        "granted": one.is_granted(),
        "decided_by": decides,
        "says": Value::Object(says.collect()),
    })
}

fn said(said: &Said) -> Value {
    json!({
        "allows": said.allows,
        "key": said.key,
        "place": said.place.as_ref().map(place),
        "words": said.words,
    })
}

fn place(place: &Place) -> Value {
    match &place.origin {
        Origin::File(path) => json!({"file": path.display().to_string(), "line": place.line}),
        Origin::Environment(name) => json!({ "variable": name }),
        Origin::Assignment(text) | Origin::Setting(text) => json!({ "argument": text }),
    }
}

fn fact(fact: &Fact) -> Value {
    let because: Vec<String> = fact.because.iter().map(ToString::to_string).collect();
    json!({ "value": fact.holds, "because": because })
}
