//! What is thrown: scripts from a grammar, cases with bytes changed, soups of tokens.

use std::path::Path;

use crate::grammar;
use crate::random::Random;
use crate::tokens::{AWK, JQ, REGEX, SED, SHELL};

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
                _ => script.extend(grammar::list(random, 4).into_bytes()),
            }
            plain(script)
        }
        Target::Interpreter => match random.below(4) {
            0 => plain(mutated(random, corpus)),
            1 => plain(soup(random, SHELL, 40).into_bytes()),
            _ => Input {
                script: grammar::list(random, 3).into_bytes(),
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
