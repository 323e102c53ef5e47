//! Runs the nested cargo. Must not know who called: a build script or a person.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::environment::clear_environment;
use crate::{Artifact, GUEST_FLAGS, Guest, GuestError, PROFILE, Target, Targets, messages};

/// Separates flags in `CARGO_ENCODED_RUSTFLAGS`.
const FLAG_SEPARATOR: &str = "\x1f";

/// Checks that the toolchain of the workspace has a standard library for the target.
pub(crate) fn check_target(workspace_root: &Path, target: Target) -> Result<(), GuestError> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc)
        .args(["--print", "target-libdir", "--target", target.triple()])
        .current_dir(workspace_root)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| spawn_error(&rustc, source))?;
    let libdir = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && Path::new(libdir.trim()).is_dir() {
        Ok(())
    } else {
        Err(GuestError::TargetMissing { target })
    }
}

/// Builds one package and returns the files it made.
pub(crate) fn build_one(workspace_root: &Path, guest: &Guest) -> Result<Vec<Artifact>, GuestError> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    clear_environment(&mut command);
    command
        .args([
            "build",
            "--quiet",
            "--message-format",
            "json-render-diagnostics",
        ])
        .args([
            "--target",
            guest.target.triple(),
            "--profile",
            PROFILE,
            "--package",
            guest.package(),
        ])
        .args(match &guest.targets {
            Targets::Library => vec!["--lib"],
            Targets::Examples => vec!["--examples"],
            Targets::Example(name) => vec!["--example", name],
        })
        .arg("--target-dir")
        .arg(crate::target_dir(workspace_root))
        // Set even against `rustflags` in someone's own cargo configuration.
        .env("CARGO_ENCODED_RUSTFLAGS", encoded_flags(workspace_root))
        .current_dir(workspace_root)
        .stdin(Stdio::null())
        // A build script's own stdout is read as instructions by the outer cargo.
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    if let Some(feature) = guest.target.feature() {
        command.args(["--features", feature]);
    }
    if workspace_root.join("Cargo.lock").exists() {
        command.arg("--locked");
    }
    let output = command
        .output()
        .map_err(|source| spawn_error(&cargo, source))?;
    if !output.status.success() {
        return Err(GuestError::Build {
            package: guest.package().to_owned(),
            status: output.status,
        });
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut artifacts = messages::artifacts(&stdout, guest.package());
    if artifacts.is_empty() {
        return Err(GuestError::NoArtifact {
            package: guest.package().to_owned(),
        });
    }
    artifacts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(artifacts)
}

/// Returns [`GUEST_FLAGS`] and the flags that keep this machine's paths out of panic messages,
/// so that the same sources give the same sha256 on every machine.
fn encoded_flags(workspace_root: &Path) -> OsString {
    let mut flags = OsString::from(GUEST_FLAGS.join(FLAG_SEPARATOR));
    let mut remap = |from: PathBuf, to: &str| {
        flags.push(FLAG_SEPARATOR);
        flags.push("--remap-path-prefix=");
        flags.push(from);
        flags.push("=");
        flags.push(to);
    };
    remap(workspace_root.to_owned(), "/jp");
    let cargo_home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    if let Some(cargo_home) = cargo_home {
        remap(cargo_home, "/cargo");
    }
    flags
}

fn spawn_error(program: &OsString, source: std::io::Error) -> GuestError {
    GuestError::Spawn {
        program: program.to_string_lossy().into_owned(),
        source,
    }
}
