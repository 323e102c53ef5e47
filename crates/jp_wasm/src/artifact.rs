//! From bytes or a path to a tool that can be called: read once, hashed, compiled at most once.

use std::{
    collections::HashMap,
    ffi::OsString,
    sync::{Arc, Mutex, PoisonError},
};

use jp_disk::Sha256;
use tokio::sync::OnceCell;
use wasmtime::Engine;

use crate::{
    cache::{self, Cache},
    code::{Code, Layer},
    error::Error,
    guest::{GuestPre, ToolKind},
    looks::{Identity, Looks},
    prescan,
    source::{Place, Read},
    spares::Spares,
};

/// Stack of the thread that compiles: nested types make the compiler recurse.
const COMPILE_STACK: usize = 32 * 1024 * 1024;

/// Paths and tools remembered at once.
const MAX_REMEMBERED: usize = 4096;

/// Spares of all tools together. With the used instances that wait to be taken down they fit
/// into the part of the pool that calls leave free.
const SPARES: usize = 64;

/// A tool that is part of this program.
#[derive(Debug, Clone, Copy)]
pub struct Embedded {
    /// The component or module.
    pub bytes: &'static [u8],
    /// Its hash, made when the program was built.
    pub sha256: Sha256,
    /// Its compiled form, if that is built in too.
    pub code: Option<&'static [u8]>,
}

/// A component or module ready to be called. Cheap to clone.
#[derive(Clone)]
pub struct Prepared {
    pub(crate) spares: Arc<Spares>,
    sha256: Sha256,
    hex: Arc<str>,
}

impl Prepared {
    /// Returns the hash of the bytes it was made from.
    #[must_use]
    pub const fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// Returns the same hash as text, which every audit record carries.
    #[must_use]
    pub const fn sha256_hex(&self) -> &Arc<str> {
        &self.hex
    }

    /// Returns what kind of tool this is.
    #[must_use]
    pub fn kind(&self) -> ToolKind {
        self.spares.pre().kind()
    }

    /// Checks that a module can be entered by a name, or by the default ones; a component has but
    /// one way in.
    ///
    /// # Errors
    ///
    /// When there is no such export, or it has another type.
    pub fn check_entrypoint(&self, name: Option<&str>) -> Result<(), Error> {
        self.spares.pre().check_entrypoint(name)
    }
}

/// All tools this process knows.
pub(crate) struct Artifacts {
    engine: Engine,
    cache: Option<Cache>,
    looks: Arc<Looks>,
    spares: usize,
    spare_places: Arc<tokio::sync::Semaphore>,
    known: Mutex<HashMap<Sha256, Arc<OnceCell<Prepared>>>>,
    paths: Mutex<HashMap<OsString, (Identity, Prepared)>>,
    embedded: Mutex<HashMap<(usize, usize), Prepared>>,
    compiling: Arc<tokio::sync::Mutex<()>>,
}

impl Artifacts {
    pub(crate) fn new(
        engine: Engine,
        cache: Option<Cache>,
        looks: Arc<Looks>,
        spares: usize,
    ) -> Self {
        Self {
            engine,
            cache,
            looks,
            spares,
            spare_places: Arc::new(tokio::sync::Semaphore::new(SPARES)),
            known: Mutex::default(),
            paths: Mutex::default(),
            embedded: Mutex::default(),
            compiling: Arc::default(),
        }
    }

    /// Prepares bytes that are part of this program, with their compiled form if it has that too.
    pub(crate) async fn embedded(
        self: &Arc<Self>,
        Embedded {
            bytes,
            sha256,
            code,
        }: Embedded,
        notify: &(dyn Fn(u64) + Sync),
    ) -> Result<Prepared, Error> {
        // Static bytes are the same bytes when they are in the same place: no need to compare more.
        let place = (bytes.as_ptr() as usize, bytes.len());
        if let Some(prepared) = lock(&self.embedded).get(&place) {
            return Ok(prepared.clone());
        }
        let layer = Layer::of(bytes);
        let precompiled = code.and_then(|code| cache::load_embedded(&self.engine, code, layer));
        let prepared = match precompiled {
            Some(code) => self.link(&code, sha256)?,
            None => self.prepare(bytes, sha256, notify).await?,
        };
        lock(&self.embedded).insert(place, prepared.clone());
        Ok(prepared)
    }

