//! Errors of libraries say what is wrong by their type: a `Result<_, String>` has thrown that away.

use super::Finding;
use super::code::{before_tests, is_word};
use super::tree::Tree;

/// The files that still have one: what a tool said is a text by the contract, and the rest is to be done.
/// A file that has none any more is taken off the list.
pub(super) const TEXTS: &[&str] = &[
    // What a tool said: a result, or why there is none.
    "crates/jp_llm/src/tool.rs",
    "crates/jp_llm/src/tool/execute.rs",
    "crates/jp_llm/src/tool/execute/delivery.rs",
    "crates/jp_tool_test/src/lib.rs",
    // To be done.
    "crates/jp_broker/src/http/wire.rs",
];

/// No library returns a text as its error.
pub(super) fn are_typed(tree: &Tree, but: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let sources = tree.rust().filter(|file| is_source(&file.path));
    for file in sources {
        let has_one = has_text_error(before_tests(file.code()));
        let is_listed = but.contains(&file.path.as_str());
        if has_one && !is_listed {
            let text = "`Result<_, String>`: give the error a type";
            findings.push(Finding::failure(&file.path, text));
        } else if is_listed && !has_one {
            let text = "has no `Result<_, String>` any more; take it off the list";
            findings.push(Finding::failure(&file.path, text));
        }
    }
    for path in but.iter().filter(|path| tree.file(path).is_none()) {
        findings.push(Finding::failure(path, "does not exist"));
    }
    findings
}

fn is_source(path: &str) -> bool {
    let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
    path.starts_with("crates/") && path.contains("/src/") && !is_test
}

/// Returns whether a `Result` anywhere in the code has `String` as its error.
fn has_text_error(code: &str) -> bool {
    code.match_indices("Result<").any(|(at, start)| {
        let is_whole = !code[..at].chars().next_back().is_some_and(is_word);
        is_whole && error_of(&code[at + start.len()..]) == Some("String")
    })
}

/// Returns the second argument of a generic type, given what follows its `<`.
fn error_of(arguments: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut comma = None;
    let mut before = ' ';
    for (at, c) in arguments.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            // The arrow of a function.
            '>' if before == '-' => {}
            '>' if depth == 0 => {
                return comma.map(|comma| arguments[comma..at].trim().trim_end_matches(',').trim());
            }
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 && comma.is_none() => comma = Some(at + 1),
            _ => {}
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tree::planted;
    use super::*;

    #[test]
    fn a_text_as_an_error_is_found_however_it_is_written() {
        for code in [
            "fn f() -> Result<(), String> {}",
            "fn f() -> std::result::Result<Vec<u8>, String> {}",
            "fn f() -> Result<Result<Map<String, Value>, String>, Stop> {}",
            "type Make = dyn Fn(u8) -> Result<Broker,\n    String,\n> + Send;",
            "made: OnceLock<Result<fn(u8, u8) -> u8, String>>,",
        ] {
            assert!(has_text_error(code), "{code}");
        }
        for code in [
            "fn f() -> Result<String, Error> {}",
            "fn f() -> Result<(u8, String), Error> {}",
            "fn f() -> Result<Map<String, String>, Error> {}",
            "fn f() -> io::Result<String> {}",
            "fn f() -> MyResult<(), String> {}",
        ] {
            assert!(!has_text_error(code), "{code}");
        }
    }

    #[test]
    fn the_list_is_strict_both_ways() {
        let bad = "//! A.\nfn f() -> Result<(), String> {}\n";
        let good = "//! A. `Result<(), String>`\n#[cfg(test)]\nmod tests {\nfn f() -> Result<(), String> {}\n}\n";
        let tree = planted(&[
            ("crates/a/src/bad.rs", bad),
            ("crates/a/src/listed.rs", bad),
            ("crates/a/src/good.rs", good),
            ("crates/a/src/done.rs", good),
            ("crates/a/src/more_tests.rs", bad),
            ("crates/a/tests/it.rs", bad),
        ]);
        let but = [
            "crates/a/src/listed.rs",
            "crates/a/src/done.rs",
            "crates/a/src/gone.rs",
        ];
        let found = are_typed(&tree, &but);
        let places: Vec<&str> = found.iter().map(|found| found.place.as_str()).collect();
        assert_eq!(
            places,
            [
                "crates/a/src/bad.rs",
                "crates/a/src/done.rs",
                "crates/a/src/gone.rs"
            ]
        );
    }
}
