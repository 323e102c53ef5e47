//! Logins to MCP servers behind URLs (OAuth 2.1 as the protocol asks for it). A person begins one; what
//! comes of it is kept among the secrets, sent to that server alone, and renewed while that is possible.
//!
//! Every request goes through the client of the server, so the authorization server must be within its
//! grant like any other host.

mod client;
mod discovery;
mod error;
mod kept;
mod logins;
mod page;
mod scopes;
mod tokens;
mod web;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use jp_mcp::HttpServer;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use super::exchange::McpExchange;
use crate::http::{Callback, Query};
use error::line;
use kept::{About, Kept};
use page::{Prepared, one};
use scopes::Scopes;
use web::Web;

pub use error::LoginError;
pub(super) use logins::{Access, Logins};

/// How long a person has to log in, in minutes.
const MINUTES: u64 = 10;

/// How to log in to a server. What is not said is found out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoginOptions {
    /// The id of a client that was registered by hand.
    pub client_id: Option<String>,
    /// The name of the secret that proves it is that client.
    pub client_secret: Option<String>,
    /// The issuer that knows that client; no other gets to see it.
    pub issuer: Option<String>,
    /// Where the description of a client lies, for issuers that look for it there.
    pub client_metadata_url: Option<String>,
    /// What the login must allow besides what the server asks for.
    pub scopes: Vec<String>,
    /// Who logs in.
    pub by: By,
}

/// Who logs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// A person, in the browser.
    #[default]
    Person,
    /// The client that was registered by hand, with its secret and for itself.
    Itself,
}

/// What a login allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedIn {
    /// Who made it.
    pub issuer: String,
    /// What it allows, as far as the issuer says.
    pub scopes: Vec<String>,
    /// Whether it is renewed without asking anybody.
    pub is_renewed: bool,
}

impl McpExchange {
    /// Tells whether a server said that it wants a login, or another than it was sent.
    #[must_use]
    pub fn wants_login(&self, server: &HttpServer) -> bool {
        let logins = self.logins();
        logins.is_some_and(|logins| logins.challenges().contains_key(&server.url))
    }

    /// Begins a login: finds out who makes it, and as whom jp asks for it.
    ///
    /// # Errors
    ///
    /// When the server does not say, or what it says cannot be trusted.
    pub async fn begin_login(
        self: &Arc<Self>,
        server: &HttpServer,
        options: LoginOptions,
    ) -> Result<Begun, LoginError> {
        let callback = Callback::open().await?;
        let redirect = callback.uri().to_owned();
        let stop = Stop::default();
        let is_stopped = Arc::clone(&stop.0);
        let (exchange, server) = (Arc::clone(self), server.clone());
        let prepared = tokio::task::spawn_blocking(move || {
            let stop = || is_stopped.load(Ordering::Acquire);
            let prepared = exchange.prepare(&server, &options, redirect, &stop)?;
            Ok::<_, LoginError>((exchange, server, prepared))
        });
        let prepared = prepared.await.map_err(|_| LoginError::Cancelled)?;
        let (exchange, server, prepared) = prepared?;
        Ok(Begun {
            callback,
            exchange,
            server,
            prepared,
        })
    }

    /// Logs in to a server as the client itself, without a person.
    ///
    /// # Errors
    ///
    /// When the server does not say who makes its logins, or that one refuses.
    pub async fn log_in_alone(
        self: &Arc<Self>,
        server: &HttpServer,
        options: LoginOptions,
    ) -> Result<LoggedIn, LoginError> {
        let stop = Stop::default();
        let is_stopped = Arc::clone(&stop.0);
        let (exchange, server) = (Arc::clone(self), server.clone());
        let done = tokio::task::spawn_blocking(move || {
            let stop = || is_stopped.load(Ordering::Acquire);
            let (client, about, _) = exchange.found(&server, &options, "", &stop)?;
            let web = Web::new(exchange.login_client(&server)?, &stop);
            let kept = tokens::ask_alone(&web, client, about, now()).map_err(LoginError::from)?;
            exchange.keep(&server, kept)
        });
        done.await.map_err(|_| LoginError::Cancelled)?
    }

    fn keep(&self, server: &HttpServer, kept: Kept) -> Result<LoggedIn, LoginError> {
        let logins = self.logins().ok_or(LoginError::NoMetadata)?;
        logins.keep(server, Some(&kept))?;
        Ok(LoggedIn {
            is_renewed: kept.refresh.is_some() || kept.about.alone,
            issuer: kept.about.issuer,
            scopes: kept.about.scopes,
        })
    }

