//! Hostile scripts: nothing overflows the stack, hangs or panics.

use proptest::prelude::*;

use super::{parse, parse_with};
use crate::ast::CommandKind;
use crate::error::SyntaxErrorKind;
use crate::names::Names;
use crate::parser::{Asked, ParseOptions, Parser, Patience};
use crate::print::print_command;
use crate::text::{parse_arith, parse_quoted_text};

const OPENINGS: [&str; 40] = [
    "if true; then ",
    "{ ",
    "(",
    "( ",
    "$(",
    "${a:-",
    "[[ ( ",
    "((((",
    "{{{{",
    "$((((",
    "echo \"$(",
    "`",
    "\"",
    "a[$(a[",
    "${a[",
    "a=(",
    "while ",
    "case x in x) ",
    "! ",
    "<(",
    "f() { ",
    "coproc { ",
    "x=$((a[",
    "@(",
    "[[ ! ",
    "{a,",
    "function f { ",
    "until ",
    "for x in a; do ",
    "select x in a; do ",
    "for ((;;)) do ",
    "echo ${a/${b/",
    "\"${x:-\"",
    "[[ a =~ (",
    "((a[(",
    "$[",
    "cat <<E $(",
    "if (",
    "$((1?",
    "[[ a && ",
];

const PAIRS: [(&str, &str); 12] = [
    ("if true; then ", ":; fi; "),
    ("{ ", ":; }; "),
    ("( ", ": ); "),
    ("$(", ")"),
    ("${a:-", "}"),
    ("$((a[", "]))"),
    ("f() { ", ":; }; "),
    ("case x in x) ", ":;; esac; "),
    ("${a[", "]}"),
    ("{a,", "}"),
    ("echo <( ", " )"),
    ("$((1+(", ")))"),
];

fn in_small_thread(run: fn()) {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(run).unwrap().join().unwrap();
}

#[test]
fn endless_nesting_is_an_error_within_2_mib_of_stack() {
    in_small_thread(|| {
        for opening in OPENINGS {
            let script = opening.repeat(100_000);
            let _ = parse(script.as_bytes(), &mut Names::default());
        }
    });
}

#[test]
fn what_is_accepted_can_be_printed_and_dropped() {
    in_small_thread(|| {
        for (open, close) in PAIRS {
            for depth in [10, 50, 60, 70, 80, 100, 120, 140, 170, 240, 400, 499] {
                let script = open.repeat(depth) + &close.repeat(depth);
                let mut names = Names::default();
                if let Ok(list) = parse(script.as_bytes(), &mut names) {
                    for item in &list {
                        for command in &item.first.commands {
                            print_command(command, &names);
                        }
                    }
                } else {
                    assert!(depth >= 50, "{open:?} nests {depth} deep");
                }
            }
        }
    });
}

#[test]
fn nesting_within_the_limit_is_fine_and_beyond_says_so() {
    let script = |depth: usize| "{ ".repeat(depth) + &":; }; ".repeat(depth);
    let names = &mut Names::default();
    assert!(parse(script(90).as_bytes(), names).is_ok());
    let error = parse(script(600).as_bytes(), names).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::Limit);
}

#[test]
fn many_here_documents_on_one_line() {
    let mut script = "cat".to_owned();
    for number in 0..3000 {
        script += &format!(" <<E{number}");
    }
    for number in 0..3000 {
        script += &format!("\n{number}\nE{number}");
    }
    let list = parse(script.as_bytes(), &mut Names::default()).unwrap();
    let command = &list[0].first.commands[0];
    assert!(matches!(command.kind, CommandKind::Simple(_)));
    assert_eq!(command.redirects.len(), 3000);
}

#[test]
fn refuted_arithmetic_is_not_read_again_at_each_level() {
    // Each `((` looks like arithmetic until its end.
    let depth = 40;
    let script = "((".repeat(depth) + &" echo a;".repeat(20_000) + &" ) )".repeat(depth);
    let _ = parse(script.as_bytes(), &mut Names::default());
    let script = "a[$(".repeat(depth) + &")]".repeat(depth);
    let _ = parse(script.as_bytes(), &mut Names::default());
    let script = "${a[".repeat(depth) + &"]}".repeat(depth);
    assert!(parse(script.as_bytes(), &mut Names::default()).is_ok());
}

