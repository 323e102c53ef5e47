//! Directories made to harm: odd content, sizes, names and depths.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::{Path, PathBuf},
};

use insta::assert_snapshot;
use jp_tool::Action;

use super::{lay_out, load, run_in, strings};
use crate::{limits::MAX_SUBJECT_BYTES, scan};

pub(super) fn list(dir: &Path) -> String {
    run_in(dir, Action::Run, r#"{"topic": "t"}"#)
}

pub(super) fn ask(dir: &Path, subjects: &str) -> String {
    run_in(
        dir,
        Action::Run,
        &format!(r#"{{"topic": "t", "subjects": {subjects}}}"#),
    )
}

#[test]
fn binary_files_are_skipped_and_said_to_be() {
    assert_snapshot!(load(&[("a.png", "\u{0}PNG"), ("b.md", "B\n")], r#""*""#), @r#"
        <subject "b">
        B
        </subject>

        Note: `a` was skipped: binary file.
        "#);
    assert_snapshot!(load(&[("a.png", "\u{0}PNG")], r#""a""#), @"Note: `a` was skipped: binary file.");
    // Only the first 8192 bytes decide.
    let late = format!("{}\0", "x".repeat(8192));
    assert_eq!(load(&[("a.txt", &late)], r#""a""#), late);
    let early = format!("{}\0", "x".repeat(8191));
    assert!(load(&[("a.txt", &early)], r#""a""#).contains("binary file"));
}

#[test]
fn invalid_utf8_is_replaced_and_said_to_be() {
    let dir = lay_out(&[]);
    fs::write(dir.path().join("latin.txt"), b"caf\xe9\n").unwrap();
    assert_snapshot!(ask(dir.path(), r#""latin""#), @r#"
        caf�

        Note: `latin`: invalid UTF-8 was replaced.
        "#);
}

#[test]
fn a_huge_file_is_skipped_with_its_size() {
    let dir = lay_out(&[("small.md", "small\n")]);
    let huge = fs::File::create(dir.path().join("huge.md")).unwrap();
    huge.set_len(MAX_SUBJECT_BYTES + 1).unwrap();
    assert_snapshot!(ask(dir.path(), r#""*""#), @r#"
        <subject "small">
        small
        </subject>

        Note: `huge` was skipped: too large (8388609 bytes, at most 8 MiB).
        "#);
}

#[test]
fn one_call_gives_a_bounded_amount() {
    let dir = lay_out(&[]);
    let big = "x".repeat(usize::try_from(MAX_SUBJECT_BYTES).unwrap());
    for n in 0..6 {
        fs::write(dir.path().join(format!("{n}.md")), &big).unwrap();
    }
    let text = ask(dir.path(), r#""*""#);
    assert_eq!(text.matches("<subject").count(), 4);
    let note = "Note: 2 more subjects were not loaded: one call gives at most 32 MiB.";
    assert!(text.lines().last().unwrap().starts_with(note));
}

#[test]
fn a_file_that_vanishes_is_a_note() {
    let dir = lay_out(&[("a.md", "a"), ("b.md", "b")]);
    let found = scan(dir.path(), &[], &strings(&["*"])).unwrap();
    fs::remove_file(dir.path().join("a.md")).unwrap();
    let preloaded = found.load_learned(1000);
    assert_eq!(preloaded.notes, ["`a` was skipped: not found"]);
    assert_eq!(preloaded.subjects.len(), 1);
}

#[test]
fn strange_names_cannot_forge_lines() {
    let tree = [
        ("a\n- forged.md", "x"),
        ("esc\u{1b}[2J.md", "y"),
        ("rtl\u{202e}.md", "z"),
    ];
    let dir = lay_out(&tree);
    fs::write(dir.path().join(OsStr::from_bytes(b"bad\xff.md")), "bad").unwrap();
    assert_snapshot!(list(dir.path()), @r#"
        # Topic: t

        ## Available subjects:

        - a\n- forged
        - esc\u{1b}[2J
        - rtl\u{202e}

        Use the `learn` tool with the `subjects` argument to learn specific subjects.

        ## Left out:

        - `bad�.md`: the name is not valid UTF-8
        "#);
    // Both the real name and the name as it is listed are understood.
    assert_eq!(ask(dir.path(), r#""a\n- forged""#), "x");
    assert_eq!(ask(dir.path(), r#""a\\n- forged""#), "x");
    assert_snapshot!(ask(dir.path(), r#"["esc*", "rtl*"]"#), @r#"
        <subject "esc\u{1b}[2J">
        y
        </subject>

        <subject "rtl\u{202e}">
        z
        </subject>

        Note: left out: `bad�.md`: the name is not valid UTF-8.
        "#);
}

#[test]
fn a_missing_topic_directory_is_an_error_without_its_path() {
    let dir = lay_out(&[("file", "")]);
    assert_snapshot!(list(&dir.path().join("missing")), @"error: Topic `t`: the topic directory cannot be read: not found");
    assert_snapshot!(list(&dir.path().join("file")), @"error: Topic `t`: the topic directory cannot be read: not a directory");
}

#[test]
fn remarks_are_counted_when_there_are_many() {
    let dir = lay_out(&[]);
    for n in 0..30 {
        symlink("missing", dir.path().join(format!("l{n:02}"))).unwrap();
    }
    let text = list(dir.path());
    assert_eq!(text.matches("a link that leads").count(), 20);
    assert!(text.ends_with("\n- and 10 more"), "{text}");
}

/// Makes nested directories from the inside out, since the whole path may be longer than the system
/// takes at once.
fn dig(start: &Path, name: &str, depth: usize) {
    let (outer, inner) = (start.join("outer"), start.join(name));
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("end.md"), "deep\n").unwrap();
    for _ in 1..depth {
        fs::create_dir(&outer).unwrap();
        fs::rename(&inner, outer.join(name)).unwrap();
        fs::rename(&outer, &inner).unwrap();
    }
}

#[test]
fn deep_directories_are_walked_without_recursion() {
    let dir = lay_out(&[]);
    dig(dir.path(), "d", 1000);
    assert_eq!(ask(dir.path(), r#""**/end""#).lines().nth(1), Some("deep"));
}

#[test]
fn a_path_too_long_for_the_system_is_a_note() {
    let dir = lay_out(&[("a.md", "a")]);
    dig(dir.path(), &"d".repeat(200), 300);
    let text = list(dir.path());
    assert!(
        text.contains("- a\n") && text.contains("dd…`: the path is too long"),
        "{text}"
    );
}

#[test]
fn a_hundred_thousand_files_are_listed() {
    let dir = lay_out(&[]);
    for n in 0..100_000 {
        fs::File::create(dir.path().join(n.to_string())).unwrap();
    }
    let text = list(dir.path());
    assert_eq!(
        text.lines().filter(|line| line.starts_with("- ")).count(),
        100_000
    );
}

#[test]
fn too_many_entries_are_an_error_not_a_cut() {
    let dir = lay_out(&[]);
    let mut below = PathBuf::from(dir.path());
    for _ in 0..15 {
        below.push("d".repeat(250));
    }
    fs::create_dir_all(&below).unwrap();
    // 9000 paths of 3.8 KB are more than 32 MiB.
    for n in 0..9000 {
        fs::File::create(below.join(n.to_string())).unwrap();
    }
    assert_snapshot!(list(dir.path()), @"error: Topic `t`: the topic directory is too large (at most 200000 entries, 32 MiB of paths)");
}

#[test]
fn patterns_that_would_take_too_long_are_refused() {
    let tree: Vec<String> = (0..100)
        .map(|n| format!("{}{n}.md", "a".repeat(200)))
        .collect();
    let tree: Vec<(&str, &str)> = tree.iter().map(|path| (path.as_str(), "")).collect();
    let patterns = vec![format!("\"{}\"", "*a".repeat(500)); 250].join(",");
    assert_snapshot!(load(&tree, &format!("[{patterns}]")), @"error: Topic `t`: too many or too long patterns for the subjects of this topic; use fewer");
}
