//! The logins of a user: which token goes to which server, and how another is had when it ends.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jp_mcp::{Challenge, HttpResponse, HttpServer};
use zeroize::Zeroizing;

use super::{
    LoginError,
    kept::{self, Kept, Names},
    now,
    tokens::{self, Unrenewed},
    web::Web,
};
use crate::{http::Client, mcp::exchange::is_private_way, secrets::SecretStore};

/// Seconds before its end at which a token is renewed.
const EARLY: i64 = 30;

/// The logins of a user.
pub(in crate::mcp) struct Logins {
    pub(super) store: Arc<SecretStore>,
    /// What servers said last about the login they want, with the status they said it with.
    challenges: Mutex<HashMap<String, (u16, Option<Challenge>)>>,
}

/// A token on its way to its server.
pub(in crate::mcp) struct Access {
    pub(in crate::mcp) token: Zeroizing<String>,
    pub(in crate::mcp) name: String,
    is_renewable: bool,
}

impl Logins {
    pub(in crate::mcp) fn new(store: Arc<SecretStore>) -> Self {
        Self {
            store,
            challenges: Mutex::default(),
        }
    }

    /// Remembers what a server says about the login it wants.
    pub(in crate::mcp) fn note(&self, server: &HttpServer, response: &HttpResponse) {
        let mut challenges = self.challenges();
        match response.status {
            401 | 403 => {
                let challenge = Challenge::find(&response.headers);
                challenges.insert(server.url.clone(), (response.status, challenge));
            }
            200..=299 => drop(challenges.remove(&server.url)),
            _ => {}
        }
    }

    pub(super) fn challenges(&self) -> MutexGuard<'_, HashMap<String, (u16, Option<Challenge>)>> {
        self.challenges
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the token for a server, renewed if it is about to end.
    pub(in crate::mcp) async fn access(
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
    pub(in crate::mcp) async fn renewed(
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

    pub(super) fn keep(
        &self,
        server: &HttpServer,
        kept: Option<&Kept>,
    ) -> Result<bool, LoginError> {
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
