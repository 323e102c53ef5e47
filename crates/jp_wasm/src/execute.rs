//! One call of a guest, from a fresh instance to its outcome.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use jp_policy::{Limit, Limits};
use jp_tool::{Answer, Beside, Input, Outcome};
use tokio::sync::SemaphorePermit;
use wasmtime::Store;

use crate::{
    artifact::Prepared,
    call::{Ended, GuestCall, Task, Traces},
    engine::{Allocation, new_store},
    error::{Error, Signs, Stopped, classify, describe},
    guest::Guest,
    host::State,
    runtime::Runtime,
    spares::Spare,
    stop::{Stop, run_in_turns},
};

/// What the host may still copy out of a guest beside its result.
const SLACK: u64 = 64 * 1024;

/// A time nobody waits for.
const FAR: Duration = Duration::from_hours(24 * 365);

impl Runtime {
    /// Runs one call in an instance of its own.
    pub(crate) async fn run(&self, prepared: &Prepared, call: GuestCall<'_>, task: Task) -> Ended {
        if let Err(error) = check_stdio(prepared, &call) {
            return Ended::failed(error);
        }
        let Some(_ticking) = self.ticker.enter() else {
            // Without the clock's thread nothing could stop a guest that computes.
            let reason = "no thread to watch the time limit with".to_owned();
            return Ended::failed(Error::Host { reason });
        };
        let now = Instant::now();
        let stop = Stop::new(now, deadline(now, call.limits.time), call.cancel.clone());
        let _place = match self.place(&stop).await {
            Ok(place) => place,
            Err(stopped) => return Ended::failed(stopped.into()),
        };
        let (spare, wants_refill) = prepared.spares.take();
        if wants_refill {
            self.ticker.refill(&prepared.spares);
        }
        let (mut store, guest) = match spare {
            Some(Spare {
                store,
                guest,
                place,
            }) => {
                drop(place);
                (store, Some(guest))
            }
            None => match new_store(
                &self.engine,
                Arc::clone(&stop),
                bytes(call.limits.memory_bytes),
            ) {
                Ok(store) => (store, None),
                Err(error) => {
                    let reason = format!("cannot make a store: {}", describe(&error));
                    return Ended::failed(Error::Host { reason });
                }
            },
        };
        let result = match arm(&mut store, &stop, &call) {
            Ok(()) => {
                let living = Living {
                    store: &mut store,
                    guest,
                    stop: &stop,
                };
                self.answer(living, prepared, &call, task).await
            }
            Err(error) => Err(error),
        };
        let traces = traces(&store, call.limits);
        self.take_down(store);
        Ended::new(result, traces)
    }

    /// Waits for a place in the pool, as long as the call may take; usually there is one.
    async fn place(&self, stop: &Arc<Stop>) -> Result<Option<SemaphorePermit<'_>>, Stopped> {
        if let Ok(place) = self.places.try_acquire() {
            return Ok(Some(place));
        }
        let waiting = self.places.acquire();
        // The semaphore is never closed.
        run_in_turns(waiting, stop, &self.turns, &self.ticker)
            .await
            .map(Result::ok)
    }

    async fn answer(
        &self,
        living: Living<'_>,
        prepared: &Prepared,
        call: &GuestCall<'_>,
        task: Task,
    ) -> Result<Answer, Error> {
        let Living { store, guest, stop } = living;
        // Pinned here, because moving a future this large costs as much as a system call.
        let run = pin!(async {
            let guest = match guest {
                Some(guest) => guest,
                None => start(store, prepared).await?,
            };
            let pre = prepared.spares.pre();
            pre.call(store, guest, call, task).await
        });
        let answer = match run_in_turns(run, stop, &self.turns, &self.ticker).await {
            Ok(answer) => answer?,
            Err(stopped) => return Err(stopped.into()),
        };
        let most = bytes(call.limits.output_bytes);
        let Beside {
            content, inputs, ..
        } = &answer.beside;
        let inputs = inputs.iter().map(Input::size).sum::<usize>();
        if size(&answer.outcome) > most || content.size() > most || inputs > most {
            return Err(Error::Limit {
                limit: Limit::Output,
            });
        }
        Ok(answer)
    }

    /// Closes what the guest held open, and lets somebody else take the used instance down: that
    /// costs a third of a short call. Nobody else does it in a command that is about to end, or
    /// when too many wait for it already.
    fn take_down(&self, mut store: Store<State>) {
        if store.data().files.changed {
            self.looks.forget();
        }
        store.data_mut().close_all();
        if self.allocation == Allocation::Pooling {
            drop(self.ticker.take_down(store));
        }
    }
}

