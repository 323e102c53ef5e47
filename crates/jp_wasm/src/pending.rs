//! Capability calls that a component has started and not waited for. Each is a future that goes on
//! whenever the component waits for anything; nothing of it is left when the call of the tool ends.

use std::{future::Future, pin::Pin, task::Poll};

use async_trait::async_trait;
use serde_json::value::RawValue;
use wasmtime::component::Resource;
use wasmtime_wasi::WasiView as _;
use wasmtime_wasi_io::poll::{DynPollable, Pollable, subscribe};

use crate::{
    capability::CapabilityError, convert::described::jp::tool0_2_0::capabilities as wit,
    host::State,
};

/// What a capability call comes to.
type Answer = Result<Box<RawValue>, CapabilityError>;

/// A capability call under way.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub enum PendingCall {
    /// It has no answer yet.
    Waiting(Pin<Box<dyn Future<Output = Answer> + Send>>),
    /// It has one, unless somebody took it.
    Answered(Option<Answer>),
}

impl PendingCall {
    /// Starts a call, as far as it gets without waiting.
    pub(crate) async fn start(call: impl Future<Output = Answer> + Send + 'static) -> Self {
        let mut call = Self::Waiting(Box::pin(call));
        call.go_on().await;
        call
    }

    /// Lets the call go on as far as it gets without waiting.
    async fn go_on(&mut self) {
        let Self::Waiting(call) = self else {
            return;
        };
        let polled = std::future::poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await;
        if let Poll::Ready(answer) = polled {
            *self = Self::Answered(Some(answer));
        }
    }
}

#[async_trait]
impl Pollable for PendingCall {
    async fn ready(&mut self) {
        if let Self::Waiting(call) = self {
            let answer = call.as_mut().await;
            *self = Self::Answered(Some(answer));
        }
    }
}

impl wit::HostPendingCall for State {
    fn subscribe(
        &mut self,
        call: Resource<PendingCall>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        subscribe(self.ctx().table, call)
    }

    async fn take(
        &mut self,
        call: Resource<PendingCall>,
    ) -> wasmtime::Result<Option<Result<String, wit::CapabilityError>>> {
        let call = self.ctx().table.get_mut(&call)?;
        call.go_on().await;
        Ok(match call {
            PendingCall::Waiting(_) => None,
            PendingCall::Answered(answer) => answer.take().map(told),
        })
    }

    fn drop(&mut self, call: Resource<PendingCall>) -> wasmtime::Result<()> {
        self.ctx().table.delete(call)?;
        Ok(())
    }
}

/// Returns an answer as a component receives it.
pub(crate) fn told(answer: Answer) -> Result<String, wit::CapabilityError> {
    match answer {
        Ok(result) => Ok(String::from(Box::<str>::from(result))),
        Err(error) => Err(wit::CapabilityError {
            code: error.problem.code.unwrap_or_default(),
            message: error.problem.message,
            retryable: error.transient,
        }),
    }
}
