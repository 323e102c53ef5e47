//! How a capability call leaves the machine: through the checked client, on a thread where it may
//! block, within the tool's time, and with secrets scrubbed from its failures.
//!
//! Does not know any particular capability.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jp_policy::{Brokered, HostPattern, Net};
use tokio_util::sync::CancellationToken;

use crate::{
    CallError, Caller, Code, Scrubber, Services,
    capability::CapabilityCall,
    http::{
        Client, Clients, HttpError, Limits, Options, Owner, Patience, Proxy, Request, Resolve,
        Response, SystemResolver, UnpackError, locate, unpack,
    },
};

/// The `User-Agent` of requests that have none: some servers refuse those.
pub(crate) const USER_AGENT: &str = concat!("jp/", env!("CARGO_PKG_VERSION"));

/// How requests leave the machine.
#[derive(Clone)]
pub struct WebOptions {
    /// Finds the addresses of names; what it answers is checked.
    pub resolver: Arc<dyn Resolve>,
    /// Certificates (DER) trusted besides the public roots.
    pub extra_roots: Vec<Vec<u8>>,
    /// What every request goes through, where the user's own configuration names a proxy.
    pub proxy: Option<Proxy>,
    /// The most that one request may use. No call gets more time, whatever it asks for.
    pub limits: Limits,
    /// What happens with names that a grant covers without spelling them out.
    pub unnamed_hosts: UnnamedHosts,
    /// Keeps connections for their owners.
    pub clients: Clients,
}

/// What happens with a host that a grant covers by `*.example.com` or `net = true`: a guest can put
/// data into such a name, and the name server of the domain sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnnamedHosts {
    /// It is looked up, and the log says so.
    #[default]
    Logged,
    /// It is neither looked up nor reached.
    Denied,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            resolver: Arc::new(SystemResolver),
            extra_roots: Vec::new(),
            proxy: None,
            limits: Limits {
                timeout: Duration::from_secs(300),
                ..Limits::default()
            },
            unnamed_hosts: UnnamedHosts::default(),
            clients: Clients::default(),
        }
    }
}

/// A capability call at work on a thread of its own.
pub(crate) struct Job {
    pub(crate) services: Services,
    pub(crate) caller: Caller,
    pub(crate) scrubber: Scrubber,
    stop: CancellationToken,
}

impl Job {
    /// Runs `work` where it may block. It is asked to stop when the call is cancelled, when its time is
    /// over, and when its caller is gone.
    pub(crate) async fn run<T: Send + 'static>(
        services: &Services,
        call: &CapabilityCall<'_>,
        work: impl FnOnce(&Self) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, CallError> {
        let stop = call.caller.cancel.child_token();
        let _stop_when_dropped = stop.clone().drop_guard();
        let mut job = Self {
            services: services.clone(),
            caller: call.caller.clone(),
            scrubber: Scrubber::default(),
            stop,
        };
        let done = tokio::task::spawn_blocking(move || {
            // First of all: what cannot be scrubbed must not be shown.
            job.scrubber = job.services.scrubber()?;
            work(&job).map_err(|error| job.scrubbed(error))
        });
        let died = |_| CallError::internal("the call died on the host");
        done.await.map_err(died)?
    }

    /// Returns the names the tool may use, to see which secrets it may.
    pub(crate) fn brokered(&self) -> &Brokered {
        &self.caller.grant.capabilities().brokered
    }

    fn net(&self) -> &Net {
        &self.caller.grant.capabilities().net
    }

    /// Makes a client with the tool's own network grant, and with no more time than `timeout`.
    pub(crate) fn client(&self, timeout: Duration) -> Result<Client, CallError> {
        let web = &self.services.web;
        let options = Options {
            net: self.net().clone(),
            private: false,
            limits: Limits {
                timeout: timeout.min(web.limits.timeout),
                ..web.limits
            },
            extra_roots: web.extra_roots.clone(),
            proxy: web.proxy.clone(),
        };
        let owner = Owner {
            user: self.caller.user.clone(),
            tool: self.caller.tool.clone(),
        };
        let made = web.clients.client(&owner, options, &web.resolver);
        made.map_err(|error| self.failed(&error))
    }

