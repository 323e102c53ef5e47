//! Tests of the whole command: tables of programs and what they print, and programs that mean harm.

mod random;

use jp_bash_system::{Limit, Stop};

use super::run;
use crate::fixture::{Fixture, Ran};

fn jq(words: &[&str], stdin: &str) -> Ran {
    jq_within(3_000_000, 256 << 20, words, stdin)
}

fn jq_within(turns: u64, memory: u64, words: &[&str], stdin: &str) -> Ran {
    let mut fixture = Fixture::default()
        .stdin(stdin.as_bytes())
        .file("a.json", b"{\"a\":1}\n")
        .file("b.json", b"{\"a\":2}\n")
        .file("lib/m.jq", b"def f: . + 1; def g(x): x * 2;\n")
        .file("lib/d.json", b"{\"k\":7}\n")
        .file("prog.jq", b"# a program\n.a\n");
    fixture.env.insert(b"HOME".to_vec(), b"/home/user".to_vec());
    fixture.turns_left = Some(turns);
    fixture.memory_left = Some(memory);
    let mut all = vec!["jq"];
    all.extend_from_slice(words);
    fixture.run(run, &all)
}

/// Runs a program on `null` and returns what it prints, one line for each result.
fn eval(program: &str) -> String {
    let ran = jq(&["-nc", program], "");
    let mut out = ran.stdout;
    out.push_str(&ran.stderr);
    out.trim_end().replace('\n', " ")
}

fn check(table: &[(&str, &str)]) {
    for (program, expected) in table {
        assert_eq!(eval(program), *expected, "{program}");
    }
}

