//! One connection to a server: how it is opened, and what its end is called. What is asked over it is
//! in [`crate::request`].

use std::{sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{ErrorCode, ProtocolVersion},
    service::{
        ClientInitializeError, ClientLifecycleMode, RunningService, ServiceError,
        serve_client_with_lifecycle,
    },
    transport::DynamicTransportError,
};
use tokio::sync::Mutex;

use crate::{
    HttpFailure, HttpFailureKind, Limits, McpError, Means, Reach, Server,
    ending::{self, MAX_REASON},
    handler::Handler,
    hidden,
    message::UNREADABLE,
    news::News,
    process::{self, Process, Started},
    request::Listed,
    stdio::{Fate, Stdio},
    streamable::{self, Failure},
    tail::Tail,
    underway::Underway,
};

/// A server that is ready.
pub(crate) struct Connection {
    pub(crate) server: String,
    pub(crate) era: Era,
    pub(crate) service: RunningService<RoleClient, Handler>,
    pub(crate) handler: Handler,
    pub(crate) limits: Limits,
    pub(crate) fate: Arc<Fate>,
    pub(crate) underway: Underway,
    pub(crate) listed: Mutex<Listed>,
    /// The time it has to get ready; without one it has as long as the caller waits.
    pub(crate) startup: Option<Startup>,
    pub(crate) tail: Tail,
    process: Option<Mutex<Process>>,
}

/// The time a server has to get ready, which it is once its tools are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Startup {
    /// All of it.
    pub(crate) limit: Duration,
    /// What was left when the connection was made.
    pub(crate) left: Duration,
}

/// How long a server may take to answer a greeting that it may not know.
const MAX_PROBE: Duration = Duration::from_secs(10);

/// How a server is greeted, which says how all else is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// With `initialize`, up to 2025-11-25.
    Handshake,
    /// With `server/discover`, since 2026-07-28: each request says all of itself.
    Stateless,
}

impl Era {
    /// What is tried first. A server behind a URL that does not know the newer greeting says so at
    /// once, and a newer one may take offence at the older; of programs it is the other way round.
    const fn usual(reach: &Reach) -> Self {
        match reach {
            Reach::Url(_) => Self::Stateless,
            Reach::Program(_) | Reach::Refused { .. } => Self::Handshake,
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Handshake => Self::Stateless,
            Self::Stateless => Self::Handshake,
        }
    }

    fn greeting(self) -> ClientLifecycleMode {
        match self {
            Self::Handshake => ClientLifecycleMode::Initialize,
            Self::Stateless => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        }
    }
}

/// Why no connection was made.
enum Unopened {
    /// The server may answer another greeting.
    Otherwise,
    Failed(McpError),
}

impl Connection {
    /// Opens a connection: starts the program, or greets the URL. `era` is what it was the last time.
    pub(crate) async fn open(
        server: &Server,
        means: &Means,
        tail: &Tail,
        (news, era): (&Arc<News>, Option<Era>),
    ) -> Result<Self, McpError> {
        let era = era.unwrap_or_else(|| Era::usual(&server.reach));
        let handler = || Handler::new(&server.id, news);
        let opening = Self::open_as(server, means, tail, (handler(), era));
        let opened = match era {
            Era::Handshake => opening.await,
            Era::Stateless => tokio::time::timeout(MAX_PROBE, opening)
                .await
                .unwrap_or(Err(Unopened::Otherwise)),
        };
        match opened {
            Ok(connection) => return Ok(connection),
            Err(Unopened::Failed(error)) => return Err(error),
            Err(Unopened::Otherwise) => {}
        }
        match Self::open_as(server, means, tail, (handler(), era.other())).await {
            Ok(connection) => Ok(connection),
            Err(Unopened::Failed(error)) => Err(error),
            Err(Unopened::Otherwise) => Err(McpError::Protocol {
                server: server.id.clone(),
                reason: "it supports none of the protocol versions that jp supports".to_owned(),
            }),
        }
    }

