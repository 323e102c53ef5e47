//! Builds the new root in the init's own mount namespace and moves into it. It decides nothing about
//! what belongs there: that is the plan's.

use std::{
    fs,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::symlink,
    },
    path::{Path, PathBuf},
};

use nix::{
    fcntl::{OFlag, OpenHow, ResolveFlag, open, openat2},
    mount::{MntFlags, MsFlags, mount, umount2},
    sys::stat::Mode,
    unistd::{fchdir, pivot_root},
};

use super::{
    mounts, namespace_step,
    places::{Access, Place, Plan},
    step,
};
use crate::{ProcessLimits, wire::Failure};

/// Some directory that exists everywhere; what it held is out of reach afterwards anyway.
const STAGING: [&str; 4] = ["/tmp", "/run", "/mnt", "/usr"];

/// The private `/tmp` is memory of the host.
const MAX_TMP_BYTES: u64 = 1 << 30;

const NONE: Option<&Path> = None;

/// Builds the root and makes it this process's own; the host's files are gone afterwards.
pub(super) fn enter(plan: &Plan, limits: &ProcessLimits) -> Result<(), Failure> {
    // Nothing mounted here may show in the host, nor the other way round.
    mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE)
        .map_err(namespace_step("separate the mounts"))?;
    let root = Root::new()?;
    root.furnish(plan, limits)?;
    for place in &plan.places {
        let action = format!("show {}", place.path.display());
        root.show(place, plan).map_err(step(&action))?;
    }
    root.set_flags(plan)?;
    root.pivot().map_err(step("change the root"))
}

struct Root {
    path: PathBuf,
    directory: OwnedFd,
}

impl Root {
    fn new() -> Result<Self, Failure> {
        let path = STAGING
            .iter()
            .find_map(|path| fs::canonicalize(path).ok().filter(|path| path.is_dir()));
        let path = path.unwrap_or_else(|| "/".into());
        mount_tmpfs(&path, "size=4m,nr_inodes=8192,mode=755")
            .map_err(namespace_step("mount the new root"))?;
        let directory = open(
            &path,
            OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC,
            Mode::empty(),
        )
        .map_err(step("open the new root"))?;
        Ok(Self { path, directory })
    }

    /// Makes what is not the host's: `/tmp`, `/proc`, the links of `/dev` and of the root.
    fn furnish(&self, plan: &Plan, limits: &ProcessLimits) -> Result<(), Failure> {
        for directory in ["dev", "etc", "proc", "tmp"] {
            fs::create_dir(self.path.join(directory)).map_err(step("furnish the new root"))?;
        }
        let own = [
            ("/dev/fd", "/proc/self/fd"),
            ("/dev/stdin", "/proc/self/fd/0"),
            ("/dev/stdout", "/proc/self/fd/1"),
            ("/dev/stderr", "/proc/self/fd/2"),
            // Shared memory counts against the private `/tmp`.
            ("/dev/shm", "/tmp"),
        ];
        let own = own.map(|(at, to)| (PathBuf::from(at), PathBuf::from(to)));
        for (at, to) in own.iter().chain(&plan.links) {
            symlink(to, self.inside(at)).map_err(step("link in the new root"))?;
        }
        let size = limits
            .memory_bytes
            .min(limits.file_bytes)
            .min(MAX_TMP_BYTES);
        mount_tmpfs(
            &self.path.join("tmp"),
            &format!("size={size},nr_inodes=65536,mode=1777"),
        )
        .map_err(step("mount a private /tmp"))?;
        // Read-only: user 0 could change the machine's settings in it without any capability. Some
        // containers forbid a new one, and programs do without.
        let flags =
            MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        let _ = mount(
            Some("proc"),
            &self.path.join("proc"),
            Some("proc"),
            flags,
            NONE,
        );
        Ok(())
    }

    fn show(&self, place: &Place, plan: &Plan) -> nix::Result<()> {
        let mine = |other: &&Place| other.path != place.path && place.path.starts_with(&other.path);
        // In a place of the host nothing is made: there the path exists, or the mount fails.
        if !plan.places.iter().any(|other| mine(&other)) {
            self.make_mount_point(place)
                .map_err(|_| nix::errno::Errno::EIO)?;
        }
        let target = self.open(&place.path)?;
        let bind = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(
            Some(&by_number(&place.source)),
            &by_number(&target),
            NONE,
            bind,
            NONE,
        )
    }

    fn make_mount_point(&self, place: &Place) -> std::io::Result<()> {
        let path = self.inside(&place.path);
        if place.is_dir {
            return fs::create_dir_all(path);
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::File::create(path).map(drop)
    }

    /// Makes every mount as strict as its place, also those that came along with a directory.
    fn set_flags(&self, plan: &Plan) -> Result<(), Failure> {
        let list = fs::read("/proc/self/mountinfo").map_err(step("list the mounts"))?;
        let own = ["", "proc", "tmp"].map(Path::new);
        for found in mounts::below(&self.path, &list) {
            let path = Path::new("/").join(&found.path);
            let place = plan
                .places
                .iter()
                .rfind(|place| path.starts_with(&place.path));
            let strict = match place.map(|place| place.access) {
                Some(Access::Read) => MsFlags::MS_RDONLY | MsFlags::MS_NODEV,
                Some(Access::Write) => MsFlags::MS_NODEV,
                Some(Access::Device) => MsFlags::MS_NOEXEC,
                None if own.contains(&found.path.as_path()) => continue,
                None => MsFlags::MS_RDONLY | MsFlags::MS_NODEV,
            };
            let flags = found.flags | strict | MsFlags::MS_NOSUID;
            let target = self
                .open(&path)
                .map_err(step(&format!("find {}", path.display())))?;
            remount(&by_number(&target), flags)
                .map_err(step(&format!("protect {}", path.display())))?;
        }
        Ok(())
    }

    fn pivot(&self) -> nix::Result<()> {
        fchdir(&self.directory)?;
        // The old root ends up on top of the new one and is taken off at once.
        pivot_root(".", ".")?;
        umount2(".", MntFlags::MNT_DETACH)?;
        nix::unistd::chdir("/")?;
        remount(
            Path::new("/"),
            MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
        )
    }

    fn inside(&self, path: &Path) -> PathBuf {
        self.path.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Opens a path of the new root without following links: others may write to a granted directory
    /// while it is mounted.
    fn open(&self, path: &Path) -> nix::Result<OwnedFd> {
        let relative = path.strip_prefix("/").unwrap_or(path);
        let how = OpenHow::new()
            .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
            .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_BENEATH);
        openat2(&self.directory, relative, how)
    }
}

fn mount_tmpfs(path: &Path, options: &str) -> nix::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), path, Some("tmpfs"), flags, Some(options))
}

fn remount(path: &Path, flags: MsFlags) -> nix::Result<()> {
    mount(
        NONE,
        path,
        NONE,
        MsFlags::MS_REMOUNT | MsFlags::MS_BIND | flags,
        NONE,
    )
}

fn by_number(file: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
