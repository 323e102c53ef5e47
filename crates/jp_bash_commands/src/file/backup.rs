//! Backups of files that are about to be replaced: `-b`, `--backup`, `-S`.

use jp_bash_system::{Follow, Stop, failed};

use super::name::{base_name, dir_name, join};
use super::{Cmd, argmatch};

/// How backups are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    Off,
    Simple,
    Numbered,
    /// Numbered if there are numbered ones already.
    Existing,
}

/// What to do with a file in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backup {
    pub(crate) control: Control,
    pub(crate) suffix: Vec<u8>,
}

impl Backup {
    /// Reads the options; `None` after a message.
    pub(crate) fn of(
        cmd: &mut Cmd<'_>,
        wanted: bool,
        control: Option<&[u8]>,
        suffix: Option<&[u8]>,
    ) -> Result<Option<Self>, Stop> {
        let env = |cmd: &Cmd<'_>, name: &[u8]| cmd.sys.env(name).filter(|v| !v.is_empty());
        let suffix = suffix
            .map(<[u8]>::to_vec)
            .or_else(|| env(cmd, b"SIMPLE_BACKUP_SUFFIX"))
            .filter(|suffix| !suffix.is_empty() && !suffix.contains(&b'/'))
            .unwrap_or_else(|| b"~".to_vec());
        if !wanted {
            return Ok(Some(Self {
                control: Control::Off,
                suffix,
            }));
        }
        let list = [
            ("none", Control::Off),
            ("off", Control::Off),
            ("simple", Control::Simple),
            ("never", Control::Simple),
            ("existing", Control::Existing),
            ("nil", Control::Existing),
            ("numbered", Control::Numbered),
            ("t", Control::Numbered),
        ];
        // An empty word is as good as none.
        let control = control.filter(|value| !value.is_empty());
        let (value, context) = match (control, env(cmd, b"VERSION_CONTROL")) {
            (Some(value), _) => (value.to_vec(), "backup type"),
            (None, Some(value)) => (value, "$VERSION_CONTROL"),
            (None, None) => (b"existing".to_vec(), "backup type"),
        };
        let found = argmatch(cmd, context, &value, &list)?;
        Ok(found.map(|control| Self { control, suffix }))
    }

    /// Returns the name of the backup of a file, if there is to be one.
    pub(crate) fn name(&self, cmd: &mut Cmd<'_>, path: &[u8]) -> Result<Option<Vec<u8>>, Stop> {
        let numbered = match self.control {
            Control::Off => return Ok(None),
            Control::Simple => false,
            Control::Numbered => true,
            Control::Existing => highest(cmd, path)? > 0,
        };
        let mut name = path.to_vec();
        if numbered {
            let next = highest(cmd, path)?.saturating_add(1);
            name.extend_from_slice(format!(".~{next}~").as_bytes());
        } else {
            name.extend_from_slice(&self.suffix);
        }
        Ok(Some(name))
    }

    /// Moves a file out of the way and returns where it went.
    pub(crate) fn make(&self, cmd: &mut Cmd<'_>, path: &[u8]) -> Result<Option<Vec<u8>>, Stop> {
        if failed(cmd.sys.stat(path, Follow::No))?.is_err() {
            return Ok(None);
        }
        let Some(name) = self.name(cmd, path)? else {
            return Ok(None);
        };
        match failed(cmd.sys.rename(path, &name))? {
            Ok(()) => Ok(Some(name)),
            Err(errno) => {
                let path = cmd.q(path);
                cmd.fail(&[b"cannot backup ", &path], errno)?;
                Ok(None)
            }
        }
    }
}

/// Returns the highest number of the numbered backups.
fn highest(cmd: &mut Cmd<'_>, path: &[u8]) -> Result<u64, Stop> {
    let base = base_name(path);
    let dir = join(dir_name(path), b".");
    let entries = failed(cmd.sys.read_dir(&dir))?.unwrap_or_default();
    Ok(entries
        .iter()
        .filter_map(|entry| {
            let rest = entry.name.strip_prefix(base)?.strip_prefix(b".~")?;
            std::str::from_utf8(rest.strip_suffix(b"~")?)
                .ok()?
                .parse()
                .ok()
        })
        .max()
        .unwrap_or(0))
}
