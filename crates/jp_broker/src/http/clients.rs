//! The clients of a host: one for each principal, tool and grant, and with that one pool of
//! connections for each. Does not know what they are used for.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use rustls::ClientConfig;

use super::{Client, HttpError, Limits, Options, Resolve, wire};

/// Clients that are remembered; the one that was not used for the longest time is forgotten first,
/// and its connections are closed.
const MAX_CLIENTS: usize = 64;

/// Who makes requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The principal.
    pub user: String,
    /// The tool.
    pub tool: String,
}

/// Remembers clients, so that their connections are used again by their owners alone.
#[derive(Clone, Default)]
pub struct Clients(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    known: Vec<Known>,
    tls: Option<(Vec<Vec<u8>>, Arc<ClientConfig>)>,
}

struct Known {
    owner: Owner,
    options: Options,
    resolver: Arc<dyn Resolve>,
    client: Client,
    used: Instant,
}

impl Clients {
    /// Returns the client of an owner with exactly this grant and these ways out; `limits` may differ
    /// from request to request.
    ///
    /// # Errors
    /// [`HttpError::Tls`] if one of the extra roots is not a valid certificate.
    pub fn client(
        &self,
        owner: &Owner,
        options: Options,
        resolver: &Arc<dyn Resolve>,
    ) -> Result<Client, HttpError> {
        let mut inside = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = options.limits;
        let is_same = |known: &&mut Known| {
            known.owner == *owner
                && Arc::ptr_eq(&known.resolver, resolver)
                && known.serves(&options)
        };
        if let Some(known) = inside.known.iter_mut().find(is_same) {
            known.used = Instant::now();
            return Ok(known.client.limited_to(limits));
        }
        let tls = inside.tls(&options.extra_roots)?;
        let client = Client::behind(options.clone(), Arc::clone(resolver), tls);
        if inside.known.len() >= MAX_CLIENTS {
            let known = inside.known.iter().enumerate();
            let oldest = known.min_by_key(|(_, known)| known.used);
            if let Some(oldest) = oldest.map(|(at, _)| at) {
                inside.known.swap_remove(oldest);
            }
        }
        inside.known.push(Known {
            owner: owner.clone(),
            options,
            resolver: Arc::clone(resolver),
            client: client.clone(),
            used: Instant::now(),
        });
        Ok(client)
    }
}

impl Known {
    /// Tells whether everything that decides about a connection is the same.
    fn serves(&self, options: &Options) -> bool {
        let own = &self.options;
        own.net == options.net
            && own.private == options.private
            && own.extra_roots == options.extra_roots
            && own.proxy == options.proxy
            && own.limits.max_header_bytes == options.limits.max_header_bytes
    }
}

impl Inside {
    /// Reading all trusted certificates takes longer than a request.
    fn tls(&mut self, extra_roots: &[Vec<u8>]) -> Result<Arc<ClientConfig>, HttpError> {
        if let Some((roots, config)) = &self.tls
            && roots == extra_roots
        {
            return Ok(Arc::clone(config));
        }
        let config = wire::tls_config(extra_roots)?;
        self.tls = Some((extra_roots.to_vec(), Arc::clone(&config)));
        Ok(config)
    }
}

impl Client {
    /// Returns a client with the same connections and other limits.
    fn limited_to(&self, limits: Limits) -> Self {
        Self {
            gate: Arc::clone(&self.gate),
            limits,
        }
    }
}
