//! Our shell, bashkit and real bash, side by side: the same scripts, the slope between N and 2N.
//!
//! `cargo run --release` in this directory measures everything (some minutes); words after `--` pick groups
//! (`calls`, `linear`, `idle`) or cases by name. `--ours` leaves the others out. Needs bash, mawk as `awk`, and jq.
//! Times are processor time, of all processes together: what others do on the machine does not count. The last
//! column is the ratio by the clock, where real bash can run the stages of a pipeline at once.
//! `--list`, `--once CASE N` and `--files CASE N` are for `cargo xtask compare`, which counts instructions.
//! Output that is not the same in all three is marked `DIFFERS`; the last lines say which bars do not hold.

mod cases;
mod clock;
mod memory;
mod peer;

use std::time::{Duration, Instant};

use cases::{CALLS, CASES, Case, Kind, LINEAR};
use peer::{Dir, Run};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// Runs of each size, of which the quickest counts: at least, at most, and the time that is enough.
const RUNS: (usize, usize) = (3, 15);
const ENOUGH: Duration = Duration::from_millis(700);

/// What did not hold.
#[derive(Default)]
struct Bars {
    held: usize,
    missed: Vec<String>,
}

impl Bars {
    fn check(&mut self, case: &str, bar: &str, ratio: Option<f64>, least: f64) {
        match ratio {
            Some(ratio) if ratio >= least => self.held += 1,
            Some(ratio) => self.missed.push(format!("{case}: {bar} is {ratio:.2}, bar {least}")),
            None => self.missed.push(format!("{case}: {bar} could not be measured")),
        }
    }
}

fn main() {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    if count(&wanted) {
        return;
    }
    let ours = wanted.iter().any(|name| name == "--ours");
    wanted.retain(|name| name != "--ours");
    let picked = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut bars = Bars::default();
    println!(
        "{:<16} {:>10} {:>10} {:>10}   {:>8} {:>8} {:>8}",
        "case", "jp us", "bashkit us", "bash us", "bashkit/", "bash/", "by clock"
    );
    if picked("calls") {
        calls(&runtime, &mut bars);
    }
    for case in CASES.iter().filter(|case| picked(case.name)) {
        compare(case, &runtime, ours, &mut bars);
    }
    if picked("linear") {
        linear(&mut bars);
    }
    if picked("idle") {
        idle(&runtime, &mut bars);
    }
    println!("\n{} bars hold, {} do not", bars.held, bars.missed.len());
    for missed in &bars.missed {
        println!("  {missed}");
    }
}

/// What `cargo xtask compare` asks for: the cases and their sizes, or one run of one of them, unmeasured.
fn count(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["--list"] => CASES.iter().for_each(|case| println!("{} {}", case.name, u64::max(case.n, case.kit_n))),
        [mode @ ("--once" | "--files"), name, n] => {
            let case = CASES.iter().find(|case| case.name == name).expect("a case of that name");
            let n: u64 = n.parse().expect("a size");
            // The same files either way, so that what they cost can be taken off.
            let script = if mode == "--once" { case.script } else { ":" };
            let run = peer::jp(&peer::files(case.input, n), &with_n(n, script));
            assert!(run.is_some(), "{name} failed");
        }
        _ => return false,
    }
    true
}

fn compare(case: &Case, runtime: &tokio::runtime::Runtime, ours: bool, bars: &mut Bars) {
    // Ours is so much faster where real bash forks that it needs more turns to be seen.
    let n = u64::max(case.n, case.kit_n);
    let jp = slope(case, n, |_| Some(()), |files, (), script| peer::jp(files, script));
    if ours {
        println!("{:<16} {}", case.name, shown(jp.as_ref()));
        return;
    }
    let real = slope(case, case.n, Dir::new, |_, dir, script| peer::bash(dir, script));
    let kit = slope(case, case.kit_n, |_| Some(()), |files, (), script| runtime.block_on(peer::kit(files, script)));
    let mut notes = String::new();
    let ours = peer::jp(&peer::files(case.input, case.n), &with_n(case.n, case.script));
    if let (Some(ours), Some(real)) = (&ours, &real)
        && ours.out != real.out
    {
        notes.push_str("  DIFFERS");
    }
    if let Some(kit) = &kit
        && once(case, case.kit_n).is_some_and(|out| out != kit.out)
    {
        notes.push_str("  bashkit DIFFERS");
    }
    let ratio = |other: Option<&Slope>| Some(other?.each / jp.as_ref()?.each.max(1e-6));
    let (kit_ratio, real_ratio) = (ratio(kit.as_ref()), ratio(real.as_ref()));
    let number = |ratio: Option<f64>| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
    let wall = real.as_ref().zip(jp.as_ref()).map(|(real, jp)| real.wall / jp.wall.max(1e-6));
    println!(
        "{:<16} {:>10} {:>10} {:>10}   {:>8} {:>8} {:>8}{notes}",
        case.name,
        shown(jp.as_ref()),
        shown(kit.as_ref()),
        shown(real.as_ref()),
        number(kit_ratio),
        number(real_ratio),
        number(wall)
    );
    // What it cannot do or does wrongly is nothing to be compared with.
    if kit.is_some() && !notes.contains("bashkit") {
        bars.check(case.name, "bashkit/jp", kit_ratio, if case.five { 5.0 } else { 1.0 });
    }
    bars.check(case.name, "bash/jp", real_ratio, if case.kind == Kind::Text { 0.5 } else { 1.0 });
}

