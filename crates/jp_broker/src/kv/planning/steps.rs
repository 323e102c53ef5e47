//! The steps of a plan as models write them, and as they are kept.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, IgnoredAny, MapAccess, Visitor},
};

use super::words::{Due, Owner, Priority};
use crate::{
    arguments::{
        Entry, Reference, References,
        kinds::{Minutes, Notes, Points, Text, Title, too_long},
    },
    kv::{sizing::Size, todo_rows::MOST_REFERENCES},
};

/// Where a step's title is looked for, in this order.
const TITLES: [&str; 5] = ["title", "description", "name", "text", "step"];
/// The longest name of an ignored field that is repeated, in characters.
const SHOWN: usize = 80;
/// The most ignored fields that are named.
const NAMED: usize = 20;

/// One step, as it is kept.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Step {
    /// What the step is.
    // Guests also write it under one of the other names of `TITLES`; an empty one is passed over.
    #[cfg_attr(test, schemars(with = "Option<Text<1024>>"))]
    pub(super) title: String,
    /// What other steps may call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Reference>"))]
    pub(super) id: Option<String>,
    /// Details.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Notes>"))]
    pub(super) description: Option<String>,
    /// Who does it.
    #[cfg_attr(test, schemars(with = "Option<Owner>"))]
    pub(super) owner: Owner,
    /// How pressing it is.
    #[cfg_attr(test, schemars(with = "Option<Priority>"))]
    pub(super) priority: Priority,
    /// The day it is due: YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Text<256>>"))]
    pub(super) due_date: Option<String>,
    /// When it is due, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) due_at: Option<Due>,
    /// Rough size of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) t_shirt_size: Option<Size>,
    /// Size of the work in points.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Points>"))]
    pub(super) story_points: Option<i64>,
    /// Minutes it takes if all goes well.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Minutes>"))]
    pub(super) estimate_optimistic_minutes: Option<i64>,
    /// Minutes it most likely takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Minutes>"))]
    pub(super) estimate_likely_minutes: Option<i64>,
    /// Minutes it takes if much goes wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Minutes>"))]
    pub(super) estimate_pessimistic_minutes: Option<i64>,
    /// What must be done before: ids or titles.
    #[serde(rename = "dependency_refs", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<References>"))]
    pub(super) references: Option<Vec<String>>,
    /// Fields that are not kept.
    #[serde(skip)]
    ignored: Vec<String>,
}

/// Returns the fields of steps that are not kept, for the caller to know.
pub(super) fn ignored(steps: &[Entry<Step>]) -> Vec<String> {
    let of_step = |(at, Entry(step)): (usize, &Entry<Step>)| {
        let ignored = step.ignored.clone().into_iter();
        ignored.map(move |name| format!("steps[{at}].{name}"))
    };
    let mut ignored: Vec<String> = steps.iter().enumerate().flat_map(of_step).collect();
    if ignored.len() > NAMED {
        let left = ignored.len() - NAMED;
        ignored.truncate(NAMED);
        ignored.push(format!("and {left} more"));
    }
    ignored
}

impl From<Title> for Step {
    fn from(title: Title) -> Self {
        Self {
            title: title.trim().to_owned(),
            id: None,
            description: None,
            owner: Owner::Human,
            priority: Priority::Normal,
            due_date: None,
            due_at: None,
            t_shirt_size: None,
            story_points: None,
            estimate_optimistic_minutes: None,
            estimate_likely_minutes: None,
            estimate_pessimistic_minutes: None,
            references: None,
            ignored: Vec::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Fields)
    }
}

/// Reads the fields of a step. Not derived: a step may be named in several ways, two names of one
/// field may stand side by side, and what is unknown is reported and not refused.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Step, A::Error> {
        let mut step = Step::from(Title::default());
        let mut titles: [Option<String>; TITLES.len()] = Default::default();
        while let Some(name) = map.next_key::<String>()? {
            let title = TITLES.iter().position(|title| *title == name);
            if let Some(title) = title.and_then(|at| titles.get_mut(at)) {
                *title = map
                    .next_value::<Option<Notes>>()?
                    .map(|text| text.to_string());
            } else {
                step.read(&name, &mut map)?;
            }
        }
        let [_, description, ..] = &titles;
        if let Some(description) = description {
            step.description = Some(description.clone());
        }
        let given = titles.iter().flatten().map(|title| title.trim());
        let title = given.into_iter().find(|title| !title.is_empty());
        let title = title.ok_or_else(|| de::Error::missing_field("title"))?;
        if title.len() > MOST_TITLE {
            return Err(too_long(title.len(), MOST_TITLE, "bytes in a title"));
        }
        title.clone_into(&mut step.title);
        Ok(step)
    }
}

/// The longest title, in bytes.
const MOST_TITLE: usize = 1024;

impl Step {
    /// Reads the value of a field other than a title.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "id" => set(&mut self.id, map, |id: Reference| {
                id.as_str().trim().to_owned()
            }),
            "details" => set(&mut self.description, map, |text: Notes| text.to_string()),
            "owner" => read_into(&mut self.owner, map),
            "priority" => read_into(&mut self.priority, map),
            "due_date" | "due" | "deadline" => {
                set(&mut self.due_date, map, |date: Text<256>| date.to_string())
            }
            "due_at" => set(&mut self.due_at, map, |due| due),
            "t_shirt_size" | "size" => set(&mut self.t_shirt_size, map, |size| size),
            "story_points" | "points" => set(&mut self.story_points, map, Points::get),
            "estimate_optimistic_minutes" => {
                set(&mut self.estimate_optimistic_minutes, map, Minutes::get)
            }
            "estimate_likely_minutes" => set(&mut self.estimate_likely_minutes, map, Minutes::get),
            "estimate_pessimistic_minutes" => {
                set(&mut self.estimate_pessimistic_minutes, map, Minutes::get)
            }
            "dependency_refs" | "depends_on" | "dependencies" | "blocked_by" | "requires" => {
                self.read_references(map)
            }
            unknown => {
                if map.next_value::<Option<IgnoredAny>>()?.is_some() {
                    self.ignored.push(jp_text::start(unknown, SHOWN));
                }
                Ok(())
            }
        }
    }

    /// Adds references to those that came under another name.
    fn read_references<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        let Some(References(more)) = map.next_value()? else {
            return Ok(());
        };
        let references = self.references.get_or_insert_default();
        references.extend(more.iter().map(|one| one.as_str().trim().to_owned()));
        match references.len() > MOST_REFERENCES {
            true => Err(too_long(references.len(), MOST_REFERENCES, "references")),
            false => Ok(()),
        }
    }
}

/// Reads a value that may be `null`, which leaves the field as it is.
fn set<'de, A: MapAccess<'de>, T: Deserialize<'de>, U>(
    field: &mut Option<U>,
    map: &mut A,
    keep: fn(T) -> U,
) -> Result<(), A::Error> {
    if let Some(value) = map.next_value::<Option<T>>()? {
        *field = Some(keep(value));
    }
    Ok(())
}

fn read_into<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    field: &mut T,
    map: &mut A,
) -> Result<(), A::Error> {
    if let Some(value) = map.next_value::<Option<T>>()? {
        *field = value;
    }
    Ok(())
}
