//! What an event says, and how its id names the row and the run it stands for.

use std::fmt;

use serde::Serialize;

/// What came due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A reminder: its title is to be shown.
    Reminder,
    /// A task: its prompt is to be run.
    Task,
    /// A wake-up: its prompt is to be run, and again later.
    Wakeup,
}

impl Kind {
    /// All kinds.
    pub(super) const ALL: [Self; 3] = [Self::Reminder, Self::Task, Self::Wakeup];

    /// Returns its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reminder => "reminder",
            Self::Task => "task",
            Self::Wakeup => "wakeup",
        }
    }
}

/// Something that came due. Serialised it is one line of JSON: texts are the user's or a model's
/// own, and control characters in them are escaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DueEvent {
    /// Names this run of this row, for ever: `reminder:12:1700000000`.
    pub id: String,
    /// What came due.
    pub kind: Kind,
    /// Whose it is.
    pub user: String,
    /// The title of a reminder, the name of a task or wake-up.
    pub title: String,
    /// What is to be run, if anything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// When it was due, in seconds since 1970.
    pub due_at: i64,
    /// How often it has been handed out, this time included.
    pub attempt: i64,
    /// Whether it was handed out before: it may have been delivered.
    pub redelivered: bool,
    /// Who asked for it: `tool:reminders`. A prompt from a tool was not written by a person.
    pub origin: String,
}

/// The row and the run an id stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) kind: Kind,
    pub(super) row: i64,
    pub(super) due_at: i64,
}

impl EventId {
    /// Reads an id, or returns nothing for any other text.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (kind, rest) = id.split_once(':')?;
        let (row, due_at) = rest.split_once(':')?;
        let parsed = Self {
            kind: Kind::ALL.into_iter().find(|known| known.as_str() == kind)?,
            row: row.parse().ok()?,
            due_at: due_at.parse().ok()?,
        };
        // `+1` and `01` are numbers, too; an event has one id.
        (parsed.to_string() == id).then_some(parsed)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.kind.as_str(), self.row, self.due_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written_and_nothing_else_is() {
        for id in [
            "reminder:12:1700000000",
            "task:1:0",
            "wakeup:9223372036854775807:5",
        ] {
            assert_eq!(EventId::parse(id).unwrap().to_string(), id);
        }
        for id in [
            "",
            ":",
            "reminder",
            "reminder:1",
            "todo:1:1",
            "task:+1:1",
            "task:01:1",
            "task:1:1 ",
            "task:1:1:1",
            "task:9223372036854775808:1",
            "task:1.0:1",
            "Task:1:1",
        ] {
            assert_eq!(EventId::parse(id), None, "{id}");
        }
    }
}
