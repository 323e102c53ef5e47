//! The package of PyPI: a wheel with the program among its scripts. It needs a glibc as old as the program can bear.

use anyhow::Result;
use data_encoding::BASE64URL_NOPAD;
use jp_disk::Sha256;

use super::archive::{self, Entry};
use super::release::{AUTHORS, LICENSE, PACKAGE, Release, SUMMARY};

/// `uvx jp-mcp` starts the script that is named like the package.
const NAMESAKE: &[u8] =
    b"#!/bin/sh\nexec \"$(dirname -- \"$(readlink -f -- \"$0\")\")/jp\" \"$@\"\n";

/// Returns the name of the file, which says what it can be installed on.
pub(super) fn file_name(release: &Release) -> String {
    format!("{}-{}.whl", stem(release), tag(release))
}

/// Packs the wheel.
pub(super) fn pack(release: &Release) -> Result<Vec<u8>> {
    let entries = entries(release);
    archive::zip(&entries, release.effort)
}

fn entries(release: &Release) -> Vec<Entry<'_>> {
    let stem = stem(release);
    let (data, info) = (format!("{stem}.data"), format!("{stem}.dist-info"));
    let mut entries = vec![
        Entry::program(&format!("{data}/scripts/jp"), &release.program),
        Entry::program(&format!("{data}/scripts/{PACKAGE}"), NAMESAKE),
        Entry::text(&format!("{info}/METADATA"), metadata(release)),
        Entry::text(&format!("{info}/WHEEL"), wheel(release)),
    ];
    entries.extend(release.licenses(&format!("{info}/licenses/")));
    let own = format!("{info}/RECORD");
    let record = record(&entries, &own);
    entries.push(Entry::text(&own, record));
    entries
}

/// Returns how the names of a wheel start; a `-` would end the name.
fn stem(release: &Release) -> String {
    format!("{}-{}", PACKAGE.replace('-', "_"), release.version)
}

fn tag(release: &Release) -> String {
    format!("py3-none-{}", release.needs.python_platform())
}

fn metadata(release: &Release) -> String {
    let licenses: String = release
        .license_names()
        .map(|name| format!("License-File: {name}\n"))
        .collect();
    let readme = release.readme(&format!("pip install {PACKAGE}"));
    let version = &release.version;
    format!(
        "Metadata-Version: 2.4\nName: {PACKAGE}\nVersion: {version}\nSummary: {SUMMARY}\nAuthor: {AUTHORS}\n\
         License-Expression: {LICENSE}\n{licenses}Keywords: mcp,mcp-server,bash,sandbox\n\
         Description-Content-Type: text/markdown\n\n{readme}"
    )
}

fn wheel(release: &Release) -> String {
    let tag = tag(release);
    format!("Wheel-Version: 1.0\nGenerator: jp xtask\nRoot-Is-Purelib: false\nTag: {tag}\n")
}

/// Returns the list of all files with what they hash to. Its own line has no hash.
fn record(entries: &[Entry<'_>], own: &str) -> String {
    let mut lines: Vec<String> = entries
        .iter()
        .map(|entry| {
            let hash = BASE64URL_NOPAD.encode(Sha256::of(&entry.bytes).as_bytes());
            format!("{},sha256={hash},{}\n", entry.path, entry.bytes.len())
        })
        .collect();
    lines.push(format!("{own},,\n"));
    lines.sort();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_wheel_is_in_its_record() {
        let release = Release::sample();
        let entries = entries(&release);
        let record = entries.iter().find(|entry| entry.path.ends_with("/RECORD"));
        let record = String::from_utf8(record.unwrap().bytes.to_vec()).unwrap();
        assert_eq!(record.lines().count(), entries.len());
        for entry in &entries {
            let start = format!("{},", entry.path);
            assert!(
                record.lines().any(|line| line.starts_with(&start)),
                "{start}"
            );
        }
        // As `printf '' | sha256sum` says it, in the alphabet of URLs.
        let line = super::record(&[Entry::text("a", "")], "b");
        assert_eq!(
            line,
            "a,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\nb,,\n"
        );
    }

    #[test]
    fn a_wheel_is_named_after_what_it_needs() {
        let release = Release::sample();
        let name = file_name(&release);
        assert!(name.starts_with("jp_mcp-"), "{name}");
        assert!(name.contains("-py3-none-manylinux_2_"), "{name}");
        let tag = name.split_once("-py3").unwrap().1.trim_end_matches(".whl");
        assert!(wheel(&release).contains(tag), "{tag}");
        assert!(metadata(&release).contains("\nVersion: 0."), "{tag}");
    }
}
