//! The runtime: one engine with everything that is shared by its calls.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
    time::Duration,
};

use jp_policy::{Limit, Limits};
use jp_tool::{Action, Context, Description, Outcome};
use tokio::sync::Semaphore;
use wasmtime::Engine;

use crate::{
    artifact::{Artifacts, Embedded, Prepared},
    cache::Cache,
    call::{Ended, GuestCall, Outside, Task},
    dirs::DirCache,
    engine::{self, Allocation, POOLED_GUESTS},
    error::{Error, causes},
    guest::ToolKind,
    host::{WasiConfig, WasiContext},
    looks::Looks,
    module::ModuleAbi,
    source::Place,
    spares::SpareUse,
    ticker::Ticker,
};

/// Places of the pool for spares and for used instances that wait to be taken down.
const SPARE_PLACES: u32 = 128;

/// Bytes of a description: it goes into prompts, and nobody's prompt is that long.
const MAX_DESCRIPTION: usize = 1024 * 1024;

/// How a runtime is set up.
#[derive(Debug, Clone, Default)]
pub struct RuntimeOptions {
    /// How instances are allocated.
    pub allocation: Allocation,
    /// Where compiled code is kept between processes; nowhere when unset.
    pub cache_dir: Option<PathBuf>,
    /// Spare instances kept of one tool, at most. The stock is filled again every millisecond.
    pub spares: usize,
    /// How old what is known of a tool's file or of a directory may be when a call begins. A thread
    /// looks again every millisecond, so that calls need not; by default each call looks itself.
    /// What a call has changed when it ends, later calls see at once in any case.
    pub fresh: Duration,
}

/// Runs tools. Share one: it compiles each file once and keeps it.
pub struct Runtime {
    pub(crate) engine: Engine,
    artifacts: Arc<Artifacts>,
    dirs: DirCache,
    /// What is known of files.
    pub(crate) looks: Arc<Looks>,
    pub(crate) ticker: Ticker,
    /// Turns to compute.
    pub(crate) turns: Semaphore,
    /// Places in the pool.
    pub(crate) places: Semaphore,
    pub(crate) allocation: Allocation,
    without_cache: Option<String>,
}

