//! What three crates need exists once: text of strangers in `jp_text`, files on disk in `jp_disk`.
//! A second copy of a security table is a defect, so it is found here.

use std::collections::BTreeSet;

use super::Finding;
use super::code::{before_tests, has_word};
use super::tree::{File, Tree};

/// A file that spells more hidden characters than this holds a table of them. Fewer are a format's own: a
/// byte order mark, or what `wc` takes for a space.
const FEW: usize = 3;

/// What only `jp_disk` may say, and what to use instead.
const DISK: &[(&str, &str)] = &[
    ("struct Sha256", "use jp_disk::Sha256"),
    ("NamedTempFile", "use jp_disk::Temporary"),
    ("tempfile_in(", "use jp_disk::Temporary"),
    (".persist(", "use jp_disk::Disk::replace"),
    (".persist_noclobber(", "use jp_disk::create_private"),
    ("OFlags::TMPFILE", "use jp_disk::Temporary"),
    ("fn write_atomic", "use jp_disk::Disk::replace"),
    ("fn atomic_write", "use jp_disk::Disk::replace"),
];

/// There is one table of hidden characters.
pub(super) fn one_table_of_hidden_characters(tree: &Tree) -> Vec<Finding> {
    sources(tree, "crates/jp_text/")
        .filter(|file| hidden(before_tests(&file.text)).len() > FEW)
        .map(|file| {
            let text = "holds a table of hidden characters; use jp_text::is_hidden";
            Finding::failure(&file.path, text)
        })
        .collect()
}

/// There is one way to replace, lock and name files.
pub(super) fn one_way_to_write_files(tree: &Tree, audited: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources(tree, "crates/jp_disk/") {
        let code = before_tests(file.code());
        for (word, instead) in DISK.iter().filter(|(word, _)| code.contains(word)) {
            findings.push(Finding::failure(&file.path, format!("`{word}`: {instead}")));
        }
        // Whoever waits for the bytes of a file and then renames it replaces it whole.
        let replaces = code.contains("fs::rename(") && has_word(code, "sync_all");
        if replaces && !audited.contains(&file.path.as_str()) {
            let text = "writes a file and renames it; use jp_disk::Disk::replace";
            findings.push(Finding::failure(&file.path, text));
        }
    }
    for path in audited.iter().filter(|path| tree.file(path).is_none()) {
        findings.push(Finding::failure(path, "does not exist"));
    }
    findings
}

/// Returns the sources of our crates but those of one; tests may do what they test.
fn sources<'t>(tree: &'t Tree, but: &'static str) -> impl Iterator<Item = &'t File> {
    let is_source = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    let is_test = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/");
    tree.rust().filter(move |file| {
        let path = file.path.as_str();
        is_source(path) && !is_test(path) && !path.starts_with(but)
    })
}

/// Returns the hidden characters that a source spells as character literals, comments apart.
fn hidden(source: &str) -> BTreeSet<char> {
    let lines = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let literals = lines.flat_map(|line| line.split("'\\u{").skip(1));
    literals
        .filter_map(|rest| {
            let (code, _) = rest.split_once("}'")?;
            char::from_u32(u32::from_str_radix(code, 16).ok()?)
        })
        .filter(|c| !c.is_ascii() && jp_text::is_hidden(*c))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree::planted;
    use super::*;

    fn places(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|found| found.place.as_str()).collect()
    }

    #[test]
    fn a_second_table_of_hidden_characters_is_found() {
        let table = r"//! A.
fn is_odd(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}
";
        let mark =
            "//! A.\nconst BOM: char = '\\u{feff}'; // '\\u{200b}' '\\u{200c}' '\\u{200d}'\n";
        let tests = format!("//! A.\n#[cfg(test)]\nmod tests {{\n{table}}}\n");
        let tree = planted(&[
            ("crates/a/src/lib.rs", table),
            ("crates/a/src/more_tests.rs", table),
            ("crates/a/src/tests.rs", table),
            ("crates/a/src/tested.rs", &tests),
            ("crates/a/tests/it.rs", table),
            ("crates/b/src/mark.rs", mark),
            ("crates/jp_text/src/table.rs", table),
        ]);
        let found = one_table_of_hidden_characters(&tree);
        assert_eq!(places(&found), ["crates/a/src/lib.rs"]);
    }

    #[test]
    fn each_second_way_to_write_files_is_found() {
        for (word, _) in DISK {
            let code = format!("//! {word}\nfn f() {{ let _ = \"{word}\"; }}\n{word}\n");
            let only_talks = code.replace(&format!("\n{word}\n"), "\n");
            let tree = planted(&[
                ("crates/a/src/lib.rs", &code),
                ("crates/a/src/talks.rs", &only_talks),
                ("crates/a/src/lib_tests.rs", &code),
                ("crates/jp_disk/src/lib.rs", &code),
            ]);
            let found = one_way_to_write_files(&tree, &[]);
            assert_eq!(places(&found), ["crates/a/src/lib.rs"], "{word}");
        }
        let code = "//! A.\nfn f() { file.sync_all()?; fs::rename(a, b) }\n";
        let tree = planted(&[
            ("crates/a/src/lib.rs", code),
            ("crates/a/src/audited.rs", code),
            (
                "crates/a/src/moves.rs",
                "//! A.\nfn f() { fs::rename(a, b) }\n",
            ),
        ]);
        let audited = ["crates/a/src/audited.rs", "crates/a/src/gone.rs"];
        assert_eq!(
            places(&one_way_to_write_files(&tree, &audited)),
            ["crates/a/src/lib.rs", "crates/a/src/gone.rs"]
        );
    }
}
