//! What works on a task until it has ended.

use std::{collections::HashSet, sync::Arc, time::Duration};

use jp_store::{Change, Taken, TaskId, Tasks as _, Updated};
use rmcp::{ErrorData, model::CallToolResult};
use serde_json::{Map, Value};
use tokio::{sync::Notify, task::JoinHandle, time};

use super::{Handle, broken, on_disk, spawn, waits};
use crate::{
    call::{Job, Round, requests},
    content,
    keep::{Keep, now},
};

/// Answers that another server took are looked for this often.
const LOOK: Duration = Duration::from_secs(1);

/// Works on a task.
struct Worker {
    job: Arc<Job>,
    keep: Keep,
    id: TaskId,
    answered: Arc<Notify>,
}

/// Starts to work on a task, whose first round is under way.
pub(super) fn start(job: &Arc<Job>, keep: &Keep, id: TaskId, running: JoinHandle<Round>) {
    let worker = Worker {
        job: Arc::clone(job),
        keep: keep.clone(),
        id: id.clone(),
        answered: Arc::default(),
    };
    let handle = Handle {
        cancel: job.cancel.clone(),
        answered: Arc::clone(&worker.answered),
    };
    job.shared.running.lock().insert(id, handle);
    tokio::spawn(async move {
        worker.run(running).await;
        worker.job.shared.running.lock().remove(&worker.id);
    });
}

impl Worker {
    async fn run(&self, mut running: JoinHandle<Round>) {
        let mut asked_before = HashSet::new();
        loop {
            let round = running.await;
            let round = round.unwrap_or_else(|_| Round::Answered(Err(broken())));
            let (mut kept, wanted) = match round {
                Round::Answered(answer) => return self.end(answer).await,
                Round::Needs { kept, wanted } => (kept, wanted),
            };
            let mut keys = wanted.iter().map(|one| one.key.clone());
            if let Some(again) = keys.find(|key| !asked_before.insert(key.clone())) {
                let again = jp_text::inline(&again);
                let text = format!("The answer to the question {again} does not fit.");
                return self.end(Ok(content::refusal(&text))).await;
            }
            let asked = match requests(wanted) {
                Ok(requests) => serde_json::to_string(&requests).unwrap_or_default(),
                Err(error) => return self.end(Err(error)).await,
            };
            if !self.ask(asked).await {
                return;
            }
            // Who waits for a person keeps nobody from running.
            self.job.shift.rest();
            match self.hear().await {
                Some(answers) => kept.answers.extend(answers),
                None => return self.job.cancel.cancel(),
            }
            self.job.shift.go_on().await;
            running = spawn(&self.job, kept, None);
        }
    }

    fn owner(&self) -> String {
        self.job.shared.principal().to_owned()
    }

    /// Says how the task ended. One that was cancelled meanwhile stays cancelled.
    async fn end(&self, answer: Result<CallToolResult, ErrorData>) {
        let (owner, id) = (self.owner(), self.id.clone());
        let ended = on_disk(&self.keep, move |store| match answer {
            Ok(result) => {
                let result = serde_json::to_string(&result).unwrap_or_default();
                let change = Change::Completed { result: &result };
                store.update(&owner, &id, &change, now())
            }
            Err(error) => fail(store, &owner, &id, &error),
        });
        if let Err(error) = ended.await {
            // The result is too large, or the disk is full: the task must not seem to work for ever.
            let (owner, id) = (self.owner(), self.id.clone());
            let failed = on_disk(&self.keep, move |store| fail(store, &owner, &id, &error));
            let _ = failed.await;
        }
    }

    /// Says what the task waits for; false when it is over.
    async fn ask(&self, requests: String) -> bool {
        let (owner, id) = (self.owner(), self.id.clone());
        let asked = on_disk(&self.keep, move |store| {
            let change = Change::InputRequired {
                requests: &requests,
                message: Some("waits for an answer"),
            };
            store.update(&owner, &id, &change, now())
        });
        match asked.await {
            Ok(updated) => updated == Updated::Changed,
            Err(error) => {
                self.end(Err(error)).await;
                false
            }
        }
    }

    /// Waits until everything is answered; nothing when the task is over before.
    async fn hear(&self) -> Option<Map<String, Value>> {
        let mut said = Map::new();
        loop {
            let _ = time::timeout(LOOK, self.answered.notified()).await;
            let (owner, id) = (self.owner(), self.id.clone());
            let looked = on_disk(&self.keep, move |store| {
                let now = now();
                let taken = store.take_answers(&owner, &id, now)?;
                Ok((taken, store.get(&owner, &id, now)?))
            });
            let Ok((taken, Some(task))) = looked.await else {
                return None;
            };
            match taken {
                Taken::Answers { responses } => {
                    let responses: Map<String, Value> =
                        serde_json::from_str(&responses).unwrap_or_default();
                    said.extend(responses);
                }
                Taken::Nothing => {}
                Taken::Ended | Taken::Unknown => return None,
            }
            if !waits(&task) {
                return Some(said);
            }
        }
    }
}

fn fail(
    store: &jp_store::Store,
    owner: &str,
    id: &TaskId,
    error: &ErrorData,
) -> Result<Updated, jp_store::StoreError> {
    let text = serde_json::to_string(error).unwrap_or_default();
    let change = Change::Failed {
        error: &text,
        message: Some(&error.message),
    };
    store.update(owner, id, &change, now())
}
