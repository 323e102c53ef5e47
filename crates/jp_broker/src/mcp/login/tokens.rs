//! What an authorization server gives: tokens, for a code or for the token that renews them.

use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::{
    client::Client,
    error::LoginError,
    kept::{About, Kept},
    web::{Refusal, Web},
};

/// What the authorization server is called in messages.
const ISSUER: &str = "the authorization server";

/// The longest token that is kept.
const MAX_TOKEN: usize = 8 * 1024;

/// The longest time that a token is believed to last, in seconds.
const MAX_LIFE: i64 = 10 * 365 * 24 * 60 * 60;

/// Asks for tokens. `about` says what they are for, and `now` is the time in seconds since 1970.
pub(super) fn ask(
    web: &Web<'_>,
    client: Client,
    about: About,
    grant: &[(&str, &str)],
    now: i64,
) -> Result<Kept, Refusal> {
    let (authorization, fields) = client.prove();
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(grant);
    form.extend_pairs(fields);
    form.append_pair("resource", &about.resource);
    let kind = "application/x-www-form-urlencoded";
    let body = form.finish().into_bytes();
    let answer = web.post(ISSUER, &about.token_endpoint, (kind, body), authorization)?;
    let tokens = read(&answer, about, client, now);
    tokens.map_err(|reason| {
        Refusal::from(LoginError::Refused {
            what: ISSUER,
            reason: reason.to_owned(),
        })
    })
}

fn read(
    answer: &Map<String, Value>,
    mut about: About,
    client: Client,
    now: i64,
) -> Result<Kept, &'static str> {
    let word = |key: &str| answer.get(key).and_then(Value::as_str);
    if !word("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("bearer")) {
        return Err("it gave a token that is not a bearer token");
    }
    let token = |text: &str| {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        let is_good = (8..=MAX_TOKEN).contains(&text.len()) && is_plain;
        is_good.then(|| Zeroizing::new(text.to_owned()))
    };
    let access = word("access_token").and_then(token);
    let access = access.ok_or("it gave no token of 8 to 8192 characters that can be sent")?;
    let life = match answer.get("expires_in") {
        Some(Value::String(text)) => text.parse().ok(),
        Some(number) => number.as_i64(),
        None => None,
    };
    about.expires = life.map(|life| now.saturating_add(life.clamp(0, MAX_LIFE)));
    if let Some(scopes) = word("scope") {
        about.scopes = jp_mcp::scopes(scopes);
    }
    Ok(Kept {
        access,
        refresh: word("refresh_token").and_then(token),
        client,
        about,
    })
}

/// Why a login was not renewed.
pub(super) enum Unrenewed {
    /// It cannot be any more.
    Over,
    /// It may be later.
    Failed(LoginError),
}

/// Asks for tokens as jp itself, for which no person is needed.
pub(super) fn ask_alone(
    web: &Web<'_>,
    client: Client,
    about: About,
    now: i64,
) -> Result<Kept, Refusal> {
    let scopes = about.scopes.join(" ");
    let mut grant = vec![("grant_type", "client_credentials")];
    if !scopes.is_empty() {
        grant.push(("scope", &scopes));
    }
    ask(web, client, about, &grant, now)
}

/// Renews a login.
pub(super) fn renew(web: &Web<'_>, kept: &Kept, now: i64) -> Result<Kept, Unrenewed> {
    let (client, about) = (kept.client.clone(), kept.about.clone());
    let asked = match &kept.refresh {
        Some(refresh) => {
            let grant = [
                ("grant_type", "refresh_token"),
                ("refresh_token", refresh.as_str()),
            ];
            ask(web, client, about, &grant, now)
        }
        None if kept.about.alone => ask_alone(web, client, about, now),
        None => return Err(Unrenewed::Over),
    };
    let mut renewed = asked.map_err(|refusal| match refusal.code.as_deref() {
        Some("invalid_grant" | "invalid_client" | "unauthorized_client") => Unrenewed::Over,
        _ => Unrenewed::Failed(refusal.error),
    })?;
    // One that is not replaced stays good.
    renewed.refresh = renewed.refresh.or_else(|| kept.refresh.clone());
    Ok(renewed)
}
