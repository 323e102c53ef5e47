//! What `jp audit show` says of records that are damaged, or that there are none of.

use std::{fs::OpenOptions, io::Write};

use crate::kit::Sandbox;

fn with_records() -> Sandbox {
    let sandbox = Sandbox::new("");
    for _ in 0..3 {
        sandbox.jp(&["tool", "run", "todo", "action=list"]).exits(0);
    }
    sandbox
}

#[test]
fn a_damaged_line_is_told_by_its_own_number_and_counts_as_no_record() {
    let sandbox = with_records();
    let rows = |words: &[&str]| {
        let shown = sandbox.jp(&[&["audit", "show"], words].concat()).exits(0);
        (shown.stdout.lines().count() - 1, shown)
    };
    let (all, _) = rows(&[]);
    let home = sandbox.path("home/.local/share/jp/audit/audit-00000001.jsonl");
    let mut log = OpenOptions::new().append(true).open(home).unwrap();
    log.write_all(b"foo\n").unwrap();
    let wanted = format!("line {} of", all + 1);
    for words in [&["--last", "3"][..], &["--last", "3", "--tool", "todo"]] {
        let (count, shown) = rows(words);
        assert_eq!(count, 3, "{shown:?}");
        shown.warns(&wanted);
    }
}

#[test]
fn records_that_do_not_match_are_not_reported_as_none_at_all() {
    let sandbox = Sandbox::new("");
    let none = sandbox.jp(&["audit", "show", "--tool", "todo"]).exits(0);
    none.warns("There are no records yet.");
    let sandbox = with_records();
    let none = sandbox
        .jp(&["audit", "show", "--tool", "no\nsuch"])
        .exits(0);
    assert_eq!(none.stderr, "No records of tool `no\\nsuch`.\n");
    let none = sandbox.jp(&["audit", "show", "--last", "0"]).exits(0);
    assert_eq!(none.stderr, "`--last 0` shows no records.\n");
}
