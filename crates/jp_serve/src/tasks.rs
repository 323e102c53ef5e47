//! Tasks: long calls that a client comes back for. They are on disk before the client hears of them, and
//! only their owner knows them.

mod wire;
mod worker;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jp_config::tool::TaskMode;
use jp_llm::Events;
use jp_store::{Change, NewTask, State, Store, Task, TaskId, Tasks as _};
use rmcp::{
    ErrorData,
    model::{ClientCapabilities, CreateTaskResult, DetailedTask},
};
use serde_json::Value;
use tokio::{sync::Notify, task::JoinHandle, time};
use tokio_util::sync::CancellationToken;

use crate::{
    call::{Job, Round},
    keep::{Keep, millis, now},
    principal::Served,
    sealed::Kept,
};

/// A call that takes longer becomes a task, unless its tool says otherwise.
const LONG: Duration = Duration::from_secs(3);

/// A task is kept this long.
const LIFE: Duration = Duration::from_hours(1);

/// How long a client should wait between two looks.
const PACE: Duration = Duration::from_millis(500);

/// An owner has at most so many, ended ones included.
const MOST: u64 = 1_000;

/// The tasks that this server works on.
#[derive(Default)]
pub(crate) struct Running(Mutex<HashMap<TaskId, Handle>>);

/// What reaches the worker of a task.
#[derive(Clone)]
struct Handle {
    cancel: CancellationToken,
    answered: Arc<Notify>,
}

/// What the first round of a call came to.
pub(crate) enum First {
    /// It is over.
    Ended(Round),
    /// It goes on as a task.
    Task(CreateTaskResult),
}

/// What a client said about tasks, and how it stops its request.
pub(crate) struct Client {
    pub(crate) knows_tasks: bool,
    pub(crate) gone: CancellationToken,
}

/// Runs the first round of a call, and makes a task of it when that is called for.
pub(crate) async fn first_round(
    job: &Arc<Job>,
    kept: Kept,
    events: Option<Arc<dyn Events>>,
    client: Client,
) -> Result<First, ErrorData> {
    let mode = job.catalogue.task_mode(&job.tool);
    if mode == TaskMode::Required && !client.knows_tasks {
        let needed = ClientCapabilities::builder().enable_tasks().build();
        return Err(ErrorData::missing_required_client_capability(needed));
    }
    let keep = job.shared.keep();
    let keep = keep.filter(|_| client.knows_tasks && mode != TaskMode::Never);
    // Until there is a task, the call is stopped when its client is gone, or its request is dropped.
    let cancel = job.cancel.clone().drop_guard();
    let forward = client
        .knows_tasks
        .then(|| forward(client.gone, job.cancel.clone()));
    let Some(keep) = keep else {
        let round = job.round(kept, events).await;
        cancel.disarm();
        return Ok(First::Ended(round));
    };
    let mut running = spawn(job, kept, events);
    if mode != TaskMode::Always
        && let Ok(round) = time::timeout(LONG, &mut running).await
    {
        let round = round.unwrap_or_else(|_| Round::Answered(Err(broken())));
        if mode != TaskMode::Required || matches!(round, Round::Needs { .. }) {
            cancel.disarm();
            return Ok(First::Ended(round));
        }
        running = tokio::spawn(async move { round });
    }
    let task = create(keep, job).await?;
    cancel.disarm();
    drop(forward);
    worker::start(job, keep, task.id.clone(), running);
    Ok(First::Task(CreateTaskResult::new(wire::task(&task))))
}

/// Stops a call when its client is gone, until this is dropped.
fn forward(gone: CancellationToken, cancel: CancellationToken) -> AbortOnDrop {
    AbortOnDrop(tokio::spawn(async move {
        gone.cancelled().await;
        cancel.cancel();
    }))
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn spawn(job: &Arc<Job>, kept: Kept, events: Option<Arc<dyn Events>>) -> JoinHandle<Round> {
    let job = Arc::clone(job);
    tokio::spawn(async move { job.round(kept, events).await })
}

async fn create(keep: &Keep, job: &Job) -> Result<Task, ErrorData> {
    let (owner, tool) = (job.shared.principal().to_owned(), job.tool.clone());
    on_disk(keep, move |store| {
        let task = NewTask {
            tool: &tool,
            ttl: millis(LIFE),
            poll_interval: millis(PACE),
            message: None,
            most: MOST,
        };
        let now = now();
        let id = store.create(&owner, &task, now)?;
        store.get(&owner, &id, now)
    })
    .await?
    .ok_or_else(broken)
}

/// Works with the store where waiting for the disk holds nobody up.
async fn on_disk<T: Send + 'static>(
    keep: &Keep,
    work: impl FnOnce(&Store) -> Result<T, jp_store::StoreError> + Send + 'static,
) -> Result<T, ErrorData> {
    let store = Arc::clone(keep.store());
    let done = tokio::task::spawn_blocking(move || work(&store)).await;
    let done = done.map_err(|_| broken())?;
    done.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

pub(crate) fn broken() -> ErrorData {
    ErrorData::internal_error(
        "the server failed while the call ran; it may have taken effect",
        None,
    )
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("unknown task: it is over, or was never yours", None)
}

impl Served {
    /// Returns a task of this principal.
    pub(crate) async fn task(&self, id: &str) -> Result<DetailedTask, ErrorData> {
        let (keep, id) = self.known(id)?;
        let owner = self.principal().to_owned();
        let task = on_disk(keep, move |store| store.get(&owner, &id, now())).await?;
        wire::detailed(task.ok_or_else(unknown)?)
    }

    /// Hands a task what its client answered.
    pub(crate) async fn answer_task(&self, id: &str, responses: Value) -> Result<(), ErrorData> {
        let (keep, id) = self.known(id)?;
        let (owner, name) = (self.principal().to_owned(), id.clone());
        let text = responses.to_string();
        let kept = on_disk(keep, move |store| store.answer(&owner, &name, &text, now())).await?;
        if kept == jp_store::Answered::Unknown {
            return Err(unknown());
        }
        if let Some(handle) = self.running.get(&id) {
            handle.answered.notify_one();
        }
        Ok(())
    }

    /// Stops a task. One that has ended stays as it is.
    pub(crate) async fn cancel_task(&self, id: &str) -> Result<(), ErrorData> {
        let (keep, id) = self.known(id)?;
        let (owner, name) = (self.principal().to_owned(), id.clone());
        let done = on_disk(keep, move |store| {
            store.update(&owner, &name, &Change::Cancelled, now())
        });
        if done.await? == jp_store::Updated::Unknown {
            return Err(unknown());
        }
        if let Some(handle) = self.running.get(&id) {
            handle.cancel.cancel();
        }
        Ok(())
    }

    fn known(&self, id: &str) -> Result<(&Keep, TaskId), ErrorData> {
        let keep = self.keep().ok_or_else(unknown)?;
        let id = id.parse().map_err(|_| unknown())?;
        Ok((keep, id))
    }
}

impl Running {
    fn get(&self, id: &TaskId) -> Option<Handle> {
        self.lock().get(id).cloned()
    }

    /// Returns how many there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<TaskId, Handle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether a task waits for its client.
const fn waits(task: &Task) -> bool {
    matches!(task.state, State::InputRequired { .. })
}
