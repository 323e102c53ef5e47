//! Tables over the text commands: words and input in, output and status out. The cases that real tools are
//! asked too are in `cases/`.

use jp_bash_system::{Limit, Program, Stop};
use proptest::prelude::*;

use super::fixture::{Fixture, Ran};
use super::programs;

/// The commands that work on lines and text, and `date`.
const TEXT: [&str; 8] = ["cut", "date", "head", "sort", "tail", "tr", "uniq", "wc"];

fn program(name: &str) -> &'static Program {
    let found = programs().find(name.as_bytes());
    found.unwrap_or_else(|| panic!("no command {name}"))
}

fn fixture() -> Fixture {
    Fixture::default()
        .file("f", b"a\nb\nc\n")
        .file("t", b"3 b z\n1 a y\n2 b x\n10 a w\n")
        .file("csv", b"a:b:c\nnodelim\n:x\n")
        .file("d/inside", b"")
}

fn run_in(fixture: &mut Fixture, line: &str) -> Ran {
    let words: Vec<&str> = line.split(' ').collect();
    fixture.run(program(words[0]).run, &words)
}

/// Each row: words, standard input, what is printed (errors last), status.
fn check(rows: &[(&str, &str, &str, i32)]) {
    for (line, stdin, want, status) in rows {
        let mut fixture = fixture().stdin(stdin.as_bytes());
        let ran = run_in(&mut fixture, line);
        assert_eq!(
            (format!("{}{}", ran.stdout, ran.stderr).as_str(), ran.status),
            (*want, Ok(*status)),
            "{line}"
        );
    }
}

#[test]
fn head_prints_the_beginning() {
    check(&[
        ("head -n 2 f", "", "a\nb\n", 0),
        ("head -2 f", "", "a\nb\n", 0),
        ("head -n -1 f", "", "a\nb\n", 0),
        ("head -c 3", "abcdef", "abc", 0),
        ("head -c -2", "abcdef", "abcd", 0),
        (
            "head -n 1 f csv",
            "",
            "==> f <==\na\n\n==> csv <==\na:b:c\n",
            0,
        ),
        ("head -n x f", "", "head: invalid number of lines: ‘x’\n", 1),
        ("head d", "", "head: error reading 'd': Is a directory\n", 1),
        (
            "head nope",
            "",
            "head: cannot open 'nope' for reading: No such file or directory\n",
            1,
        ),
        (
            "head -y",
            "",
            "head: invalid option -- 'y'\nTry 'head --help' for more information.\n",
            1,
        ),
    ]);
}

#[test]
fn tail_prints_the_end() {
    check(&[
        ("tail -n 2 f", "", "b\nc\n", 0),
        ("tail -n 2", "a\nb\nc", "b\nc", 0),
        ("tail -n +2 f", "", "b\nc\n", 0),
        ("tail +2 f", "", "b\nc\n", 0),
        ("tail -c 3", "abcdef", "def", 0),
        ("tail -c +3", "abcdef", "cdef", 0),
        ("tail -f", "x\n", "x\n", 0),
        (
            "tail -2x f",
            "",
            "tail: option used in invalid context -- 2\n",
            1,
        ),
    ]);
}

#[test]
fn tail_follows_until_a_limit_stops_it() {
    let mut fixture = fixture();
    fixture.turns_left = Some(5);
    let ran = run_in(&mut fixture, "tail -f f");
    assert_eq!(
        (ran.stdout.as_str(), ran.status),
        ("a\nb\nc\n", Err(Stop::Limit(Limit::Loops)))
    );
}

#[test]
fn sort_orders_lines_by_keys() {
    check(&[
        ("sort t", "", "1 a y\n10 a w\n2 b x\n3 b z\n", 0),
        ("sort -n t", "", "1 a y\n2 b x\n3 b z\n10 a w\n", 0),
        (
            "sort -k2,2 -k1,1nr t",
            "",
            "10 a w\n1 a y\n3 b z\n2 b x\n",
            0,
        ),
        ("sort -u", "b\na\nb", "a\nb\n", 0),
        ("sort -h", "1G\n2K\n-1M\n", "-1M\n2K\n1G\n", 0),
        ("sort -V", "a10\na9\n", "a9\na10\n", 0),
        ("sort -c", "b\na\n", "sort: -:2: disorder: a\n", 1),
        ("sort -nM", "", "sort: options '-Mn' are incompatible\n", 2),
        (
            "sort --debug",
            "",
            "sort: option '--debug' is not supported: keys are not annotated\n\
             Try 'sort --help' for more information.\n",
            2,
        ),
    ]);
}

#[test]
fn sort_counts_what_it_holds_and_gives_it_back() {
    let mut small = fixture().stdin(&b"line\n".repeat(10_000));
    small.memory_left = Some(10_000);
    assert_eq!(
        run_in(&mut small, "sort").status,
        Err(Stop::Limit(Limit::Memory))
    );
    let mut large = fixture().stdin(&b"line\n".repeat(10_000));
    large.memory_left = Some(10_000_000);
    assert_eq!(run_in(&mut large, "sort -u").stdout, "line\n");
    assert_eq!(large.memory_left, Some(10_000_000));
}

