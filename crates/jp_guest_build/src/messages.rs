//! Finds Wasm files in cargo's JSON messages.
//!
//! Not a JSON parser: cargo is trusted here, writes one message per line, and only two fields are
//! wanted. Listing the directory instead would find files of examples deleted long ago.

use std::path::PathBuf;

use crate::Artifact;

/// Returns the `.wasm` files that `package` made, from cargo's messages.
pub(crate) fn artifacts(messages: &str, package: &str) -> Vec<Artifact> {
    let mut artifacts = Vec::new();
    for line in messages
        .lines()
        .filter(|line| line.contains(r#""reason":"compiler-artifact""#))
    {
        let made_by_package = strings_after(line, r#""package_id":"#)
            .first()
            .is_some_and(|id| package_name(id) == Some(package));
        if !made_by_package {
            continue;
        }
        for file in strings_after(line, r#""filenames":["#) {
            let path = PathBuf::from(file);
            let is_wasm = path
                .extension()
                .is_some_and(|extension| extension == "wasm");
            let name = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned());
            if let (true, Some(name)) = (is_wasm, name) {
                artifacts.push(Artifact {
                    package: package.to_owned(),
                    name,
                    path,
                });
            }
        }
    }
    artifacts
}

/// Takes the name out of `path+file:///dir/name#0.1.0` or `path+file:///dir#name@0.1.0`.
fn package_name(id: &str) -> Option<&str> {
    let (url, fragment) = id.rsplit_once('#')?;
    match fragment.split_once('@') {
        Some((name, _)) => Some(name),
        None => url.rsplit('/').next(),
    }
}

/// Reads the JSON strings that follow `key`, up to the first thing that is neither string nor comma.
fn strings_after(line: &str, key: &str) -> Vec<String> {
    let Some((_, rest)) = line.split_once(key) else {
        return Vec::new();
    };
    let mut strings = Vec::new();
    let mut chars = rest.chars();
    while let Some('"' | ',') = chars.clone().next() {
        if chars.next() == Some(',') {
            continue;
        }
        let mut text = String::new();
        while let Some(char) = chars.next() {
            match char {
                '"' => break,
                '\\' => text.extend(unescape(&mut chars)),
                other => text.push(other),
            }
        }
        strings.push(text);
    }
    strings
}

fn unescape(chars: &mut std::str::Chars<'_>) -> Option<char> {
    match chars.next()? {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'u' => {
            let digits: String = chars.take(4).collect();
            u32::from_str_radix(&digits, 16)
                .ok()
                .and_then(char::from_u32)
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wasm_files_of_the_package_itself_are_artifacts() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","package_id":"path+file:///ws/crates/dep#0.1.0","filenames":["/t/dep.wasm"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"path+file:///ws/crates/tool#0.1.0","target":{"name":"tool"},"filenames":["/t/my \"tool\".wasm","/t/libtool.rlib"],"executable":null}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let found = artifacts(messages, "tool");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "my \"tool\"");
        assert_eq!(found[0].path, PathBuf::from("/t/my \"tool\".wasm"));
    }

    #[test]
    fn a_package_id_names_the_package_or_its_directory() {
        assert_eq!(
            package_name("path+file:///ws/jp_tool#0.1.0"),
            Some("jp_tool")
        );
        assert_eq!(
            package_name("path+file:///ws/probes#jp_probes@0.1.0"),
            Some("jp_probes")
        );
        assert_eq!(package_name("nonsense"), None);
    }
}
