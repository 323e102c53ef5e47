//! The steps of a plan as models write them, and as they are kept.

use serde_json::{Map, Value, json};

use crate::{
    CallError,
    kv::{check, sizing::Size},
};

/// Where a step's title is looked for.
const TITLES: [&str; 5] = ["title", "description", "name", "text", "step"];
/// Fields that are known under other names too.
const ALIASES: [(&str, &str); 9] = [
    ("details", "description"),
    ("due", "due_date"),
    ("deadline", "due_date"),
    ("size", "t_shirt_size"),
    ("points", "story_points"),
    ("depends_on", "dependency_refs"),
    ("dependencies", "dependency_refs"),
    ("blocked_by", "dependency_refs"),
    ("requires", "dependency_refs"),
];
/// The most ignored fields that are named.
const NAMED: usize = 20;

/// The steps of a plan.
pub(super) struct Steps {
    /// The steps.
    pub(super) steps: Vec<Step>,
    /// Fields that are not kept, for the caller to know.
    pub(super) ignored: Vec<String>,
}

/// One step.
pub(super) struct Step {
    /// What is to be done.
    pub(super) title: String,
    /// What other steps may call it.
    pub(super) id: Option<String>,
    /// What it waits for, in the caller's words.
    pub(super) references: Vec<String>,
    /// All of it, as it is kept.
    pub(super) json: Map<String, Value>,
}

impl Steps {
    /// Reads steps; an error names the field.
    pub(super) fn read(given: &[Value]) -> Result<Self, CallError> {
        check::count("steps", given.len(), check::ITEMS)?;
        let mut ignored = Vec::new();
        let steps = given.iter().enumerate().map(|(at, step)| {
            let path = format!("steps[{at}]");
            match step {
                Value::String(title) => Step::of_title(&path, title),
                Value::Object(fields) => Step::of_object(&path, fields, &mut ignored),
                _ => Err(CallError::invalid(
                    &path,
                    "is neither a string nor an object",
                )),
            }
        });
        let steps = steps.collect::<Result<_, _>>()?;
        if ignored.len() > NAMED {
            let left = ignored.len() - NAMED;
            ignored.truncate(NAMED);
            ignored.push(format!("and {left} more"));
        }
        Ok(Self { steps, ignored })
    }

    /// Returns them as they are kept.
    pub(super) fn to_json(&self) -> Value {
        let steps = self
            .steps
            .iter()
            .map(|step| Value::Object(step.json.clone()));
        steps.collect()
    }
}

impl Step {
    fn of_title(path: &str, title: &str) -> Result<Self, CallError> {
        check::filled(path, title, check::TITLE)?;
        let mut json = Map::new();
        json.insert("title".to_owned(), title.trim().into());
        json.insert("owner".to_owned(), "human".into());
        json.insert("priority".to_owned(), "normal".into());
        Ok(Self {
            title: title.trim().to_owned(),
            id: None,
            references: Vec::new(),
            json,
        })
    }

    fn of_object(
        path: &str,
        fields: &Map<String, Value>,
        ignored: &mut Vec<String>,
    ) -> Result<Self, CallError> {
        let titles = TITLES.iter().filter_map(|name| fields.get(*name)?.as_str());
        let Some(title) = titles.map(str::trim).find(|title| !title.is_empty()) else {
            return Err(CallError::invalid(&format!("{path}.title"), "is missing"));
        };
        let mut step = Self::of_title(&format!("{path}.title"), title)?;
        for (name, value) in fields {
            let alias = ALIASES.iter().find(|(alias, _)| alias == name);
            let field = alias.map_or(name.as_str(), |(_, field)| field);
            if !value.is_null() && !step.keep(path, field, value)? {
                let shown = jp_text::start(name, 80);
                ignored.push(format!("{path}.{shown}"));
            }
        }
        Ok(step)
    }

