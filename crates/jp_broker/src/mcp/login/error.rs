//! Why a login came to nothing. Texts of servers in here are short, on one line and free of control
//! characters.

use crate::{http::HttpError, secrets::SecretError};

/// Why a login came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The server does not say how to log in.
    #[error(
        "the server does not say how to log in: it publishes no metadata of a protected resource"
    )]
    NoMetadata,
    /// What was published breaks the rules that make it trustworthy.
    #[error("{what} cannot be used: {problem}")]
    Metadata {
        /// Which document.
        what: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A request was not made, or had no response.
    #[error("{what} could not be reached: {source}{}", hint(source))]
    Http {
        /// What was asked for.
        what: &'static str,
        /// Why.
        source: HttpError,
    },
    /// The server answered with a refusal.
    #[error("{what} refused: {reason}")]
    Refused {
        /// Who.
        what: &'static str,
        /// What it said.
        reason: String,
    },
    /// There is no client that could log in.
    #[error(
        "the authorization server registers no clients: register one there, and write its id as `oauth.client_id` under `[providers.mcp.NAME]`"
    )]
    NoClient,
    /// The configured client is registered elsewhere.
    #[error(
        "the client in the configuration is registered with `{expected}`, and the server now sends its logins to `{found}`"
    )]
    OtherIssuer {
        /// What the configuration says.
        expected: String,
        /// What the server says.
        found: String,
    },
    /// The secret of the client is not there for this address.
    #[error(
        "the secret `{secret}` is not set for {url}; `jp secret set {secret} --for {url}` sets it"
    )]
    NoSecret {
        /// Its name.
        secret: String,
        /// Where it would be sent.
        url: String,
    },
    /// What the browser brought back was not the answer to this login.
    #[error("the answer of the authorization server was rejected: {problem}")]
    Answer {
        /// What was wrong.
        problem: String,
    },
    /// The server asks for what was granted already.
    #[error(
        "the server refuses a login that already allows what it asks for ({scopes}); another login would not help"
    )]
    Useless {
        /// What it asks for.
        scopes: String,
    },
    /// The login cannot be kept.
    #[error("the login cannot be kept: {0}")]
    Kept(#[from] SecretError),
    /// The address for the browser cannot be opened.
    #[error("cannot open an address for the browser: {0}")]
    Callback(#[from] std::io::Error),
    /// Nobody logged in in time.
    #[error("nobody logged in within {minutes} minutes")]
    Late {
        /// The time there was.
        minutes: u64,
    },
    /// The caller wanted it to stop.
    #[error("the login was cancelled")]
    Cancelled,
    /// The system has no randomness.
    #[error("the system has no randomness")]
    Random,
}

fn hint(source: &HttpError) -> String {
    match source {
        HttpError::Denied { host, .. } => format!(
            "; hint: write `grant.net = [\"{}\"]` under `[providers.mcp.NAME]`, if you know that the \
             server's logins are made there",
            jp_text::short_line(host.split(',').next().unwrap_or_default(), 100)
        ),
        _ => String::new(),
    }
}

/// Puts a stranger's text on one short line.
pub(super) fn line(text: &str) -> String {
    jp_text::short_line(text, 200)
}