#[test]
fn uniq_cut_tr_and_wc_do_as_gnu_does() {
    check(&[
        ("uniq -c", "a\na\nb\n", "      2 a\n      1 b\n", 0),
        ("uniq -D", "a\na\nb\n", "a\na\n", 0),
        ("uniq --group=both", "a\nb\n", "\na\n\nb\n\n", 0),
        ("cut -d: -f2- csv", "", "b:c\nnodelim\nx\n", 0),
        ("cut -d: -sf1 csv", "", "a\n\n", 0),
        ("cut -c2 f", "", "\n\n\n", 0),
        ("cut --complement -b2", "abc\n", "ac\n", 0),
        (
            "cut -f0 f",
            "",
            "cut: fields are numbered from 1\nTry 'cut --help' for more information.\n",
            1,
        ),
        ("tr a-z A-Z", "abc", "ABC", 0),
        ("tr -s ab", "aabbcc", "abcc", 0),
        ("tr -cd [:digit:]", "a1b2", "12", 0),
        (
            "tr z-a x",
            "",
            "tr: range-endpoints of 'z-a' are in reverse collating sequence order\n",
            1,
        ),
        ("wc f t", "", " 3  3  6 f\n 4 12 25 t\n 7 15 31 total\n", 0),
        ("wc -lmc", "é\n", "      1       2       3\n", 0),
        ("wc -L", "a\tb\n", "9\n", 0),
    ]);
}

#[test]
fn date_prints_moments() {
    check(&[
        ("date -d @0", "", "Thu Jan  1 00:00:00 UTC 1970\n", 0),
        ("date +%s.%N", "", "1700000000.123456789\n", 0),
        ("date -d @0 -Iseconds", "", "1970-01-01T00:00:00+00:00\n", 0),
        (
            "date -d 20240131 +%-d/%_m/%^a/%10Y",
            "",
            "31/ 1/WED/0000002024\n",
            0,
        ),
        ("date -d x.y", "", "date: invalid date ‘x.y’\n", 1),
        ("date -f -", "@0\n", "Thu Jan  1 00:00:00 UTC 1970\n", 0),
        (
            "date 010203042024",
            "",
            "date: cannot set date: Operation not permitted\n",
            1,
        ),
    ]);
    let mut paris = fixture();
    paris.env.insert(b"TZ".to_vec(), b"Europe/Paris".to_vec());
    assert_eq!(
        run_in(&mut paris, "date -d @0 +%H:%M%:z%Z").stdout,
        "01:00+01:00CET\n"
    );
}

#[test]
fn help_and_version_come_from_the_table() {
    for name in TEXT {
        let help = run_in(&mut fixture(), &format!("{name} --help --bogus"));
        assert!(help.stdout.starts_with(&format!("Usage: {name} ")));
        assert_eq!(help.status, Ok(0));
        let version = run_in(&mut fixture(), &format!("{name} --version"));
        assert!(version.stdout.contains("GNU coreutils"));
    }
}

#[test]
fn a_reader_that_leaves_ends_the_writer() {
    for line in [
        "sort",
        "head -n 99999",
        "tail -n 99999",
        "cut -c1-",
        "uniq -c",
        "tr a b",
    ] {
        let numbers: String = (0..30_000).map(|n| format!("{n}\n")).collect();
        let mut fixture = fixture().stdin(numbers.as_bytes());
        fixture.pipe_closes_after = Some(10);
        assert_eq!(
            run_in(&mut fixture, line).status,
            Err(Stop::Signal(13)),
            "{line}"
        );
    }
}

#[test]
fn a_line_beyond_the_memory_limit_stops() {
    for line in ["cut -f1", "uniq", "tail -n 1", "head -n -1", "sort -c"] {
        let mut fixture = fixture().stdin(&vec![b'x'; 1 << 20]);
        fixture.memory_left = Some(100_000);
        assert_eq!(
            run_in(&mut fixture, line).status,
            Err(Stop::Limit(Limit::Memory)),
            "{line}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_words_and_no_input_make_a_command_panic(
        name in prop::sample::select(&TEXT[..]),
        words in prop::collection::vec("[-+]{0,2}[a-zA-Z0-9:.,=%@\\[\\]*/\"\\\\ é]{0,12}", 0..5),
        input in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let run = program(name).run;
        let mut fixture = fixture().stdin(&input);
        fixture.turns_left = Some(100);
        fixture.memory_left = Some(1 << 24);
        let mut line = vec![name];
        line.extend(words.iter().map(String::as_str));
        let ran = fixture.run(run, &line);
        if let Ok(status) = ran.status {
            prop_assert!((0..=2).contains(&status));
        }
    }

    #[test]
    fn no_text_makes_the_date_parser_panic(
        text in "(TZ=\"[A-Za-z0-9<>+,/-]{0,12}\" )?[-+@0-9a-zA-Z:/., ()]{0,40}",
        now in any::<i64>(),
    ) {
        let zone = super::date_zone::Zone::from_variable(Some(b"America/New_York"));
        let now = jp_bash_system::Timestamp { secs: now, nanos: 0 };
        let _ = super::date_text::parse(text.as_bytes(), now, &zone);
    }
}
