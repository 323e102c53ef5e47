//! Programs and texts made at random: none may make the command panic.

use proptest::prelude::*;

use super::run;
use crate::fixture::Fixture;

fn quiet(words: &[&str], stdin: &[u8]) {
    let mut fixture = Fixture::default().stdin(stdin);
    fixture.turns_left = Some(20_000);
    fixture.memory_left = Some(16 << 20);
    let mut all = vec!["jq"];
    all.extend_from_slice(words);
    let _ = fixture.run(run, &all);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_program_makes_it_panic(program in "\\PC{0,60}", stdin in "\\PC{0,60}") {
        quiet(&["--", &program], stdin.as_bytes());
    }

    #[test]
    fn no_mix_of_tokens_makes_it_panic(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..25)) {
        quiet(&["--", &tokens.join(" ")], b"{\"a\":[1,2,{\"b\":null}],\"c\":\"x\"} [3,\"y\"] 5 ");
        quiet(&["-n", "--", &tokens.join("")], b"");
    }

    #[test]
    fn no_text_makes_it_panic(stdin in prop::collection::vec(any::<u8>(), 0..80)) {
        quiet(&["-c", "."], &stdin);
        quiet(&["-c", "--stream", "."], &stdin);
    }

    #[test]
    fn no_text_that_looks_like_json_makes_it_panic(stdin in "[\\[\\]{}:,\"a1e.\\\\ u-]{0,40}") {
        quiet(&["-c", "., tojson"], stdin.as_bytes());
        quiet(&["-c", "--stream-errors", "."], stdin.as_bytes());
    }
}

const TOKENS: &[&str] = &[
    ".",
    "..",
    ".a",
    "[",
    "]",
    "[]",
    "(",
    ")",
    "{",
    "}",
    "|",
    ",",
    ":",
    ";",
    "?",
    "//",
    "?//",
    "=",
    "|=",
    "+=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "<",
    "and",
    "or",
    "not",
    "if",
    "then",
    "else",
    "end",
    "try",
    "catch",
    "reduce",
    "foreach",
    "as",
    "$x",
    "def",
    "f:",
    "f",
    "label",
    "break",
    "\"s\"",
    "\"\\(",
    "\"",
    "1",
    "0",
    "-1",
    "1e9",
    "null",
    "path(",
    "paths",
    "map(",
    "select(",
    "recurse",
    "range(3)",
    "limit(2;",
    "first(",
    "error",
    "empty",
    "keys",
    "length",
    "tojson",
    "fromjson",
    "sort",
    "group_by(",
    "to_entries",
    "test(\"a\")",
    "sub(\"a\";",
    "@base64",
    "@csv",
    "split(\",\")",
    "input",
    "inputs",
    "getpath([\"a\"])",
    "del(.a)",
    "setpath([0];",
    "tostream",
    "walk(",
    ".[1:2]",
    ".[-1]",
    "strftime(\"%Y\")",
    "mktime",
    "implode",
    "explode",
    "until(.;",
    "repeat(",
    "$__loc__",
    "env",
    "splits(\"a\")",
    "ltrimstr(\"a\")",
    "flatten",
    "min_by(",
    "any",
    "all",
    "transpose",
    "combinations",
    "contains(",
    "inside(",
    "indices(1)",
    "floor",
    "pow(2;",
    "nan",
    "infinite",
];