    /// Keeps one field; tells whether it is one that is kept.
    fn keep(&mut self, path: &str, field: &str, value: &Value) -> Result<bool, CallError> {
        let at = format!("{path}.{field}");
        let kept = match field {
            // One of them is the title already; the others say the same again.
            "title" | "name" | "text" | "step" => {
                text(&at, value, check::TEXT)?;
                return Ok(true);
            }
            "id" => {
                let id = word(&at, value)?;
                self.id = Some(id.clone());
                id.into()
            }
            "description" => text(&at, value, check::TEXT)?.into(),
            "owner" => choose(&at, value, &OWNERS)?.into(),
            "priority" => choose(&at, value, &PRIORITIES)?.into(),
            "due_date" => text(&at, value, check::WORD)?.into(),
            "due_at" if value.is_number() => time(&at, value)?.into(),
            "due_at" => text(&at, value, check::WORD)?.into(),
            "t_shirt_size" => size(&at, value)?.into(),
            "story_points" => number(&at, value, check::POINTS)?.into(),
            "estimate_optimistic_minutes"
            | "estimate_likely_minutes"
            | "estimate_pessimistic_minutes" => number(&at, value, check::MINUTES)?.into(),
            "dependency_refs" => {
                self.references.extend(references(&at, value)?);
                check::references(&at, &self.references)?;
                json!(self.references)
            }
            _ => return Ok(false),
        };
        self.json.insert(field.to_owned(), kept);
        Ok(true)
    }
}

const OWNERS: [(&str, &str); 4] = [
    ("human", "human"),
    ("agent", "agent"),
    ("ai", "agent"),
    ("assistant", "agent"),
];
const PRIORITIES: [(&str, &str); 9] = [
    ("low", "low"),
    ("normal", "normal"),
    ("high", "high"),
    ("urgent", "urgent"),
    ("medium", "normal"),
    ("p0", "urgent"),
    ("p1", "high"),
    ("p2", "normal"),
    ("p3", "low"),
];

fn text<'a>(at: &str, value: &'a Value, most: usize) -> Result<&'a str, CallError> {
    let Some(found) = value.as_str() else {
        return Err(CallError::invalid(at, "must be a string"));
    };
    check::text(at, found, most)?;
    Ok(found)
}

/// Reads a name that may be written as a number.
fn word(at: &str, value: &Value) -> Result<String, CallError> {
    if let Some(number) = value.as_i64() {
        return Ok(number.to_string());
    }
    let found = text(at, value, check::WORD)?;
    check::filled(at, found, check::WORD)?;
    Ok(found.trim().to_owned())
}

fn references(at: &str, value: &Value) -> Result<Vec<String>, CallError> {
    match value {
        Value::Array(values) => {
            check::count(at, values.len(), check::REFERENCES)?;
            values.iter().map(|value| word(at, value)).collect()
        }
        value => Ok(vec![word(at, value)?]),
    }
}

/// Reads a point in time; one in milliseconds is kept as it was given.
fn time(at: &str, value: &Value) -> Result<i64, CallError> {
    let given = value.as_i64();
    let given =
        given.ok_or_else(|| CallError::invalid(at, "must be a whole number or a string"))?;
    check::time_or_milliseconds(at, given)?;
    Ok(given)
}

fn number(at: &str, value: &Value, most: i64) -> Result<i64, CallError> {
    let Some(found) = value.as_i64() else {
        return Err(CallError::invalid(at, "must be a whole number"));
    };
    check::number(at, Some(found), most)?;
    Ok(found)
}

fn size(at: &str, value: &Value) -> Result<&'static str, CallError> {
    let found = text(at, value, check::WORD)?;
    let size = Size::parse(found).ok_or_else(|| {
        let problem = format!("is none of {}", Size::WORDS);
        CallError::invalid(at, &problem)
    });
    Ok(size?.word())
}

/// Reads one of a few words; the first of each meaning is the one that is kept.
fn choose(
    at: &str,
    value: &Value,
    known: &[(&str, &'static str)],
) -> Result<&'static str, CallError> {
    let found = text(at, value, check::WORD)?.trim();
    let chosen = known
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(found));
    chosen.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        CallError::invalid(at, &format!("is none of {}", words.join(", ")))
    })
}