fn shown(slope: Option<&Slope>) -> String {
    slope.map_or("failed".to_owned(), |slope| format!("{:.4}", slope.each))
}

/// The cost of one turn in microseconds, and what the first size printed.
struct Slope {
    each: f64,
    /// The same by the clock.
    wall: f64,
    out: Vec<u8>,
}

fn with_n(n: u64, script: &str) -> String {
    format!("N={n}\n{script}")
}

/// Returns the slope between N and 2N.
fn slope<D>(
    case: &Case,
    n: u64,
    prepare: impl Fn(&[(String, String)]) -> Option<D>,
    run: impl Fn(&[(String, String)], &D, &str) -> Option<Run>,
) -> Option<Slope> {
    let sizes = [n, n * 2];
    let mut best: [Option<Run>; 2] = [None, None];
    // The two sizes alternate where they can, so that a busy moment of the machine is not taken for one's cost.
    let rounds = if case.input == cases::Input::None { RUNS.1 } else { 1 };
    let started = Instant::now();
    for round in 0..rounds {
        if round >= RUNS.0 && started.elapsed() > ENOUGH * 2 {
            break;
        }
        for (n, best) in sizes.into_iter().zip(&mut best) {
            let files = peer::files(case.input, n);
            let prepared = prepare(&files)?;
            let script = with_n(n, case.script);
            let began = Instant::now();
            for turn in 0..RUNS.1 {
                let enough = rounds > 1 || (turn >= RUNS.0 && began.elapsed() > ENOUGH);
                if turn > 0 && enough {
                    break;
                }
                let next = run(&files, &prepared, &script)?;
                *best = Some(match best.take() {
                    Some(old) => Run { time: old.time.min(next.time), wall: old.wall.min(next.wall), out: next.out },
                    None => next,
                });
            }
        }
    }
    let [Some(one), Some(two)] = best else { return None };
    let each = |one: Duration, two: Duration| (two.as_secs_f64() - one.as_secs_f64()) * 1e6 / n as f64;
    Some(Slope { each: each(one.time, two.time), wall: each(one.wall, two.wall), out: one.out })
}

/// What real bash prints.
fn once(case: &Case, n: u64) -> Option<Vec<u8>> {
    let dir = Dir::new(&peer::files(case.input, n))?;
    Some(peer::bash(&dir, &with_n(n, case.script))?.out)
}

/// The time of one of many equal calls, in microseconds.
fn each(mut run: impl FnMut()) -> f64 {
    const TIMES: u32 = 500;
    let runs = (0..20).map(|_| {
        let started = clock::own();
        (0..TIMES).for_each(|_| run());
        clock::own() - started
    });
    runs.min().unwrap_or_default().as_secs_f64() * 1e6 / f64::from(TIMES)
}

/// Calls on a warm session, and new sessions.
fn calls(runtime: &tokio::runtime::Runtime, bars: &mut Bars) {
    let mut row = |name: &str, jp: f64, kit: f64, least: f64| {
        println!("{name:<16} {jp:>10.3} {kit:>10.3} {:>10}   {:>8.2} {:>8}", "-", kit / jp, "-");
        bars.check(name, "bashkit/jp", Some(kit / jp), least);
    };
    for (name, script) in CALLS {
        let mut ours = jp_bash::Bash::new();
        let jp = each(|| assert_eq!(ours.exec(script.as_bytes()).exit_code, 0));
        let mut theirs = peer::kit_builder().build();
        let kit = each(|| {
            let result = runtime.block_on(theirs.exec(script));
            assert_eq!(result.expect("no limit was reached").exit_code, 0);
        });
        row(name, jp, kit, if *name == "warm-echo" { 3.0 } else { 1.0 });
    }
    let jp = each(|| assert_eq!(jp_bash::Bash::new().exec(b"echo hi").exit_code, 0));
    let kit = each(|| {
        let result = runtime.block_on(peer::kit_builder().build().exec("echo hi"));
        assert_eq!(result.expect("no limit was reached").exit_code, 0);
    });
    row("new-session", jp, kit, 3.0);
}

/// Time for each element as there are more of them.
fn linear(bars: &mut Bars) {
    println!("\n{:<20} {:>10} {:>10} {:>10}   us each", "stays linear", "25000", "50000", "100000");
    for (name, script) in LINEAR {
        let at = |n: u64| {
            let runs = (0..5).filter_map(|_| peer::jp(&[], &with_n(n, script)));
            let time = runs.map(|run| run.time).min().unwrap_or(Duration::MAX);
            time.as_secs_f64() * 1e6 / n as f64
        };
        let (low, middle, high) = (at(25_000), at(50_000), at(100_000));
        println!("{name:<20} {low:>10.3} {middle:>10.3} {high:>10.3}");
        bars.check(name, "at 25,000/at 100,000", Some(low / high), 0.5);
    }
}

/// What a session holds between two calls.
fn idle(runtime: &tokio::runtime::Runtime, bars: &mut Bars) {
    let jp = memory::idle(|| {
        let mut bash = jp_bash::Bash::new();
        bash.exec(b"echo hi");
        bash
    });
    let kit = memory::idle(|| {
        let mut bash = peer::kit_builder().build();
        let _ = runtime.block_on(bash.exec("echo hi"));
        bash
    });
    println!("\nidle session: jp {jp} bytes, bashkit {kit} bytes");
    bars.check("idle", "100 KiB/jp", Some(102_400.0 / jp as f64), 1.0);
}
