//! Searches that would take for ever see the time limit, whoever makes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jp_bash::{Bash, BashBuilder, Bounds, Category, Limit};

use crate::support::{Outcome, attack_built, roomy};

/// A session for which every look at the clock takes a tenth of a second: what does not look never ends.
fn ticking() -> BashBuilder {
    let ticks = Arc::new(AtomicU64::new(0));
    let monotonic =
        Arc::new(move || Duration::from_millis(100 * ticks.fetch_add(1, Ordering::Relaxed)));
    let bounds = Bounds {
        loops: u64::MAX,
        memory: 64 << 20,
        time: Duration::from_secs(60),
        ..roomy()
    };
    Bash::builder()
        .limits(bounds)
        .clock(monotonic, Arc::new(|| (0, 0)), Arc::new(|_| {}))
}

fn searching(command: &str) -> Outcome {
    let script = format!("x=$(head -c 300000 /dev/zero | tr '\\0' a); {command}");
    attack_built(ticking(), &script)
}

#[test]
fn sed_sees_the_time_limit_inside_a_substitution() {
    searching("sed -E 's/a*x|a/b/g' <<< \"$x\" | wc -c").stops_at(Limit::Time);
    searching("sed -E 's/(a*x|a)/<\\1>/g' <<< \"$x\" | wc -c").stops_at(Limit::Time);
    searching("sed -nE '/(a*)\\1[bc]/p' <<< \"${x}db\"").stops_at(Limit::Time);
}

#[test]
fn awk_sees_the_time_limit_inside_its_searches() {
    for program in [
        "{ gsub(/a*x|a/, \"b\") }",
        "{ print length(gensub(/(a*x|a)/, \"<\\\\1>\", \"g\")) }",
        "{ print split($0, parts, /a*x|a/) }",
        "BEGIN { FS = \"a*x|a\" } { print NF }",
        "BEGIN { FPAT = \"a*x|a\" } { print NF }",
        "{ print patsplit($0, parts, /a*x|a/) }",
    ] {
        searching(&format!("awk '{program}' <<< \"$x\"")).stops_at(Limit::Time);
    }
    searching("awk -F 'a*x|a' '{ print NF }' <<< \"$x\"").stops_at(Limit::Time);
}

#[test]
fn grep_sees_the_time_limit_inside_a_line() {
    searching("grep -oE 'a*x|a' <<< \"$x\" | wc -l").stops_at(Limit::Time);
    searching("grep -E '(a*)\\1[bc]' <<< \"${x}db\"").stops_at(Limit::Time);
    searching("grep -oP 'a*x|a' <<< \"$x\" | wc -l").stops_at(Limit::Time);
    searching("grep --color=always -E 'a*x|a' <<< \"$x\" | wc -c").stops_at(Limit::Time);
}

#[test]
fn jq_sees_the_time_limit_inside_a_match() {
    for program in [
        "[match(\"a*x|a\"; \"g\")] | length",
        "gsub(\"a*x|a\"; \"b\") | length",
        "[scan(\"a*x|a\")] | length",
        "[splits(\"a*x|a\")] | length",
    ] {
        searching(&format!("jq -R '{program}' <<< \"$x\"")).stops_at(Limit::Time);
    }
}

#[test]
fn tests_and_expr_see_the_time_limit_inside_a_match() {
    // A backslash in the pattern itself would quote the digit.
    searching("p='(a*)\\1[bc]'; [[ ${x}db =~ $p ]]").stops_at(Limit::Time);
    searching("expr \"${x}db\" : '\\(a*\\)\\1[bc]'").stops_at(Limit::Time);
}

#[test]
fn linear_searches_of_long_lines_come_to_their_end() {
    let script = "x=$(head -c 300000 /dev/zero | tr '\\0' a)
        sed -E 's/(.)(.)/\\2b/g' <<< \"$x\" | wc -c
        sed -E 's/[^b]*b|$/!/g' <<< \"$x\" | wc -c
        awk '{ print gsub(/a/, \"b\"), gsub(/[b]/, \"cc\"), length($0) }' <<< \"$x\"
        grep -oE 'a{1000}' <<< \"$x\" | wc -l
        grep -cP '(?<=a)a$' <<< \"$x\"
        [[ $x =~ ^(a+)$ ]] && echo ${#BASH_REMATCH[1]}
        jq -R '[scan(\"a{1000}\")] | length' <<< \"$x\"";
    attack_built(Bash::builder(), script)
        .exits(0)
        .prints("300001\n300002\n300000 300000 600000\n300\n1\n300000\n300\n");
}

#[test]
fn patterns_that_are_too_big_are_refused_by_name() {
    for (command, message) in [
        ("grep -E \"$x\" <<< a", "Regular expression too big"),
        ("sed -E \"s/$x/b/\" <<< a", "Regular expression too big"),
        (
            "awk -v x=\"$x\" '$0 ~ x' <<< a",
            "Regular expression too big",
        ),
        ("jq -n --arg x \"$x\" '\"a\" | test($x)'", "too big"),
        ("grep -P \"$x\" <<< a", "Regular expression too big"),
    ] {
        let script = format!("x=$(yes 'a*b' | head -c 900000 | tr -d '\\n'); {command}");
        attack_built(Bash::builder(), &script).says(message);
    }
    let script = "x=$(yes 'a*b' | head -c 900000 | tr -d '\\n'); [[ a =~ $x ]]";
    let outcome = attack_built(Bash::builder(), script);
    assert_eq!(
        outcome.result.error,
        Some(Category::ResourceLimit(Limit::Memory))
    );
}
