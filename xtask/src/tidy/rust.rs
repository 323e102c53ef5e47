//! Rules about Rust sources.

use std::path::Path;

use super::Finding;
use super::code::{before_tests, count_word, has_word};
use super::tree::Tree;
use crate::metadata::Metadata;

/// From here on a file is worth splitting.
const LARGE: usize = 600;
/// From here on a file must say why it is so large.
const TOO_LARGE: usize = 1000;

/// What no source may contain, and why.
const BANNED: &[(&str, &str)] = &[
    ("#[ignore", "a test runs or does not exist"),
    ("todo!(", "code that is not there must not compile"),
    ("unimplemented!(", "code that is not there must not compile"),
    ("dbg!(", "left over from a search"),
];

/// The listed crates cannot do host I/O, since they have no standard library.
pub(super) fn no_std(tree: &Tree, files: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in files {
        let Some(file) = tree.file(path) else {
            findings.push(Finding::failure(path, "does not exist"));
            continue;
        };
        let code = file.code();
        let code = before_tests(code);
        let is_no_std = ["#![no_std]", "#![cfg_attr(not(test), no_std)]"]
            .iter()
            .any(|attribute| code.contains(attribute));
        if !is_no_std {
            findings.push(Finding::failure(path, "must say #![no_std]"));
        }
        if code.contains("extern crate std") && !code.contains("#[cfg(test)]\nextern crate std") {
            findings.push(Finding::failure(path, "brings std back in"));
        }
    }
    findings
}

/// Host authority enters a crate at one place, tests apart.
pub(super) fn one_ambient_authority(tree: &Tree, root: &Path, metadata: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let dir = package.dir().strip_prefix(root).unwrap_or(package.dir());
        let sources = format!("{}/src/", dir.display());
        let places: Vec<&str> = tree
            .rust()
            .filter(|file| file.path.starts_with(&sources))
            .flat_map(|file| {
                let code = file.code();
                let count = count_word(&calls_only(before_tests(code)), "ambient_authority");
                std::iter::repeat_n(file.path.as_str(), count)
            })
            .collect();
        if places.len() > 1 {
            let text = format!(
                "calls ambient_authority() at {} places: {}",
                places.len(),
                places.join(", ")
            );
            findings.push(Finding::failure(&package.name, text));
        }
    }
    findings
}

/// Leaves imports out, since they grant nothing yet; a renaming import stays, or it would hide calls.
fn calls_only(code: &str) -> String {
    let is_import = |item: &str| item.trim_start().starts_with("use ") && !item.contains(" as ");
    code.split_inclusive(';')
        .filter(|item| !is_import(item))
        .collect()
}

/// `unsafe` is written in the audited files alone.
pub(super) fn unsafe_only_where_audited(tree: &Tree, audited: &[&str]) -> Vec<Finding> {
    let places = audited.join(" and ");
    tree.rust()
        .filter(|file| !audited.contains(&file.path.as_str()) && has_word(file.code(), "unsafe"))
        .map(|file| Finding::failure(&file.path, format!("`unsafe` may appear in {places} only")))
        .collect()
}

/// Large files are split, or say in their first line why not. Unit tests do not count.
pub(super) fn sizes(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree
        .rust()
        .filter(|file| !file.first_line().starts_with("//! size:"))
    {
        let lines = before_tests(&file.text).lines().count();
        if lines > TOO_LARGE {
            let text = format!(
                "has {lines} lines before its tests; split it, or say why in line 1: `//! size: …`"
            );
            findings.push(Finding::failure(&file.path, text));
        } else if lines > LARGE {
            let text = format!("has {lines} lines before its tests; look for the seam");
            findings.push(Finding::warning(&file.path, text));
        }
    }
    findings
}

/// Every file opens with what it is for.
pub(super) fn headers(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|file| !file.first_line().starts_with("//!"))
        .map(|file| Finding::failure(&file.path, "line 1 must be `//!`: what the file is for"))
        .collect()
}