    /// Makes one request, within the time the tool has left.
    pub(crate) fn send(&self, client: &Client, request: Request) -> Result<Response, CallError> {
        self.check_name(&request.url)?;
        let response = self.exchange(client, request, Patience::default());
        response.map_err(|error| self.failed(&error))
    }

    /// Makes one request, within the time the tool has left, whose host was looked at before.
    pub(crate) fn exchange(
        &self,
        client: &Client,
        request: Request,
        patience: Patience,
    ) -> Result<Response, HttpError> {
        let left = self
            .caller
            .deadline
            .saturating_duration_since(Instant::now());
        let request = Request {
            timeout: Some(request.timeout.map_or(left, |asked| asked.min(left))),
            ..request
        };
        client.request_patiently(&request, patience, &|| self.stop.is_cancelled())
    }

    /// Returns the body of a response as it was before the server compressed it.
    pub(crate) fn unpack(&self, response: &Response) -> Result<Vec<u8>, CallError> {
        let body = unpack(response, self.services.web.limits.max_body);
        body.map_err(|error| {
            let code = match error {
                UnpackError::TooLarge { .. } => Code::OutputLimit,
                UnpackError::Broken { .. } => Code::Upstream,
            };
            CallError::new(code, error.to_string())
        })
    }

    /// Writes a name that no grant spells out to the log before it is looked up.
    pub(crate) fn check_name(&self, url: &str) -> Result<(), CallError> {
        let place = locate(url).map_err(|error| self.failed(&error))?;
        let host = self.scrubber.scrub(&place.authority);
        match self.services.web.unnamed_hosts {
            // What is not granted at all, the client says.
            _ if !is_unnamed(self.net(), &place.authority) => Ok(()),
            UnnamedHosts::Denied => {
                let problem = format!("the network grant does not spell out {host}");
                let setting = format!("net = [\"{host}\"]");
                Err(CallError::host_not_granted(
                    &problem,
                    &setting,
                    &self.caller.tool,
                ))
            }
            UnnamedHosts::Logged => {
                if let Some(log) = &self.services.log {
                    let event = format!("net: {host}, which the grant does not spell out");
                    log.emit(&self.caller.user, &self.caller.tool, "info", &event);
                }
                Ok(())
            }
        }
    }

    /// Makes the error of a request without a response.
    pub(crate) fn failed(&self, error: &HttpError) -> CallError {
        let (code, message) = match error {
            HttpError::Denied { setting, .. } => {
                return CallError::host_not_granted(&error.to_string(), setting, &self.caller.tool);
            }
            HttpError::Refused { .. } => (Code::Forbidden, error.to_string()),
            HttpError::Invalid { .. } => (Code::InvalidArgs, error.to_string()),
            HttpError::TooLarge { .. } => (Code::OutputLimit, error.to_string()),
            HttpError::Timeout { limit } => {
                let left = limit.as_millis();
                let message = format!("the request ran out of time (limit: {left} ms)");
                (Code::Timeout, message)
            }
            HttpError::Cancelled => (Code::Timeout, error.to_string()),
            HttpError::Resolve { .. }
            | HttpError::Connect { .. }
            | HttpError::Tls { .. }
            | HttpError::Other { .. } => (Code::Upstream, error.to_string()),
        };
        let passing = matches!(
            error,
            HttpError::Resolve { .. } | HttpError::Connect { .. } | HttpError::Other { .. }
        );
        let mut error = CallError::new(code, message);
        error.retryable |= passing;
        error
    }

    pub(crate) fn scrubbed(&self, mut error: CallError) -> CallError {
        error.message = self.scrubber.scrub(&error.message).into_owned();
        error
    }
}

/// Tells whether a grant covers a host (with its port) without spelling it out.
fn is_unnamed(net: &Net, authority: &str) -> bool {
    let exact = authority.parse::<HostPattern>().ok();
    match (net, exact) {
        (Net::None, _) | (Net::Hosts(_), None) => false,
        (Net::Any, _) => true,
        (Net::Hosts(hosts), Some(exact)) => {
            let host = authority.rsplit_once(':').map(|(host, _)| host);
            let any_port = host.and_then(|host| host.parse::<HostPattern>().ok());
            let spelled = hosts.contains(&exact) || any_port.is_some_and(|it| hosts.contains(&it));
            !spelled && net.missing(&Net::hosts([exact])).is_none()
        }
    }
}
