//! What is kept of a login, as secrets that no tool can be given: the token that goes to the server and
//! nowhere else, and what is needed for the next one, which goes to the authorization server and nowhere
//! else.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{
    client::{Client, Proof},
    error::LoginError,
};
use crate::{
    http::locate,
    secrets::{Secret, SecretError, SecretName, SecretStore, SecretValue},
};

/// Characters of a server's host in the names of its secrets.
const MAX_HOST: usize = 24;

/// A login to one server.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) access: Zeroizing<String>,
    pub(super) refresh: Option<Zeroizing<String>>,
    pub(super) client: Client,
    pub(super) about: About,
}

/// What is not secret about a login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    pub(super) resource: String,
    pub(super) scopes: Vec<String>,
    /// In seconds since 1970.
    pub(super) expires: Option<i64>,
    /// Whether jp logged in as itself, and can do so again.
    #[serde(default)]
    pub(super) alone: bool,
}

/// What is written down of it.
#[derive(Serialize, Deserialize)]
struct Written {
    about: About,
    client_id: String,
    proof: Proof,
    is_registered: bool,
}

/// The names of a login's secrets.
pub(super) struct Names {
    access: SecretName,
    refresh: SecretName,
    client: SecretName,
    login: SecretName,
}

impl Names {
    /// Returns the names for a server. Another URL has others.
    pub(super) fn of(url: &str) -> Option<Self> {
        let place = locate(url).ok()?;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let host: String = place
            .authority
            .chars()
            .take(MAX_HOST)
            .map(|c| if fits(c) { c } else { '-' })
            .collect();
        let digest = jp_disk::Sha256::of(url.as_bytes()).to_string();
        let digest = digest.get(..16)?;
        // Reserved: no grant hands these to a tool.
        let name = |part: &str| format!("jp-{host}-{digest}-{part}").parse().ok();
        Some(Self {
            access: name("access")?,
            refresh: name("refresh")?,
            client: name("client")?,
            login: name("login")?,
        })
    }

    fn has(&self, secret: &Secret) -> bool {
        [&self.access, &self.refresh, &self.client, &self.login].contains(&&secret.name)
    }

    /// Finds a login among secrets.
    pub(super) fn find(&self, secrets: &[Secret]) -> Option<Kept> {
        let text = |name: &SecretName| {
            let secret = secrets.iter().find(|secret| secret.name == *name)?;
            let text = std::str::from_utf8(secret.value.expose()).ok()?;
            Some(Zeroizing::new(text.to_owned()))
        };
        let written: Written = serde_json::from_str(&text(&self.login)?).ok()?;
        Some(Kept {
            access: text(&self.access)?,
            refresh: text(&self.refresh),
            client: Client {
                id: written.client_id,
                secret: text(&self.client),
                proof: written.proof,
                is_registered: written.is_registered,
            },
            about: written.about,
        })
    }

    /// Puts a login in the place of the one before; none takes that one away.
    pub(super) fn put(
        &self,
        secrets: &mut Vec<Secret>,
        server: &str,
        kept: Option<&Kept>,
        now: i64,
    ) -> Result<(), SecretError> {
        let made = match kept {
            None => Vec::new(),
            Some(kept) => self.secrets(server, kept, now)?,
        };
        secrets.retain(|secret| !self.has(secret));
        secrets.extend(made);
        Ok(())
    }

    fn secrets(&self, server: &str, kept: &Kept, now: i64) -> Result<Vec<Secret>, SecretError> {
        let make = |name: &SecretName, value: &str, audience: &str| {
            Ok::<_, SecretError>(Secret {
                name: name.clone(),
                value: SecretValue::new(value.as_bytes().to_vec())?,
                audience: vec![without_query(audience).parse()?],
                reveal: false,
                created: now,
            })
        };
        let written = Written {
            about: kept.about.clone(),
            client_id: kept.client.id.clone(),
            proof: kept.client.proof,
            is_registered: kept.client.is_registered,
        };
        let problem = "expected a login that can be written as JSON";
        let written = serde_json::to_string(&written);
        let written = written.map_err(|_| SecretError::Value { problem })?;
        let issuer = &kept.about.token_endpoint;
        let mut made = vec![
            make(&self.access, &kept.access, server)?,
            make(&self.login, &written, issuer)?,
        ];
        for (name, value) in [
            (&self.refresh, &kept.refresh),
            (&self.client, &kept.client.secret),
        ] {
            if let Some(value) = value {
                made.push(make(name, value, issuer)?);
            }
        }
        Ok(made)
    }
}

fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

/// Returns the login to a server, if there is one.
pub(super) fn load(store: &SecretStore, url: &str) -> Result<Option<Kept>, LoginError> {
    let Some(names) = Names::of(url) else {
        return Ok(None);
    };
    Ok(names.find(&store.load()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> Kept {
        Kept {
            access: "an-access-token".to_owned().into(),
            refresh: Some("a-refresh-token".to_owned().into()),
            client: Client {
                id: "id".to_owned(),
                secret: Some("a-client-secret".to_owned().into()),
                proof: Proof::Post,
                is_registered: true,
            },
            about: About {
                issuer: "https://login.example".to_owned(),
                token_endpoint: "https://login.example/token?tenant=1".to_owned(),
                resource: "https://a.example/mcp".to_owned(),
                scopes: vec!["a".to_owned()],
                expires: Some(7),
                alone: false,
            },
        }
    }

    #[test]
    fn e56_a_login_is_found_for_its_own_url_and_each_part_is_meant_for_one_place() {
        let server = "https://a.example/mcp";
        let names = Names::of(server).unwrap();
        let mut secrets = Vec::new();
        names.put(&mut secrets, server, Some(&kept()), 1).unwrap();
        assert_eq!(secrets.len(), 4);
        for secret in &secrets {
            assert!(secret.name.is_reserved() && !secret.reveal, "{secret:?}");
            let meant = |url: &str| secret.is_meant_for(&locate(url).unwrap());
            let is_access = secret.name == names.access;
            assert_eq!(meant(server), is_access, "{}", secret.name);
            assert_eq!(meant("https://login.example/token"), !is_access);
            assert!(!meant("https://b.example/mcp") && !meant("https://login.example/x"));
        }
        let found = names.find(&secrets).unwrap();
        assert_eq!(found.about, kept().about);
        assert_eq!(found.client.secret, kept().client.secret);
        for other in [
            "https://a.example/mcp2",
            "https://b.example/mcp",
            "http://a.example/mcp",
        ] {
            assert!(
                Names::of(other).unwrap().find(&secrets).is_none(),
                "{other}"
            );
        }
        names.put(&mut secrets, server, None, 1).unwrap();
        assert!(secrets.is_empty());
    }
}
