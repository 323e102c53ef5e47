//! Builds the guests and probes that tests run, and writes down where they are.

use std::{env, error::Error, fmt::Write, fs, path::PathBuf};

use jp_guest_build::Guest;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    // A new probe is in no list of sources yet.
    println!("cargo:rerun-if-changed=probes/examples");
    println!("cargo:rerun-if-changed=probes/Cargo.toml");
    println!("cargo:rerun-if-changed=module_probes/examples");
    println!("cargo:rerun-if-changed=module_probes/Cargo.toml");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("no manifest directory")?);
    let root = manifest
        .ancestors()
        .nth(2)
        .ok_or("no workspace above this crate")?;
    let guests = [
        Guest::library("jp_tool_learn"),
        Guest::library("jp_tool_test"),
        Guest::examples("jp_probes"),
        Guest::preview1("jp_module_probes"),
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
    let mut table = String::from("&[\n");
    for artifact in &artifacts {
        let path = artifact.path.to_str().ok_or("a path that is not UTF-8")?;
        writeln!(table, "    ({:?}, {path:?}),", artifact.name)?;
    }
    table.push_str("]\n");
    fs::write(out.join("guests.rs"), table)?;
    Ok(())
}
