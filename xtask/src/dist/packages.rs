//! The packages that carry the built binary: a bundle, one for npm, one for PyPI, and what names them all.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use jp_disk::Sha256;

use super::release::{Publisher, Release};
use super::{mcpb, npm, server, wheel};
use crate::process::{Run, is_installed};
use crate::report::{data, say};

/// Where the packages lie.
#[derive(Debug)]
pub(super) struct Packages {
    pub(super) bundle: PathBuf,
    pub(super) npm: PathBuf,
    pub(super) wheel: PathBuf,
    pub(super) server: PathBuf,
}

/// Makes all packages of a binary, in `packages` beside it.
pub(super) fn make(
    root: &Path,
    binary: &Path,
    publisher: &Publisher,
    effort: Compression,
) -> Result<Packages> {
    let release = Release::read(root, binary, publisher.clone(), effort)?;
    let dir = binary.with_file_name("packages");
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
    }
    fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    let bundle = mcpb::pack(&release)?;
    let bundle_name = mcpb::file_name(&release);
    let server = server::describe(&release, (&bundle_name, Sha256::of(&bundle)));
    let server = serde_json::to_string_pretty(&server)? + "\n";
    Ok(Packages {
        bundle: write(&dir, &bundle_name, &bundle)?,
        npm: write(&dir, &npm::file_name(&release), &npm::pack(&release)?)?,
        wheel: write(&dir, &wheel::file_name(&release), &wheel::pack(&release)?)?,
        server: write(&dir, "server.json", server.as_bytes())?,
    })
}

fn write(dir: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = dir.join(name);
    fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    say(&format!("{:>12} bytes  {}", bytes.len(), path.display()));
    Ok(path)
}

impl Packages {
    /// Prints where they lie.
    pub(super) fn show(&self) {
        for path in [&self.bundle, &self.npm, &self.wheel, &self.server] {
            data(&path.display().to_string());
        }
    }
}

/// Returns a copy of a binary without what only a debugger reads, as the one people install is; or the binary itself
/// where there is no `strip`.
pub(super) fn stripped(root: &Path, binary: &Path) -> Result<PathBuf> {
    if !is_installed("strip", "--version") {
        return Ok(binary.to_owned());
    }
    // A directory of its own: packages lie beside the binary.
    let dir = binary.with_file_name("dist-quick");
    fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    let copy = dir.join("jp");
    Run::new("strip", root)
        .arg("-o")
        .arg(&copy)
        .arg(binary)
        .run()?;
    Ok(copy)
}
