//! Builds the modules and looks at their bytes: small, without imports, with the exports of the ABI.
//! That they run is for the tests of the runtime to show.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy.toml exempts test functions, not what they call"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jp_guest_build::{Artifact, Guest, build};
use jp_tool_brokered::ALL;

/// What a module may weigh: a fresh instance pays for it.
const MAX_SIZE: usize = 100 * 1024;

/// The module of all tools.
const JOINT: &str = "all_tools";

/// By these a host knows a placeholder.
const MARKERS: [&[u8]; 2] = [b"stub responses", b"\"stub\":true"];

const IMPORTS: u8 = 2;
const EXPORTS: u8 = 7;

/// Reads an unsigned number and returns what follows it.
fn number(bytes: &[u8]) -> (usize, &[u8]) {
    let len = bytes.iter().take_while(|byte| **byte >= 0x80).count() + 1;
    let (digits, rest) = bytes.split_at(len);
    let digits = digits.iter().rev();
    (
        digits.fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f)),
        rest,
    )
}

/// Splits a module into its sections.
fn sections(module: &[u8]) -> Vec<(u8, &[u8])> {
    let mut rest = module.strip_prefix(b"\0asm\x01\0\0\0").unwrap();
    let mut sections = Vec::new();
    while let Some((id, after)) = rest.split_first() {
        let (len, after) = number(after);
        let (body, after) = after.split_at(len);
        sections.push((*id, body));
        rest = after;
    }
    sections
}

/// Reads an export section: names, each with what kind of thing it is.
fn exports(body: &[u8]) -> BTreeSet<(String, u8)> {
    let (count, mut rest) = number(body);
    let mut exports = BTreeSet::new();
    for _ in 0..count {
        let (len, after) = number(rest);
        let (name, after) = after.split_at(len);
        let (kind, after) = after.split_first().unwrap();
        exports.insert((String::from_utf8(name.to_vec()).unwrap(), *kind));
        rest = number(after).1;
    }
    exports
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|part| part == needle)
}

/// Checks that a module speaks the ABI and returns its bytes.
fn speaks_the_abi(path: &Path, entrypoints: &[&str]) -> Vec<u8> {
    let module = fs::read(path).unwrap();
    let sections = sections(&module);
    assert!(
        !sections.iter().any(|(id, _)| *id == IMPORTS),
        "{} imports something",
        path.display()
    );
    let body = sections.iter().find(|(id, _)| *id == EXPORTS).unwrap().1;
    let exports = exports(body);
    let entrypoints = entrypoints.iter().map(|name| (*name, 0));
    let expected = [("memory", 2), ("alloc", 0), ("dealloc", 0)];
    for (name, kind) in expected.into_iter().chain(entrypoints) {
        let export = (name.to_owned(), kind);
        assert!(exports.contains(&export), "{}: {exports:?}", path.display());
    }
    module
}

/// Builds the modules of a package.
fn modules_of(package: &str) -> Vec<Artifact> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap();
    build(&root, &[Guest::modules(package)]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_tool_has_a_small_module_without_imports() {
    let artifacts = modules_of("jp_tool_brokered");
    let names: Vec<String> = artifacts.iter().map(|one| one.name.clone()).collect();
    let tools = ALL.iter().map(|tool| tool.artifact());
    let expected: Vec<String> = [JOINT.to_owned()].into_iter().chain(tools).collect();
    assert_eq!(names, expected);
    let by_name: Vec<&str> = ALL.iter().map(|tool| tool.name).collect();
    for artifact in &artifacts {
        let entrypoints = match artifact.name == JOINT {
            true => &by_name[..],
            false => &["execute"],
        };
        let module = speaks_the_abi(&artifact.path, entrypoints);
        println!("{:<22} {:>7} bytes", artifact.name, module.len());
        assert!(
            module.len() < MAX_SIZE,
            "{}: {}",
            artifact.name,
            module.len()
        );
        for marker in MARKERS {
            assert!(!contains(&module, marker), "{}", artifact.name);
        }
    }
}

#[test]
fn the_placeholder_speaks_the_abi_and_has_the_markers() {
    let artifacts = modules_of("jp_module_probes");
    let placeholder = artifacts
        .iter()
        .find(|one| one.name == "placeholder")
        .unwrap();
    let module = speaks_the_abi(&placeholder.path, &["execute"]);
    for marker in MARKERS {
        assert!(contains(&module, marker));
    }
}
