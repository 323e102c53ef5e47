//! What `sed` prints, case by case.

use jp_bash_system::{Limit, Stop};

use crate::fixture::Fixture;

fn sed(stdin: &str, words: &[&str]) -> String {
    let ran = Fixture::default()
        .stdin(stdin.as_bytes())
        .file("f", b"one\ntwo\n")
        .run(super::run, words);
    format!("{}{}[{:?}]", ran.stdout, ran.stderr, ran.status)
}

#[test]
fn scripts_do_what_gnu_sed_does() {
    for (stdin, words, expected) in [
        ("a\nb\n", &["sed", "s/a/x/"][..], "x\nb\n[Ok(0)]"),
        ("hello\n", &["sed", "s/l*/X/g"], "XhXeXoX\n[Ok(0)]"),
        ("a\nb", &["sed", "p"], "a\na\nb\nb[Ok(0)]"),
        ("a\nb\nc\n", &["sed", "-n", "$!{2p}"], "b\n[Ok(0)]"),
        (
            "a\nb\nc\n",
            &["sed", ":a;N;$!ba;s/\\n/,/g"],
            "a,b,c\n[Ok(0)]",
        ),
        (
            "a\n",
            &["sed", "s/a"],
            "sed: -e expression #1, char 3: unterminated `s' command\n[Ok(1)]",
        ),
        ("ab\n", &["sed", "-E", "s/(a)(b)/\\2\\U\\1/"], "bA\n[Ok(0)]"),
        ("1\n2\n3\n", &["sed", "2q5"], "1\n2\n[Ok(5)]"),
    ] {
        assert_eq!(sed(stdin, words), expected, "{words:?}");
    }
}

#[test]
fn endless_loops_end_with_their_limit() {
    let mut fixture = Fixture::default().stdin(b"a\n");
    fixture.turns_left = Some(10_000);
    let ran = fixture.run(super::run, &["sed", ":a;ba"]);
    assert_eq!(ran.status, Err(Stop::Limit(Limit::Loops)));
    let mut fixture = Fixture::default().stdin(b"a\n");
    fixture.memory_left = Some(1 << 20);
    let ran = fixture.run(super::run, &["sed", ":a;s/a/aa/g;ta"]);
    assert_eq!(ran.status, Err(Stop::Limit(Limit::Memory)));
}