/// Some words are never right.
pub(super) fn banned_words(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        for (number, line) in file.code().lines().enumerate() {
            for (word, why) in BANNED.iter().filter(|(word, _)| line.contains(word)) {
                let place = format!("{}:{}", file.path, number + 1);
                findings.push(Finding::failure(place, format!("`{word}`: {why}")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::super::tree::planted;
    use super::*;
    use crate::metadata::Package;

    fn places(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|found| found.place.as_str()).collect()
    }

    #[test]
    fn a_pure_crate_with_std_is_found() {
        let tree = planted(&[
            ("good.rs", "//! A.\n#![no_std]"),
            ("commented.rs", "//! A.\n// #![no_std]"),
            ("back.rs", "//! A.\n#![no_std]\nextern crate std;"),
        ]);
        let files = ["good.rs", "commented.rs", "back.rs", "gone.rs"];
        assert_eq!(
            places(&no_std(&tree, &files)),
            ["commented.rs", "back.rs", "gone.rs"]
        );
    }

    #[test]
    fn a_second_ambient_authority_is_found() {
        let call = "//! A.\nuse c::ambient_authority;\nfn f() { g(ambient_authority()); }\n";
        let tests = format!(
            "//! A.\n#[cfg(test)]\nmod tests {{ {} }}",
            call.trim_start_matches("//! A.\n")
        );
        let package = |name: &str| Package {
            name: name.to_owned(),
            manifest_path: format!("/ws/crates/{name}/Cargo.toml").into(),
            dependencies: Vec::new(),
            targets: Vec::new(),
        };
        let metadata = Metadata {
            packages: vec![package("one"), package("two")],
            target_directory: "/ws/target".into(),
        };
        let tree = planted(&[
            ("crates/one/src/lib.rs", call),
            ("crates/one/src/more.rs", &tests),
            ("crates/two/src/lib.rs", call),
            ("crates/two/src/more.rs", call),
        ]);
        let found = one_ambient_authority(&tree, Path::new("/ws"), &metadata);
        assert_eq!(places(&found), ["two"]);
    }

    #[test]
    fn unsafe_outside_the_audited_file_is_found() {
        let code = "//! A.\nfn f() { unsafe { g() } }";
        let tree = planted(&[
            ("audited.rs", code),
            ("other.rs", code),
            (
                "talks.rs",
                "//! unsafe\n#![deny(unsafe_code)]\nconst A: &str = \"unsafe\";",
            ),
        ]);
        assert_eq!(
            places(&unsafe_only_where_audited(&tree, &["audited.rs"])),
            ["other.rs"]
        );
    }

    #[test]
    fn a_file_that_is_too_large_is_found_and_a_large_one_is_mentioned() {
        let lines = |first: &str, count: usize| format!("{first}\n{}", "x;\n".repeat(count));
        let tests = format!(
            "//! A.\n#[cfg(test)]\nmod tests {{\n{}}}",
            "x;\n".repeat(2000)
        );
        let tree = planted(&[
            ("a_huge.rs", &lines("//! A.", 1000)),
            ("b_excused.rs", &lines("//! size: one table", 1000)),
            ("c_large.rs", &lines("//! A.", 600)),
            ("d_fine.rs", &lines("//! A.", 599)),
            ("e_tests.rs", &tests),
        ]);
        let found = sizes(&tree);
        assert_eq!(places(&found), ["a_huge.rs", "c_large.rs"]);
        assert_eq!(found[0].severity, Severity::Failure);
        assert_eq!(found[1].severity, Severity::Warning);
    }

    #[test]
    fn a_file_without_a_header_is_found() {
        let tree = planted(&[("a.rs", "//! A."), ("b.rs", "\n//! B."), ("c.rs", "")]);
        assert_eq!(places(&headers(&tree)), ["b.rs", "c.rs"]);
    }

    #[test]
    fn each_banned_word_is_found_in_code_and_not_in_text() {
        for (word, _) in BANNED {
            let planted_code =
                format!("//! A.\n// {word}\nfn f() {{ {word}); }}\nconst A: &str = \"{word}\";");
            let tree = planted(&[("a.rs", &planted_code)]);
            assert_eq!(places(&banned_words(&tree)), ["a.rs:3"], "{word}");
        }
    }
}
