//! `wasi:http/outgoing-handler` for components: every request leaves through what the call was handed.
//!
//! Nothing here resolves a name or opens a connection; without an [`Outgoing`] every request is denied.
//! Bodies are held whole on both sides, each up to a limit, so that what a guest can make the host hold
//! is known: [`AT_ONCE`] requests of [`MAX_REQUEST_BODY`] and their responses.

mod bounds;
mod hooks;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::sync::Semaphore;
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi_http::{
    WasiHttp, WasiHttpCtx, WasiHttpCtxView, WasiHttpView,
    p2::bindings::http::{outgoing_handler, types},
};

use crate::host::State;

use hooks::Hooks;

/// Bytes of a request's body; a larger one is refused as `HTTP-request-body-size`.
pub(crate) const MAX_REQUEST_BODY: usize = 10 * 1024 * 1024;

/// Requests whose response was not read to its end or dropped yet; one more is refused as
/// `connection-limit-reached`.
pub(crate) const AT_ONCE: usize = 4;

/// Requests of one call; one more is refused as `connection-limit-reached`.
pub(crate) const MAX_REQUESTS: usize = 64;

/// Bytes of one set of headers. A guest can hold as many sets as it can hold resources.
const MAX_FIELDS: usize = 16 * 1024;

/// A request that a guest wants to make. Nothing of it is checked for more than its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The headers, without those that belong to a connection.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The whole body.
    pub body: Vec<u8>,
    /// How long the guest waits for the head of the response.
    pub head_timeout: Option<Duration>,
    /// How long it waits between two pieces of the body.
    pub pause_timeout: Option<Duration>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingResponse {
    /// The status, such as 200.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The whole body.
    pub body: Vec<u8>,
}

/// Why a request has no response, as far as a guest may know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutgoingError {
    /// The host is not granted.
    #[error("the request is not allowed")]
    Denied,
    /// The host has an address that is never reached.
    #[error("the address is not allowed")]
    Prohibited,
    /// The method, URL or headers are wrong.
    #[error("the request is not valid")]
    Invalid,
    /// The name has no address.
    #[error("the name cannot be resolved")]
    Resolve,
    /// No connection could be made.
    #[error("no connection")]
    Connect,
    /// No secure connection could be made.
    #[error("no secure connection")]
    Tls,
    /// The response was not complete in time.
    #[error("no complete response in time")]
    Timeout,
    /// The response is larger than this many bytes.
    #[error("the response is larger than {limit} bytes")]
    TooLarge {
        /// The most it may be.
        limit: u64,
    },
    /// What came back is not HTTP, or is not complete.
    #[error("the exchange failed")]
    Broken,
    /// This host failed.
    #[error("the host failed")]
    Host,
}

/// Makes the requests of one guest call.
#[async_trait]
pub trait Outgoing: Send + Sync {
    /// Makes one request and reads its whole response; a redirect is a response like any other. It is
    /// dropped when the call ends, and has to stop then.
    async fn send(&self, request: OutgoingRequest) -> Result<OutgoingResponse, OutgoingError>;
}

/// What the HTTP of one guest works on.
pub(crate) struct Http {
    hooks: Hooks,
    context: WasiHttpCtx,
}

impl Default for Http {
    fn default() -> Self {
        let mut context = WasiHttpCtx::new();
        context.set_field_size_limit(MAX_FIELDS);
        Self {
            hooks: Hooks::default(),
            context,
        }
    }
}

impl Http {
    /// Says what makes the requests of a call.
    pub(crate) fn arm(&mut self, outgoing: Option<&Arc<dyn Outgoing>>) {
        self.hooks = match outgoing {
            Some(outgoing) => {
                Hooks::through(Arc::clone(outgoing), Arc::new(Semaphore::new(AT_ONCE)))
            }
            None => Hooks::default(),
        };
    }

    pub(crate) fn view<'a>(&'a mut self, table: &'a mut ResourceTable) -> WasiHttpCtxView<'a> {
        WasiHttpCtxView {
            hooks: &mut self.hooks,
            table,
            ctx: &mut self.context,
        }
    }
}

/// Tells whether a component that imports this can make requests.
pub(crate) fn makes_requests(interface: &str, version: &str) -> bool {
    interface == "wasi:http/outgoing-handler" && is_spoken(version)
}

/// Tells whether a version of `wasi:http` is one that is spoken here.
fn is_spoken(version: &str) -> bool {
    version.starts_with("0.2.")
}

/// Links an interface of `wasi:http`; false when it is not one that is spoken here.
pub(crate) fn link(
    linker: &mut Linker<State>,
    interface: &str,
    version: &str,
) -> wasmtime::Result<bool> {
    match interface {
        _ if !is_spoken(version) => return Ok(false),
        "wasi:http/types" => {
            let options = types::LinkOptions::default();
            types::add_to_linker::<State, WasiHttp>(linker, &options, State::http)?;
            bounds::link(linker)?;
        }
        "wasi:http/outgoing-handler" => {
            outgoing_handler::add_to_linker::<State, WasiHttp>(linker, State::http)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}
