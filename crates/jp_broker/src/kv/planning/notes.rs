//! The to-do of a step: what its notes say about the plan it belongs to.

use serde_json::Value;

use super::steps::Step;
use crate::kv::{
    sizing::{Said, Size, size_up},
    todo_rows::NewTodo,
};

/// Makes the to-do of a step. Its notes start with the reference other programs look for.
pub(super) fn todo_of(step: &Step, reference: &str, depends_on: &[String]) -> NewTodo {
    let description = text_of(step, "description").unwrap_or_default();
    let number_of = |field| step.json.get(field).and_then(Value::as_i64);
    let said = Said {
        size: text_of(step, "t_shirt_size").and_then(Size::parse),
        points: number_of("story_points"),
        optimistic: number_of("estimate_optimistic_minutes"),
        likely: number_of("estimate_likely_minutes"),
        pessimistic: number_of("estimate_pessimistic_minutes"),
    };
    // The words of the notes below are ours: they must not make the step look larger.
    let sizing = size_up(&step.title, description, &said);
    NewTodo {
        title: step.title.clone(),
        notes: Some(notes(step, reference, depends_on, description)),
        t_shirt_size: Some(sizing.size.word().to_owned()),
        story_points: Some(sizing.points),
        estimate_optimistic_minutes: Some(sizing.optimistic),
        estimate_likely_minutes: Some(sizing.likely),
        estimate_pessimistic_minutes: Some(sizing.pessimistic),
        dependency_refs: Some(depends_on.to_vec()),
    }
}

fn notes(step: &Step, reference: &str, depends_on: &[String], description: &str) -> String {
    let mut notes = vec![format!("PlanStepRef: {reference}")];
    if !depends_on.is_empty() {
        notes.push(format!("Depends On: {}", depends_on.join(", ")));
    }
    for (words, field) in [
        ("Owner", "owner"),
        ("Priority", "priority"),
        ("Due Date", "due_date"),
        ("Due At", "due_at"),
    ] {
        match step.json.get(field) {
            Some(Value::String(text)) => notes.push(format!("{words}: {text}")),
            Some(Value::Number(number)) => notes.push(format!("{words}: {number}")),
            _ => {}
        }
    }
    if !description.is_empty() && description != step.title {
        notes.push(description.to_owned());
    }
    notes.join(" | ")
}

fn text_of<'a>(step: &'a Step, field: &str) -> Option<&'a str> {
    step.json.get(field).and_then(Value::as_str)
}
