//! As whom jp logs in: a client that was registered by hand, one whose description lies at a URL, or one
//! that the authorization server registers on the spot. Each belongs to one issuer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::{
    LoginOptions,
    discovery::Issuer,
    error::{LoginError, line},
    web::Web,
};

/// What registering is called in messages.
const REGISTRATION: &str = "registering jp with the authorization server";

/// The longest id and secret of a client.
const MAX: usize = 2048;

/// How a client proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Proof {
    /// Not at all.
    #[serde(rename = "none")]
    Nothing,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
}

impl Proof {
    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let mut all = [Self::Nothing, Self::Basic, Self::Post].into_iter();
        all.find(|proof| proof.name() == name)
    }

    /// Chooses one that the authorization server takes, the first of these that it lists.
    fn choose(issuer: &Issuer, liked: &[Self]) -> Option<Self> {
        // What a server takes that lists nothing (RFC 8414).
        let usual = vec![Self::Basic.name().to_owned()];
        let taken = issuer
            .token_endpoint_auth_methods_supported
            .as_ref()
            .unwrap_or(&usual);
        let mut liked = liked.iter();
        liked
            .find(|proof| taken.iter().any(|name| name == proof.name()))
            .copied()
    }

    fn with_secret(issuer: &Issuer) -> Self {
        Self::choose(issuer, &[Self::Basic, Self::Post, Self::Nothing]).unwrap_or(Self::Basic)
    }
}

/// As whom jp logs in.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<Zeroizing<String>>,
    pub(super) proof: Proof,
    /// Whether the issuer registered it on the spot, so that it can be used again.
    pub(super) is_registered: bool,
}

impl Client {
    /// Returns what a request carries that this client makes: a header, and fields of the form.
    pub(super) fn prove(&self) -> (Option<String>, Vec<(&'static str, String)>) {
        let id = ("client_id", self.id.clone());
        let secret = self.secret.as_ref().map(|secret| secret.as_str());
        match (self.proof, secret) {
            (Proof::Basic, Some(secret)) => {
                let encode = |text: &str| -> String {
                    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
                };
                let pair = format!("{}:{}", encode(&self.id), encode(secret));
                let pair = data_encoding::BASE64.encode(pair.as_bytes());
                (Some(format!("Basic {pair}")), Vec::new())
            }
            (Proof::Post, Some(secret)) => (None, vec![id, ("client_secret", secret.to_owned())]),
            (Proof::Basic | Proof::Post | Proof::Nothing, _) => (None, vec![id]),
        }
    }
}

/// Finds or makes the client for an issuer.
pub(super) fn choose(
    web: &Web<'_>,
    issuer: &Issuer,
    options: &LoginOptions,
    secret: impl Fn(&str, &str) -> Option<String>,
    before: Option<Client>,
    redirect: &str,
) -> Result<Client, LoginError> {
    if let Some(id) = &options.client_id {
        if let Some(expected) = options.issuer.as_ref().filter(|one| **one != issuer.issuer) {
            return Err(LoginError::OtherIssuer {
                expected: expected.clone(),
                found: line(&issuer.issuer),
            });
        }
        let value = match &options.client_secret {
            None => None,
            Some(name) => {
                let value = secret(name, &issuer.token_endpoint);
                Some(value.ok_or_else(|| LoginError::NoSecret {
                    secret: name.clone(),
                    url: issuer.token_endpoint.clone(),
                })?)
            }
        };
        return Ok(Client {
            id: id.clone(),
            proof: match value {
                Some(_) => Proof::with_secret(issuer),
                None => Proof::Nothing,
            },
            secret: value.map(Zeroizing::new),
            is_registered: false,
        });
    }
    if let Some(url) = &options.client_metadata_url
        && issuer.client_id_metadata_document_supported
    {
        return Ok(Client {
            id: url.clone(),
            secret: None,
            proof: Proof::Nothing,
            is_registered: false,
        });
    }
    // The address that the browser comes back to has another port each time, which loopback addresses
    // may have (RFC 8252).
    if let Some(before) = before.filter(|before| before.is_registered) {
        return Ok(before);
    }
    register(web, issuer, redirect)
}

fn register(web: &Web<'_>, issuer: &Issuer, redirect: &str) -> Result<Client, LoginError> {
    let Some(endpoint) = &issuer.registration_endpoint else {
        return Err(LoginError::NoClient);
    };
    let liked = [Proof::Nothing, Proof::Basic, Proof::Post];
    let wanted = Proof::choose(issuer, &liked).unwrap_or(Proof::Nothing);
    let asked = json!({
        "client_name": "jp",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted.name(),
        "application_type": "native",
    });
    let body = ("application/json", asked.to_string().into_bytes());
    let answer = web.post(REGISTRATION, endpoint, body, None);
    let answer = answer.map_err(LoginError::from)?;
    registered(issuer, wanted, &answer).ok_or_else(|| LoginError::Refused {
        what: REGISTRATION,
        reason: "it answered without a usable client".to_owned(),
    })
}

fn registered(issuer: &Issuer, wanted: Proof, answer: &Map<String, Value>) -> Option<Client> {
    let word = |key: &str| {
        let word = answer.get(key)?.as_str()?;
        let is_plain = word.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        (!word.is_empty() && word.len() <= MAX && is_plain).then(|| word.to_owned())
    };
    let secret = word("client_secret");
    let proof = match (word("token_endpoint_auth_method"), &secret) {
        (Some(name), _) => Proof::named(&name)?,
        (None, None) => Proof::Nothing,
        (None, Some(_)) if wanted == Proof::Nothing => Proof::Nothing,
        (None, Some(_)) => Proof::with_secret(issuer),
    };
    let secret = secret.filter(|_| proof != Proof::Nothing);
    Some(Client {
        id: word("client_id")?,
        secret: secret.map(Zeroizing::new),
        proof,
        is_registered: true,
    })
}