    async fn open_as(
        server: &Server,
        means: &Means,
        tail: &Tail,
        (handler, era): (Handler, Era),
    ) -> Result<Self, Unopened> {
        let greeting = era.greeting();
        let fate = Arc::<Fate>::default();
        let underway = Underway::default();
        let refused = |reason: String| {
            let server = server.id.clone();
            Unopened::Failed(McpError::Refused { server, reason })
        };
        let mut process = None;
        let served = match &server.reach {
            Reach::Refused { reason } => return Err(refused(reason.clone())),
            Reach::Url(url) => {
                let Some(exchange) = &means.http else {
                    return Err(refused("this program has no way to reach a URL".to_owned()));
                };
                let transport =
                    streamable::transport(&server.id, url, exchange, means.limits, &underway);
                serve_client_with_lifecycle(handler.clone(), transport, greeting).await
            }
            Reach::Program(program) => {
                let started = process::start(&server.id, program, means, tail).await;
                let Started {
                    process: started,
                    stdin,
                    stdout,
                } = started.map_err(Unopened::Failed)?;
                process = Some(started);
                let transport = Stdio::new(stdin, stdout, means.limits, tail.clone(), &fate);
                serve_client_with_lifecycle(handler.clone(), transport, greeting).await
            }
        };
        match served {
            Ok(service) => Ok(Self {
                server: server.id.clone(),
                era,
                service,
                handler,
                limits: means.limits,
                fate,
                underway,
                listed: Mutex::default(),
                startup: None,
                tail: tail.clone(),
                process: process.map(Mutex::new),
            }),
            Err(error) => Err(match underway.take_last() {
                Some(why) => {
                    let error = ending::of_stream(server.id.clone(), why);
                    match era == Era::Stateless && may_be_older(&error) {
                        true => Unopened::Otherwise,
                        false => Unopened::Failed(error),
                    }
                }
                None => unopened(server, era, &error, process, &fate, tail).await,
            }),
        }
    }

    /// Returns whether anything can still be asked.
    pub(crate) fn is_alive(&self) -> bool {
        !self.service.peer().is_transport_closed() && !self.fate.gone.is_cancelled()
    }

    /// Returns whether the server is a program.
    pub(crate) const fn is_program(&self) -> bool {
        self.process.is_some()
    }

    /// Says why nothing was answered.
    pub(crate) async fn failed(&self, error: &ServiceError) -> McpError {
        let server = self.server.clone();
        match error {
            ServiceError::McpError(error) if error.code == UNREADABLE => {
                self.broke(&hidden::shown(&error.message, MAX_REASON))
            }
            ServiceError::McpError(error) => McpError::Rejected {
                server,
                code: error.code.0,
                message: hidden::shown(&error.message, MAX_REASON),
            },
            ServiceError::TransportSend(sent) => {
                if let Some(failure) = http_failure(sent) {
                    return ending::of_url(server, failure.clone(), self.limits.message_bytes);
                }
                if let Some(Failure::SessionExpired) = sent.error.downcast_ref() {
                    // The next use opens a new session.
                    self.fate.gone.cancel();
                }
                self.died().await
            }
            ServiceError::TransportClosed => self.died().await,
            other => McpError::Protocol {
                server,
                reason: hidden::shown(&other.to_string(), MAX_REASON),
            },
        }
    }

    /// Says how the connection ended.
    pub(crate) async fn died(&self) -> McpError {
        if let Some(ended) = self.fate.ended.get() {
            return ending::of_fate(&self.server, ended, &self.tail);
        }
        let ending = match &self.process {
            Some(process) => process.lock().await.ending().await,
            None => None,
        };
        McpError::Died {
            server: self.server.clone(),
            reason: ending.unwrap_or_else(|| "the connection was closed".to_owned()),
            said: self.tail.said(),
        }
    }
}

/// Tells whether a server that failed so at the newer greeting may answer the older one.
const fn may_be_older(error: &McpError) -> bool {
    match error {
        McpError::Http { source, .. } => matches!(source.kind, HttpFailureKind::Answered),
        McpError::Protocol { .. } | McpError::Died { .. } => true,
        _ => false,
    }
}

async fn unopened(
    server: &Server,
    era: Era,
    error: &ClientInitializeError,
    process: Option<Process>,
    fate: &Fate,
    tail: &Tail,
) -> Unopened {
    let id = server.id.as_str();
    let is_url = matches!(server.reach, Reach::Url(_));
    let otherwise = match error {
        ClientInitializeError::JsonRpcError(error) => match era {
            Era::Handshake => [
                ErrorCode::METHOD_NOT_FOUND,
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
            ]
            .contains(&error.code),
            Era::Stateless => true,
        },
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => era == Era::Stateless,
        // Whatever a server says to a greeting that it does not know.
        _ => era == Era::Stateless && is_url && fate.ended.get().is_none(),
    };
    if otherwise {
        return Unopened::Otherwise;
    }
    if let Some(ended) = fate.ended.get() {
        return Unopened::Failed(ending::of_fate(id, ended, tail));
    }
    let reason = match (ending::of_greeting(error), process) {
        (Some(said), _) => Some(said),
        (None, Some(mut process)) => process.ending().await,
        (None, None) => None,
    };
    let closed = "the connection was closed before it answered `initialize`";
    Unopened::Failed(McpError::Start {
        server: id.to_owned(),
        reason: reason.unwrap_or_else(|| closed.to_owned()),
        said: tail.said(),
    })
}

/// Finds what the exchange said in what the transport made of it.
fn http_failure(error: &DynamicTransportError) -> Option<&HttpFailure> {
    match error.error.downcast_ref::<Failure>()? {
        Failure::Client(failure) => Some(failure),
        _ => None,
    }
}