#[test]
fn aliases_that_double_are_stopped() {
    let aliases = |name: &[u8]| -> Option<std::sync::Arc<[u8]>> {
        let level = name.strip_prefix(b"x")?.len();
        let next = "x".repeat(level + 2);
        Some(format!("{next}; {next} ").into_bytes().into())
    };
    let mut parser = Parser::new(b"x", ParseOptions::default());
    let error = parser.next(&mut Names::default(), &aliases).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::Limit);
}

#[test]
fn a_line_of_very_many_commands_is_refused() {
    let error = parse("a;".repeat(600_000).as_bytes(), &mut Names::default()).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::Memory);
    assert!(parse("a\n".repeat(100_000).as_bytes(), &mut Names::default()).is_ok());
}

#[test]
fn reading_ends_when_no_time_is_left() {
    struct Hurried;
    impl Patience for Hurried {
        fn goes_on(&self) -> bool {
            false
        }
    }
    let options = ParseOptions {
        asked: Asked(Some(std::rc::Rc::new(Hurried))),
        ..ParseOptions::default()
    };
    let names = &mut Names::default();
    assert!(parse_with(b"echo hello world", names, options.clone()).is_ok());
    let long = "a ".repeat(2000);
    let error = parse_with(long.as_bytes(), names, options.clone()).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::Limit);
    let sum = format!("{}1", "1+".repeat(2000));
    assert!(parse_arith(sum.as_bytes(), names, &ParseOptions::default()).is_ok());
    assert!(parse_arith(sum.as_bytes(), names, &options).is_err());
}

#[test]
fn long_scripts_are_refused_whole() {
    let options = ParseOptions {
        max_bytes: 10,
        ..ParseOptions::default()
    };
    let error = parse_with(b"echo hello world", &mut Names::default(), options).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::Limit);
}

#[test]
fn long_sums_of_constants_are_no_deep_trees() {
    let names = &mut Names::default();
    assert!(
        parse_arith(
            "1+".repeat(50_000).as_bytes(),
            names,
            &ParseOptions::default()
        )
        .is_err()
    );
    assert!(
        parse_arith(
            ("1+".repeat(50_000) + "1").as_bytes(),
            names,
            &ParseOptions::default()
        )
        .is_ok()
    );
    for text in [
        "(", "-", "!", "x=", "1?", "a[", "1**", "x,", "x+", "++", "x?x:",
    ] {
        in_thread_arith(text.repeat(50_000));
    }
}

fn in_thread_arith(text: String) {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let run = move || {
        parse_arith(
            text.as_bytes(),
            &mut Names::default(),
            &ParseOptions::default(),
        )
        .is_ok()
    };
    thread.spawn(run).unwrap().join().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        try_all(&bytes);
    }

    #[test]
    fn any_tokens_never_panic(tokens in proptest::collection::vec(0..OPENINGS.len() * 2, 0..40)) {
        let closings = ["fi", "}", ")", "))", "]]", "done", "esac", "`", "\"", ";", "\n", "E\n", "in ", "]", "'"];
        let mut script = String::new();
        for token in tokens {
            script += OPENINGS.get(token).copied().unwrap_or_else(|| closings[token % closings.len()]);
        }
        try_all(script.as_bytes());
    }
}

fn try_all(bytes: &[u8]) {
    let names = &mut Names::default();
    if let Ok(list) = parse(bytes, names) {
        for item in &list {
            for command in &item.first.commands {
                print_command(command, names);
            }
        }
    }
    let options = ParseOptions {
        extglob: true,
        ..ParseOptions::default()
    };
    let _ = parse_with(bytes, names, options.clone());
    let _ = parse_arith(bytes, names, &ParseOptions::default());
    let _ = parse_quoted_text(bytes, names, &options);
}
