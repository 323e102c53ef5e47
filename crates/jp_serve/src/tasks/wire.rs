//! Tasks in the protocol's words.

use jp_store::{Millis, State, Task as Kept};
use rmcp::{
    ErrorData,
    model::{DetailedTask, Task, TaskPayload, TaskStatus},
};
use serde::de::DeserializeOwned;

/// Returns a task without what it came to.
pub(super) fn task(kept: &Kept) -> Task {
    let status = match kept.state {
        State::Working => TaskStatus::Working,
        State::InputRequired { .. } => TaskStatus::InputRequired,
        State::Completed { .. } => TaskStatus::Completed,
        State::Failed { .. } => TaskStatus::Failed,
        State::Cancelled => TaskStatus::Cancelled,
    };
    let mut task = Task::new(
        kept.id.as_str(),
        status,
        date(kept.created),
        date(kept.updated),
    )
    .with_ttl_ms(kept.ttl)
    .with_poll_interval_ms(kept.poll_interval);
    task.status_message.clone_from(&kept.message);
    task
}

/// Returns a task with what it came to.
pub(super) fn detailed(kept: Kept) -> Result<DetailedTask, ErrorData> {
    let shown = task(&kept);
    let payload = match kept.state {
        State::Working => TaskPayload::Working,
        State::Cancelled => TaskPayload::Cancelled,
        State::InputRequired { requests } => TaskPayload::InputRequired {
            input_requests: read(&requests)?,
        },
        State::Completed { result } => TaskPayload::Completed {
            result: read(&result)?,
        },
        State::Failed { error } => TaskPayload::Failed {
            error: read(&error)?,
        },
    };
    Ok(DetailedTask::new(shown, payload))
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, ErrorData> {
    serde_json::from_str(text).map_err(|error| {
        ErrorData::internal_error(
            format!("what was kept of the task cannot be read: {error}"),
            None,
        )
    })
}

/// Writes a time as ISO 8601 does.
fn date(time: Millis) -> String {
    let time = i64::try_from(time).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(time).unwrap_or_default();
    time.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_dates() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
        assert_eq!(date(u64::MAX), "1970-01-01T00:00:00Z");
    }
}
