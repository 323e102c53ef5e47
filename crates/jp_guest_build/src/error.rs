//! Why guests could not be built. Written by hand, since build scripts wait for this crate.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::{error, fmt, io};

use crate::Target;

/// Why guests could not be built.
#[derive(Debug)]
pub enum GuestError {
    /// The toolchain has no standard library for a target.
    TargetMissing {
        /// The target.
        target: Target,
    },
    /// A program could not be started.
    Spawn {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The nested cargo failed; its own messages are on stderr.
    Build {
        /// The package it was building.
        package: String,
        /// How cargo ended.
        status: ExitStatus,
    },
    /// The build passed and made no `.wasm` file.
    NoArtifact {
        /// The package that was built.
        package: String,
    },
    /// A guest's dep-info file could not be read.
    DepInfo {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for GuestError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TargetMissing { target } => write!(
                out,
                "the {0} target is missing; run: rustup target add {0} (or: cargo xtask guests)",
                target.triple()
            ),
            Self::Spawn { program, .. } => write!(out, "cannot run {program}"),
            Self::Build { package, status } => {
                write!(out, "building the guest {package} failed ({status})")
            }
            Self::NoArtifact { package } => write!(
                out,
                "the guest {package} made no .wasm file; its targets need crate-type = [\"cdylib\"]"
            ),
            Self::DepInfo { path, .. } => write!(out, "cannot read {}", path.display()),
        }
    }
}

impl error::Error for GuestError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Spawn { source, .. } | Self::DepInfo { source, .. } => Some(source),
            Self::TargetMissing { .. } | Self::Build { .. } | Self::NoArtifact { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_target_is_one_line_that_says_what_to_type() {
        let target = Target::Module;
        assert_eq!(
            GuestError::TargetMissing { target }.to_string(),
            "the wasm32-unknown-unknown target is missing; run: rustup target add \
             wasm32-unknown-unknown (or: cargo xtask guests)"
        );
    }
}
