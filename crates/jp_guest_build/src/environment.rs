//! Which variables of the caller's environment a nested cargo may see.
//!
//! A build script inherits the outer cargo's flags, wrappers and target directory. Any of them
//! would change the guests' bytes, or make clippy's driver compile them.

use std::process::Command;

/// `CARGO_…` variables that say how to reach registries or how to print, not what to build.
const KEPT_PREFIXES: &[&str] = &[
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_MAKEFLAGS",
    "CARGO_NET_",
    "CARGO_REGISTR",
    "CARGO_SOURCE_",
    "CARGO_TERM_",
];

/// Variables beside `CARGO_…` that steer a build.
const CLEARED: &[&str] = &[
    "CLIPPY_ARGS",
    "CLIPPY_CONF_DIR",
    "DEBUG",
    "HOST",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTC",
    "RUSTC_LINKER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "SYSROOT",
    "TARGET",
];

/// Removes from `command` every inherited variable that would change what a nested cargo builds.
pub fn clear_environment(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(steers_the_build) {
            command.env_remove(&name);
        }
    }
}

fn steers_the_build(name: &str) -> bool {
    if name.starts_with("CARGO_") {
        return !KEPT_PREFIXES.iter().any(|kept| name.starts_with(kept));
    }
    name.starts_with("__CARGO") || CLEARED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_wrappers_directories_and_profiles_are_cleared() {
        for name in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET_DIR",
            "CARGO_BUILD_TARGET",
            "CARGO_PROFILE_GUEST_LTO",
            "CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS",
            "CLIPPY_ARGS",
            "__CARGO_DEFAULT_LIB_METADATA",
        ] {
            assert!(steers_the_build(name), "{name}");
        }
    }

    #[test]
    fn what_reaches_registries_and_tools_is_kept() {
        for name in [
            "PATH",
            "HOME",
            "CARGO",
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "RUSTUP_TOOLCHAIN",
        ] {
            assert!(!steers_the_build(name), "{name}");
        }
    }
}