    /// Forgets the login to a server; returns whether there was one.
    ///
    /// # Errors
    ///
    /// When the secrets cannot be changed.
    pub fn logout(&self, server: &HttpServer) -> Result<bool, LoginError> {
        match self.logins() {
            Some(logins) => logins.keep(server, None),
            None => Ok(false),
        }
    }

    fn prepare(
        &self,
        server: &HttpServer,
        options: &LoginOptions,
        redirect: String,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Prepared, LoginError> {
        let (client, about, issuer) = self.found(server, options, &redirect, stop)?;
        Prepared::new(client, about, &issuer, redirect)
    }

    /// Finds out as whom jp logs in, for what, and where.
    fn found(
        &self,
        server: &HttpServer,
        options: &LoginOptions,
        redirect: &str,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(client::Client, About, discovery::Issuer), LoginError> {
        let logins = self.logins().ok_or(LoginError::NoMetadata)?;
        let heard = logins.challenges().get(&server.url).cloned();
        let (status, challenge) = heard.unwrap_or((401, None));
        let web = Web::new(self.login_client(server)?, stop);
        let found = discovery::find(&web, &server.url, challenge.as_ref(), options.by)?;
        let issuer = found.issuer;
        let before = kept::load(&logins.store, &server.url)?;
        // What another issuer gave means nothing to this one.
        let before = before.filter(|before| before.about.issuer == issuer.issuer);
        let asked = challenge.map(|challenge| challenge.scopes);
        let asked = asked.filter(|scopes| !scopes.is_empty());
        let had = before.as_ref().map(|before| before.about.scopes.clone());
        let scopes = Scopes {
            had: had.unwrap_or_default(),
            wanted: asked.unwrap_or(found.scopes),
            more: options.scopes.clone(),
            offered: match options.by {
                By::Person => &issuer.scopes_supported,
                // There is nothing to renew it with, nor a need to.
                By::Itself => &[],
            },
        };
        if status == 403 && before.is_some() && scopes.are_had() {
            let scopes = scopes.wanted.iter().map(|scope| line(scope));
            let scopes = scopes.collect::<Vec<_>>().join(" ");
            return Err(LoginError::Useless { scopes });
        }
        let client = client::choose(
            &web,
            &issuer,
            options,
            |name, url| self.secret(name, url),
            before.map(|before| before.client),
            redirect,
        )?;
        let about = About {
            issuer: issuer.issuer.clone(),
            token_endpoint: issuer.token_endpoint.clone(),
            resource: found.resource,
            scopes: scopes.all(),
            expires: None,
            alone: options.by == By::Itself,
        };
        Ok((client, about, issuer))
    }
}

/// A login that waits for its person.
pub struct Begun {
    callback: Callback,
    exchange: Arc<McpExchange>,
    server: HttpServer,
    prepared: Prepared,
}

impl Begun {
    /// Returns where the person logs in.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.prepared.url
    }

    /// Returns who makes the login.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.prepared.about.issuer
    }

    /// Waits for the person, and keeps the login.
    ///
    /// # Errors
    ///
    /// When nobody logs in, or what comes back is not the answer to this login.
    pub async fn finish(self, cancel: &CancellationToken) -> Result<LoggedIn, LoginError> {
        let Self {
            callback,
            exchange,
            server,
            prepared,
        } = self;
        let is_meant = |query: &Query| one(query, "state") == Some(prepared.state.as_str());
        let query = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(LoginError::Cancelled),
            () = tokio::time::sleep(Duration::from_secs(MINUTES * 60)) => {
                return Err(LoginError::Late { minutes: MINUTES });
            }
            query = callback.wait(is_meant) => query?,
        };
        let code = Zeroizing::new(prepared.code(&query)?);
        let stop = Stop::default();
        let is_stopped = Arc::clone(&stop.0);
        let done = tokio::task::spawn_blocking(move || {
            let stop = || is_stopped.load(Ordering::Acquire);
            exchange.redeem(&server, prepared, &code, &stop)
        });
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(LoginError::Cancelled),
            done = done => done.map_err(|_| LoginError::Cancelled)?,
        }
    }
}

impl McpExchange {
    /// Turns a code into a login, and keeps it.
    fn redeem(
        &self,
        server: &HttpServer,
        prepared: Prepared,
        code: &str,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<LoggedIn, LoginError> {
        let web = Web::new(self.login_client(server)?, stop);
        let grant = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", prepared.redirect.as_str()),
            ("code_verifier", prepared.verifier.as_str()),
        ];
        let kept = tokens::ask(&web, prepared.client, prepared.about, &grant, now());
        self.keep(server, kept.map_err(LoginError::from)?)
    }
}

/// Ends requests when it is dropped.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Returns the seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}
