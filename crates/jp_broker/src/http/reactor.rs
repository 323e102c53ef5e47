//! The threads on which connections live. Does not know HTTP.
//!
//! Requests are waited for on the threads of those who make them; what must go on between two
//! requests, a kept connection among it, runs here. The threads are started with the first request
//! of the process.

use std::{
    future::Future,
    pin::Pin,
    sync::OnceLock,
    task::{Context, Poll},
};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::JoinHandle,
};

use super::HttpError;

/// Enough for encryption; everything else waits.
const THREADS: usize = 2;

/// How many lookups may be under way in the process. The system's resolver cannot be interrupted, so
/// a lookup may outlive its request by half a minute.
const MAX_LOOKUPS: usize = 64;

/// Returns the way to the threads.
pub(super) fn handle() -> Result<&'static Handle, HttpError> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder
            .worker_threads(THREADS)
            .max_blocking_threads(MAX_LOOKUPS)
            .thread_name("jp-http")
            .enable_all();
        builder.build().ok()
    });
    match runtime {
        Some(runtime) => Ok(runtime.handle()),
        None => Err(failed("cannot start a thread for connections")),
    }
}

/// Runs `work` on the threads; it ends when the returned future is dropped.
pub(super) async fn run<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, HttpError> {
    Running(handle()?.spawn(work)).await
}

/// Runs `work`, which blocks, on a thread of its own. It cannot be interrupted: a result that comes
/// too late is dropped.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HttpError> {
    Running(handle()?.spawn_blocking(work)).await
}

/// Work whose caller is gone is not continued.
struct Running<T>(JoinHandle<T>);

impl<T> Future for Running<T> {
    type Output = Result<T, HttpError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let done = Pin::new(&mut self.0).poll(context);
        done.map_err(|_| failed("the connection's task died"))
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn failed(reason: &str) -> HttpError {
    HttpError::Other {
        host: "the network".to_owned(),
        reason: reason.to_owned(),
    }
}
