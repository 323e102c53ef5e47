//! What is thrown: scripts from a grammar, cases with bytes changed, soups of tokens.

use std::path::Path;

use crate::random::Random;

/// What a run is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Parser,
    Interpreter,
    Awk,
    Sed,
    Regex,
    Jq,
}

const TARGETS: &[(&str, Target)] = &[
    ("parser", Target::Parser),
    ("interpreter", Target::Interpreter),
    ("awk", Target::Awk),
    ("sed", Target::Sed),
    ("regex", Target::Regex),
    ("jq", Target::Jq),
];

impl Target {
    pub(crate) fn named(name: &str) -> Option<Self> {
        TARGETS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, target)| *target)
    }

    pub(crate) fn name(self) -> &'static str {
        TARGETS
            .iter()
            .find(|(_, target)| *target == self)
            .map_or("", |(name, _)| name)
    }
}

/// One run.
pub(crate) struct Input {
    pub(crate) script: Vec<u8>,
    pub(crate) files: Vec<(&'static str, Vec<u8>)>,
    /// Made by the grammar, so real bash may run it too.
    pub(crate) comparable: bool,
}

/// Reads the scripts of all cases.
pub(crate) fn corpus() -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut scripts = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let text = std::fs::read(entry.path()).unwrap_or_default();
        let mut script: Option<Vec<u8>> = None;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            if line.starts_with(b"### ") {
                script = Some(Vec::new());
            } else if line.starts_with(b"#---") {
                scripts.extend(script.take().filter(|script| !script.is_empty()));
            } else if let Some(script) = &mut script {
                script.extend_from_slice(line);
            }
        }
    }
    scripts.sort();
    scripts
}

/// Makes the next input.
pub(crate) fn make(target: Target, random: &mut Random, corpus: &[Vec<u8>]) -> Input {
    let soup = |random: &mut Random, tokens: &[&str], most: usize| {
        let count = 1 + random.below(most);
        let mut text = String::new();
        for _ in 0..count {
            let token = random.pick(tokens);
            let times = if random.one_in(40) {
                1 + random.below(300)
            } else {
                1
            };
            text.push_str(&token.repeat(times));
        }
        text
    };
    let plain = |script: Vec<u8>| Input {
        script,
        files: Vec::new(),
        comparable: false,
    };
    match target {
        Target::Parser => {
            let mut script = b"set -n\n".to_vec();
            match random.below(3) {
                0 => script.extend(mutated(random, corpus)),
                1 => script.extend(soup(random, SHELL, 60).into_bytes()),
                _ => script.extend(list(random, 4).into_bytes()),
            }
            plain(script)
        }
        Target::Interpreter => match random.below(4) {
            0 => plain(mutated(random, corpus)),
            1 => plain(soup(random, SHELL, 40).into_bytes()),
            _ => Input {
                script: list(random, 3).into_bytes(),
                files: Vec::new(),
                comparable: true,
            },
        },
        Target::Awk => program(soup(random, AWK, 40), "awk -f /p /i /i; awk -F: -f /p < /i"),
        Target::Sed => program(
            soup(random, SED, 25),
            "sed -f /p /i; sed -nE -f /p /i; sed -z -f /p < /i; sed -s -i -f /p /i",
        ),
        Target::Jq => program(
            soup(random, JQ, 40),
            "jq -f /p /j; jq -n -f /p; jq -sc -f /p /j; jq -R -f /p /i; jq --stream -c -f /p /j",
        ),
        Target::Regex => program(
            soup(random, REGEX, 30),
            "grep -E -f /p /i; grep -G -o -f /p /i; grep -P -f /p /i; grep -wi -E -f /p /i; IFS= read -r p < /p; while IFS= read -r l; do [[ $l =~ $p ]] && echo \"${BASH_REMATCH[@]}\"; done < /i; awk -v p=\"$p\" '$0 ~ p' /i; LC_ALL=C grep -E -f /p /i",
        ),
    }
}

fn program(text: String, script: &str) -> Input {
    let mut lines = Vec::new();
    for n in 0..20 {
        lines.extend_from_slice(format!("{n} a:bb:ccc héé aaa{}\n", "ab".repeat(n)).as_bytes());
    }
    lines.extend_from_slice(b"\xff\xc3 \n\nlast");
    let json = br#"{"a":[1,2.5,{"b":null}],"c":"h\u00e9\ud83d\ude00","d":{"e":true}} [1,[2,[3]]] "x" 1e1000 -0"#;
    Input {
        script: script.as_bytes().to_vec(),
        files: vec![
            ("/p", text.into_bytes()),
            ("/i", lines),
            ("/j", json.to_vec()),
        ],
        comparable: false,
    }
}

