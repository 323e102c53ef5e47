//! Tokens that a registry wants to see before it lets anyone pull. They are asked for without any
//! password, kept in memory only, and sent to the registry's origin only.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, PoisonError},
};

use serde_json::Value;
use url::Url;

use super::super::http::Capped;
use crate::{
    document,
    transport::{FetchError, Get, Transport},
};

/// The most bytes of a token server's answer.
const MAX_ANSWER: usize = 64 * 1024;
/// Longer tokens would not fit in a header.
const MAX_TOKEN: usize = 16 * 1024;
/// The longest challenge that is read.
const MAX_CHALLENGE: usize = 8 * 1024;

/// The tokens of this session, by repository.
#[derive(Default)]
pub(super) struct Tokens(Mutex<BTreeMap<String, String>>);

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens(…)")
    }
}

impl Tokens {
    pub(super) fn known(&self, repository: &str) -> Option<String> {
        let tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.get(repository).cloned()
    }

    /// Gets a token for pulling a repository from where the challenge says.
    pub(super) fn fetch(
        &self,
        challenge: &str,
        base: &str,
        repository: &str,
        transport: &dyn Transport,
    ) -> Result<String, FetchError> {
        let url = token_url(challenge, base, repository)?;
        let mut bytes = Vec::new();
        let get = Get::document(url.as_str(), MAX_ANSWER as u64);
        let got = transport.get(&get, &mut Capped::new(&mut bytes, MAX_ANSWER as u64))?;
        let from = || url.origin().ascii_serialization();
        if got.status != 200 {
            return Err(FetchError::Status {
                from: format!("the token server {}", from()),
                status: got.status,
            });
        }
        let token = token_in(&bytes).ok_or_else(|| {
            FetchError::invalid(
                format!("the answer of the token server {}", from()),
                "it has no token",
            )
        })?;
        let mut tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.insert(repository.to_owned(), token.clone());
        Ok(token)
    }
}

fn token_in(bytes: &[u8]) -> Option<String> {
    let value = document::parse(bytes, MAX_ANSWER).ok()?;
    let token = value.get("token").or_else(|| value.get("access_token"));
    let token = token.and_then(Value::as_str)?;
    let fit = !token.is_empty() && token.len() <= MAX_TOKEN;
    (fit && token.bytes().all(|b| b.is_ascii_graphic())).then(|| token.to_owned())
}

/// Makes the URL that gives a token. What it is for is ours to say, not the challenge's.
fn token_url(challenge: &str, base: &str, repository: &str) -> Result<Url, FetchError> {
    let refused = |reason: &str| FetchError::invalid(format!("the login of {base}"), reason);
    let fields = fields(challenge).ok_or_else(|| {
        refused("only `Bearer` tokens are supported, and it asks for something else")
    })?;
    let realm = fields.get("realm").map(|realm| Url::parse(realm));
    let Some(Ok(mut realm)) = realm else {
        return Err(refused("invalid `realm`: expected a URL"));
    };
    let home = Url::parse(base).map_err(|error| refused(&error.to_string()))?;
    if realm.scheme() != "https" && realm.origin() != home.origin() {
        return Err(refused(
            "its `realm` is neither https nor the registry itself",
        ));
    }
    if !realm.username().is_empty() || realm.password().is_some() {
        return Err(refused("its `realm` has a user name in it"));
    }
    realm.set_fragment(None);
    let mut query = realm.query_pairs_mut();
    if let Some(service) = fields.get("service") {
        query.append_pair("service", service);
    }
    query.append_pair("scope", &format!("repository:{repository}:pull"));
    drop(query);
    Ok(realm)
}

/// Reads `Bearer realm="…",service="…"`.
fn fields(challenge: &str) -> Option<BTreeMap<String, String>> {
    if challenge.len() > MAX_CHALLENGE {
        return None;
    }
    let (scheme, mut rest) = challenge.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let mut fields = BTreeMap::new();
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        if rest.is_empty() {
            return Some(fields);
        }
        let (name, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        // Said twice: which one counts is anyone's guess.
        let name = name.trim().to_ascii_lowercase();
        if fields.insert(name, value.trim().to_owned()).is_some() {
            return None;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(challenge: &str) -> String {
        match token_url(challenge, "https://r.example/", "a/b") {
            Ok(url) => url.into(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_token_is_asked_for_where_the_registry_says_and_for_what_we_say() {
        let found = url(
            r#"Bearer realm="https://auth.example/t?x=1",service="r.example",scope="repository:other:push""#,
        );
        let expected =
            "https://auth.example/t?x=1&service=r.example&scope=repository%3Aa%2Fb%3Apull";
        assert_eq!(found, expected);
        assert!(url("bearer realm=https://r.example/t").starts_with("https://r.example/t?scope="));
    }

    #[test]
    fn no_token_is_fetched_from_the_machines_own_services() {
        for challenge in [
            "",
            "Basic realm=\"x\"",
            "Bearer",
            "Bearer service=\"x\"",
            "Bearer realm=\"x\"",
            "Bearer realm=\"http://169.254.169.254/latest\"",
            "Bearer realm=\"http://r.example/token\"",
            "Bearer realm=\"file:///etc/passwd\"",
            "Bearer realm=\"https://a@b.example/\"",
            "Bearer realm=\"https://a.example/\",realm=\"https://b.example/\"",
            "Bearer realm=\"https://a.example/",
        ] {
            assert!(url(challenge).contains("not usable"), "{challenge}");
        }
    }

    #[test]
    fn a_token_cannot_carry_lines() {
        assert_eq!(token_in(br#"{"token":"abc"}"#).unwrap(), "abc");
        assert_eq!(token_in(br#"{"access_token":"abc"}"#).unwrap(), "abc");
        for bad in [
            r#"{"token":"a\r\nHost: x"}"#,
            r#"{"token":""}"#,
            "{}",
            "[]",
            "x",
        ] {
            assert!(token_in(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
