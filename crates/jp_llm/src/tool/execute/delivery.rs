//! Step 8 of the pipeline, where the configuration asks for it: a person looks at a result before a
//! model does (`result = "ask"` and `"edit"`). Nothing here listens to the model or the tool.

use jp_config::tool::ResultMode;
use jp_tool::{Beside, Outcome};

use super::{Early, Pass};
use crate::{
    Delivery, DeliveryRequest, ExecutionOutcome, ToolError,
    tool::{Cause, Misconfigured, Refused, Stop, word},
};

impl Pass<'_> {
    /// Lets a person decide about a result, where the configuration says so.
    pub(super) async fn deliver(&mut self, result: Result<String, String>) -> Early {
        let edit_first = match self.tool.result {
            ResultMode::Ask => false,
            ResultMode::Edit => true,
            ResultMode::Unattended | ResultMode::Skip => return Ok(self.completed(result)),
        };
        if !self.call.action.is_run() {
            return Ok(self.completed(result));
        }
        let request = DeliveryRequest {
            tool: &self.tool.name,
            result: result.as_deref().map_err(String::as_str),
            edit_first,
            shown: self.tool.inline_results,
        };
        let delivery = tokio::select! {
            biased;
            () = self.call.cancel.cancelled() => return Ok(self.cancelled()),
            delivery = self.host.caller().approver.deliver(&request) => delivery,
        };
        match delivery {
            Delivery::Deliver => Ok(self.completed(result)),
            Delivery::Edited(text) => self.edited(result.is_ok(), text),
            Delivery::Withheld(why) => Ok(self.withheld(why.map_or_else(
                || "Result delivery skipped by user.".to_owned(),
                |why| format!("Result delivery skipped by user: {why}"),
            ))),
            Delivery::Unavailable => {
                let error = ToolError::new(&*self.tool.name, Refused::NotDelivered);
                Err(error.with_hint(format!(
                    "run it in a terminal, deliver the result with `jp tool run --yes {} …`, or set \
                     `result = \"unattended\"` for it",
                    word(&self.tool.name)
                )))
            }
        }
    }

    /// Delivers what a person made of a result. What it was before stays with the person.
    fn edited(&mut self, is_success: bool, text: String) -> Early {
        let outcome = match is_success {
            true => Outcome::Success {
                content: text.clone(),
            },
            false => Outcome::Error {
                message: text.clone(),
                trace: Vec::new(),
                transient: false,
            },
        };
        // Before the check, which would look at the data of the tool instead of the text.
        self.forget_the_rest();
        if is_success
            && let Err(error) = self.check_result(&text)
            && let Cause::Stopped(Stop::ResultUnfit { path, reason }) = error.into_cause()
        {
            let unfit = Misconfigured::EditUnfit { path, reason };
            return Err(ToolError::new(&*self.tool.name, unfit));
        }
        self.details.outcome = Some(outcome);
        Ok(self.completed(match is_success {
            true => Ok(text),
            false => Err(text),
        }))
    }

    /// Ends the call with a text in the place of its result, of which nothing stays.
    pub(super) fn withheld(&mut self, text: String) -> ExecutionOutcome {
        self.details.outcome = Some(Outcome::Success {
            content: text.clone(),
        });
        self.forget_the_rest();
        self.completed(Ok(text))
    }

    /// Forgets what would still show the result: its parts, and what the tool printed.
    fn forget_the_rest(&mut self) {
        self.details.beside = Beside::default();
        self.details.stdout.clear();
        self.details.stderr.clear();
    }
}
