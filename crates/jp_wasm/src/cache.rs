//! Compiled code on disk, and the only `unsafe` of the workspace.
//!
//! Loading native code is trusting it, so every file carries a MAC under a key that only this user
//! can read; the file is copied whole to where nobody can change it, checked, and exactly the
//! checked bytes are loaded.

use std::{
    fs,
    io::{self, Read, Seek},
    os::{
        fd::AsRawFd,
        unix::fs::{FileExt, MetadataExt},
    },
    path::{Path, PathBuf},
};

use jp_disk::Sha256;
use rustix::fs::{MemfdFlags, SealFlags};
use wasmtime::{Engine, Module, component::Component};

use crate::code::{Code, Layer};

/// Code larger than this is not looked at: nothing we compile comes close.
const MAX_CODE: u64 = 1024 * 1024 * 1024;

/// Length of the MAC in front of the code.
const MAC: usize = 32;

/// A directory of compiled code.
pub(crate) struct Cache {
    dir: PathBuf,
    key: [u8; 32],
}

impl Cache {
    /// Opens or makes the directory and its key.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        jp_disk::create_dir(dir)?;
        let found = fs::symlink_metadata(dir)?;
        let own = rustix::process::geteuid().as_raw();
        if !found.is_dir() || found.uid() != own || found.mode() & 0o022 != 0 {
            let why = "must be a directory of yours that nobody else may write; \
                       fix it with `chmod 700`, or name another with JP_CACHE_DIR";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        Ok(Self {
            dir: dir.to_owned(),
            key: jp_disk::key_file(&dir.join("key"))?,
        })
    }

    /// Loads compiled code, if it is there and whole. Anything else is as good as absent.
    pub(crate) fn load(&self, engine: &Engine, sha256: &Sha256, layer: Layer) -> Option<Code> {
        let mut file = fs::File::open(self.path(engine, sha256, layer)).ok()?;
        let size = file.metadata().ok()?.len();
        if size > MAX_CODE {
            return None;
        }
        let mut mac = [0; MAC];
        file.read_exact(&mut mac).ok()?;
        let mac = blake3::Hash::from_bytes(mac);
        if let Ok(sealed) = Sealed::copy(&file, size.saturating_sub(MAC as u64)) {
            let mut hasher = self.hasher(sha256, layer);
            sealed.hash(&mut hasher).ok()?;
            // `blake3::Hash` compares in constant time.
            if hasher.finalize() != mac {
                return None;
            }
            if let Ok(code) = deserialize_sealed(engine, &sealed, layer) {
                return Some(code);
            }
        }
        // A system without sealed files, or without /proc: through memory of our own.
        file.seek(io::SeekFrom::Start(MAC as u64)).ok()?;
        let mut code = Vec::with_capacity(usize::try_from(size).ok()?);
        file.take(MAX_CODE).read_to_end(&mut code).ok()?;
        if self.mac(sha256, layer, &code) != mac {
            return None;
        }
        deserialize(engine, &code, layer).ok()
    }

    /// Stores compiled code; a cache that cannot be written only costs time.
    pub(crate) fn store(&self, engine: &Engine, sha256: &Sha256, code: &Code) -> io::Result<()> {
        let layer = code.layer();
        let code = code.serialize().map_err(io::Error::other)?;
        let mac = self.mac(sha256, layer, &code);
        let path = self.path(engine, sha256, layer);
        jp_disk::store_private(&path, &[mac.as_bytes(), &code])
    }

    /// The MAC covers the name of the file too, so one tool cannot stand in for another, and a
    /// module not for a component.
    fn mac(&self, sha256: &Sha256, layer: Layer, code: &[u8]) -> blake3::Hash {
        self.hasher(sha256, layer).update(code).finalize()
    }

