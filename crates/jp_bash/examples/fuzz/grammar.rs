//! Scripts from a grammar: every one of them parses, and touches nothing but its own directory.

use crate::random::Random;

const NAMES: &[&str] = &["x", "y", "n", "i", "a", "h", "r", "1", "2"];

pub(crate) fn list(random: &mut Random, depth: usize) -> String {
    let count = 1 + random.below(4);
    let commands: Vec<String> = (0..count).map(|_| command(random, depth)).collect();
    commands.join(random.pick(&["\n", "; ", " && ", " || ", "\n"]))
}

/// Makes a command that only prints, computes, or touches files of its own directory.
fn command(random: &mut Random, depth: usize) -> String {
    let simple = depth == 0 || random.one_in(3);
    if simple {
        return match random.below(14) {
            0..=3 => format!("echo {} {}", word(random, depth), word(random, depth)),
            4 => format!("{}={}", random.pick(NAMES), word(random, depth)),
            5 => format!(
                "printf '[%s]\\n' {} {}",
                word(random, depth),
                word(random, depth)
            ),
            6 => format!(
                "a=({} {}); echo \"${{#a[@]}}\" \"${{a[@]}}\"",
                word(random, depth),
                word(random, depth)
            ),
            7 => format!("(({})); echo $?", arith(random, depth)),
            8 => format!(
                "[[ {} {} {} ]]; echo $?",
                word(random, depth),
                random.pick(&["==", "!=", "<", ">", "-eq", "=~"]),
                word(random, depth)
            ),
            9 => format!(
                "set -- {} {}; echo $# \"$@\"",
                word(random, depth),
                word(random, depth)
            ),
            10 => format!("echo {} > f; cat f", word(random, depth)),
            11 => format!("read -r x y <<< {}; echo \"$x|$y\"", word(random, depth)),
            12 => random
                .pick(&[
                    "true",
                    "false",
                    ":",
                    "unset x",
                    "shift",
                    "set -u",
                    "set +u",
                    "set -e",
                    "set -f",
                    "shopt -s extglob",
                    "shopt -s nullglob",
                    "local q",
                    "break",
                    "continue",
                    "return 3",
                    "exit 4",
                    "trap 'echo bye' EXIT",
                    "IFS=:",
                    "declare -i n=3+4",
                    "declare -A h=([k]=v)",
                    "declare -n r=x",
                ])
                .to_owned(),
            _ => format!("declare -p {} 2> /dev/null", random.pick(NAMES)),
        };
    }
    let next = depth - 1;
    match random.below(12) {
        0 => format!(
            "if {}; then {}; else {}; fi",
            command(random, next),
            list(random, next),
            list(random, next)
        ),
        1 => format!(
            "for x in {} {}; do {}; done",
            word(random, next),
            word(random, next),
            list(random, next)
        ),
        2 => format!(
            "case {} in {}) {};; *) {};; esac",
            word(random, next),
            word(random, next),
            list(random, next),
            list(random, next)
        ),
        3 => format!("( {} )", list(random, next)),
        4 => format!("{{ {}; }}", list(random, next)),
        5 => format!(
            "f() {{ {}; }}; f {}",
            list(random, next),
            word(random, next)
        ),
        6 => format!("{} | cat", command(random, next)),
        7 => format!("i=0; while ((i++ < 3)); do {}; done", list(random, next)),
        8 => format!("! {}", command(random, next)),
        9 => format!(
            "{} | while read -r l; do echo \"<$l>\"; done",
            command(random, next)
        ),
        10 => format!(
            "cat <<E\n{} {}\nE\n",
            word(random, next),
            word(random, next)
        ),
        _ => format!("eval '{}'", list(random, next).replace('\'', "")),
    }
}

fn word(random: &mut Random, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(3) {
        let part = match random.below(if depth == 0 { 8 } else { 14 }) {
            0..=2 => random
                .pick(&["a", "b c", "x*", "1", "é", "-n", "~", "a=b", "", "z:y"])
                .replace(' ', "\\ "),
            3 => format!("${}", random.pick(NAMES)),
            4 => format!("\"${}\"", random.pick(NAMES)),
            5 => "'q r'".to_owned(),
            6 => "$'t\\tu'".to_owned(),
            7 => random
                .pick(&[
                    "{a,b}", "{1..3}", "$#", "$@", "\"$@\"", "$*", "$?", "[ab]*", "?",
                ])
                .to_owned(),
            8 => format!(
                "${{{}{}{}}}",
                random.pick(NAMES),
                random.pick(&[
                    ":-", "-", ":+", "+", "#", "##", "%", "%%", "/", "//", "^", "^^", ",,", ":=",
                    ":1:"
                ]),
                if random.one_in(2) { "a" } else { "1" }
            ),
            9 => format!("$(({}))", arith(random, depth - 1)),
            10 => format!("$({})", command(random, depth - 1)),
            11 => format!(
                "${{{}@{}}}",
                random.pick(NAMES),
                random.pick(&["Q", "U", "L", "u", "E", "A", "a"])
            ),
            12 => random
                .pick(&[
                    "${a[@]}",
                    "\"${a[@]}\"",
                    "${a[*]}",
                    "${#a[@]}",
                    "${!a[@]}",
                    "${a[0]}",
                    "${a[-1]}",
                    "${#x}",
                    "${!x}",
                    "${x:1}",
                    "${h[k]}",
                ])
                .to_owned(),
            _ => format!("\"{}\"", word(random, depth - 1).replace('"', "")),
        };
        text.push_str(&part);
    }
    if text.is_empty() {
        "w".to_owned()
    } else {
        text
    }
}

fn arith(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.one_in(3) {
        return random
            .pick(&[
                "1",
                "x",
                "n",
                "i",
                "0x1f",
                "010",
                "2#11",
                "-3",
                "a[0]",
                "9223372036854775807",
            ])
            .to_owned();
    }
    let (left, right) = (arith(random, depth - 1), arith(random, depth - 1));
    match random.below(6) {
        0 => format!("({left})"),
        1 => format!("{left} ? {right} : 5"),
        2 => format!("n = {right}"),
        3 => format!("n += {right}, {left}"),
        _ => format!(
            "{left} {} {right}",
            random.pick(&[
                "+", "-", "*", "/", "%", "**", "<<", ">>", "<", "<=", "==", "!=", "&", "|", "^",
                "&&", "||"
            ])
        ),
    }
}
