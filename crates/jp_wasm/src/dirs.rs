//! Directories of the host that calls open again and again: opened once, and recognised.

use std::{
    collections::HashMap,
    ffi::OsString,
    fs::File as StdFile,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use wasmtime_wasi::FsPerms;

use crate::{
    error::Error,
    files::Mount,
    host::{WasiConfig, WasiContext, open_dir},
    looks::Looks,
};

/// Handles of directories that calls open again and again.
pub(crate) struct DirCache {
    known: Mutex<HashMap<OsString, CachedDir>>,
    looks: Arc<Looks>,
}

struct CachedDir {
    identity: (u64, u64),
    read: Mount,
    write: Mount,
}

/// Directories remembered at once; more are opened anew each time.
const MAX_CACHED_DIRS: usize = 256;

impl DirCache {
    pub(crate) fn new(looks: Arc<Looks>) -> Self {
        Self {
            known: Mutex::default(),
            looks,
        }
    }

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
        Ok(WasiContext {
            mounts,
            ..WasiContext::default()
        })
    }

    /// Opens a directory, or takes the handle of an earlier call.
    pub(crate) fn open(&self, path: &Path) -> Result<Arc<StdFile>, Error> {
        let mount = self.mount(path, FsPerms::ReadOnly);
        mount
            .map(Mount::into_handle)
            .map_err(|source| Error::Mount {
                path: path.to_owned(),
                source,
            })
    }

    fn mount(&self, path: &Path, perms: FsPerms) -> std::io::Result<Mount> {
        let found = self.looks.identity(path)?;
        let identity = (found.device, found.inode);
        let mut dirs = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let pick = |dir: &CachedDir| match perms {
            FsPerms::ReadOnly => dir.read.clone(),
            FsPerms::ReadWrite => dir.write.clone(),
        };
        if let Some(dir) = dirs
            .get(path.as_os_str())
            .filter(|dir| dir.identity == identity)
        {
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
        dirs.insert(path.into(), dir);
        Ok(mount)
    }
}