#[test]
fn what_jq_1_7_added_is_there() {
    check(&[
        ("pick(.a.b)", r#"{"a":{"b":null}}"#),
        (r#"{"a":[1,2]} | pick(.a[1])"#, r#"{"a":[null,2]}"#),
        ("[-1, 2 | abs]", "[1,2]"),
        ("1, [2] | toarray", "[1] [2]"),
        (r#""  a " | trim, ltrim, rtrim"#, r#""a" "a " "  a""#),
        (".a.[1]", "null"),
        ("if true then 1 end, (null | if . then 1 end)", "1 null"),
        (r#"[.[]?//1]"#, "[1]"),
        ("try error(null) catch .", "null"),
        (
            "error(null)",
            "jq: error (at <unknown>) (not a string): null",
        ),
        ("[limit(0; 1, 2)], [limit(-1; 1, 2)]", "[] [1,2]"),
        ("[1,2,3,4] | (.[] | select(. > 1)) |= empty", "[1]"),
        (r#""a'b" | @html"#, r#""a&apos;b""#),
        (r#""!*" | @uri"#, r#""%21%2A""#),
        (r#""ME======" | @base32d"#, r#""a""#),
        ("[nan % 1, 1 % nan]", "[null,null]"),
        (
            r#"1 | .a"#,
            r#"jq: error (at <unknown>): Cannot index number with string "a""#,
        ),
        ("input", "jq: error (at <stdin>:0): break"),
        ("1 | debug(\"x\", .)", "1 [\"DEBUG:\",\"x\"] [\"DEBUG:\",1]"),
        (r#""aXbx" | [scan("x"; "i")]"#, r#"["X","x"]"#),
        (
            r#"[{"Key":"k","value":2},{"key":false,"name":"n","Value":3}] | from_entries"#,
            r#"{"k":2,"n":3}"#,
        ),
        ("have_literal_numbers", "true"),
        (
            "[skip(1; 1, 2, 3)], add(1, 2), ([\"ab\" | trimstr(\"a\", \"b\")])",
            r#"[2,3] 3 ["b","a"]"#,
        ),
        ("path(first(.a, .b)), ([1] | getpath([\"a\"])?)", r#"["a"]"#),
        ("{a: 1} | .a as $x ?// [$x] | $x", "1"),
        (
            r#""abab" | [sub("(?<x>a)"; "1", "2"; "g")]"#,
            r#"["1b1b","2b2b"]"#,
        ),
        (r#""x" as $__prog | $__prog"#, r#""x""#),
        (
            r#""2015-03-05T23:51:47Z" | dateadd("seconds"; "x")"#,
            r#""2015-03-05T23:51:47Zx""#,
        ),
        ("[range(0, 1; 3, 4)]", "[0,1,2,0,1,2,3,1,2,1,2,3]"),
        ("ltrimstr(1), ({} | ltrimstr(\"a\"))", "null {}"),
        ("65 | ascii", r#""A""#),
        ("$__loc__", r#"{"file":"<top-level>","line":1}"#),
    ]);
}

#[test]
fn numbers_keep_their_text_until_they_are_computed_with() {
    let ran = jq(
        &["-c", "."],
        "[1.000, 1e2, 100000000000000000000000001, 0.10, -0, 1e1000, 3.0, 1E1234567890]",
    );
    assert_eq!(
        ran.stdout,
        "[1.000,1E+2,100000000000000000000000001,0.10,-0,1E+1000,3.0,1.7976931348623157e+308]\n"
    );
    let ran = jq(
        &["-c", "map(. + 0)"],
        "[1.000, 100000000000000000000000001, 1e1000]",
    );
    assert_eq!(ran.stdout, "[1,1e+26,1.7976931348623157e+308]\n");
    check(&[
        (
            "100000000000000000000000001 == 100000000000000000000000002",
            "false",
        ),
        ("[1, 1.000, 1.0, 100e-2] | map(. == 1) | all", "true"),
        (
            "10000000000000000000000000000001 as $big | [$big, $big + 1] | map(. > 10000000000000000000000000000000)",
            "[true,false]",
        ),
    ]);
}

#[test]
fn harm_ends_in_an_error_or_a_limit() {
    let deep = "[".repeat(1_000_000);
    for program in [
        "def f: 1 + f; f",
        "def f: [f]; f",
        "def f: f | f; f",
        "def f: path(f); f",
        "def f: try f catch .; f",
        "[range(1e9)]",
        "\"x\" | until(false; . + .)",
        "[1] | until(false; . + .)",
        "\"x\" * 1e12",
        "[.[300000000] = 1]",
        "last(repeat(1))",
        "def f: f; f",
        "[limit(1e9; repeat(1))] | length",
        "until(false; .)",
        "reduce range(1e18) as $i (0; .)",
        "reduce range(60) as $i (1; [., .]) | tojson | length",
        "(reduce range(60) as $i (1; [., .])) == (reduce range(60) as $i (1; [., .]))",
        "reduce range(60) as $i (1; [., .]) | flatten",
        "[range(100000)] | map([range(100000)]) | length",
        "{} | until(false; .[now | tostring] = 1 | tojson | fromjson)",
    ] {
        let ran = jq_within(200_000, 48 << 20, &["-n", program], "");
        let limit = matches!(ran.status, Err(Stop::Limit(Limit::Memory | Limit::Loops)));
        assert!(limit, "{program}: {:?} {}", ran.status, ran.stderr);
    }
    for (words, status) in [
        (vec!["-n", deep.as_str()], 3),
        (vec!["-n", "--argjson", "a", deep.as_str(), "1"], 2),
        (
            vec![
                "-n",
                "\"(((((((((a*)*)*)*)*)*)*)*)*)*b\" as $re | \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" | test($re)",
            ],
            0,
        ),
        (
            vec!["-n", "\"a\" | test(\"((a{1,1000}){1,1000}){1,1000}\")"],
            5,
        ),
        (vec!["-n", "\"a\" | test(\"(\" * 100000)"], 5),
    ] {
        let ran = jq(&words, "");
        assert_eq!(ran.status, Ok(status), "{}", ran.stderr);
    }
    // Whether or not the matcher gives up, it comes back.
    let ran = jq(&["-n", "(\"a\" * 60) | test(\"^(a+)+\\\\1b$\")"], "");
    assert!(ran.status.is_ok());
    let ran = jq(&["."], &deep);
    assert_eq!(ran.status, Ok(5));
    assert_eq!(
        ran.stderr,
        "jq: parse error: Exceeds depth limit for parsing at line 1, column 10001\n"
    );
}

#[test]
fn deep_values_are_handled_without_the_machine_stack() {
    check(&[
        (
            "reduce range(100000) as $i (0; [.]) | tojson | length > 10000",
            "true",
        ),
        ("reduce range(100000) as $i (0; [.]) | . == .", "true"),
        (
            "reduce range(100000) as $i (0; {a: .}) | [recurse(.a?; . != null)] | length",
            "100001",
        ),
        ("reduce range(100000) as $i (0; [.]) | flatten", "[0]"),
        (
            "[range(100000) | 0] as $p | null | setpath($p; 1) | getpath($p)",
            "1",
        ),
        (
            "[range(100000) | 0] as $p | null | setpath($p; 1) | delpaths([$p]) | type",
            r#""array""#,
        ),
        (
            "reduce range(3000) as $i (0; {a: .}) | . * .",
            "jq: error (at <unknown>): objects are nested too deeply to be merged",
        ),
    ]);
    let nested = format!("{}{}", "[".repeat(9_000), "]".repeat(9_000));
    assert_eq!(jq(&["-c", "."], &nested).stdout.trim_end(), nested);
}

#[test]
fn generators_stop_as_soon_as_they_are_asked_to() {
    check(&[
        ("[limit(5; repeat(1))]", "[1,1,1,1,1]"),
        ("first(range(1e18))", "0"),
        (
            "label $out | range(1e18) | if . > 3 then ., break $out else empty end",
            "4",
        ),
        ("isempty(range(1e18))", "false"),
        ("any(range(1e18); . > 5)", "true"),
        ("nth(5; range(1e18))", "5"),
        ("[limit(3; 1 | recurse(. + 1))]", "[1,2,3]"),
    ]);
}

#[test]
fn tail_calls_do_not_grow_memory() {
    for program in [
        "def f: if . < 200000 then . + 1 | f else . end; 0 | f",
        "0 | until(. >= 200000; . + 1)",
        "last(0 | while(. < 200000; . + 1)) + 1",
        "last(range(0; 200000; 1)) + 1",
        "reduce range(200000) as $i (0; . + 1)",
        "last(limit(200000; 1 | recurse(. + 1)))",
    ] {
        let mut fixture = Fixture::default();
        fixture.memory_left = Some(400_000);
        let ran = fixture.run(run, &["jq", "-n", program]);
        assert_eq!(ran.status, Ok(0), "{program}");
        assert_eq!(ran.stdout, "200000\n", "{program}");
    }
}

#[test]
fn memory_is_given_back() {
    let mut fixture = Fixture::default();
    fixture.memory_left = Some(64 << 20);
    fixture.run(
        run,
        &["jq", "-n", "[range(100000)] | map(tostring) | length"],
    );
    assert_eq!(fixture.memory_left, Some(64 << 20));
}

#[test]
fn options_do_what_they_say() {
    for (words, stdin, stdout, status) in [
        (&["-c", "."][..], "{\"a\": [1, 2]}", "{\"a\":[1,2]}\n", 0),
        (
            &["."],
            "{\"a\":[1,{}],\"b\":[]}",
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}\n",
            0,
        ),
        (&["--tab", "."], "[1]", "[\n\t1\n]\n", 0),
        (&["--indent", "1", "."], "[1]", "[\n 1\n]\n", 0),
        (&["-r", "."], "\"a\\tb\"", "a\tb\n", 0),
        (&["-j", "."], "\"a\" 1", "a1", 0),
        (&["--raw-output0", "."], "\"a\" 1", "a\u{0}1\u{0}", 0),
        (
            &["-a", "-c", "."],
            "\"é😀\"",
            "\"\\u00e9\\ud83d\\ude00\"\n",
            0,
        ),
        (
            &["-S", "-c", "."],
            "{\"b\":1,\"a\":2}",
            "{\"a\":2,\"b\":1}\n",
            0,
        ),
        (&["-s", "-c", "."], "1 2", "[1,2]\n", 0),
        (&["-R", "."], "a\nb", "\"a\"\n\"b\"\n", 0),
        (&["-Rs", "."], "a\nb", "\"a\\nb\"\n", 0),
        (&["-nr", "[inputs] | tojson"], "1 2", "[1,2]\n", 0),
        (&["-e", "."], "1 null", "1\nnull\n", 1),
        (&["-e", "empty"], "1", "", 4),
        (
            &[
                "-c",
                "--arg",
                "a",
                "1",
                "--argjson",
                "b",
                "[2]",
                "[$a, $b, $ARGS.named]",
            ],
            "1",
            "[\"1\",[2],{\"a\":\"1\",\"b\":[2]}]\n",
            0,
        ),
        (
            &["-nc", "$ARGS.positional", "--args", "x", "y"],
            "",
            "[\"x\",\"y\"]\n",
            0,
        ),
        (
            &["-nc", "$ARGS.positional", "--jsonargs", "1", "[2]"],
            "",
            "[1,[2]]\n",
            0,
        ),
        (
            &[
                "-nc",
                "--slurpfile",
                "f",
                "a.json",
                "--rawfile",
                "r",
                "a.json",
                "[$f, $r]",
            ],
            "",
            "[[{\"a\":1}],\"{\\\"a\\\":1}\\n\"]\n",
            0,
        ),
        (&["-c", ".a", "a.json", "b.json"], "", "1\n2\n", 0),
        (&["-f", "prog.jq", "a.json"], "", "1\n", 0),
        (
            &["-c", "--stream", "."],
            "[1,[2]] 3 []",
            "[[0],1]\n[[1,0],2]\n[[1,0]]\n[[1]]\n[[],3]\n[[],[]]\n",
            0,
        ),
        (&["--seq", "-c", "."], "[1]", "\u{1e}[1]\n", 0),
        (
            &["-nc", "-L", "lib", "import \"m\" as m; [1 | m::f, m::g(3)]"],
            "",
            "[2,6]\n",
            0,
        ),
        (&["-nc", "-L", "lib", "include \"m\"; 1 | f"], "", "2\n", 0),
        (
            &["-nc", "-L", "lib", "import \"d\" as $d; $d, $d::d"],
            "",
            "[{\"k\":7}]\n[{\"k\":7}]\n",
            0,
        ),
        (&["-V"], "", "jq-1.7.1\n", 0),
        (&["-n", "1, halt, 2"], "", "1\n", 0),
        (&["-n", "{} | halt_error(3)"], "", "", 3),
        (
            &["-n", "env.HOME, $ENV.HOME"],
            "",
            "\"/home/user\"\n\"/home/user\"\n",
            0,
        ),
    ] {
        let ran = jq(words, stdin);
        assert_eq!(
            (ran.stdout.as_str(), ran.status),
            (stdout, Ok(status)),
            "{words:?} {}",
            ran.stderr
        );
    }
}

#[test]
fn messages_are_in_jq_s_words() {
    for (words, stdin, stderr, status) in [
        (
            &["."][..],
            "{\"a\":tru}",
            "jq: parse error: Invalid literal at line 1, column 9\n",
            5,
        ),
        (
            &["."],
            "nope\n",
            "jq: parse error: Invalid numeric literal at line 2, column 0\n",
            5,
        ),
        (
            &["."],
            "[1,]",
            "jq: parse error: Expected another array element at line 1, column 4\n",
            5,
        ),
        (
            &["."],
            "{\"a\" 1}",
            "jq: parse error: Expected separator between values at line 1, column 7\n",
            5,
        ),
        (
            &["."],
            "\"abc",
            "jq: parse error: Unfinished string at EOF at line 1, column 4\n",
            5,
        ),
        (
            &["."],
            "{\"a\":1",
            "jq: parse error: Unfinished JSON term at EOF at line 1, column 6\n",
            5,
        ),
        (
            &[".a"],
            "[1]\n",
            "jq: error (at <stdin>:1): Cannot index array with string \"a\"\n",
            5,
        ),
        (
            &[".", "none.json"],
            "",
            "jq: error: Could not open file none.json: No such file or directory\n",
            2,
        ),
        (
            &["1 +"],
            "",
            "jq: error: syntax error, unexpected end of file (Unix shell quoting issues?) at <top-level>, line 1:\n1 +\njq: 1 compile error\n",
            3,
        ),
        (
            &["nope"],
            "",
            "jq: error: nope/0 is not defined at <top-level>, line 1:\nnope\njq: 1 compile error\n",
            3,
        ),
        (
            &["$x"],
            "",
            "jq: error: $x is not defined at <top-level>, line 1:\n$x\njq: 1 compile error\n",
            3,
        ),
        (&["-n", "\"x\" | halt_error"], "", "x", 5),
        (
            &["-n", "import \"none\" as n; 1"],
            "",
            "jq: error: module not found: none\n\njq: 1 compile error\n",
            3,
        ),
        (
            &["-n", "import \"../x\" as n; 1"],
            "",
            "jq: error: Modules must be named by relative paths, not ../x\njq: 1 compile error\n",
            3,
        ),
    ] {
        let ran = jq(words, stdin);
        assert_eq!(
            (ran.stderr.as_str(), ran.status),
            (stderr, Ok(status)),
            "{words:?}"
        );
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_run() {
    let mut fixture = Fixture::default();
    fixture.pipe_closes_after = Some(10);
    let ran = fixture.run(run, &["jq", "-n", "repeat(1)"]);
    assert_eq!(ran.status, Err(Stop::Signal(13)));
}

#[test]
fn bytes_that_are_not_utf_8_become_replacements() {
    let mut fixture = Fixture::default().stdin(b"\"a\xffb\"\n");
    assert_eq!(fixture.run(run, &["jq", "."]).stdout, "\"a\u{fffd}b\"\n");
}
