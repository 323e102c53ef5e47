//! Calls that compute for long move aside, to threads of their own: who asks for a list, or makes a short call, never
//! waits for a guest to give its turn back.
//!
//! A short call stays where it is, since moving costs more than it takes.

use std::{
    future::poll_fn,
    sync::OnceLock,
    task::Poll,
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinSet,
};

/// A call that is polled this long without an end computes. A guest yields every millisecond.
const SHORT: Duration = Duration::from_micros(500);

/// The threads of calls that compute; started with the first of them.
#[derive(Default)]
pub(crate) struct Aside(OnceLock<Option<Runtime>>);

impl Aside {
    /// Runs a call here, and aside from when it computes. Nothing when the server ends before.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        mut call: BoxFuture<'static, T>,
    ) -> Option<T> {
        let ended = poll_fn(|context| {
            let started = Instant::now();
            match call.as_mut().poll(context) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending if started.elapsed() < SHORT => Poll::Pending,
                Poll::Pending => Poll::Ready(None),
            }
        });
        if let Some(ended) = ended.await {
            return Some(ended);
        }
        let Some(runtime) = self.0.get_or_init(start) else {
            return Some(call.await);
        };
        // Dropped with its request, it stops the call.
        let mut moved = JoinSet::new();
        moved.spawn_on(call, runtime.handle());
        moved.join_next().await?.ok()
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // Waiting for threads is not allowed where this may happen.
        if let Some(Some(runtime)) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Starts the threads; nothing when the system has none left, and calls compute where they are.
fn start() -> Option<Runtime> {
    let mut threads = Builder::new_multi_thread();
    threads
        .enable_all()
        .thread_name("jp-calls")
        // Every turn of a guest takes a millisecond; timers must be looked at after each.
        .event_interval(1);
    threads.build().ok()
}

#[cfg(test)]
mod tests {
    use std::{future::pending, hint::spin_loop, thread};

    use tokio::sync::oneshot;

    use super::*;

    fn name() -> String {
        thread::current().name().unwrap_or_default().to_owned()
    }

    /// Computes so long, then yields.
    async fn compute(time: Duration) {
        let started = Instant::now();
        while started.elapsed() < time {
            spin_loop();
        }
        tokio::task::yield_now().await;
    }

    #[tokio::test]
    async fn what_computes_moves_and_what_waits_stays() {
        let aside = Aside::default();
        let here = name();
        let waits = Box::pin(async {
            tokio::task::yield_now().await;
            name()
        });
        assert_eq!(aside.run(waits).await, Some(here.clone()));
        let computes = Box::pin(async {
            compute(2 * SHORT).await;
            name()
        });
        assert_eq!(aside.run(computes).await.as_deref(), Some("jp-calls"));
    }

    #[tokio::test]
    async fn a_call_that_moved_ends_with_its_request() {
        let aside = Aside::default();
        let (moved, has_moved) = oneshot::channel();
        let (held, ended) = oneshot::channel::<()>();
        let call = Box::pin(async move {
            let _held = held;
            compute(2 * SHORT).await;
            let _ = moved.send(());
            pending::<()>().await;
        });
        {
            let mut running = Box::pin(aside.run(call));
            tokio::select! {
                _ = &mut running => unreachable!("it never ends"),
                moved = has_moved => moved.unwrap(),
            }
        }
        // What the call held is dropped.
        assert!(ended.await.is_err());
    }
}
