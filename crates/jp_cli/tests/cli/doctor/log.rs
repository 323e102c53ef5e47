//! What `jp doctor` says about an audit log that somebody has had their hands on.

use std::{fs, path::PathBuf};

use serde_json::json;

use super::{doctor, fix_of, follow, jp};
use crate::kit::Sandbox;

/// Makes a log of five calls, and returns its newest file.
fn logged(sandbox: &Sandbox) -> PathBuf {
    for _ in 0..5 {
        jp(sandbox, &["tool", "run", "todo", "action=list"]).exits(0);
    }
    let dir = sandbox.path("home/.local/share/jp/audit");
    let files = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut logs: Vec<PathBuf> = files
        .filter(|path| fs::read(path).unwrap().starts_with(b"{\""))
        .collect();
    logs.sort();
    logs.pop().unwrap()
}

#[test]
fn a_log_that_was_cut_forged_or_robbed_is_an_error_until_it_is_out_of_the_way() {
    let cut = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        lines[..lines.len() - 2].join("\n") + "\n"
    };
    let forged = |text: &str| text.replacen("\"success\"", "\"denied\"", 1);
    let robbed = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        [&lines[..1], &lines[2..]].concat().join("\n") + "\n"
    };
    let garbage = |text: &str| format!("{text}not a record\n");
    type Attack<'a> = &'a dyn Fn(&str) -> String;
    let attacks: [(Attack<'_>, &str); 4] = [
        (&cut, "the end was cut off"),
        (&forged, "this record was changed or is a forgery"),
        (&robbed, "missing before record"),
        (&garbage, "this line is not a record"),
    ];
    for (attack, words) in attacks {
        let sandbox = Sandbox::new("");
        let file = logged(&sandbox);
        assert_eq!(doctor(&sandbox, &[])["findings"], json!([]), "{words}");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, attack(&text)).unwrap();
        let found = doctor(&sandbox, &[]);
        let fix = fix_of(&found, "error", "audit log", words);
        jp(&sandbox, &["audit", "verify"]).exits(1);
        follow(&sandbox, &fix);
        assert_eq!(doctor(&sandbox, &[])["findings"], json!([]), "{words}");
        assert!(
            sandbox.path("home/.local/share/jp/audit.old").is_dir(),
            "{words}"
        );
        jp(&sandbox, &["tool", "run", "todo", "action=list"]).exits(0);
        jp(&sandbox, &["audit", "verify"]).exits(0);
    }
}

#[test]
fn half_a_record_after_a_crash_is_a_warning_that_the_next_call_ends() {
    let sandbox = Sandbox::new("");
    let file = logged(&sandbox);
    let text = fs::read_to_string(&file).unwrap();
    let last = text.lines().next_back().unwrap();
    fs::write(&file, format!("{text}{}", &last[..last.len() / 2])).unwrap();
    let found = doctor(&sandbox, &[]);
    follow(
        &sandbox,
        &fix_of(
            &found,
            "warning",
            "audit log",
            "the last line is unfinished",
        ),
    );
    assert_eq!(doctor(&sandbox, &[])["findings"], json!([]));
    jp(&sandbox, &["audit", "verify"]).exits(0);
}

#[test]
fn a_log_without_its_key_or_head_is_an_error() {
    for name in ["key", "head"] {
        let sandbox = Sandbox::new("");
        let dir = logged(&sandbox).parent().unwrap().to_owned();
        let files = fs::read_dir(&dir)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let ours: Vec<PathBuf> = files
            .filter(|path| path.file_name().unwrap().to_str().unwrap().contains(name))
            .collect();
        assert_eq!(ours.len(), 1, "{name}: {ours:?}");
        fs::remove_file(&ours[0]).unwrap();
        let found = doctor(&sandbox, &[]);
        let fix = fix_of(&found, "error", "audit log", &format!("the {name}"));
        follow(&sandbox, &fix);
        assert_eq!(doctor(&sandbox, &[])["findings"], json!([]), "{name}");
    }
}
