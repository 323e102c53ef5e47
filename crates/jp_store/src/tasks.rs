//! Tasks: long calls that a client polls for.

use crate::{Millis, ServerId, StoreError, TaskId};

/// What a task says whose server is gone: as its status message, and as the `message` of its error.
pub const STOPPED: &str = "the server was stopped while the call ran; it may have taken effect";

/// Tasks: long calls that a client polls for. Documents are JSON texts and returned as they were given.
///
/// A task is there from its creation until its time to live is over, whatever its state is. After that it
/// is as if it had never been, for its worker too.
pub trait Tasks: Send + Sync {
    /// Returns which server this is: its tasks are worked on as long as it lives.
    fn server(&self) -> &ServerId;

    /// Makes a task of an owner that this server works on; it is safe on the disk when this returns.
    ///
    /// # Errors
    ///
    /// When the owner has too many, a text is too long, or it cannot be written.
    fn create(&self, owner: &str, task: &NewTask<'_>, now: Millis) -> Result<TaskId, StoreError>;

    /// Returns a task of an owner. One whose server is gone has [failed](STOPPED) from now on.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn get(&self, owner: &str, id: &TaskId, now: Millis) -> Result<Option<Task>, StoreError>;

    /// Changes a task that has not ended. Any server may do it: a worker learns from [`Updated::Ended`] or
    /// [`Taken::Ended`] that its task was cancelled elsewhere.
    ///
    /// # Errors
    ///
    /// When a text is too long or not JSON, or it cannot be written. The task is as it was then.
    fn update(
        &self,
        owner: &str,
        id: &TaskId,
        change: &Change<'_>,
        now: Millis,
    ) -> Result<Updated, StoreError>;

    /// Keeps what a client answered for the worker: a JSON object with one member for each request.
    ///
    /// Of each request the first answer counts, and what was not asked for is left out. A request that was
    /// answered is not outstanding any more; with the last one the task is working again.
    ///
    /// # Errors
    ///
    /// When the answers are too large or not an object, or cannot be written. None of them is kept then.
    fn answer(
        &self,
        owner: &str,
        id: &TaskId,
        responses: &str,
        now: Millis,
    ) -> Result<Answered, StoreError>;

    /// Hands the worker what was answered since it asked last, each answer once.
    ///
    /// # Errors
    ///
    /// When the store fails; the answers are still there then.
    fn take_answers(&self, owner: &str, id: &TaskId, now: Millis) -> Result<Taken, StoreError>;

    /// Ends what servers that are gone left unfinished as [failed](STOPPED), and says how many tasks that
    /// were. Opening a store does it too.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn adopt(&self, now: Millis) -> Result<u64, StoreError>;

    /// Removes the tasks whose time to live is over, and says how many there were.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn sweep_tasks(&self, now: Millis) -> Result<u64, StoreError>;
}

/// A task to be made. It is [working](State::Working).
#[derive(Debug, Clone, Copy)]
pub struct NewTask<'a> {
    /// The tool that is called.
    pub tool: &'a str,
    /// How long the task is kept, from now on.
    pub ttl: Millis,
    /// How long a client should wait between two looks at it.
    pub poll_interval: Millis,
    /// What a person is told about it.
    pub message: Option<&'a str>,
    /// How many tasks the owner may have, ended ones included.
    pub most: u64,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// The server that works on it.
    pub server: ServerId,
    /// The tool that is called.
    pub tool: String,
    /// When it was made.
    pub created: Millis,
    /// When it was changed last.
    pub updated: Millis,
    /// How long it is kept, from its creation on.
    pub ttl: Millis,
    /// How long a client should wait between two looks at it.
    pub poll_interval: Millis,
    /// What a person is told about it.
    pub message: Option<String>,
    /// Where it stands.
    pub state: State,
}

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The call runs.
    Working,
    /// The call waits for answers.
    InputRequired {
        /// The requests that are outstanding: a JSON object.
        requests: String,
    },
    /// The call has ended with a result.
    Completed {
        /// The result, as JSON.
        result: String,
    },
    /// The call has ended without a result.
    Failed {
        /// The error, as JSON.
        error: String,
    },
    /// The call was cancelled.
    Cancelled,
}

/// What becomes of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// The call goes on; nothing is outstanding.
    Working {
        /// What a person is told.
        message: Option<&'a str>,
    },
    /// The call waits for answers to these requests; those it waited for before are void. Without any the
    /// task is working.
    InputRequired {
        /// The requests: a JSON object, whose keys no earlier request of the task had.
        requests: &'a str,
        /// What a person is told.
        message: Option<&'a str>,
    },
    /// The call has ended with a result.
    Completed {
        /// The result, as JSON.
        result: &'a str,
    },
    /// The call has ended without a result.
    Failed {
        /// The error, as JSON.
        error: &'a str,
        /// What a person is told.
        message: Option<&'a str>,
    },
    /// The call was cancelled.
    Cancelled,
}

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Updated {
    /// It was made.
    Changed,
    /// It was not made: the task has ended and never changes again.
    Ended,
    /// The owner has no such task, or not any more.
    Unknown,
}

/// What came of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// They were looked through.
    Kept {
        /// How many answered a request that was outstanding.
        accepted: usize,
        /// How many requests are outstanding now.
        outstanding: usize,
    },
    /// They were not kept: the task has ended.
    Ended,
    /// The owner has no such task, or not any more.
    Unknown,
}

/// What a worker finds of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// Answers that came since it asked last.
    Answers {
        /// A JSON object with one member for each request that was answered.
        responses: String,
    },
    /// Nothing new.
    Nothing,
    /// The task has ended: the worker should stop.
    Ended,
    /// The owner has no such task, or not any more: the worker should stop.
    Unknown,
}
