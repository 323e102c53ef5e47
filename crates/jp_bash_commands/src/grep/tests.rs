//! What `grep` prints, case by case.

use crate::fixture::Fixture;

fn grep(stdin: &str, words: &[&str]) -> String {
    let ran = Fixture::default()
        .stdin(stdin.as_bytes())
        .file("f", b"one\ntwo\nthree\n")
        .file("d/g", b"two\n")
        .run(super::run, words);
    format!("{}{}[{:?}]", ran.stdout, ran.stderr, ran.status)
}

#[test]
fn lines_are_selected_and_shown_as_asked() {
    for (stdin, words, expected) in [
        ("a\nb\n", &["grep", "b"][..], "b\n[Ok(0)]"),
        ("a\nb", &["grep", "-n", "b"], "2:b\n[Ok(0)]"),
        ("a\nb\n", &["grep", "c"], "[Ok(1)]"),
        ("ab\nb\n", &["grep", "-ob", "b"], "1:b\n3:b\n[Ok(0)]"),
        ("a\nx\ny\na\n", &["grep", "-A0", "a"], "a\n--\na\n[Ok(0)]"),
        ("a\nx\na\n", &["grep", "-vc", "a"], "1\n[Ok(0)]"),
        ("", &["grep", "-c", "-f", "/dev/stdin", "f"], "[Ok(1)]"),
        ("foo foobar\n", &["grep", "-ow", "foo"], "foo\n[Ok(0)]"),
        (
            "",
            &["grep", "-r", "two", "d", "f"],
            "d/g:two\nf:two\n[Ok(0)]",
        ),
        (
            "",
            &["grep", "(", "-E", "f"],
            "grep: Unmatched ( or \\(\n[Ok(2)]",
        ),
        (
            "a\0b\n",
            &["grep", "b"],
            "grep: (standard input): binary file matches\n[Ok(0)]",
        ),
    ] {
        assert_eq!(grep(stdin, words), expected, "{words:?}");
    }
}
