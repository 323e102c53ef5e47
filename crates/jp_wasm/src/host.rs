//! What a guest is given: directories, captured streams, clocks and randomness, and nothing else.
//!
//! Seed table: no network, no environment, no arguments; clocks and random on.

use std::{
    fs::File as StdFile,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_primitives::{ambient_authority, fs::open_ambient_dir};
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use crate::{
    error::Error,
    events::Outward,
    files::{GuestFiles, Mount, OpenFiles},
    limiter::Limiter,
    output::Capture,
    preview1::Preview1,
    stop::Stop,
};

/// Resources (descriptors, streams, pollables) a guest may hold at once.
pub(crate) const MAX_RESOURCES: usize = 1024;

/// Bytes of randomness one host call may ask for.
const MAX_RANDOM: u64 = 1024 * 1024;

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

/// The opened directories of a [`WasiConfig`].
#[derive(Clone, Default)]
pub struct WasiContext {
    pub(crate) mounts: Vec<Mount>,
}

impl WasiContext {
    /// Returns the guest's paths and whether each may be written.
    pub fn preopens(&self) -> impl Iterator<Item = (&str, DirPerms)> {
        self.mounts.iter().map(|mount| {
            let perms = match mount.dir.perms {
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
    Ok(WasiContext { mounts })
}

/// The one place where a path of the host becomes a handle.
pub(crate) fn open_dir(path: &Path) -> std::io::Result<StdFile> {
    open_ambient_dir(path, ambient_authority())
}

/// Everything a guest's host calls work on.
pub(crate) struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    pub(crate) files: OpenFiles,
    pub(crate) preview1: Preview1,
    pub(crate) outward: Outward,
    pub(crate) limiter: Limiter,
    pub(crate) stop: Arc<Stop>,
    /// How often the guest was asked whether it has to stop.
    pub(crate) ticks: u32,
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
    /// Whether the guest made a WASI call; a guest that does so while being instantiated might keep
    /// what it saw, so no spare instances are made of it.
    pub(crate) touched: bool,
}

impl State {
    /// Makes a state without any authority: no directory, no output, no memory beyond `memory`.
    pub(crate) fn new(stop: Arc<Stop>, memory: usize) -> Self {
        let (stdout, stderr) = (Capture::new(), Capture::new());
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_RESOURCES);
        Self {
            wasi: wasi_builder(&stdout, &stderr)
                .allow_blocking_current_thread(true)
                .build(),
            table,
            files: OpenFiles::default(),
            preview1: Preview1::default(),
            outward: Outward::default(),
            limiter: Limiter::new(memory),
            stop,
            ticks: 0,
            stdout,
            stderr,
            touched: false,
        }
    }

    /// Closes the guest's files, streams and directories.
    pub(crate) fn close_all(&mut self) {
        self.table = ResourceTable::new();
        self.files = OpenFiles::default();
        self.preview1 = Preview1::default();
        self.outward = Outward::default();
    }

    pub(crate) fn guest_files(&mut self) -> GuestFiles<'_> {
        self.touched = true;
        let Self {
            wasi, table, files, ..
        } = self;
        GuestFiles {
            wasi: wasmtime_wasi::filesystem::WasiFilesystemCtxView {
                ctx: wasi.filesystem(),
                table,
            },
            files,
        }
    }
}

/// Starts a WASI context without any authority but the clocks and randomness every guest has.
pub(crate) fn wasi_builder(stdout: &Capture, stderr: &Capture) -> WasiCtxBuilder {
    let mut wasi = WasiCtx::builder();
    wasi.stdout(stdout.clone())
        .stderr(stderr.clone())
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .max_random_size(MAX_RANDOM);
    wasi
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.touched = true;
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}
