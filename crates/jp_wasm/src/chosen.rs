//! Chosen files: from a path that a person pointed at to a file a guest can open, and nothing
//! around it.

use std::{
    ffi::OsStr,
    fs::File as StdFile,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::{Mode, OFlags};
use wasmtime_wasi::FsPerms;

use crate::{
    error::Error,
    files::{Behind, Chosen, Mount, no_file},
    host::{FilePerms, WasiContext},
};

/// File systems whose files are the kernel speaking, not something a person keeps: `proc`, `sysfs`.
#[cfg(target_os = "linux")]
const KERNEL: [u64; 2] = [0x9fa0, 0x6265_6572];

impl WasiContext {
    /// Shows a guest one file: as the only entry of the directory `guest_dir`, which exists for the
    /// guest alone. Returns the path the guest sees.
    ///
    /// The file is opened here, once: links of the host are followed now, and what happens to the
    /// path later changes nothing. The guest sees the file's name as far as it is plain text;
    /// control characters and what is not UTF-8 appear as `_`.
    ///
    /// # Errors
    ///
    /// When there is no such file, it may not be opened so, or it is not a regular file; and when
    /// `guest_dir` is taken.
    pub fn mount_file(
        &mut self,
        host_path: &Path,
        guest_dir: &str,
        perms: FilePerms,
    ) -> Result<String, Error> {
        let failed = |source: io::Error| {
            let path = PathBuf::from(host_path);
            match source.kind() {
                io::ErrorKind::NotFound => Error::NotFound { path },
                _ => Error::Read { path, source },
            }
        };
        if self.mounts.iter().any(|m| m.guest_path == guest_dir) {
            return Err(failed(io::Error::other("its place is taken")));
        }
        let (file, resolved) = open(host_path, perms).map_err(failed)?;
        let name = host_path.file_name().or(resolved.file_name());
        let name = shown(name.ok_or_else(|| failed(no_file()))?);
        let guest_path = format!("{guest_dir}/{name}");
        let perms = match perms {
            FilePerms::Read => FsPerms::ReadOnly,
            FilePerms::ReadWrite => FsPerms::ReadWrite,
        };
        let chosen = Arc::new(Chosen::new(name, file, perms));
        self.mounts.push(Mount {
            guest_path: guest_dir.to_owned(),
            descriptor: chosen.descriptor(),
            behind: Some(Behind::Chosen(chosen)),
        });
        Ok(guest_path)
    }
}

/// Opens a regular file. What the person pointed at may be a link; what it leads to may not have
/// become one meanwhile.
fn open(path: &Path, perms: FilePerms) -> io::Result<(StdFile, PathBuf)> {
    let resolved = path.canonicalize()?;
    // Looked at first, since opening a device can have effects of its own.
    if !resolved.symlink_metadata()?.is_file() {
        return Err(no_file());
    }
    let access = match perms {
        FilePerms::Read => OFlags::RDONLY,
        FilePerms::ReadWrite => OFlags::RDWR,
    };
    // A FIFO put there since would otherwise be waited for.
    let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = StdFile::from(rustix::fs::open(
        &resolved,
        access | careful,
        Mode::empty(),
    )?);
    if !file.metadata()?.is_file() || is_of_kernel(&file)? {
        return Err(no_file());
    }
    Ok((file, resolved))
}

#[cfg(target_os = "linux")]
fn is_of_kernel(file: &StdFile) -> io::Result<bool> {
    let kind = rustix::fs::fstatfs(file)?.f_type;
    Ok(KERNEL
        .iter()
        .any(|known| i128::from(*known) == i128::from(kind)))
}

#[cfg(not(target_os = "linux"))]
fn is_of_kernel(_: &StdFile) -> io::Result<bool> {
    Ok(false)
}

/// Returns a name that does no harm where it is shown: it goes into arguments and messages.
fn shown(name: &OsStr) -> String {
    jp_text::file_name(&String::from_utf8_lossy(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_name_is_shown_without_what_could_deceive() {
        for (name, want) in [
            (&b"x.pdf"[..], "x.pdf"),
            ("\u{e9}t\u{e9} 1.txt".as_bytes(), "\u{e9}t\u{e9} 1.txt"),
            (b"a\nb\x1b[31m.txt", "a_b_[31m.txt"),
            (b"\xff\xfe.bin", "__.bin"),
            ("fdp\u{202e}.exe".as_bytes(), "fdp_.exe"),
        ] {
            assert_eq!(shown(OsStr::from_bytes(name)), want);
        }
    }

    #[test]
    fn links_are_followed_to_a_file_and_nothing_else_is_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("real"), "text").unwrap();
        symlink("real", at("link.txt")).unwrap();
        symlink("gone", at("dangling")).unwrap();
        symlink("/dev/null", at("device")).unwrap();
        symlink(".", at("dir")).unwrap();
        let fifo = at("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        let mut wasi = WasiContext::default();
        let seen = wasi.mount_file(&at("link.txt"), "/in/0", FilePerms::Read);
        assert_eq!(seen.unwrap(), "/in/0/link.txt");
        let taken = wasi.mount_file(&at("real"), "/in/0", FilePerms::Read);
        assert!(taken.is_err());
        for bad in ["dangling", "device", "dir", "fifo", "none"] {
            for perms in [FilePerms::Read, FilePerms::ReadWrite] {
                let error = wasi.mount_file(&at(bad), "/in/1", perms).unwrap_err();
                assert!(error.to_string().contains(bad), "{error}");
            }
        }
        assert_eq!(wasi.mounts.len(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_the_kernel_tells_about_this_process_is_no_file() {
        let mut wasi = WasiContext::default();
        for path in ["/proc/self/environ", "/proc/self/mem", "/proc/version"] {
            let refused = wasi.mount_file(path.as_ref(), "/in/0", FilePerms::Read);
            assert!(refused.is_err(), "{path}");
        }
    }
}