/// Changes a case here and there.
fn mutated(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let one = corpus
        .get(random.below(corpus.len()))
        .cloned()
        .unwrap_or_default();
    let other = corpus
        .get(random.below(corpus.len()))
        .cloned()
        .unwrap_or_default();
    let mut script = one;
    for _ in 0..1 + random.below(6) {
        let at = random.below(script.len() + 1);
        let end = (at + random.below(12)).min(script.len());
        match random.below(6) {
            0 => drop(script.drain(at..end)),
            1 => drop(script.splice(at..at, random.pick(SHELL).bytes())),
            2 => {
                let from = random.below(other.len() + 1);
                let to = (from + random.below(40)).min(other.len());
                drop(script.splice(at..end, other[from..to].iter().copied()));
            }
            3 => drop(script.splice(at..end, [random.below(256).to_le_bytes()[0]])),
            4 => {
                let piece = script[at..end].to_vec();
                let times = 1 + random.below(20);
                for _ in 0..times {
                    drop(script.splice(at..at, piece.iter().copied()));
                }
            }
            _ => script.truncate(at),
        }
    }
    script
}

fn list(random: &mut Random, depth: usize) -> String {
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

const NAMES: &[&str] = &["x", "y", "n", "i", "a", "h", "r", "1", "2"];

const SHELL: &[&str] = &[
    "echo ",
    "a",
    "x=",
    "x",
    "$x",
    "${x",
    "}",
    "{",
    "(",
    ")",
    "((",
    "))",
    "[[ ",
    " ]]",
    "[ ",
    " ]",
    "if ",
    "then ",
    "else ",
    "elif ",
    "fi",
    "for ",
    "in ",
    "do ",
    "done",
    "while ",
    "until ",
    "case ",
    "esac",
    "select ",
    "function ",
    "f()",
    ";",
    ";;",
    ";&",
    ";;&",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "!",
    "\n",
    " ",
    "\t",
    "\\",
    "\\\n",
    "'",
    "\"",
    "`",
    "$(",
    "$((",
    "$'",
    "$\"",
    "<",
    ">",
    ">>",
    "<<",
    "<<-",
    "<<<",
    "<>",
    ">&",
    "<&",
    "&>",
    ">|",
    "2>&1",
    "<(",
    ">(",
    "E",
    "\nE\n",
    "*",
    "?",
    "[a-z]",
    "@(",
    "+(",
    "!(",
    "{1..9}",
    "{a,b}",
    "~",
    "#",
    "${x:-",
    "${x//",
    "${x##",
    "${x[",
    "${!x",
    "${#x",
    "${x@Q}",
    "${x@P}",
    "a[",
    "]=",
    "+=",
    "=(",
    "=~ ",
    "== ",
    "-eq ",
    "-f ",
    "1",
    "9999999999999999999",
    "coproc ",
    "time ",
    "eval ",
    "set -",
    "trap ",
    "local ",
    "declare -",
    "export ",
    "unset ",
    "read ",
    "exec ",
    "shift ",
    "return ",
    "exit ",
    "break ",
    "test ",
    "printf ",
    "%s",
    "%d",
    "alias ",
    "shopt -s extglob\n",
    "\0",
    "\u{e9}",
    "\u{7f}",
    "\r",
    "cat ",
    "sort ",
    "source ",
    "let ",
    "mapfile ",
    "getopts ",
    "wait ",
    "kill ",
    "$$",
    "$!",
    "$@",
    "$*",
    "$?",
    "$-",
];

const AWK: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "BEGIN",
    "END",
    "BEGINFILE",
    "function f(x,y)",
    "f(",
    "print ",
    "printf ",
    "getline ",
    "if",
    "else ",
    "while",
    "for",
    "do ",
    "break;",
    "continue;",
    "next;",
    "nextfile;",
    "exit ",
    "return ",
    "delete ",
    "in ",
    "a[",
    "]",
    "$",
    "$0",
    "$1",
    "NF",
    "NR",
    "FS=",
    "RS=",
    "OFS=",
    "x",
    "y",
    "1",
    "0.5",
    "1e300",
    "\"s\"",
    "\"%s %d\\n\"",
    "\"%*c\"",
    "/a/",
    "/(a|b)+/",
    "~",
    "!~",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "^",
    "**",
    "++",
    "--",
    "=",
    "+=",
    "==",
    "<",
    ">",
    ">>",
    "|",
    "&&",
    "||",
    "?",
    ":",
    ",",
    ";",
    "\n",
    "substr(",
    "split(",
    "sub(",
    "gsub(",
    "match(",
    "sprintf(",
    "length",
    "index(",
    "toupper(",
    "tolower(",
    "system(",
    "close(",
    "int(",
    "sqrt(",
    "rand()",
    "srand(",
    "strftime(",
    "gensub(",
    "strtonum(",
    "\"f\"",
    " \"cat\"",
    "\\",
    "#",
    "&",
    "é",
    "(x in a)",
    "\"\"",
    "asort(",
    "length(a)",
    "SUBSEP",
    "-1",
    "switch(",
    "case 1:",
];

