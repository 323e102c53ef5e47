//! The to-do of a step: what its notes say about the plan it belongs to.

use super::{steps::Step, words::Due};
use crate::kv::sizing::{Said, Sizing, size_up};

/// Returns how large a step is, by its fields and its own words. The words of its [`notes`] are ours:
/// they must not make the step look larger.
pub(super) fn size_of(step: &Step) -> Said {
    let said = Said {
        size: step.t_shirt_size,
        points: step.story_points,
        optimistic: step.estimate_optimistic_minutes,
        likely: step.estimate_likely_minutes,
        pessimistic: step.estimate_pessimistic_minutes,
    };
    let description = step.description.as_deref().unwrap_or_default();
    let Sizing {
        size,
        points,
        optimistic,
        likely,
        pessimistic,
    } = size_up(&step.title, description, &said);
    Said {
        size: Some(size),
        points: Some(points),
        optimistic: Some(optimistic),
        likely: Some(likely),
        pessimistic: Some(pessimistic),
    }
}

/// Writes the notes of a step's to-do. They start with the reference other programs look for.
pub(super) fn notes(step: &Step, reference: &str, depends_on: &[String]) -> String {
    let mut notes = vec![format!("PlanStepRef: {reference}")];
    if !depends_on.is_empty() {
        notes.push(format!("Depends On: {}", depends_on.join(", ")));
    }
    notes.push(format!("Owner: {}", step.owner.word()));
    notes.push(format!("Priority: {}", step.priority.word()));
    if let Some(date) = &step.due_date {
        notes.push(format!("Due Date: {date}"));
    }
    match &step.due_at {
        Some(Due::At(time)) => notes.push(format!("Due At: {time}")),
        Some(Due::Words(words)) => notes.push(format!("Due At: {words}")),
        None => {}
    }
    let description = step.description.as_deref().unwrap_or_default();
    if !description.is_empty() && description != step.title {
        notes.push(description.to_owned());
    }
    notes.join(" | ")
}