    /// Prepares bytes.
    pub(crate) async fn bytes(
        self: &Arc<Self>,
        bytes: &[u8],
        notify: &(dyn Fn(u64) + Sync),
    ) -> Result<Prepared, Error> {
        prescan::check_size(bytes.len() as u64)?;
        self.prepare(bytes, Sha256::of(bytes), notify).await
    }

    /// Prepares a file; a file that has not changed is not read again.
    pub(crate) async fn file(
        self: &Arc<Self>,
        place: &Place<'_>,
        notify: &(dyn Fn(u64) + Sync),
    ) -> Result<Prepared, Error> {
        let identity = place.identity(&self.looks)?;
        if let Some((known, prepared)) = lock(&self.paths).get(place.path().as_os_str())
            && *known == identity
        {
            return Ok(prepared.clone());
        }
        let Read { bytes, identity } = place.read()?;
        let prepared = self.prepare(&bytes, Sha256::of(&bytes), notify).await?;
        if let Some(identity) = identity {
            let mut paths = lock(&self.paths);
            if paths.len() >= MAX_REMEMBERED {
                paths.clear();
            }
            paths.insert(place.path().into(), (identity, prepared.clone()));
        }
        Ok(prepared)
    }

    /// Compiles at most once per hash, however many callers ask; a failure is not remembered.
    async fn prepare(
        self: &Arc<Self>,
        bytes: &[u8],
        sha256: Sha256,
        notify: &(dyn Fn(u64) + Sync),
    ) -> Result<Prepared, Error> {
        let cell = {
            let mut known = lock(&self.known);
            if known.len() >= MAX_REMEMBERED {
                known.clear();
            }
            Arc::clone(known.entry(sha256).or_default())
        };
        let prepared = cell.get_or_try_init(|| async {
            let cached = self.cache.as_ref();
            let cached = cached.and_then(|all| all.load(&self.engine, &sha256, Layer::of(bytes)));
            if let Some(code) = cached {
                return self.link(&code, sha256);
            }
            prescan::check(bytes)?;
            // One at a time: compiling uses all cores by itself.
            let turn = Arc::clone(&self.compiling).lock_owned().await;
            notify(bytes.len() as u64);
            let code = self.compile(bytes.to_vec(), sha256, turn).await?;
            self.link(&code, sha256)
        });
        prepared.await.cloned()
    }

    /// Compiles on a thread of its own, away from the thread that drives the caller's future.
    ///
    /// The thread keeps the turn: a caller that loses interest must not let the next compile start
    /// beside one that cannot be stopped.
    async fn compile(
        self: &Arc<Self>,
        bytes: Vec<u8>,
        sha256: Sha256,
        turn: tokio::sync::OwnedMutexGuard<()>,
    ) -> Result<Code, Error> {
        let (done, result) = tokio::sync::oneshot::channel();
        let artifacts = Arc::clone(self);
        std::thread::Builder::new()
            .name("jp-compile".to_owned())
            .stack_size(COMPILE_STACK)
            .spawn(move || {
                let code = Code::compile(&artifacts.engine, &bytes);
                if let (Ok(code), Some(cache)) = (&code, &artifacts.cache) {
                    // A full or read-only disk costs the next process a compile, nothing else.
                    let _ = cache.store(&artifacts.engine, &sha256, code);
                }
                drop(turn);
                let _ = done.send(code);
            })
            .map_err(|error| Error::Host {
                reason: format!("no thread to compile on: {error}"),
            })?;
        let lost = |_| Error::Compile {
            reason: "the compiler stopped without a result".to_owned(),
        };
        result.await.map_err(lost)?
    }

    fn link(&self, code: &Code, sha256: Sha256) -> Result<Prepared, Error> {
        Ok(Prepared {
            spares: Spares::new(GuestPre::link(code)?, self.spares, &self.spare_places),
            hex: sha256.to_string().into(),
            sha256,
        })
    }

    /// Compiles bytes and returns the machine code that [`Self::embedded`] takes.
    pub(crate) fn precompile(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        prescan::check(bytes)?;
        Code::compile(&self.engine, bytes)?.serialize()
    }

    /// Tells whether [`Self::embedded`] would load this machine code of the bytes.
    pub(crate) fn accepts(&self, bytes: &[u8], code: &'static [u8]) -> bool {
        cache::load_embedded(&self.engine, code, Layer::of(bytes)).is_some()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
