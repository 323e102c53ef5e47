//! What appears in the new root: system places and granted paths, opened once and held. It neither
//! mounts nor restricts.

use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use nix::{
    errno::Errno,
    fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, open, openat2},
    sys::stat::{Mode, SFlag, fstat},
};

use super::step;
use crate::{
    Confinement, Network,
    check::grant_problem,
    wire::{Cause, Failure},
};

/// Where programs and their libraries are.
const SYSTEM: [&str; 8] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
];

/// What programs need to find libraries, names, time zones and certificates; no secret among them.
const ETC: [&str; 14] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];

/// What programs need to find other machines.
const ETC_NETWORK: [&str; 4] = [
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/gai.conf",
];

const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// How a place may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    Device,
}

/// A file or directory of the host that appears at the same path inside.
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) source: OwnedFd,
    pub(super) is_dir: bool,
    pub(super) access: Access,
}

/// The content of the new root.
pub(super) struct Plan {
    /// In the order of mounting: a directory before what lies in it.
    pub(super) places: Vec<Place>,
    /// Symbolic links and what they say, such as `/bin` on many systems.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
}

/// Opens everything that appears in the new root.
pub(super) fn plan(confinement: &Confinement) -> Result<Plan, Failure> {
    let mut plan = Plan {
        places: Vec::new(),
        links: Vec::new(),
    };
    let grants = [
        (&confinement.read, Access::Read),
        (&confinement.write, Access::Write),
    ];
    let granted = |path: &Path| {
        grants
            .iter()
            .any(|(paths, _)| paths.iter().any(|grant| path.starts_with(grant)))
    };
    let network: &[&str] = if confinement.network == Network::Host {
        &ETC_NETWORK
    } else {
        &[]
    };
    let own = SYSTEM
        .iter()
        .chain(&ETC)
        .chain(network)
        .map(|path| (path, Access::Read));
    for (path, access) in own.chain(DEVICES.iter().map(|path| (path, Access::Device))) {
        let path = Path::new(path);
        // A granted directory brings its own.
        if !granted(path) {
            plan.add_system(path, access)
                .map_err(step(&format!("open {}", path.display())))?;
        }
    }
    for (paths, access) in grants {
        for path in paths {
            plan.places.push(open_grant(path, access)?);
        }
    }
    // Stable, so of two grants of one path the one to write, which comes later, is on top.
    plan.places.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(plan)
}

impl Plan {
    fn add_system(&mut self, path: &Path, access: Access) -> io::Result<()> {
        // Only the links of the root directory are kept as links: what they lead to is mounted too.
        if SYSTEM.iter().any(|system| Path::new(system) == path)
            && let Ok(target) = path.read_link()
        {
            self.links.push((path.to_owned(), target));
            return Ok(());
        }
        match open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty()) {
            Ok(source) => {
                let is_dir = kind(&source)? == SFlag::S_IFDIR;
                self.places.push(Place {
                    path: path.to_owned(),
                    source,
                    is_dir,
                    access,
                });
                Ok(())
            }
            // No system has all of them, and some keep one from ordinary users.
            Err(Errno::ENOENT | Errno::EACCES | Errno::ENOTDIR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn open_grant(path: &Path, access: Access) -> Result<Place, Failure> {
    let refuse = |problem: &str| Failure {
        cause: Cause::Grant,
        subject: path.into(),
        problem: problem.to_owned(),
        hint: String::new(),
    };
    if let Some(problem) = grant_problem(path) {
        return Err(refuse(problem));
    }
    // Not even a link in the middle: anyone who can write there would choose what is granted.
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    let source = openat2(AT_FDCWD, path, how).map_err(|error| match error {
        Errno::ELOOP => refuse("it leads through a symbolic link"),
        other => refuse(other.desc()),
    })?;
    match kind(&source).map_err(|error| refuse(&error.to_string()))? {
        SFlag::S_IFDIR => Ok(Place {
            path: path.to_owned(),
            source,
            is_dir: true,
            access,
        }),
        SFlag::S_IFREG => Ok(Place {
            path: path.to_owned(),
            source,
            is_dir: false,
            access,
        }),
        _ => Err(refuse("it is neither a file nor a directory")),
    }
}

fn kind(source: &OwnedFd) -> io::Result<SFlag> {
    let mode = SFlag::from_bits_truncate(fstat(source)?.st_mode);
    Ok(mode & SFlag::S_IFMT)
}
