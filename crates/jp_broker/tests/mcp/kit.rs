//! What the tests share: servers in a pool, a tool with a grant, and calls in one line.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jp_broker::{
    Broker, CallError, Caller, Services,
    mcp::{
        Call, Called, HttpServer, Limits, McpError, McpExchange, Means, Progress, Reach, Server,
        Servers, Unasked,
    },
};
use jp_policy::{Brokered, Capabilities, Grant, Net, Policy, Request, compose};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::server::Served;

/// Makes the grant of a tool that may call everything here and reach these hosts.
pub(crate) fn grant(hosts: &[&str]) -> Grant {
    let capabilities = Capabilities {
        net: Net::hosts(hosts.iter().map(|host| host.parse().unwrap())),
        brokered: Brokered::new(["mcp.*", "github.*"].map(|name| name.parse().unwrap())),
        ..Capabilities::default()
    };
    let policy = Policy {
        capabilities: capabilities.clone(),
        ..Policy::default()
    };
    let request = Request {
        capabilities,
        ..Request::default()
    };
    compose(&policy, &policy, &request).unwrap()
}

pub(crate) fn server(id: &str, served: &Served, headers: &[(&str, &str)]) -> Server {
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Server {
        id: id.to_owned(),
        reach: Reach::Url(HttpServer {
            url: served.url.clone(),
            headers: headers.collect(),
            net: Net::hosts([served.host.parse().unwrap()]),
        }),
        startup: Some(Duration::from_secs(300)),
    }
}

/// Makes a pool whose secrets are `alpha` and `beta`, with small messages.
pub(crate) fn pool(servers: Vec<Server>) -> Arc<Servers> {
    let limits = Limits {
        message_bytes: 1_000_000,
        ..Limits::default()
    };
    pool_with(servers, limits)
}

pub(crate) fn pool_with(servers: Vec<Server>, limits: Limits) -> Arc<Servers> {
    let secrets = |name: &str, _: &str| match name {
        "alpha" => Some("al-s3cret".to_owned()),
        "beta" => Some("be-s3cret".to_owned()),
        "github_pat" => Some("ghp_s3cret".to_owned()),
        _ => None,
    };
    let means = Means {
        http: Some(Arc::new(McpExchange::new(Arc::new(secrets)))),
        limits,
        ..Means::default()
    };
    Arc::new(Servers::new(servers, means))
}

pub(crate) fn broker(servers: Vec<Server>) -> Broker {
    Broker::new(Services {
        mcp: Some(pool(servers)),
        ..Services::default()
    })
}

/// Calls a capability as a tool that may reach these hosts.
pub(crate) async fn call(
    broker: &Broker,
    hosts: &[&str],
    name: &str,
    arguments: Value,
) -> Result<Value, CallError> {
    call_until(broker, hosts, name, arguments, &CancellationToken::new()).await
}

pub(crate) async fn call_until(
    broker: &Broker,
    hosts: &[&str],
    name: &str,
    arguments: Value,
    cancel: &CancellationToken,
) -> Result<Value, CallError> {
    let deadline = Instant::now() + Duration::from_secs(300);
    let caller = Caller {
        cancel: cancel.clone(),
        ..Caller::new("u", "t", Arc::new(grant(hosts)), deadline)
    };
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
    let answer = broker.call(&caller, name, &arguments).await;
    answer.map(|answer| answer.to_value())
}

/// A call of a tool of the server `a`, past the broker, where its progress can be heard.
pub(crate) struct Ask<'a> {
    pub(crate) cancel: CancellationToken,
    pub(crate) time: Duration,
    pub(crate) progress: &'a (dyn Fn(Progress) + Send + Sync),
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self {
            cancel: CancellationToken::new(),
            time: Duration::from_secs(300),
            progress: &|_| {},
        }
    }
}

impl Ask<'_> {
    pub(crate) async fn call(&self, pool: &Servers, tool: &str) -> Result<Called, McpError> {
        let call = Call {
            tool,
            arguments: Map::new(),
            digest: None,
            deadline: Instant::now() + self.time,
            cancel: &self.cancel,
            max_result: 1_000_000,
            trace: None,
            progress: self.progress,
            respond: &Unasked,
        };
        pool.call("a", &call).await
    }
}

/// Returns the text of a tool's answer.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

/// Tries something until it holds; what it waits for is another thread.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(300);
    while !holds() {
        assert!(Instant::now() < end, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
