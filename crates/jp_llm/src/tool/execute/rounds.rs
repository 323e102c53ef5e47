//! Steps 6 to 8 of the pipeline: the tool runs, and again for every question that has an answer.

use std::time::Instant;

use jp_policy::Limits;
use jp_tool::{Action, Input, Outcome, Question};
use serde_json::Value;

use super::{Early, MOST, Pass, grant::Granted};
use crate::{
    ExecutionOutcome, InputRequest, ToolError,
    runtime::{Form, Invocation, Run, Stopped, limit_reached},
    tool::{Printed, Stop},
};

/// The caller gave up waiting.
struct Cancelled;

impl Pass<'_> {
    /// Steps 6 to 8, again for every question that has an answer.
    pub(super) async fn rounds(&mut self, granted: &Granted) -> Early {
        let grant = &granted.grant;
        loop {
            if self.call.cancel.is_cancelled() {
                return Ok(self.cancelled());
            }
            let left = match self.call.budget.left(grant.limits()) {
                Ok(left) => left,
                Err(limit) => {
                    let printed = Printed::default();
                    return Err(limit_reached(self.tool, limit, grant.limits(), printed));
                }
            };
            let run = self.run_once(granted, &left).await;
            let outcome = match self.keep(run) {
                Ok(outcome) => outcome,
                Err(Stopped::Cancelled) => return Ok(self.cancelled()),
                Err(Stopped::Failed(error)) => return Err(error),
            };
            match outcome {
                Outcome::NeedsInput { question } if self.call.action == Action::Run => {
                    if let Some(ended) = self.answer(question).await {
                        return ended;
                    }
                }
                other => return self.finished(other).await,
            }
        }
    }

    async fn run_once(&self, granted: &Granted, left: &Limits) -> Run {
        let answers = self.call.budget.answers();
        let invocation = Invocation {
            pass: self,
            granted,
            answers: &answers,
            left,
        };
        let started = Instant::now();
        let run = self.tool.runtime.run(&invocation).await;
        if run.sha256.is_none() {
            self.host.look_again();
        }
        self.call
            .budget
            .spend(started.elapsed(), run.fuel.unwrap_or_default());
        run
    }

    /// Keeps what a run left behind; what earlier rounds printed stays.
    fn keep(&mut self, run: Run) -> Result<Outcome, Stopped> {
        let Run {
            result,
            beside,
            mut stdout,
            mut stderr,
            fuel,
            sha256,
            form,
            ended,
            denied,
        } = run;
        (self.details.ended, self.details.denied) = (ended, denied);
        self.details.stdout.append(&mut stdout);
        self.details.stderr.append(&mut stderr);
        self.details.fuel = match (self.details.fuel, fuel) {
            (Some(before), Some(now)) => Some(before.saturating_add(now)),
            (before, now) => now.or(before),
        };
        self.details.sha256 = sha256.or(self.details.sha256.take());
        self.details.form = form;
        self.details.beside = beside;
        let outcome = result?;
        if self.tool.known_output_schema().is_some() && self.is_data(&outcome) {
            self.details.form = Form::Json;
        }
        self.details.outcome = Some(outcome.clone());
        Ok(outcome)
    }

    /// Tells whether the text of a result that must fit a schema is that data. Beside data of its own it
    /// may be words for people.
    fn is_data(&self, outcome: &Outcome) -> bool {
        match (outcome, &self.details.beside.content.structured) {
            (Outcome::Success { content }, Some(_)) => {
                serde_json::from_str::<serde::de::IgnoredAny>(content).is_ok()
            }
            _ => true,
        }
    }

    /// Returns the answer that came with the call or stands in the configuration.
    fn known_answer(&self, id: &str) -> Option<Value> {
        let given = self.call.answers.get(id);
        let known = given.or_else(|| self.tool.fixed_answers.get(id));
        known.cloned()
    }

    /// Asks the caller for all that is not known, unless they give up waiting.
    async fn provide(&self, inputs: &[&Input]) -> Result<Vec<Option<Value>>, Cancelled> {
        let request = InputRequest {
            call: &self.call.id,
            tool: &self.tool.name,
            inputs,
            any: self.details.beside.any,
        };
        tokio::select! {
            biased;
            () = self.call.cancel.cancelled() => Err(Cancelled),
            answers = self.host.caller().asker.provide(&request) => Ok(answers),
        }
    }

    /// Looks for answers to all a tool wants; `None` means that there are and the tool is to be run
    /// again.
    async fn answer(&self, question: Question) -> Option<Early> {
        let single = [Input::Question(question)];
        let inputs = match self.details.beside.inputs.as_slice() {
            [] => &single[..],
            inputs => inputs,
        };
        let budget = &self.call.budget;
        let too_many = || {
            let error = ToolError::new(&*self.tool.name, Stop::TooManyQuestions);
            Some(Err(error))
        };
        if budget.is_full() || inputs.iter().any(|input| budget.has_answer(input.id())) {
            return too_many();
        }
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for input in inputs {
            match self.known_answer(input.id()) {
                Some(answer) => known.push((input, answer)),
                None => unknown.push(input),
            }
        }
        if !unknown.is_empty() {
            let answers = match self.provide(&unknown).await {
                Ok(answers) => answers,
                Err(Cancelled) => return Some(Ok(self.cancelled())),
            };
            let mut answers = answers.into_iter();
            let mut open = None;
            for input in unknown {
                match answers.next().flatten() {
                    Some(answer) => known.push((input, answer)),
                    None => open = open.or(Some(input)),
                }
            }
            let is_enough = self.details.beside.any && !known.is_empty();
            if let Some(input) = open
                && !is_enough
            {
                let (id, question) = (self.call.id.clone(), input.to_question());
                return Some(Ok(ExecutionOutcome::NeedsInput { id, question }));
            }
        }
        for (input, answer) in known {
            match input.check(answer) {
                Ok(answer) => {
                    if !budget.keep_answer(input.id(), answer) {
                        return too_many();
                    }
                }
                Err(error) => {
                    let id = jp_text::shorten_and_count(input.id(), MOST);
                    let text = format!("The answer to question `{id}` does not fit: {error}");
                    return Some(Ok(self.completed(Err(text))));
                }
            }
        }
        None
    }
}
