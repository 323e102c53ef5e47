//! What a guest is given: directories, captured streams, clocks and randomness, and nothing else.
//!
//! Seed table: no network, no environment, no arguments; clocks and random on, unless the call says
//! otherwise.

use std::{
    fs::File as StdFile,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_primitives::{ambient_authority, fs::open_ambient_dir};
use jp_policy::Ambient;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use crate::{
    error::Error,
    events::Outward,
    files::{GuestFiles, Mount, OpenFiles},
    http::Http,
    limiter::Limiter,
    output::Streams,
    preview1::Preview1,
    stop::Stop,
    surroundings::Surroundings,
};

/// Resources (descriptors, streams, pollables) a guest may hold at once.
pub(crate) const MAX_RESOURCES: usize = 1024;

/// WASI capabilities of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WasiConfig {
    /// Directories to open for the guest.
    pub preopens: Vec<Preopen>,
}

/// A directory of the host under a name the guest knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preopen {
    /// The path the guest sees.
    pub guest_path: String,
    /// The directory of the host.
    pub host_path: PathBuf,
    /// What may be done with directories in it.
    pub dir_perms: DirPerms,
    /// What may be done with files in it.
    pub file_perms: FilePerms,
}

/// What may be done with directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirPerms {
    /// List them.
    Read,
    /// List and change them.
    ReadWrite,
}

/// What may be done with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePerms {
    /// Read them.
    Read,
    /// Read and change them.
    ReadWrite,
}

impl Preopen {
    /// Writing needs both kinds of permission: a file that may be written in a directory that may
    /// not could still be truncated, renamed over or linked.
    pub(crate) fn perms(&self) -> FsPerms {
        match (self.dir_perms, self.file_perms) {
            (DirPerms::ReadWrite, FilePerms::ReadWrite) => FsPerms::ReadWrite,
            _ => FsPerms::ReadOnly,
        }
    }
}

/// What a guest finds around it: opened directories, variables, clocks and the like.
#[derive(Clone, Default)]
pub struct WasiContext {
    pub(crate) mounts: Vec<Mount>,
    /// The variables it sees; by default none.
    pub env: Vec<(String, String)>,
    /// What it has without asking; by default everything there is.
    ///
    /// Without `clocks` all clocks stand still at zero and files do not show when they were
    /// changed; a guest that sleeps still sleeps that long, since a wait that never ends helps
    /// nobody. Without `random` its random numbers are the same in every call, which is to say
    /// not random. Without `stdio` standard input is empty and what it prints is discarded; a
    /// program that speaks through them is refused.
    pub ambient: Ambient,
}

impl WasiContext {
    /// Returns the guest's paths and whether each may be written.
    pub fn preopens(&self) -> impl Iterator<Item = (&str, DirPerms)> {
        self.mounts.iter().map(|mount| {
            let perms = match mount.perms() {
                FsPerms::ReadOnly => DirPerms::Read,
                FsPerms::ReadWrite => DirPerms::ReadWrite,
            };
            (mount.guest_path.as_str(), perms)
        })
    }

    /// Adds a directory that must lie below `root`, symbolic links included.
    ///
    /// # Errors
    ///
    /// When the directory does not exist or leads outside.
    pub fn mount_below(
        &mut self,
        root: &Path,
        relative: &Path,
        guest_path: &str,
        perms: DirPerms,
    ) -> Result<(), Error> {
        let failed = |source| Error::Mount {
            path: root.join(relative),
            source,
        };
        let top = open_dir(root).map_err(failed)?;
        let dir = cap_primitives::fs::open_dir(&top, relative).map_err(failed)?;
        let perms = match perms {
            DirPerms::Read => FsPerms::ReadOnly,
            DirPerms::ReadWrite => FsPerms::ReadWrite,
        };
        self.mounts
            .push(Mount::new(guest_path.to_owned(), dir, perms));
        Ok(())
    }
}

