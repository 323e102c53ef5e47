//! The tree that a new session starts with.

use jp_bash_system::{OpenHow, SysResult, Timestamp};

use super::{Caller, Mount, NoQuota, Opened, Vfs};

/// Whose session it is. Every file in memory belongs to this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: Vec<u8>,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) home: Vec<u8>,
}

impl User {
    /// Makes a user with the usual numbers and a home below `/home`.
    pub(crate) fn named(name: &[u8]) -> Self {
        Self {
            name: name.to_vec(),
            uid: 1000,
            gid: 1000,
            home: [b"/home/", name].concat(),
        }
    }
}

impl Vfs {
    /// Makes a session's file system: `/tmp`, the home, `/dev`, the programs in `/usr/bin`, a few files in `/etc`.
    /// The names of the programs must be sorted.
    pub(crate) fn new(
        user: User,
        host_name: &[u8],
        programs: &'static [&'static str],
        now: Timestamp,
    ) -> SysResult<Self> {
        let passwd = passwd(&user);
        let group = [
            &b"root:x:0:\n"[..],
            &user.name,
            format!(":x:{}:\n", user.gid).as_bytes(),
        ]
        .concat();
        let home = user.home.clone();
        let mut vfs = Self::empty(user, now);
        let caller = Caller {
            cwd: vfs.root(),
            now,
            quota: &NoQuota,
        };
        vfs.mkdir(&caller, b"/tmp", 0o1777)?;
        vfs.make_dirs(&caller, &home)?;
        vfs.mkdir(&caller, b"/etc", 0o755)?;
        vfs.mount(&caller, b"/dev", Mount::Devices)?;
        vfs.mount(&caller, b"/usr/bin", Mount::Programs(programs))?;
        vfs.symlink(&caller, b"usr/bin", b"/bin")?;
        vfs.put(&caller, b"/etc/passwd", &passwd)?;
        vfs.put(&caller, b"/etc/group", &group)?;
        vfs.put(&caller, b"/etc/hostname", &[host_name, b"\n"].concat())?;
        Ok(vfs)
    }

    /// Writes a whole file.
    pub(crate) fn put(&mut self, caller: &Caller<'_>, path: &[u8], bytes: &[u8]) -> SysResult<()> {
        let how = OpenHow {
            mode: 0o644,
            ..OpenHow::WRITE
        };
        if let Opened::File(handle) | Opened::Fifo { handle, .. } = self.open(caller, path, how)? {
            let written = self.write_at(caller, handle, 0, bytes);
            self.close(handle, caller.quota);
            written?;
        }
        Ok(())
    }
}

fn passwd(user: &User) -> Vec<u8> {
    [
        &b"root:x:0:0:root:/root:/bin/bash\n"[..],
        &user.name,
        format!(":x:{}:{}::", user.uid, user.gid).as_bytes(),
        &user.home,
        b":/bin/bash\n",
    ]
    .concat()
}
