//! What a guest is given: directories, captured streams, clocks and randomness, and nothing else.
//!
//! Seed table: no network, no environment, no arguments; clocks and random on.

use std::{
    collections::HashMap,
    fs::File as StdFile,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use cap_primitives::{ambient_authority, fs::open_ambient_dir};
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

use crate::{
    error::Error,
    files::{GuestFiles, Mount, OpenFiles},
    limiter::Limiter,
    output::Capture,
    stop::Stop,
};

/// Resources (descriptors, streams, pollables) a guest may hold at once.
const MAX_RESOURCES: usize = 1024;

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
    fn perms(&self) -> FsPerms {
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
fn open_dir(path: &Path) -> std::io::Result<StdFile> {
    open_ambient_dir(path, ambient_authority())
}

/// Handles of directories that calls open again and again.
#[derive(Default)]
pub(crate) struct DirCache(Mutex<HashMap<PathBuf, CachedDir>>);

struct CachedDir {
    identity: (u64, u64),
    read: Mount,
    write: Mount,
}

/// Directories remembered at once; more are opened anew each time.
const MAX_CACHED_DIRS: usize = 256;

impl DirCache {
    /// Opens the directories of a configuration, or takes the handles of earlier calls when the
    /// paths still lead to the same directories.
    pub(crate) fn context(&self, config: &WasiConfig) -> Result<WasiContext, Error> {
        let mut mounts = Vec::with_capacity(config.preopens.len());
        for preopen in &config.preopens {
            let mut mount = self
                .mount(&preopen.host_path, preopen.perms())
                .map_err(|source| Error::Mount {
                    path: preopen.host_path.clone(),
                    source,
                })?;
            mount.guest_path.clone_from(&preopen.guest_path);
            mounts.push(mount);
        }
        Ok(WasiContext { mounts })
    }

    /// Opens a directory, or takes the handle of an earlier call.
    pub(crate) fn open(&self, path: &Path) -> Result<Arc<StdFile>, Error> {
        let mount = self.mount(path, FsPerms::ReadOnly);
        mount
            .map(|mount| mount.dir.dir)
            .map_err(|source| Error::Mount {
                path: path.to_owned(),
                source,
            })
    }

    fn mount(&self, path: &Path, perms: FsPerms) -> std::io::Result<Mount> {
        // Not `std::fs::metadata`, which asks for more and takes longer; this is part of each call.
        let found = rustix::fs::stat(path)?;
        let identity = (found.st_dev, found.st_ino);
        let mut dirs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pick = |dir: &CachedDir| match perms {
            FsPerms::ReadOnly => dir.read.clone(),
            FsPerms::ReadWrite => dir.write.clone(),
        };
        if let Some(dir) = dirs.get(path).filter(|dir| dir.identity == identity) {
            return Ok(pick(dir));
        }
        let handle = open_dir(path)?;
        let opened = handle.metadata()?;
        let dir = CachedDir {
            identity: (opened.dev(), opened.ino()),
            read: Mount::new(String::new(), handle.try_clone()?, FsPerms::ReadOnly),
            write: Mount::new(String::new(), handle, FsPerms::ReadWrite),
        };
        let mount = pick(&dir);
        if dirs.len() >= MAX_CACHED_DIRS {
            dirs.clear();
        }
        dirs.insert(path.to_owned(), dir);
        Ok(mount)
    }
}

/// Everything a guest's host calls work on.
pub(crate) struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    pub(crate) files: OpenFiles,
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
        let mut wasi = WasiCtx::builder();
        wasi.stdout(stdout.clone())
            .stderr(stderr.clone())
            .allow_blocking_current_thread(true)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .max_random_size(MAX_RANDOM);
        Self {
            wasi: wasi.build(),
            table,
            files: OpenFiles::default(),
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

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.touched = true;
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}
