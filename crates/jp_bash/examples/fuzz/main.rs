//! Throws random scripts at the virtual bash: `fuzz TARGET [SECONDS [SEED]] [--bash | --strict]`.
//!
//! Targets: `parser interpreter awk sed regex jq`. The work is done by a second process, so that even an
//! abort is reported with the input that caused it. `--bash` compares generated scripts with real bash and
//! counts differences, `--strict` makes a difference a failure. Exit code 0: nothing was found.

mod grammar;
mod inputs;
mod oracle;
mod random;
mod tokens;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jp_bash::{Bash, Bounds, ExecResult};

use inputs::Target;
use random::Random;

/// Marks the process that does the work.
const WORKER: &str = "JP_BASH_FUZZ_LAST";

/// Set by the panic hook: a panic in a process of the run is caught there and must not go unseen.
static PANICKED: AtomicBool = AtomicBool::new(false);

struct Options {
    target: Target,
    seconds: u64,
    seed: u64,
    compare: bool,
    strict: bool,
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        say(
            "fuzz TARGET [SECONDS [SEED]] [--bash | --strict]; targets: parser interpreter awk sed regex jq",
        );
        return ExitCode::from(2);
    };
    match std::env::var_os(WORKER) {
        Some(last) => work(&options, Path::new(&last)),
        None => supervise(&options),
    }
}

fn options() -> Option<Options> {
    let (flags, words): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with("--"));
    let strict = flags.iter().any(|flag| flag == "--strict");
    Some(Options {
        target: Target::named(words.first()?)?,
        seconds: words.get(1).map_or(Some(60), |text| text.parse().ok())?,
        seed: words
            .get(2)
            .map_or(Some(clock_seed()), |text| text.parse().ok())?,
        compare: strict || flags.iter().any(|flag| flag == "--bash"),
        strict,
    })
}

fn clock_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |time| {
        u64::try_from(time.as_nanos() & 0xffff_ffff).unwrap_or(1)
    })
}

fn say(text: &str) {
    let _said = writeln!(std::io::stderr(), "{text}");
}

/// Runs the worker and reports how it ended.
fn supervise(options: &Options) -> ExitCode {
    let last = last_input();
    let name = options.target.name();
    say(&format!("fuzz {name}: seed {}", options.seed));
    let Ok(program) = std::env::current_exe() else {
        say("fuzz: this program cannot find itself");
        return ExitCode::FAILURE;
    };
    let mut command = Command::new(program);
    command
        .args([
            name,
            &options.seconds.to_string(),
            &options.seed.to_string(),
        ])
        .env(WORKER, &last);
    if options.compare {
        command.arg(if options.strict { "--strict" } else { "--bash" });
    }
    let status = command.status();
    let clean = status.as_ref().is_ok_and(std::process::ExitStatus::success);
    if !clean {
        let input = std::fs::read(&last).unwrap_or_default();
        say(&format!(
            "fuzz {name}: FAILED ({status:?}), seed {}; the input, also in {}:\n{}",
            options.seed,
            last.display(),
            String::from_utf8_lossy(&input)
        ));
        return ExitCode::FAILURE;
    }
    let _removed = std::fs::remove_file(&last);
    ExitCode::SUCCESS
}

fn last_input() -> PathBuf {
    std::env::temp_dir().join(format!("jp-bash-fuzz-{}", std::process::id()))
}

fn bounds() -> Bounds {
    Bounds {
        commands: 3_000,
        loops: 100_000,
        output: 256 << 10,
        memory: 16 << 20,
        files: 64,
        depth: 100,
        time: Duration::from_secs(1),
    }
}

/// The longest a run may take: its time limit, and what a busy machine adds.
const LONGEST: Duration = Duration::from_secs(6);

fn work(options: &Options, last: &Path) -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        PANICKED.store(true, Ordering::Relaxed);
        say(&format!("{info}"));
    }));
    let mut random = Random::new(options.seed);
    let corpus = inputs::corpus();
    let start = Instant::now();
    let (mut runs, mut compared, mut different) = (0_u64, 0_u64, 0_u64);
    while start.elapsed() < Duration::from_secs(options.seconds) {
        let input = inputs::make(options.target, &mut random, &corpus);
        let _written = std::fs::write(last, &input.script);
        let begun = Instant::now();
        let result = run(&input);
        runs += 1;
        let fault = if PANICKED.load(Ordering::Relaxed) {
            Some("a panic".to_owned())
        } else if begun.elapsed() > LONGEST {
            Some(format!("it took {:?}", begun.elapsed()))
        } else if memory() > bounds().memory + (96 << 20) {
            Some(format!("{} MiB of memory", memory() >> 20))
        } else {
            None
        };
        if let Some(fault) = fault {
            say(&format!(
                "fuzz {}: {fault} in run {runs}",
                options.target.name()
            ));
            return ExitCode::FAILURE;
        }
        if options.compare && input.comparable && result.error.is_none() {
            let Some(difference) = oracle::compare(&input.script, &result) else {
                compared += 1;
                continue;
            };
            compared += 1;
            different += 1;
            say(&difference);
            if options.strict {
                return ExitCode::FAILURE;
            }
        }
    }
    say(&format!(
        "fuzz {}: {runs} runs, {compared} compared with bash, {different} differ, peak {} MiB",
        options.target.name(),
        memory() >> 20
    ));
    ExitCode::SUCCESS
}

fn run(input: &inputs::Input) -> ExecResult {
    let mut builder = Bash::builder()
        .limits(bounds())
        .empty_environment()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/tmp/home-x")
        .env("LANG", "C.UTF-8")
        .cwd("/tmp/w");
    for (path, content) in &input.files {
        builder = builder.file(*path, content.clone());
    }
    let mut bash = builder.build();
    let result = bash.exec(&input.script);
    // The session must go on, unless the script filled it or turned running off.
    let after = bash.exec(b"echo ok");
    if after.error.is_some() && result.error.is_none() {
        say(&format!("afterwards: {after:?}"));
        PANICKED.store(true, Ordering::Relaxed);
    }
    result
}

/// Returns the most memory this process ever had, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10
}
