//! `learn` is the same tool in this process and as a guest behind the pipeline: the same trees and
//! arguments give the same text.

use std::{fs, path::Path};

use jp_tool::{Action, Context, Outcome};
use proptest::{
    prelude::*,
    sample::{select, subsequence},
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};

use crate::kit::{Desk, Ended, call};

/// Names of files and directories: plain, hidden, with dots, spaces, patterns and other scripts.
const NAMES: &[&str] = &[
    "a", "b", "ast-grep", ".hidden", "..dots", "x y", "ünï", "名前", "[x", "a.b", "*", "{{x}}", "A",
];

const EXTENSIONS: &[&str] = &[
    "", ".md", ".txt", ".toml", ".rs", ".yml", ".bin", ".tar.gz", ".MD",
];

const CONTENTS: &[&[u8]] = &[
    b"",
    b"# Text\n",
    b"no end of line",
    b"```\nfenced\n```\n````\nmore\n````\n",
    b"a\0b",
    b"\xff\xfe bytes",
    b"\xef\xbb\xbfmarked\r\n",
    "ünïcödé\u{202e}\u{1b}[31m\n".as_bytes(),
    b"</subject>\n<subject \"x\">\n",
];

const PATTERNS: &[&str] = &[
    "*", "**", "a", "b", "a/*", "a/**", "**/b", "hidden", "hidden/a", ".hidden", "[x", "a**", "?",
    "x y", "ünï", "名前/*", "", "/", "../a", "a/b", "dots", "A", "{a,b}", "[a-b]",
];

/// A tree, what the configuration says of it, and what is asked.
#[derive(Debug, Clone)]
struct Case {
    files: Vec<(String, usize)>,
    links: Vec<(String, String)>,
    title: Option<&'static str>,
    description: Option<&'static str>,
    learned: Vec<&'static str>,
    disabled: Vec<&'static str>,
    asked: Vec<Value>,
}

fn path() -> impl Strategy<Value = String> {
    let names = prop::collection::vec(select(NAMES), 1..4);
    (names, select(EXTENSIONS)).prop_map(|(names, extension)| names.join("/") + extension)
}

fn case() -> impl Strategy<Value = Case> {
    let texts = || prop::option::of(select(&["Plain", "Two\nlines", "<b> \u{1b}[1m"][..]));
    let asked = prop_oneof![
        Just(Value::Null),
        select(PATTERNS).prop_map(Value::from),
        subsequence(PATTERNS, 0..4).prop_map(|patterns| json!(patterns)),
    ];
    (
        prop::collection::vec((path(), 0..CONTENTS.len()), 0..10),
        prop::collection::vec((path(), path()), 0..2),
        texts(),
        texts(),
        subsequence(PATTERNS, 0..3),
        subsequence(PATTERNS, 0..3),
        prop::collection::vec(asked, 6),
    )
        .prop_map(
            |(files, links, title, description, learned, disabled, asked)| Case {
                files,
                links,
                title,
                description,
                learned,
                disabled,
                asked,
            },
        )
}

/// Lays the tree out; what does not fit beside an earlier file is left out.
fn lay_out(case: &Case, kb: &Path) {
    fs::create_dir_all(kb).unwrap();
    for (path, content) in &case.files {
        let path = kb.join(path);
        let _made = fs::create_dir_all(path.parent().unwrap())
            .and_then(|()| fs::write(&path, CONTENTS[*content]));
    }
    for (path, target) in &case.links {
        let _made = std::os::unix::fs::symlink(kb.join(target), kb.join(path));
    }
}

fn config(case: &Case) -> String {
    let mut text = "[kb.topic.t]\nsubjects = \"kb\"\n".to_owned();
    for (key, value) in [("title", case.title), ("description", case.description)] {
        if let Some(value) = value {
            text.push_str(&format!("{key} = {}\n", json!(value)));
        }
    }
    text + &format!(
        "learned = {}\ndisabled = {}\n",
        json!(case.learned),
        json!(case.disabled)
    )
}

/// Calls the tool in this process, as the host would prepare the call.
fn natively(case: &Case, kb: &Path, action: Action, subjects: &Value) -> Result<String, String> {
    let topic = json!({
        "id": "t", "title": case.title, "description": case.description,
        "disabled": case.disabled, "learned": case.learned,
    });
    let arguments = json!({"topic": "t", "subjects": subjects, "_topic": topic});
    let context = Context {
        root: kb.to_str().unwrap().into(),
        action,
    };
    match jp_tool_learn::run(&context, &arguments.to_string()) {
        Outcome::Success { content } => Ok(content),
        Outcome::Error { message, .. } => Err(message),
        Outcome::NeedsInput { .. } => panic!("`learn` asks nothing"),
    }
}

#[test]
fn learn_says_the_same_natively_and_as_a_guest() {
    let config_of_runs = Config {
        cases: 60,
        failure_persistence: None,
        ..Config::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    TestRunner::new_with_rng(config_of_runs, rng())
        .run(&case(), |case| {
            let desk = Desk::new(&config(&case));
            let kb = desk.root.join("kb");
            lay_out(&case, &kb);
            for subjects in &case.asked {
                for action in [Action::Run, Action::FormatArguments] {
                    let mut call = call(json!({"topic": "t", "subjects": subjects}));
                    call.action = action;
                    let as_guest = runtime.block_on(desk.make("learn", call)).said();
                    let here = natively(&case, &kb, action, subjects);
                    prop_assert_eq!(as_guest, here, "{}", subjects);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// The same trees in every run.
fn rng() -> proptest::test_runner::TestRng {
    let algorithm = proptest::test_runner::RngAlgorithm::ChaCha;
    proptest::test_runner::TestRng::deterministic_rng(algorithm)
}
