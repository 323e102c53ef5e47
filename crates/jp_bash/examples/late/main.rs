//! How late a run stops after its time limit: `late [NAME…]`, in release mode on an idle machine.
//!
//! For every command, each script of `scripts.txt` runs again and again until the limit; shown are how late the
//! stop came and the longest time between two looks at the clock. Exit code 1: one of them was over 200 ms.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jp_bash::{Bash, Bounds, command_names};

const SCRIPTS: &str = include_str!("scripts.txt");

/// The time limit of each run.
const LIMIT: Duration = Duration::from_millis(500);

/// What is too late.
const LATE: Duration = Duration::from_millis(200);

/// The size of the files that the scripts read.
const SIZE: usize = 16 << 20;

/// How much of such a file a variable holds.
const FILLED: usize = 4 << 20;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut code = ExitCode::SUCCESS;
    let mut seen = Vec::new();
    for line in SCRIPTS.lines().filter(|line| !line.starts_with('#')) {
        let Some((head, script)) = line.split_once(": ") else {
            continue;
        };
        let (name, filled) = head
            .split_once(" < ")
            .map_or((head, None), |(name, file)| (name, Some(file)));
        seen.push(name);
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        let (late, gap) = measure(script, filled);
        if late > LATE || gap > LATE {
            code = ExitCode::FAILURE;
        }
        say(&format!(
            "{:>6} ms late {:>6} ms between looks  {script}",
            late.as_millis(),
            gap.as_millis()
        ));
    }
    let missing = command_names().filter(|name| !seen.contains(name));
    say(&format!(
        "not measured, builtins among them: {}",
        missing.collect::<Vec<_>>().join(" ")
    ));
    code
}

fn say(line: &str) {
    let _said = writeln!(std::io::stdout(), "{line}");
}

/// Repeats a script until its time is over; returns how late that was seen, and the longest time between two looks.
/// The first bytes of a file are in `$x` before that; no time passes while they are read.
fn measure(script: &str, filled: Option<&str>) -> (Duration, Duration) {
    let start = Instant::now();
    let (last, longest) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let begun = Arc::new(AtomicBool::new(false));
    let clock = {
        let (last, longest) = (Arc::clone(&last), Arc::clone(&longest));
        let begun = Arc::clone(&begun);
        move || {
            if !begun.load(Ordering::Relaxed) {
                return Duration::ZERO;
            }
            let now = start.elapsed();
            let micros = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
            let before = last.swap(micros, Ordering::Relaxed);
            longest.fetch_max(micros.saturating_sub(before), Ordering::Relaxed);
            now
        }
    };
    let bounds = Bounds {
        time: LIMIT,
        loops: u64::MAX,
        commands: u64::MAX,
        memory: 1 << 30,
        ..Bounds::default()
    };
    let mut builder = Bash::builder().limits(bounds).clock(
        Arc::new(clock),
        Arc::new(|| (1_700_000_000, 0)),
        Arc::new(std::thread::park_timeout),
    );
    for (name, content) in files() {
        builder = builder.file(format!("/t/{name}"), content);
    }
    let mut bash = builder.build();
    // The first call also makes the session, with its files.
    let fill = filled.map_or(":".to_owned(), |file| {
        format!("x=$(head -c {FILLED} /t/{file})")
    });
    let _result = bash.exec(fill.as_bytes());
    begun.store(true, Ordering::Relaxed);
    let began = start.elapsed();
    last.store(
        u64::try_from(began.as_micros()).unwrap_or(u64::MAX),
        Ordering::Relaxed,
    );
    let looped = format!("cd /tmp; while :; do {script}; done > /dev/null 2>&1");
    let _result = bash.exec(looped.as_bytes());
    let ended = start.elapsed();
    let late = (ended - began).saturating_sub(LIMIT);
    let rest = ended.saturating_sub(Duration::from_micros(last.load(Ordering::Relaxed)));
    longest.fetch_max(
        u64::try_from(rest.as_micros()).unwrap_or(u64::MAX),
        Ordering::Relaxed,
    );
    (late, Duration::from_micros(longest.load(Ordering::Relaxed)))
}

fn filled(text: &[u8]) -> Vec<u8> {
    text.iter().copied().cycle().take(SIZE).collect()
}

/// The files that `scripts.txt` speaks of.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let long = [&[b'b'; 60_000][..], b"\n"].concat();
    let numbers = (0..SIZE / 16)
        .flat_map(|n| format!("{} {}\n", n * 7919 % 65_537, n % 77).into_bytes())
        .collect();
    let bytes = (0..SIZE)
        .map(|n| u8::try_from(n * 31 % 251).unwrap_or(0))
        .collect();
    vec![
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
        ("json", [b"[", &filled(b"1,")[..], b"1]"].concat()),
    ]
}
