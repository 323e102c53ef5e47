//! Logins to MCP servers behind URLs (OAuth 2.1 as the protocol asks for it). A person begins one; what
//! comes of it is kept among the secrets, sent to that server alone, and renewed while that is possible.
//!
//! Every request goes through the client of the server, so the authorization server must be within its
//! grant like any other host.

mod client;
mod discovery;
mod error;
mod kept;
mod tokens;
mod web;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use jp_mcp::{Challenge, HttpResponse, HttpServer};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use tokio_util::sync::CancellationToken;
use url::Url;
use zeroize::Zeroizing;

use super::exchange::{McpExchange, is_private_way};
use crate::{
    http::{Callback, Client, Query},
    secrets::SecretStore,
};
use error::line;
use kept::{About, Kept, Names};
use tokens::Unrenewed;
use web::Web;

pub use error::LoginError;

/// How long a person has to log in, in minutes.
const MINUTES: u64 = 10;

/// Seconds before its end at which a token is renewed.
const EARLY: i64 = 30;

/// What lets a login be renewed, where the authorization server knows it.
const OFFLINE: &str = "offline_access";

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

/// The logins of a user.
pub(super) struct Logins {
    store: Arc<SecretStore>,
    /// What servers said last about the login they want, with the status they said it with.
    challenges: Mutex<HashMap<String, (u16, Option<Challenge>)>>,
}

/// A token on its way to its server.
pub(super) struct Access {
    pub(super) token: Zeroizing<String>,
    pub(super) name: String,
    is_renewable: bool,
}

impl Logins {
    pub(super) fn new(store: Arc<SecretStore>) -> Self {
        Self {
            store,
            challenges: Mutex::default(),
        }
    }

    /// Remembers what a server says about the login it wants.
    pub(super) fn note(&self, server: &HttpServer, response: &HttpResponse) {
        let mut challenges = self.challenges();
        match response.status {
            401 | 403 => {
                let challenge = Challenge::find(&response.headers);
                challenges.insert(server.url.clone(), (response.status, challenge));
            }
            _ => drop(challenges.remove(&server.url)),
        }
    }

    fn challenges(&self) -> std::sync::MutexGuard<'_, HashMap<String, (u16, Option<Challenge>)>> {
        self.challenges
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the token for a server, renewed if it is about to end.
    pub(super) async fn access(
        self: &Arc<Self>,
        client: &Arc<Client>,
        server: &HttpServer,
    ) -> Option<Access> {
        if !is_private_way(&server.url) {
            return None;
        }
        // Secrets that cannot be read are as good as none.
        let kept = kept::load(&self.store, &server.url).ok().flatten()?;
        let ends = kept.about.expires;
        let is_over = ends.is_some_and(|ends| ends <= now().saturating_add(EARLY));
        let is_renewable = kept.refresh.is_some() || kept.about.alone;
        let access = Access {
            token: kept.access,
            name: kept.about.issuer,
            is_renewable,
        };
        if !(is_over && is_renewable) {
            return Some(access);
        }
        // Where that fails, the server says what it thinks of the old one.
        let renewed = self.renewed(client, server, &access).await;
        Some(renewed.unwrap_or(access))
    }

    /// Returns another token than the one that a server refused, if there is one to be had.
    pub(super) async fn renewed(
        self: &Arc<Self>,
        client: &Arc<Client>,
        server: &HttpServer,
        refused: &Access,
    ) -> Option<Access> {
        if !refused.is_renewable {
            return None;
        }
        let (logins, client) = (Arc::clone(self), Arc::clone(client));
        let (server, stale) = (server.clone(), refused.token.clone());
        let renewed = tokio::task::spawn_blocking(move || logins.renew(client, &server, &stale));
        let token = renewed.await.ok()?.ok()??;
        Some(Access {
            token,
            name: refused.name.clone(),
            is_renewable: false,
        })
    }

    /// Renews a login. Other processes wait meanwhile: a token that renews may be good for once only.
    fn renew(
        &self,
        client: Arc<Client>,
        server: &HttpServer,
        stale: &str,
    ) -> Result<Option<Zeroizing<String>>, LoginError> {
        let Some(names) = Names::of(&server.url) else {
            return Ok(None);
        };
        let web = Web::new(client, &|| false);
        let mut done = Ok(None);
        self.store.change(&mut |secrets| {
            let Some(mut kept) = names.find(secrets) else {
                return Ok(());
            };
            if *kept.access != *stale {
                done = Ok(Some(kept.access));
                return Ok(());
            }
            match tokens::renew(&web, &kept, now()) {
                Ok(renewed) => {
                    names.put(secrets, &server.url, Some(&renewed), now())?;
                    done = Ok(Some(renewed.access));
                }
                Err(Unrenewed::Over) => {
                    kept.refresh = None;
                    kept.about.alone = false;
                    names.put(secrets, &server.url, Some(&kept), now())?;
                }
                Err(Unrenewed::Failed(error)) => done = Err(error),
            }
            Ok(())
        })?;
        done
    }