    fn hasher(&self, sha256: &Sha256, layer: Layer) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(sha256.as_bytes());
        hasher.update(layer.word().as_bytes());
        hasher
    }

    fn path(&self, engine: &Engine, sha256: &Sha256, layer: Layer) -> PathBuf {
        let (word, hash) = (layer.word(), compatibility(engine));
        self.dir.join(format!("{sha256}-{hash:016x}.{word}.cwasm"))
    }
}

/// What must be equal for code to be loadable. Only a compiler knows, and without one nothing is
/// stored here that could be loaded.
#[cfg(not(feature = "compiler"))]
const fn compatibility(_: &Engine) -> u64 {
    0
}

/// What must be equal for code to be loadable: wasmtime's version, its settings and the CPU.
#[cfg(feature = "compiler")]
pub(crate) fn compatibility(engine: &Engine) -> u64 {
    use std::hash::{Hash, Hasher};

    struct Digest(blake3::Hasher);

    impl Hasher for Digest {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }

        fn finish(&self) -> u64 {
            let mut first = [0; 8];
            self.0.finalize_xof().fill(&mut first);
            u64::from_le_bytes(first)
        }
    }

    let mut digest = Digest(blake3::Hasher::new());
    engine.precompile_compatibility_hash().hash(&mut digest);
    digest.finish()
}

/// A copy of a file that nobody can change any more, not even who can write the file.
///
/// wasmtime maps it, so that the pages of the code that no call needs are never touched; copying it
/// into memory of our own touches them all, twice, which was a quarter of the time that a whole
/// `jp tool run` took.
struct Sealed(fs::File);

impl Sealed {
    /// Copies `size` bytes from where a file stands.
    fn copy(file: &fs::File, size: u64) -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let copy = fs::File::from(rustix::fs::memfd_create("jp-code", flags)?);
        let mut left = usize::try_from(size).map_err(io::Error::other)?;
        while left > 0 {
            match rustix::fs::sendfile(&copy, file, None, left)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                sent => left -= sent,
            }
        }
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&copy, seals)?;
        Ok(Self(copy))
    }

    fn hash(&self, hasher: &mut blake3::Hasher) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        let mut at = 0;
        loop {
            let read = self.0.read_at(&mut buffer, at)?;
            if read == 0 {
                return Ok(());
            }
            hasher.update(buffer.get(..read).unwrap_or_default());
            at += read as u64;
        }
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

/// Loads code that this program was built with (`cargo xtask dist`).
pub(crate) fn load_embedded(engine: &Engine, code: &'static [u8], layer: Layer) -> Option<Code> {
    deserialize(engine, code, layer).ok()
}

#[expect(
    unsafe_code,
    reason = "wasmtime trusts the bytes; both callers have checked where they come from"
)]
fn deserialize(engine: &Engine, code: &[u8], layer: Layer) -> wasmtime::Result<Code> {
    // SAFETY: the bytes were made by `Code::serialize` and not changed since: `Cache::load`
    // has checked a MAC over exactly these bytes under a key that only this user can read, and
    // `load_embedded` gets bytes that are part of this program. Bytes of another wasmtime version
    // or configuration, and those of the other layer, are refused by wasmtime itself.
    unsafe {
        match layer {
            Layer::Component => Component::deserialize(engine, code).map(Code::Component),
            Layer::Module => Module::deserialize(engine, code).map(Code::Module),
        }
    }
}

#[expect(
    unsafe_code,
    reason = "wasmtime trusts the file; the caller has checked what is in it, and it is sealed"
)]
fn deserialize_sealed(engine: &Engine, sealed: &Sealed, layer: Layer) -> wasmtime::Result<Code> {
    let path = sealed.path();
    // SAFETY: as for `deserialize`: `Cache::load` has checked a MAC over exactly the bytes of this
    // file, which were sealed before, so nobody can have changed them since or can do so while they
    // are mapped.
    unsafe {
        match layer {
            Layer::Component => Component::deserialize_file(engine, path).map(Code::Component),
            Layer::Module => Module::deserialize_file(engine, path).map(Code::Module),
        }
    }
}

#[cfg(test)]
mod tests;
