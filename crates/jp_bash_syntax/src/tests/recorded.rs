//! The recorded cases about syntax: what bash accepted is accepted, what it refused is refused in its words.

use super::parse;
use crate::names::Names;

const FILES: [(&str, &str); 6] = [
    (
        "compound",
        include_str!("../../../jp_bash/cases/syntax-compound.txt"),
    ),
    (
        "errors",
        include_str!("../../../jp_bash/cases/syntax-errors.txt"),
    ),
    (
        "functions",
        include_str!("../../../jp_bash/cases/syntax-functions.txt"),
    ),
    (
        "here-docs",
        include_str!("../../../jp_bash/cases/syntax-here-docs.txt"),
    ),
    (
        "quoting",
        include_str!("../../../jp_bash/cases/syntax-quoting.txt"),
    ),
    (
        "words",
        include_str!("../../../jp_bash/cases/syntax-words.txt"),
    ),
];

/// Returns the lines that bash printed about the script itself.
fn recorded_errors(rest: &str) -> Vec<String> {
    let stderr = rest.split("#--- stderr\n").nth(1).unwrap_or_default();
    let lines = stderr.lines().take_while(|line| !line.starts_with("#--- "));
    let lines = lines.filter_map(|line| line.strip_prefix("../script: line "));
    // What `eval`, `source` and backticks report is no error of the script.
    let own = |line: &&str| {
        !line.contains("warning: ") && !line.contains(": eval: ") && !line.contains("command not")
    };
    lines.filter(own).map(str::to_owned).collect()
}

#[test]
fn scripts_are_accepted_and_refused_as_by_bash() {
    let mut wrong = Vec::new();
    for (file, text) in FILES {
        for case in text.split("### ").skip(1) {
            let (name, rest) = case.split_once('\n').unwrap();
            let (script, rest) = rest.split_once("#--- stdout\n").unwrap();
            let mut names = Names::default();
            // Aliases and options that the script itself sets are not known here.
            if script.contains("alias ") || script.contains("shopt ") {
                continue;
            }
            let got = match parse(script.as_bytes(), &mut names) {
                Ok(_) => Vec::new(),
                Err(error) => error
                    .messages
                    .iter()
                    .map(|(line, text)| format!("{line}: {}", String::from_utf8_lossy(text)))
                    .collect(),
            };
            let failed =
                rest.contains("#--- exit 2\n") || (file == "errors" && name.contains(" array"));
            if failed && file != "errors" {
                assert!(!got.is_empty(), "{name} should be refused");
                continue;
            }
            let want = if failed {
                recorded_errors(rest)
            } else {
                Vec::new()
            };
            if got != want {
                wrong.push(format!("{file}: {name}\n  got {got:?}\n want {want:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_print_as_by_bash() {
    let mut wrong = Vec::new();
    let (_, text) = FILES[2];
    for case in text.split("### declare f").skip(1) {
        let (name, rest) = case.split_once('\n').unwrap();
        let (script, rest) = rest.split_once("#--- stdout\n").unwrap();
        let want = rest.split("#--- exit").next().unwrap();
        let mut names = Names::default();
        let list = parse(script.as_bytes(), &mut names).unwrap();
        let kind = &list.first().unwrap().first.commands.first().unwrap().kind;
        let crate::ast::CommandKind::Function(function) = kind else {
            panic!("{name} defines no function");
        };
        let got = crate::print::print_function(function, &names);
        let got = String::from_utf8(got).unwrap();
        if got != want {
            wrong.push(format!("{name}\n{got}{want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