impl Runtime {
    /// Makes a runtime. A cache directory that cannot be used costs time and nothing else, see
    /// [`Self::without_cache`].
    ///
    /// # Errors
    ///
    /// When the machine cannot run compiled Wasm.
    pub fn new(options: &RuntimeOptions) -> Result<Self, Error> {
        let failed = |error: wasmtime::Error| Error::Host {
            reason: causes(&error),
        };
        let engine = engine::engine(options.allocation).map_err(failed)?;
        let cache = options.cache_dir.as_deref().map(|dir| {
            Cache::open(dir).map_err(|error| {
                let dir = dir.display();
                format!("cannot keep compiled code in {dir}: {error}")
            })
        });
        let (cache, without_cache) = match cache.transpose() {
            Ok(cache) => (cache, None),
            Err(problem) => (None, Some(problem)),
        };
        let looks = Arc::new(Looks::new(options.fresh));
        let artifacts = Artifacts::new(engine.clone(), cache, Arc::clone(&looks), options.spares);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            ticker: Ticker::new(&engine, &looks),
            artifacts: Arc::new(artifacts),
            engine,
            dirs: DirCache::new(Arc::clone(&looks)),
            looks,
            turns: Semaphore::new(cores),
            places: Semaphore::new((POOLED_GUESTS - SPARE_PLACES) as usize),
            allocation: options.allocation,
            without_cache,
        })
    }

    /// Says why compiled code is not kept between processes, where it should be: every process then
    /// compiles again, and the user who waits for that should know why.
    #[must_use]
    pub fn without_cache(&self) -> Option<&str> {
        self.without_cache.as_deref()
    }

    /// Returns the runtime behind [`crate::execute`]: on-demand instances, nothing on disk.
    pub(crate) fn shared() -> Result<&'static Self, Error> {
        static SHARED: LazyLock<Result<Runtime, Error>> =
            LazyLock::new(|| Runtime::new(&RuntimeOptions::default()));
        SHARED.as_ref().map_err(|error| Error::Host {
            reason: error.to_string(),
        })
    }

    /// Prepares a component or module from its bytes. `notify` hears how many bytes are compiled, if any.
    ///
    /// # Errors
    ///
    /// When the bytes are not a tool.
    pub async fn prepare(
        &self,
        bytes: &[u8],
        notify: &(dyn Fn(u64) + Sync),
    ) -> Result<Prepared, Error> {
        self.artifacts.bytes(bytes, notify).await
    }

    /// Prepares a component or module that is part of this program.
    ///
    /// # Errors
    ///
    /// When the bytes are not a tool.
    pub async fn prepare_embedded(
        &self,
        embedded: Embedded,
        notify: &(dyn Fn(u64) + Sync),
    ) -> Result<Prepared, Error> {
        self.artifacts.embedded(embedded, notify).await
    }

    /// Prepares a component or module from a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is not a tool.
    pub async fn prepare_path(
        &self,
        path: &Path,
        notify: &(dyn Fn(u64) + Sync),
    ) -> Result<Prepared, Error> {
        self.artifacts.file(&Place::Path(path), notify).await
    }

    /// Prepares a component or module from a file below a directory, which it must not leave, not even through
    /// symbolic links.
    ///
    /// # Errors
    ///
    /// When the file leads outside, cannot be read or is not a tool.
    pub async fn prepare_below(
        &self,
        root: &Path,
        relative: &Path,
        notify: &(dyn Fn(u64) + Sync),
    ) -> Result<Prepared, Error> {
        let path = root.join(relative);
        let root = || self.dirs.open(root);
        let place = Place::Below {
            root: &root,
            relative,
            path: &path,
        };
        self.artifacts.file(&place, notify).await
    }

    /// Compiles a component or module to the machine code that [`Self::prepare_embedded`] takes.
    ///
    /// # Errors
    ///
    /// When the bytes are neither.
    pub fn precompile(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        self.artifacts.precompile(bytes)
    }

    /// Tells whether embedded machine code of these bytes would be loaded, rather than made anew.
    #[must_use]
    pub fn accepts(&self, bytes: &[u8], code: &'static [u8]) -> bool {
        self.artifacts.accepts(bytes, code)
    }

    /// Opens the directories of a configuration, with the handles of earlier calls where they
    /// still lead to the same place.
    ///
    /// # Errors
    ///
    /// When a directory cannot be opened.
    pub fn wasi_context(&self, config: &WasiConfig) -> Result<WasiContext, Error> {
        self.dirs.context(config)
    }

    /// Calls a component or module: a fresh instance, under the call's limits, gone afterwards.
    pub async fn call(&self, prepared: &Prepared, call: GuestCall<'_>) -> Ended {
        self.run(prepared, call, Task::Run).await
    }

    /// Asks a tool what it is, in a fresh instance without any authority; nothing when it speaks no
    /// contract that could say so.
    ///
    /// # Errors
    ///
    /// When it does not answer within the limits, or with something that is not a description.
    pub async fn describe(
        &self,
        prepared: &Prepared,
        limits: &Limits,
    ) -> Result<Option<Description>, Error> {
        if !matches!(
            prepared.kind(),
            ToolKind::Component {
                describes: true,
                ..
            }
        ) {
            return Ok(None);
        }
        let context = Context {
            root: "/".into(),
            action: Action::Run,
        };
        let call = GuestCall {
            name: "",
            arguments: "{}",
            answers: "{}",
            context: &context,
            wasi: WasiContext::default(),
            limits,
            cancel: None,
            outside: Outside::default(),
            module: ModuleAbi::default(),
        };
        let ended = self.run(prepared, call, Task::Describe).await;
        let text = match ended.result? {
            Outcome::Success { content } if content.len() <= MAX_DESCRIPTION => content,
            _ => {
                return Err(Error::Limit {
                    limit: Limit::Output,
                });
            }
        };
        let read = Description::read(&text).map_err(|why| Error::Trap {
            reason: format!("its description cannot be read: {why}"),
        });
        read.map(Some)
    }

    /// Looks at files and directories anew from now on, because somebody may have changed them.
    pub fn look_again(&self) {
        self.looks.forget();
    }

    /// Returns how often spares of a tool were there when they were wanted.
    #[must_use]
    pub fn spare_use(&self, prepared: &Prepared) -> SpareUse {
        prepared.spares.counts()
    }
}