const SED: &[&str] = &[
    "s/a/b/",
    "s/\\(a*\\)/\\1&/g",
    "s/x*/y/2",
    "s|b|\\n|w f\n",
    "s/./\\U&/",
    "y/abc/xyz/",
    "p",
    "P",
    "d",
    "D",
    "n",
    "N",
    "g",
    "G",
    "h",
    "H",
    "x",
    "l",
    "=",
    "q",
    "Q3",
    "a\\\ntext\n",
    "i text\n",
    "c\\\nx\n",
    "r /i\n",
    "R /i\n",
    "w f\n",
    "W f\n",
    ":a\n",
    "b a\n",
    "ba\n",
    "t a\n",
    "T a\n",
    "b\n",
    "{",
    "}",
    ";",
    "\n",
    "1",
    "$",
    "2,4",
    "0,/a/",
    "/a/",
    "/a/,/b/",
    "\\|x|",
    "1~2",
    "2,~4",
    "3,+2",
    "!",
    "/a/I",
    "z",
    "F",
    "e echo x\n",
    "#n\n",
    "\\",
    "s/",
    "/",
    "é",
    "s/a\\{2,3\\}/x/",
    "s/\\(a\\|b\\)*\\1/z/",
    "s/a/b/M",
    "s/^/>/mg",
    "v",
    " ",
    "99999999999",
    "//",
    "s//&&/",
];

const JQ: &[&str] = &[
    ".",
    "..",
    ".a",
    ".[]",
    ".[0]",
    ".[-1:]",
    ".[1:2]",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "|",
    ",",
    ":",
    "?",
    "//",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "<",
    "and ",
    "or ",
    "not",
    "if ",
    " then ",
    " else ",
    " end",
    "try ",
    " catch ",
    "reduce ",
    "foreach ",
    " as $x ",
    "$x",
    "def f: ",
    "def f(g): ",
    ";",
    "f",
    "f(.)",
    "\"s\"",
    "\"\\(",
    ")\"",
    "1",
    "1e9",
    "null",
    "true",
    "empty",
    "error",
    "length",
    "keys",
    "values",
    "map(",
    "select(",
    "recurse",
    "recurse(",
    "env",
    "input",
    "inputs",
    "range(",
    "limit(3;",
    "first(",
    "until(",
    "while(",
    "repeat(",
    "to_entries",
    "from_entries",
    "with_entries(",
    "paths",
    "getpath(",
    "setpath(",
    "delpaths(",
    "del(",
    "path(",
    "sort",
    "sort_by(",
    "group_by(",
    "unique",
    "min",
    "add",
    "any",
    "all",
    "flatten",
    "tojson",
    "fromjson",
    "tostring",
    "tonumber",
    "type",
    "test(\"a\")",
    "match(\"a*\";\"g\")",
    "sub(\"a\";\"b\")",
    "gsub(\"\";\"-\")",
    "split(\",\")",
    "join(\",\")",
    "ascii",
    "explode",
    "implode",
    "ltrimstr(",
    "@base64",
    "@base64d",
    "@json",
    "@csv",
    "@sh \"\\(.)\"",
    "@uri",
    "now",
    "strftime(\"%Y\")",
    "todate",
    "mktime",
    "=",
    "|=",
    "+=",
    "//=",
    "label $l|",
    "break $l",
    "?//",
    ". as [$x,{a:$y}]",
    "$__loc__",
    "input_line_number",
    "limit(5;repeat(.))",
    "splits(",
    "ascii_downcase",
    "infinite",
    "nan",
    "tostream",
    "fromstream(",
    "getpath([\"a\",0])",
    "walk(",
    "env.PATH",
    "$ENV",
    "halt",
    "ltrimstr(1)",
    "indices(",
    "inside(",
    "combinations",
    "transpose",
    "#",
    "\n",
    " ",
    "é",
];

const REGEX: &[&str] = &[
    "a",
    "b",
    ".",
    "*",
    "+",
    "?",
    "|",
    "(",
    ")",
    "[",
    "]",
    "[a-z]",
    "[^a]",
    "[[:alpha:]]",
    "[[:space:]_]",
    "[[.a.]]",
    "[[=a=]]",
    "[]a]",
    "[a-",
    "{2}",
    "{1,3}",
    "{,5}",
    "{0,255}",
    "{1000}",
    "^",
    "$",
    "\\",
    "\\(",
    "\\)",
    "\\{2\\}",
    "\\1",
    "\\2",
    "\\<",
    "\\>",
    "\\b",
    "\\B",
    "\\w",
    "\\W",
    "\\s",
    "\\+",
    "\\?",
    "\\|",
    "\\`",
    "\\'",
    "(?:",
    "(?=",
    "(?!",
    "(?<=",
    "(?<n>",
    "(?i)",
    "\\d",
    "\\x41",
    "\\p{L}",
    "é",
    "ab",
    "(a*)*",
    "(a|ab)(c|bcd)",
    "\n",
    "\\n",
    "&",
    "-",
    "\\K",
    "*?",
    "++",
    "\\Q",
    "\\E",
    "[[:foo:]]",
    "\\c",
    "\\0",
    "{",
    "}",
];
