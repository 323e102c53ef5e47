//! Reads what a command has to say: an outcome as JSON, or plain text and an exit status.

use jp_confine::Ended;
use jp_tool::{Answer, Outcome, Problem};
use serde_json::json;

/// What may explain that a command failed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Notes<'a> {
    /// How much memory each process had.
    pub(super) memory: Option<&'a str>,
    /// What it could not see.
    pub(super) hidden: Option<&'a str>,
}

/// Turns the output of a command into an outcome.
pub(super) fn read_outcome(
    tool: &str,
    ended: Option<Ended>,
    (stdout, stderr): (&[u8], &[u8]),
    notes: Notes<'_>,
) -> Answer {
    // A command that speaks the contract says everything in its output, whatever its status.
    if let Ok(outcome) = serde_json::from_slice::<Outcome>(stdout) {
        return outcome.into();
    }
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    if ended == Some(Ended::Exited(0)) {
        return Outcome::from(text(stdout)).into();
    }
    let mut how = ended.map_or_else(String::new, |ended| format!(": {ended}"));
    if let (true, Some(memory)) = (ended.is_some_and(may_be_for_want_of_memory), notes.memory) {
        how = format!("{how}; {memory}");
    }
    let hidden = notes
        .hidden
        .map_or_else(String::new, |hidden| format!(" Note: {hidden}."));
    let problem = format!("Tool '{tool}' execution failed{how}.{hidden}");
    let message = json!({
        "message": problem,
        "stderr": text(stderr),
        "stdout": text(stdout),
        "exit_code": ended.and_then(Ended::exit_code),
        "signal": ended.and_then(Ended::signal),
    });
    Answer::from(Outcome::failed(message.to_string())).with_problem(Some(Problem {
        code: None,
        message: problem,
    }))
}

/// Tells whether a program that was refused memory may have ended like this: most give up with one of
/// these signals, and say little.
fn may_be_for_want_of_memory(ended: Ended) -> bool {
    let names = ["SIGABRT", "SIGBUS", "SIGILL", "SIGSEGV", "SIGTRAP"];
    ended
        .signal_name()
        .is_some_and(|name| names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_counts_whatever_the_status() {
        let said = br#"{"type":"error","message":"no","trace":[],"transient":true}"#;
        let answer = read_outcome("t", Some(Ended::Exited(3)), (said, b""), Notes::default());
        assert!(matches!(
            answer.outcome,
            Outcome::Error {
                transient: true,
                ..
            }
        ));
    }

    #[test]
    fn plain_text_is_a_result_when_the_status_is_zero() {
        assert_eq!(
            read_outcome(
                "t",
                Some(Ended::Exited(0)),
                (b"hi\n", b"x"),
                Notes::default()
            ),
            Outcome::from("hi\n").into()
        );
    }

    #[test]
    fn a_failure_says_how_the_command_ended() {
        let notes = Notes {
            memory: Some("each of its processes may use 1 GiB of memory"),
            hidden: None,
        };
        for (ended, said) in [
            (
                Some(Ended::Exited(7)),
                r#"{"message":"Tool 't' execution failed: exited with status 7.","stderr":"b","stdout":"a�","exit_code":7,"signal":null}"#,
            ),
            (
                Some(Ended::Killed(9)),
                r#"{"message":"Tool 't' execution failed: killed by signal 9 (SIGKILL).","stderr":"b","stdout":"a�","exit_code":null,"signal":9}"#,
            ),
            (
                Some(Ended::Killed(6)),
                r#"{"message":"Tool 't' execution failed: killed by signal 6 (SIGABRT); each of its processes may use 1 GiB of memory.","stderr":"b","stdout":"a�","exit_code":null,"signal":6}"#,
            ),
            (
                None,
                r#"{"message":"Tool 't' execution failed.","stderr":"b","stdout":"a�","exit_code":null,"signal":null}"#,
            ),
        ] {
            let answer = read_outcome("t", ended, (b"a\xff", b"b"), notes);
            let Outcome::Error { message, .. } = answer.outcome else {
                panic!()
            };
            assert_eq!(message, said);
            let problem = answer.beside.problem.unwrap().message;
            assert!(
                said.contains(&format!(r#""message":"{problem}""#)),
                "{problem}"
            );
        }
    }
}
