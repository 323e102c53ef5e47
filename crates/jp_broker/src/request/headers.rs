//! The headers of a request: whose they are, what secrets are in them, and how far they travel.

use serde_json::Value;
use zeroize::Zeroizing;

use super::{arguments::RequestArguments, server::HttpServer};
use crate::{
    Audience, CallError, Code,
    http::{ENCODINGS, Location},
    secrets::{Part, find_granted, parts},
    web::{Job, USER_AGENT},
};

/// What may follow a redirect to another origin; everything else could be a credential.
const TRAVELS: [&str; 5] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "content-type",
    "user-agent",
];

/// More headers are refused, before they are compared with each other. The client takes a few more,
/// which are ours.
const MAX_HEADERS: usize = 120;
/// Longer values are refused: a short template of many placeholders could fill the memory.
const MAX_VALUE: usize = 64 * 1024;
/// More secrets in one value are refused; each is looked up.
const MAX_SECRETS: usize = 8;

/// The headers of a request, with the secrets filled in.
#[derive(Default)]
pub(super) struct Headers(Vec<Header>);

struct Header {
    name: String,
    value: Zeroizing<Vec<u8>>,
    /// For each secret in the value, where it may be sent.
    audiences: Vec<Vec<Audience>>,
    /// Whether it may go on to another origin.
    travels: bool,
}

/// Whose header it is, and with that which secrets it may hold.
#[derive(Clone, Copy)]
enum Owner<'a> {
    /// The guest's: it needs a grant for each secret.
    Guest,
    /// The host's, for one of its servers.
    Server(&'a HttpServer),
}

impl Headers {
    /// Puts the headers of a request together: those of the server in place of the guest's own.
    pub(super) fn assemble(
        job: &Job,
        arguments: &RequestArguments,
        server: Option<&HttpServer>,
        place: &Location,
    ) -> Result<Self, CallError> {
        let mut headers = Self::default();
        let count = arguments.headers.as_ref().map_or(0, |own| own.len());
        if count > MAX_HEADERS {
            let problem = format!("expected at most {MAX_HEADERS} entries, found {count}");
            return Err(CallError::invalid("headers", &problem));
        }
        for (name, value) in arguments.headers.iter().flatten() {
            let Value::String(value) = value else {
                let field = format!("headers.{}", jp_text::inline(name));
                return Err(CallError::invalid(&field, "expected a string"));
            };
            // `Authorization` beside `authorization`: which one a server believes is anyone's guess.
            if headers.has(name) {
                let field = format!("headers.{}", jp_text::inline(name));
                return Err(CallError::invalid(
                    &field,
                    "it is given twice, in upper and lower case",
                ));
            }
            headers.add(job, Owner::Guest, name, value, place)?;
        }
        if let Some(server) = server {
            for (name, value) in &server.headers {
                headers.remove(name);
                headers.add(job, Owner::Server(server), name, value, place)?;
            }
        }
        // Ours: a guest does not know what can be decoded.
        headers.remove("accept-encoding");
        headers.push("Accept-Encoding", ENCODINGS);
        if !headers.has("user-agent") {
            headers.push("User-Agent", USER_AGENT);
        }
        Ok(headers)
    }

    /// Tells whether there is a header of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|h| h.name.eq_ignore_ascii_case(name))
    }

    /// Adds a header without secrets.
    pub(super) fn push(&mut self, name: &str, value: &str) {
        self.0.push(Header {
            name: name.to_owned(),
            value: Zeroizing::new(value.as_bytes().to_vec()),
            audiences: Vec::new(),
            travels: may_travel(name),
        });
    }

    /// Removes all headers of that name.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|h| !h.name.eq_ignore_ascii_case(name));
    }

    /// Removes what describes a body that is no longer sent.
    pub(super) fn drop_body(&mut self) {
        let describes = |header: &Header| header.name.to_ascii_lowercase().starts_with("content-");
        self.0.retain(|header| !describes(header));
    }

    /// Keeps what may go on to the next place. What is dropped does not come back when a later
    /// redirect leads home again.
    pub(super) fn follow(&mut self, from: &Location, to: &Location) {
        let same_origin = from.origin() == to.origin();
        self.0.retain(|header| {
            let meant = header.audiences.iter().all(|all| covered(all, to));
            (same_origin || header.travels) && meant
        });
    }

    /// Returns names and values, as they are sent.
    pub(super) fn list(&self) -> Vec<(String, Vec<u8>)> {
        let own = |header: &Header| (header.name.clone(), header.value.to_vec());
        self.0.iter().map(own).collect()
    }

    fn add(
        &mut self,
        job: &Job,
        owner: Owner<'_>,
        name: &str,
        template: &str,
        place: &Location,
    ) -> Result<(), CallError> {
        let field = format!("headers.{}", jp_text::inline(name));
        let form = "expected placeholders of the form `{{secret:NAME}}`";
        let parts = parts(template).ok_or_else(|| CallError::invalid(&field, form))?;
        let secrets = parts.iter().filter(|part| matches!(part, Part::Secret(_)));
        if template.len() > MAX_VALUE || secrets.count() > MAX_SECRETS {
            let problem = format!("expected at most {MAX_VALUE} bytes and {MAX_SECRETS} secrets");
            return Err(CallError::invalid(&field, &problem));
        }
        let mut value = Zeroizing::new(Vec::new());
        let mut audiences = Vec::new();
        for part in parts {
            let secret = match part {
                Part::Text(text) => {
                    value.extend(text.as_bytes());
                    continue;
                }
                Part::Secret(name) => {
                    let found = owner.find(job, &name)?;
                    found.ok_or_else(|| owner.no_such_secret(&name))?
                }
            };
            if !secret.is_meant_for(place) {
                let message = format!(
                    "secret '{}' is not meant for {}{}: it is sent only to the addresses it was stored for",
                    secret.name,
                    place.origin(),
                    place.path
                );
                return Err(CallError::new(Code::Forbidden, message));
            }
            value.extend(secret.value.expose().trim_ascii());
            audiences.push(secret.audience.clone());
        }
        self.0.push(Header {
            name: name.to_owned(),
            value,
            // A secret in `User-Agent` is still a secret, and what a server is sent is its own.
            travels: matches!(owner, Owner::Guest) && audiences.is_empty() && may_travel(name),
            audiences,
        });
        Ok(())
    }
}

impl Owner<'_> {
    fn find(self, job: &Job, name: &crate::SecretName) -> Result<Option<crate::Secret>, CallError> {
        let store = job.services.secrets.as_deref();
        match self {
            Self::Guest => find_granted(store, job.brokered(), &job.caller.tool, name),
            Self::Server(server) => match store {
                Some(store) => Ok(store.find(name)?),
                None => {
                    let message = format!(
                        "server '{}' needs secret '{name}', and this host has no secret store; `jp secret set {name} --for {}` makes one",
                        server.name, server.url
                    );
                    Err(CallError::unconfigured(message))
                }
            },
        }
    }

    /// Makes the error of a secret that is not there. Only where the user's own configuration says
    /// where it goes is the address named: a guest could name one of its own.
    fn no_such_secret(self, name: &crate::SecretName) -> CallError {
        let audience = match self {
            Self::Guest => "URL",
            Self::Server(server) => &server.url,
        };
        let message =
            format!("unknown secret '{name}'; `jp secret set {name} --for {audience}` stores it");
        CallError::new(Code::NotFound, message)
    }
}

fn may_travel(name: &str) -> bool {
    TRAVELS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn covered(audience: &[Audience], place: &Location) -> bool {
    audience.iter().any(|audience| audience.covers(place))
}
