//! Every command asks the budget at a bounded distance, whatever its input is.

use std::collections::BTreeMap;

use jp_bash_system::meter;

use crate::{Bash, Bounds};

/// `NAME: SCRIPT`, or `NAME < FILE: SCRIPT` with the file in `x`; `examples/late` measures the same scripts with a clock.
const SCRIPTS: &str = include_str!("../examples/late/scripts.txt");

/// The size of the files: many times what may lie between two asks.
const SIZE: usize = 1 << 20;

/// The file that is in `x`, and what runs then.
type Script = (Option<&'static str>, &'static str);

fn scripts() -> BTreeMap<&'static str, Vec<Script>> {
    let mut by_name: BTreeMap<&str, Vec<Script>> = BTreeMap::new();
    for line in SCRIPTS.lines().filter(|line| !line.starts_with('#')) {
        let (head, script) = line.split_once(": ").unwrap();
        let (name, file) = match head.split_once(" < ") {
            Some((name, file)) => (name, Some(file)),
            None => (head, None),
        };
        by_name.entry(name).or_default().push((file, script));
    }
    by_name
}

fn filled(text: &[u8]) -> Vec<u8> {
    text.iter().copied().cycle().take(SIZE).collect()
}

/// The files that the scripts name.
fn files() -> [(&'static str, Vec<u8>); 11] {
    let long = [&[b'b'; 60_000][..], b"\n"].concat();
    let numbers: Vec<u8> = (0..SIZE / 16)
        .flat_map(|n| format!("{} {}\n", n * 7919 % 65_537, n % 77).into_bytes())
        .collect();
    let bytes: Vec<u8> = (0..SIZE)
        .map(|n| u8::try_from(n * 31 % 251).unwrap())
        .collect();
    let json = [b"[", &filled(b"1,")[..], b"1]"].concat();
    [
        ("line", filled(b"a")),
        ("blanks", filled(b" ")),
        ("tabs", filled(b"\t")),
        ("words", filled(b"a ")),
        ("utf8", filled("é".as_bytes())),
        ("digits", filled(b"7")),
        ("short", filled(b"a\n")),
        ("long", filled(&long)),
        ("numbers", numbers),
        ("bytes", bytes),
        ("json", json),
    ]
}

fn session(files: &[(&str, Vec<u8>)]) -> Bash {
    let bounds = Bounds {
        loops: u64::MAX,
        time: std::time::Duration::from_secs(600),
        ..Bounds::default()
    };
    let mut builder = Bash::builder().limits(bounds);
    for (name, content) in files {
        builder = builder.file(format!("/t/{name}"), content.clone());
    }
    builder.build()
}

#[test]
fn every_command_asks_the_budget_within_64_kib_and_10000_steps() {
    let (scripts, files) = (scripts(), files());
    let mut late = Vec::new();
    for program in jp_bash_commands::programs().all() {
        let Some(scripts) = scripts.get(program.name) else {
            late.push(format!("{}: no script tries to keep it busy", program.name));
            continue;
        };
        for (file, script) in scripts {
            let mut bash = session(&files);
            if let Some(file) = file {
                bash.exec(format!("x=$(cat /t/{file})").as_bytes());
            }
            meter::start();
            let result = bash.exec(script.as_bytes());
            let found = meter::finish();
            assert_eq!(result.error, None, "{script}");
            late.extend(found.iter().map(|what| format!("{script}: {what}")));
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}

#[test]
fn a_command_that_never_asks_is_seen() {
    meter::start();
    meter::handed(SIZE);
    assert_eq!(meter::finish(), ["1048576 bytes unasked for"]);
    meter::start();
    meter::asked(1024);
    assert_eq!(meter::finish(), ["one ask for 1024 units"]);
    meter::start();
    meter::handed(SIZE);
    for _ in 0..SIZE / meter::MOST_BYTES {
        meter::asked(64);
    }
    assert_eq!(meter::finish(), [""; 0]);
}
