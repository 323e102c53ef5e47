//! The page on which a person logs in: what it is asked, and whether what comes back is its answer.

use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use url::Url;
use zeroize::Zeroizing;

use super::{LoginError, client::Client, discovery::Issuer, error::line, kept::About};
use crate::{http::Query, mcp::exchange::is_private_way};

/// What a login needs to go on.
pub(super) struct Prepared {
    pub(super) url: String,
    pub(super) state: String,
    pub(super) verifier: Zeroizing<String>,
    pub(super) redirect: String,
    pub(super) client: Client,
    pub(super) about: About,
    /// Whether the issuer says who it is in each of its answers.
    says_issuer: bool,
}

impl Prepared {
    pub(super) fn new(
        client: Client,
        about: About,
        issuer: &Issuer,
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
    pub(super) fn code(&self, query: &Query) -> Result<String, LoginError> {
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
pub(super) fn one<'a>(query: &'a Query, name: &str) -> Option<&'a str> {
    let mut named = query.iter().filter(|(key, _)| key == name);
    let (_, value) = named.next()?;
    named.next().is_none().then_some(value)
}

fn random() -> Result<String, LoginError> {
    let mut bytes = Zeroizing::new([0_u8; 32]);
    let filled = SystemRandom::new().fill(bytes.as_mut());
    filled.map_err(|_| LoginError::Random)?;
    Ok(data_encoding::BASE64URL_NOPAD.encode(bytes.as_ref()))
}
