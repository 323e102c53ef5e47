//! The mounts of `--mount`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use jp_bash::{HostDir, HostMode};
use jp_llm::script::ScriptBuilder;

use super::script::real;
use crate::{error::CliError, places, recover, text, ui::Ui};

/// One mount.
pub(super) struct Mounted {
    pub(super) host: PathBuf,
    pub(super) path: String,
    pub(super) mode: HostMode,
}

impl Mounted {
    /// Opens its directory.
    pub(super) fn open(&self) -> Result<HostDir, CliError> {
        let readable = |dir| fs::read_dir(&self.host).map(|_| dir);
        let opened = HostDir::open(&self.host).and_then(readable);
        opened.map_err(|error| CliError::Usage {
            message: format!("cannot mount {}: {error}", self.shown()),
            hint: Some("name a directory of this machine that you may read".to_owned()),
        })
    }

    /// Refuses a directory through which a script would reach jp's own files.
    fn refuse_own(&self) -> Result<(), CliError> {
        let top = real(&self.host).unwrap_or_else(|| self.host.clone());
        let own = places::own();
        match own.own_within(&top) {
            None => Ok(()),
            Some(dir) => Err(CliError::Usage {
                message: format!(
                    "cannot mount {}: it holds {}, which no script may reach",
                    self.shown(),
                    dir.display()
                ),
                hint: Some(
                    "mount a directory below it, or move jp's own with JP_CONFIG_DIR and JP_DATA_DIR"
                        .to_owned(),
                ),
            }),
        }
    }

    /// Returns its directory for a message.
    pub(super) fn shown(&self) -> String {
        text::path_word(self.host.as_os_str().as_encoded_bytes())
    }
}

/// All mounts of a run.
pub(super) struct Mounts(Vec<Mounted>);

impl Mounts {
    /// Reads all `--mount HOST:VIRTUAL[:ro|rw|overlay]`.
    pub(super) fn parse(words: &[String]) -> Result<Self, CliError> {
        let mut mounts: Vec<Mounted> = Vec::new();
        for word in words {
            let mounted = parse(word)?;
            if mounts.iter().any(|other| same_path(other, &mounted)) {
                return Err(CliError::Usage {
                    message: format!("--mount {word}: something else is mounted there already"),
                    hint: Some("give each mount a virtual path of its own".to_owned()),
                });
            }
            mounts.push(mounted);
        }
        Ok(Self(mounts))
    }

    /// Opens the directories and adds them; an apply that was killed in one is undone or finished first.
    pub(super) fn add_to(
        &self,
        mut builder: ScriptBuilder,
        ui: &Ui,
    ) -> Result<ScriptBuilder, CliError> {
        for mounted in &self.0 {
            let dir = mounted.open()?;
            mounted.refuse_own()?;
            builder = builder.mount(&mounted.path, dir, mounted.mode, |recovery| {
                recover::tell(&recovery, &mounted.host, ui);
            });
        }
        Ok(builder)
    }

    /// Returns all of them.
    pub(super) fn all(&self) -> &[Mounted] {
        &self.0
    }

    /// Returns the file of this machine that the script sees at a path, if a mount shows one there.
    pub(super) fn host_path(&self, path: &Path) -> Option<PathBuf> {
        let shown = self.0.iter().filter_map(|mounted| {
            let below = path.strip_prefix(&mounted.path).ok()?;
            let top = real(&mounted.host)?;
            let file = real(&top.join(below))?;
            file.starts_with(&top).then_some((mounted.path.len(), file))
        });
        // Of nested mounts the innermost is seen.
        shown
            .max_by_key(|(length, _)| *length)
            .map(|(_, file)| file)
    }

    /// Returns the path at which the script sees a file of this machine, if a mount shows it.
    pub(super) fn virtual_path(&self, file: &Path) -> Option<Vec<u8>> {
        let file = real(file)?;
        // Of nested mounts the innermost is seen.
        let shown = self.0.iter().rev().filter_map(|mounted| {
            let below = file.strip_prefix(real(&mounted.host)?).ok()?;
            let path = Path::new(&mounted.path).join(below);
            Some((below.as_os_str().len(), path))
        });
        let (_, path) = shown.min_by_key(|(length, _)| *length)?;
        Some(path.into_os_string().into_encoded_bytes())
    }

    /// Returns the mounts that keep writes apart.
    pub(super) fn overlays(&self) -> impl Iterator<Item = &Mounted> {
        self.0
            .iter()
            .filter(|mounted| mounted.mode == HostMode::Overlay)
    }
}

fn same_path(one: &Mounted, other: &Mounted) -> bool {
    Path::new(&one.path)
        .components()
        .eq(Path::new(&other.path).components())
}

fn parse(word: &str) -> Result<Mounted, CliError> {
    let wrong = |why: &str| CliError::Usage {
        message: format!("--mount {word}: {why}"),
        hint: Some("write HOST:VIRTUAL, and :ro, :rw or :overlay behind it".to_owned()),
    };
    let (rest, mode) = match word.rsplit_once(':') {
        Some((rest, "ro")) => (rest, HostMode::ReadOnly),
        Some((rest, "rw")) => (rest, HostMode::ReadWrite),
        Some((rest, "overlay")) => (rest, HostMode::Overlay),
        _ => (word, HostMode::ReadOnly),
    };
    let (host, path) = rest
        .rsplit_once(':')
        .ok_or_else(|| wrong("no virtual path"))?;
    if host.contains(":/") && !path.contains('/') {
        return Err(wrong(&format!(
            "invalid mode `{path}`: expected ro, rw or overlay"
        )));
    }
    if host.is_empty() || !path.starts_with('/') || path == "/" {
        return Err(wrong("the virtual path must be absolute and below /"));
    }
    Ok(Mounted {
        host: PathBuf::from(host),
        path: path.to_owned(),
        mode,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_and_wrong_ones_refused() {
        let mounted = parse("a:b/c:/src:overlay").unwrap();
        assert_eq!(mounted.host, PathBuf::from("a:b/c"));
        assert_eq!(
            (mounted.path.as_str(), mounted.mode),
            ("/src", HostMode::Overlay)
        );
        assert_eq!(parse(".:/src").unwrap().mode, HostMode::ReadOnly);
        for wrong in ["", ".", ".:src", ".:/", ":/src", ".:rw", ".:/a:foo"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        let twice = ["a:/src:rw", "b:/src/"].map(str::to_owned);
        assert!(Mounts::parse(&twice).is_err());
    }
}