/// Where a call runs.
struct Living<'a> {
    store: &'a mut Store<State>,
    /// A guest that was made ahead of time.
    guest: Option<Guest>,
    stop: &'a Arc<Stop>,
}

/// Refuses a program that hears and answers through streams it does not have.
fn check_stdio(prepared: &Prepared, call: &GuestCall<'_>) -> Result<(), Error> {
    let pre = prepared.spares.pre();
    if call.wasi.ambient.stdio || !pre.needs_stdio(call.module.entrypoint) {
        return Ok(());
    }
    Err(Error::Denied {
        capability: "stdio",
    })
}

/// Puts what this call may do and use into a store that could do nothing before.
fn arm(store: &mut Store<State>, stop: &Arc<Stop>, call: &GuestCall<'_>) -> Result<(), Error> {
    let limits = call.limits;
    let failed = |error: wasmtime::Error| Error::Host {
        reason: describe(&error),
    };
    store
        .set_fuel(limits.fuel.unwrap_or(u64::MAX))
        .map_err(failed)?;
    store.set_epoch_deadline(1);
    let copied = limits.output_bytes.max(1 << 20).saturating_add(SLACK);
    store.set_hostcall_fuel(bytes(copied));
    let state = store.data_mut();
    // A spare has one of its own.
    if !Arc::ptr_eq(&state.stop, stop) {
        state.stop = Arc::clone(stop);
    }
    state.files.mounts.clone_from(&call.wasi.mounts);
    state.files.limit = limits.open_files as usize;
    state.http.arm(call.outside.outgoing.as_ref());
    state.surround(&call.wasi);
    state.streams.set_limit(bytes(limits.output_bytes));
    if state.limiter.set_limit(bytes(limits.memory_bytes)) {
        Ok(())
    } else {
        Err(Error::Limit {
            limit: Limit::Memory,
        })
    }
}

/// Brings a fresh guest to life; its start functions run under the same limits as the call.
async fn start(store: &mut Store<State>, prepared: &Prepared) -> Result<Guest, Error> {
    let guest = prepared
        .spares
        .pre()
        .instantiate(store)
        .await
        .map_err(|error| {
            let signs = Signs {
                memory_refused: store.data().limiter.refused(),
                could_exceed_output: false,
            };
            match classify(&error, &signs) {
                Error::Trap { reason } if prepared.spares.pre().is_module() => {
                    Error::InstantiateModule { reason }
                }
                Error::Trap { reason } => Error::Instantiate { reason },
                other => other,
            }
        })?;
    let state = store.data();
    prepared
        .spares
        .note_start(state.touched, state.limiter.held());
    Ok(guest)
}

pub(crate) fn signs(store: &Store<State>, limits: &Limits) -> Signs {
    let limiter = &store.data().limiter;
    Signs {
        memory_refused: limiter.refused(),
        could_exceed_output: limiter.held() as u64 > limits.output_bytes,
    }
}

fn traces(store: &Store<State>, limits: &Limits) -> Traces {
    let left = store.get_fuel().unwrap_or_default();
    let streams = &store.data().streams;
    Traces {
        stdout: streams.take_stdout(),
        stderr: streams.take_stderr(),
        fuel: limits.fuel.unwrap_or(u64::MAX).saturating_sub(left),
    }
}

fn size(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Success { content } => content.len(),
        Outcome::Error { message, trace, .. } => {
            message.len() + trace.iter().map(String::len).sum::<usize>()
        }
        Outcome::NeedsInput { question } => question.size(),
    }
}

/// When a call that starts at a time has to end; a limit beyond the clock's range is no limit.
fn deadline(now: Instant, limit: Duration) -> Instant {
    now.checked_add(limit).unwrap_or(now + FAR)
}

/// A limit as a size of this machine: what does not fit is as good as unlimited.
pub(crate) fn bytes(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