/// Opens the directories of a configuration.
///
/// # Errors
///
/// When a directory does not exist or cannot be opened.
pub fn build_wasi_context(config: &WasiConfig) -> Result<WasiContext, Error> {
    let mut mounts = Vec::with_capacity(config.preopens.len());
    for preopen in &config.preopens {
        let handle = open_dir(&preopen.host_path).map_err(|source| Error::Mount {
            path: preopen.host_path.clone(),
            source,
        })?;
        mounts.push(Mount::new(
            preopen.guest_path.clone(),
            handle,
            preopen.perms(),
        ));
    }
    Ok(WasiContext {
        mounts,
        ..WasiContext::default()
    })
}

/// The one place where a path of the host becomes the handle of a directory.
pub(crate) fn open_dir(path: &Path) -> std::io::Result<StdFile> {
    open_ambient_dir(path, ambient_authority())
}

/// What WASI works on.
struct Wasi {
    context: WasiCtx,
    table: ResourceTable,
}

/// Everything a guest's host calls work on.
pub(crate) struct State {
    /// Made when the guest first asks for it: that seeds two random generators among other things, and
    /// a module without imports never does.
    wasi: Option<Box<Wasi>>,
    pub(crate) surroundings: Surroundings,
    pub(crate) files: OpenFiles,
    pub(crate) preview1: Preview1,
    pub(crate) outward: Outward,
    pub(crate) http: Http,
    pub(crate) limiter: Limiter,
    pub(crate) stop: Arc<Stop>,
    /// How often the guest was asked whether it has to stop.
    pub(crate) ticks: u32,
    pub(crate) streams: Streams,
    /// Whether the guest made a WASI call; a guest that does so while being instantiated might keep
    /// what it saw, so no spare instances are made of it.
    pub(crate) touched: bool,
}

impl State {
    /// Makes a state without any authority: no directory, no output, no memory beyond `memory`.
    pub(crate) fn new(stop: Arc<Stop>, memory: usize) -> Self {
        Self {
            wasi: None,
            surroundings: Surroundings::default(),
            files: OpenFiles::default(),
            preview1: Preview1::default(),
            outward: Outward::default(),
            http: Http::default(),
            limiter: Limiter::new(memory),
            stop,
            ticks: 0,
            streams: Streams::default(),
            touched: false,
        }
    }

    /// Changes what the guest finds around it. Nothing of what was made for it before stays.
    pub(crate) fn set_surroundings(&mut self, surroundings: Surroundings) {
        self.surroundings = surroundings;
        self.wasi = None;
    }

    /// Makes what WASI works on, unless it is there.
    pub(crate) fn make_wasi(&mut self) {
        self.wasi_and_files();
    }

    fn wasi_and_files(&mut self) -> (&mut Wasi, &mut OpenFiles, &mut Http) {
        let wasi = self.wasi.get_or_insert_with(|| {
            let mut table = ResourceTable::new();
            table.set_max_capacity(MAX_RESOURCES);
            let context = self
                .surroundings
                .wasi_builder(self.streams.get())
                .allow_blocking_current_thread(true)
                .build();
            Box::new(Wasi { context, table })
        });
        (wasi, &mut self.files, &mut self.http)
    }

    /// Closes the guest's files, streams and directories.
    pub(crate) fn close_all(&mut self) {
        self.wasi = None;
        self.files = OpenFiles::default();
        self.preview1 = Preview1::default();
        self.outward = Outward::default();
        self.http = Http::default();
    }

    pub(crate) fn guest_files(&mut self) -> GuestFiles<'_> {
        self.touched = true;
        let (Wasi { context, table }, files, _) = self.wasi_and_files();
        GuestFiles {
            wasi: wasmtime_wasi::filesystem::WasiFilesystemCtxView {
                ctx: context.filesystem(),
                table,
            },
            files,
        }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.touched = true;
        let (Wasi { context, table }, ..) = self.wasi_and_files();
        WasiCtxView {
            ctx: context,
            table,
        }
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.touched = true;
        let (wasi, _, http) = self.wasi_and_files();
        http.view(&mut wasi.table)
    }
}
