//! Directories that are the same in every session and cost nothing: the programs and the devices.

use jp_bash_system::{DirEntry, Errno, FileKind};

/// A device; what reading and writing it does is the kernel's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    Null,
    Zero,
    Full,
    Random,
    Tty,
    /// `/dev/stdin`, `/dev/stdout`, `/dev/stderr` and `/dev/fd/N`: the caller's own descriptor.
    Fd(u32),
}

/// What a fixed directory lists.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fixed {
    Programs(&'static [&'static str]),
    Devices,
}

/// What a fixed inode is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Dir,
    Program,
    Device(Device),
}

/// The content of every program file; running one never reads it.
pub(super) const PROGRAM: &[u8] = b"#!jp bash\n";

const DEVICES: &[(&str, Device)] = &[
    ("full", Device::Full),
    ("null", Device::Null),
    ("random", Device::Random),
    ("stderr", Device::Fd(2)),
    ("stdin", Device::Fd(0)),
    ("stdout", Device::Fd(1)),
    ("tty", Device::Tty),
    ("urandom", Device::Random),
    ("zero", Device::Zero),
];

/// The index of `/dev/fd`; its files come right behind it.
const FD_DIR: u32 = 1000;

impl Fixed {
    /// Finds a name.
    pub(super) fn lookup(self, dir: u32, name: &[u8]) -> Option<u32> {
        let at = match self {
            Self::Programs(names) => names
                .binary_search_by(|known| known.as_bytes().cmp(name))
                .ok()?,
            Self::Devices if dir == FD_DIR => {
                let digits = std::str::from_utf8(name).ok()?;
                let plain = digits.bytes().all(|b| b.is_ascii_digit())
                    && (digits.len() == 1 || !digits.starts_with('0'));
                let fd: u32 = digits.parse().ok().filter(|_| plain)?;
                return FD_DIR.checked_add(1)?.checked_add(fd);
            }
            Self::Devices if name == b"fd" => return Some(FD_DIR),
            Self::Devices => DEVICES
                .iter()
                .position(|(known, _)| known.as_bytes() == name)?,
        };
        u32::try_from(at + 1).ok()
    }

    /// Returns what an inode is.
    pub(super) fn item(self, index: u32) -> Item {
        match self {
            _ if index == 0 => Item::Dir,
            Self::Programs(_) => Item::Program,
            Self::Devices if index == FD_DIR => Item::Dir,
            Self::Devices if index > FD_DIR => Item::Device(Device::Fd(index - FD_DIR - 1)),
            Self::Devices => DEVICES
                .get(index as usize - 1)
                .map_or(Item::Dir, |(_, device)| Item::Device(*device)),
        }
    }

    /// Returns the directory above.
    pub(super) fn parent(self, _index: u32) -> u32 {
        0
    }

    /// Returns the name of a directory that is not the root.
    pub(super) fn name(self, index: u32) -> Option<&'static [u8]> {
        (index == FD_DIR).then_some(b"fd")
    }

    /// Lists a directory. The kernel knows which descriptors there are, so `/dev/fd` is empty here.
    pub(super) fn list(self, dir: u32) -> Result<Vec<DirEntry>, Errno> {
        let entry = |name: &str, kind, at: u32| DirEntry {
            name: name.as_bytes().to_vec(),
            kind,
            ino: u64::from(at) + 1,
        };
        match self {
            Self::Programs(names) if dir == 0 => Ok(names
                .iter()
                .zip(1..)
                .map(|(name, at)| entry(name, FileKind::Regular, at))
                .collect()),
            Self::Devices if dir == FD_DIR => Ok(Vec::new()),
            Self::Devices if dir == 0 => {
                let mut all: Vec<DirEntry> = DEVICES
                    .iter()
                    .zip(1..)
                    .map(|((name, _), at)| entry(name, FileKind::CharDevice, at))
                    .collect();
                all.insert(0, entry("fd", FileKind::Directory, FD_DIR));
                Ok(all)
            }
            _ => Err(Errno::NotDir),
        }
    }
}
