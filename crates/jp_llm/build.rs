//! Builds the guests that are part of this program, and takes their compiled form along when
//! `cargo xtask dist` has made one.

use std::{env, error::Error, fs, path::PathBuf};

use jp_guest_build::Guest;
use sha2::{Digest, Sha256};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=JP_PRECOMPILED_DIR");
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_WASM_TOOLS").is_none() {
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("no manifest directory")?);
    let root = manifest
        .ancestors()
        .nth(2)
        .ok_or("no workspace above this crate")?;
    // Each file they make has an entry in `src/wasm/engine/builtin.rs`.
    let guests = [
        Guest::library("jp_tool_learn"),
        Guest::module("jp_tool_brokered", "all_tools"),
    ];
    let artifacts = match jp_guest_build::build(root, &guests) {
        Ok(artifacts) => artifacts,
        Err(error) => {
            // One line that says what to type; a debug dump of the error would hide it.
            println!("cargo:error={error}");
            return Ok(());
        }
    };
    for line in jp_guest_build::rerun_lines(root, &artifacts)? {
        println!("{line}");
    }
    let precompiled = env::var_os("JP_PRECOMPILED_DIR").map(PathBuf::from);
    for artifact in &artifacts {
        let wasm = fs::read(&artifact.path)?;
        let sha256 = Sha256::digest(&wasm);
        fs::write(out.join(format!("{}.sha256", artifact.name)), sha256)?;
        fs::write(out.join(format!("{}.wasm", artifact.name)), wasm)?;
        let code = match &precompiled {
            Some(dir) => {
                let path = dir.join(format!("{}.cwasm", artifact.name));
                println!("cargo:rerun-if-changed={}", path.display());
                fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?
            }
            None => Vec::new(),
        };
        fs::write(out.join(format!("{}.cwasm", artifact.name)), code)?;
    }
    Ok(())
}