    fn keep(&self, server: &HttpServer, kept: Option<&Kept>) -> Result<bool, LoginError> {
        let Some(names) = Names::of(&server.url) else {
            return Ok(false);
        };
        let mut had = false;
        self.store.change(&mut |secrets| {
            had = names.find(secrets).is_some();
            names.put(secrets, &server.url, kept, now())
        })?;
        self.challenges().remove(&server.url);
        Ok(had)
    }
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

/// What a login is to allow.
struct Scopes<'a> {
    /// What the one before allowed.
    had: Vec<String>,
    /// What the server asks for.
    wanted: Vec<String>,
    /// What the person asks for.
    more: Vec<String>,
    /// What the issuer knows.
    offered: &'a [String],
}

impl Scopes<'_> {
    fn are_had(&self) -> bool {
        let mut all = self.wanted.iter().chain(&self.more);
        all.all(|scope| self.had.contains(scope))
    }

    fn all(self) -> Vec<String> {
        let all = [self.had, self.wanted, self.more].concat();
        let mut all = jp_mcp::scopes(&all.join(" "));
        let offline = self.offered.iter().any(|scope| scope == OFFLINE);
        if !all.is_empty() && offline && !all.iter().any(|scope| scope == OFFLINE) {
            all.push(OFFLINE.to_owned());
        }
        all
    }
}

/// A login that waits for its person.
pub struct Begun {
    callback: Callback,
    exchange: Arc<McpExchange>,
    server: HttpServer,
    prepared: Prepared,
}

/// What a login needs to go on.
struct Prepared {
    url: String,
    state: String,
    verifier: Zeroizing<String>,
    redirect: String,
    client: client::Client,
    about: About,
    /// Whether the issuer says who it is in each of its answers.
    says_issuer: bool,
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

impl Prepared {
    fn new(
        client: client::Client,
        about: About,
        issuer: &discovery::Issuer,
        redirect: String,
    ) -> Result<Self, LoginError> {
        let (state, verifier) = (random()?, Zeroizing::new(random()?));
        let challenge = digest(&SHA256, verifier.as_bytes());
        let challenge = data_encoding::BASE64URL_NOPAD.encode(challenge.as_ref());
        let endpoint = &issuer.authorization_endpoint;
        // A browser would run `javascript:` and open `file:`.
        let url = Url::parse(endpoint)
            .ok()
            .filter(|_| is_private_way(endpoint));
        let mut url = url.ok_or_else(|| LoginError::Metadata {
            what: "the metadata of the authorization server",
            problem: "its page for logins is not at an `https` address".to_owned(),
        })?;
        url.set_fragment(None);
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", &client.id)
                .append_pair("redirect_uri", &redirect)
                .append_pair("state", &state)
                .append_pair("code_challenge", &challenge)
                .append_pair("code_challenge_method", "S256")
                .append_pair("resource", &about.resource);
            if !about.scopes.is_empty() {
                query.append_pair("scope", &about.scopes.join(" "));
            }
        }
        Ok(Self {
            url: url.to_string(),
            state,
            verifier,
            redirect,
            client,
            about,
            says_issuer: issuer.authorization_response_iss_parameter_supported,
        })
    }

    /// Reads what the browser brought back, which the state has shown to be meant for this login.
    fn code(&self, query: &Query) -> Result<String, LoginError> {
        let answer = |problem: String| LoginError::Answer { problem };
        // Compared as it stands: another spelling is another issuer (RFC 9207).
        match one(query, "iss") {
            Some(iss) if iss != self.about.issuer => {
                let problem = format!(
                    "it is from `{}`, and the login was begun with `{}`",
                    line(iss),
                    line(&self.about.issuer)
                );
                return Err(answer(problem));
            }
            None if self.says_issuer || query.iter().any(|(name, _)| name == "iss") => {
                return Err(answer("it does not say who it is from".to_owned()));
            }
            _ => {}
        }
        if let Some((_, code)) = query.iter().find(|(name, _)| name == "error") {
            let said = one(query, "error_description").map(line);
            let said = said.map_or_else(String::new, |said| format!(": {said}"));
            return Err(answer(format!("{}{said}", line(code))));
        }
        let code = one(query, "code").filter(|code| !code.is_empty());
        let code = code.ok_or_else(|| answer("it has no code".to_owned()))?;
        Ok(code.to_owned())
    }
}

/// Returns the value of a name that stands there once.
fn one<'a>(query: &'a Query, name: &str) -> Option<&'a str> {
    let mut named = query.iter().filter(|(key, _)| key == name);
    let (_, value) = named.next()?;
    named.next().is_none().then_some(value)
}

/// Ends requests when it is dropped.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn random() -> Result<String, LoginError> {
    let mut bytes = Zeroizing::new([0_u8; 32]);
    let filled = SystemRandom::new().fill(bytes.as_mut());
    filled.map_err(|_| LoginError::Random)?;
    Ok(data_encoding::BASE64URL_NOPAD.encode(bytes.as_ref()))
}

/// Returns the seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}
