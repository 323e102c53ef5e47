//! The only place that prints: progress to stderr, asked-for data to stdout.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Writes a line for people to stderr.
#[expect(clippy::print_stderr, reason = "progress belongs there")]
pub(crate) fn say(line: &str) {
    eprintln!("{line}");
}

/// Writes a line that was asked for to stdout.
#[expect(clippy::print_stdout, reason = "xtask is a command")]
pub(crate) fn data(line: &str) {
    println!("{line}");
}

/// Runs steps one after the other, says what runs and how long it took, and keeps the times.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: String,
    outcome: StepOutcome,
}

enum StepOutcome {
    Passed(Duration),
    Failed(Duration),
    Partly(Duration, String),
    Skipped(String),
}

/// What a step has to say when nothing failed.
pub(crate) enum Ran {
    /// All of it ran.
    Fully,
    /// Something was left out, and why.
    Partly(String),
}

impl Steps {
    /// Runs a step and stops the whole run if it fails.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Result<()>) -> Result<()> {
        self.run_partly(name, || step().map(|()| Ran::Fully))
    }

    /// Runs a step whose result is used by the next one.
    pub(crate) fn yielding<T>(
        &mut self,
        name: &str,
        step: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let mut made = None;
        self.run(name, || {
            made = Some(step()?);
            Ok(())
        })?;
        made.context("a step that passed has made nothing")
    }

    /// Runs a step that may leave out what cannot be done here.
    pub(crate) fn run_partly(
        &mut self,
        name: &str,
        step: impl FnOnce() -> Result<Ran>,
    ) -> Result<()> {
        say(&format!("==> {name}"));
        let start = Instant::now();
        let result = step();
        let took = start.elapsed();
        let outcome = match &result {
            Ok(Ran::Fully) => StepOutcome::Passed(took),
            Ok(Ran::Partly(why)) => StepOutcome::Partly(took, why.clone()),
            Err(_) => StepOutcome::Failed(took),
        };
        self.done.push(Step {
            name: name.to_owned(),
            outcome,
        });
        if let Some(step) = self.done.last() {
            say(&format!("    {}", step.line()));
        }
        result
            .map(|_| ())
            .with_context(|| format!("the step `{name}` failed"))
    }

    /// Announces a step that cannot run yet.
    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        say(&format!("==> {name}\n    skipped: {why}"));
        self.done.push(Step {
            name: name.to_owned(),
            outcome: StepOutcome::Skipped(why.to_owned()),
        });
    }

    /// Prints all steps with their times.
    pub(crate) fn summary(&self) {
        let mut total = Duration::ZERO;
        say("");
        for step in &self.done {
            total += match step.outcome {
                StepOutcome::Passed(took)
                | StepOutcome::Failed(took)
                | StepOutcome::Partly(took, _) => took,
                StepOutcome::Skipped(_) => Duration::ZERO,
            };
            say(&format!("{:<24} {}", step.name, step.line()));
        }
        say(&format!("{:<24} {}", "total", seconds(total)));
    }
}

impl Step {
    fn line(&self) -> String {
        match &self.outcome {
            StepOutcome::Passed(took) => format!("{} ok", seconds(*took)),
            StepOutcome::Failed(took) => format!("{} FAILED", seconds(*took)),
            StepOutcome::Partly(took, why) => format!("{} skipped: {why}", seconds(*took)),
            StepOutcome::Skipped(why) => format!("          skipped: {why}"),
        }
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:>7.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_named_and_stays_in_the_summary() {
        let mut steps = Steps::default();
        steps.run("first", || Ok(())).unwrap();
        let error = steps.run("second", || anyhow::bail!("no")).unwrap_err();
        assert_eq!(format!("{error:#}"), "the step `second` failed: no");
        assert!(steps.done[0].line().ends_with("ok"));
        assert!(steps.done[1].line().ends_with("FAILED"));
    }
}
