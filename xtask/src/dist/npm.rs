//! The package of npm: a tar with `package.json`, the program and what there is to read. It runs nothing when it is
//! installed and downloads nothing.

use anyhow::Result;
use serde_json::{Value, json};

use super::archive::{self, Entry};
use super::release::{AUTHORS, LICENSE, PACKAGE, Release, SUMMARY};

/// Returns the name of the file, as `npm pack` makes it.
pub(super) fn file_name(release: &Release) -> String {
    format!("{PACKAGE}-{}.tgz", release.version)
}

/// Packs the package.
pub(super) fn pack(release: &Release) -> Result<Vec<u8>> {
    let package = serde_json::to_string_pretty(&package(release))?;
    let install = format!("npm install --global {PACKAGE}");
    let mut entries = vec![
        Entry::text("package/package.json", package + "\n"),
        Entry::text("package/README.md", release.readme(&install)),
        Entry::program("package/bin/jp", &release.program),
    ];
    entries.extend(release.licenses("package/"));
    archive::tar_gz(&entries, release.effort)
}

fn package(release: &Release) -> Value {
    json!({
        "name": PACKAGE,
        "version": release.version,
        "description": SUMMARY,
        "author": AUTHORS,
        "license": LICENSE,
        "mcpName": release.publisher.server_name(),
        "keywords": ["mcp", "mcp-server", "bash", "sandbox"],
        "bin": {"jp": "bin/jp"},
        "os": ["linux"],
        "cpu": [release.needs.machine.node()],
        "libc": ["glibc"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_runs_when_it_is_installed_and_others_refuse_it() {
        let package = package(&Release::sample());
        assert!(package.get("scripts").is_none());
        assert!(package.get("dependencies").is_none());
        assert_eq!(package["os"], json!(["linux"]));
        assert_eq!(package["cpu"].as_array().unwrap().len(), 1);
        assert_eq!(package["mcpName"], "com.example/jp");
    }
}
