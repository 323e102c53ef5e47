//! The mounts of `--mount`, and what becomes of overlays afterwards.

use std::path::{Path, PathBuf};

use jp_bash::{ApplyError, Bash, BashBuilder, Change, ChangeKind, HostDir, HostMode};

use super::script::real;
use crate::{error::CliError, text, ui::Ui};

/// One mount.
struct Mounted {
    host: PathBuf,
    path: String,
    mode: HostMode,
}

/// All mounts of a run.
pub(super) struct Mounts(Vec<Mounted>);

impl Mounts {
    /// Reads all `--mount HOST:VIRTUAL[:ro|rw|overlay]`.
    pub(super) fn parse(words: &[String]) -> Result<Self, CliError> {
        words
            .iter()
            .map(|word| parse(word))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Opens the directories and adds them.
    pub(super) fn add_to(&self, mut builder: BashBuilder) -> Result<BashBuilder, CliError> {
        for mounted in &self.0 {
            let dir = HostDir::open(&mounted.host).map_err(|error| CliError::Usage {
                message: format!("cannot mount {}: {error}", mounted.host.display()),
                hint: Some("name a directory of this machine that you may read".to_owned()),
            })?;
            builder = builder.mount(mounted.path.as_str(), dir, mounted.mode);
        }
        Ok(builder)
    }

    /// Returns the path at which the script sees a file of this machine, if a mount shows it.
    pub(super) fn virtual_path(&self, file: &Path) -> Option<Vec<u8>> {
        let file = real(file)?;
        // Of two mounts at one place the later one is seen; of nested ones the innermost.
        let shown = self.0.iter().rev().filter_map(|mounted| {
            let below = file.strip_prefix(real(&mounted.host)?).ok()?;
            let path = Path::new(&mounted.path).join(below);
            Some((below.as_os_str().len(), path))
        });
        let (_, path) = shown.min_by_key(|(length, _)| *length)?;
        Some(path.into_os_string().into_encoded_bytes())
    }

    /// Lists what changed in overlays.
    pub(super) fn show_changes(&self, bash: &mut Bash, ui: &Ui) -> Result<(), CliError> {
        for mounted in self.overlays() {
            let changes = bash
                .diff(mounted.path.as_bytes())
                .map_err(|error| failed(mounted, &error))?;
            for change in changes {
                ui.say(line(&mounted.path, &change));
            }
        }
        Ok(())
    }

    /// Writes what changed in overlays to this machine.
    pub(super) fn apply(&self, bash: &mut Bash) -> Result<(), CliError> {
        for mounted in self.overlays() {
            let dir = open(mounted)?;
            bash.apply(mounted.path.as_bytes(), &dir)
                .map_err(|error| failed(mounted, &error))?;
        }
        Ok(())
    }

    fn overlays(&self) -> impl Iterator<Item = &Mounted> {
        self.0
            .iter()
            .filter(|mounted| mounted.mode == HostMode::Overlay)
    }
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
    if host.is_empty() || !path.starts_with('/') || path == "/" {
        return Err(wrong("the virtual path must be absolute and below /"));
    }
    Ok(Mounted {
        host: PathBuf::from(host),
        path: path.to_owned(),
        mode,
    })
}

fn open(mounted: &Mounted) -> Result<HostDir, CliError> {
    HostDir::open(&mounted.host).map_err(|error| CliError::at("cannot mount", &mounted.host, error))
}

fn line(mount: &str, change: &Change) -> String {
    let kind = match change.kind {
        ChangeKind::Added => "A",
        ChangeKind::Modified => "M",
        ChangeKind::Deleted => "D",
    };
    let path = String::from_utf8_lossy(&change.path).into_owned();
    format!("{kind} {}", text::escape(&format!("{mount}/{path}")))
}

fn failed(mounted: &Mounted, error: &ApplyError) -> CliError {
    let what = format!("the overlay of {}", mounted.host.display());
    CliError::System {
        what,
        source: std::io::Error::other(error.to_string()),
    }
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
        for wrong in ["", ".", ".:src", ".:/", ":/src", ".:rw"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
