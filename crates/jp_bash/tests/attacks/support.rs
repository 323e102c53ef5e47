//! Runs an attack and checks what every attack must leave behind: a session that works.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jp_bash::{Bash, BashBuilder, Bounds, Category, ExecResult, Limit};

/// Bounds that an attack reaches quickly.
pub(crate) fn tight() -> Bounds {
    Bounds {
        commands: 20_000,
        loops: 60_000,
        output: 1 << 20,
        memory: 6 << 20,
        files: 128,
        depth: 150,
        time: Duration::from_secs(3),
    }
}

/// Returns how long this thread has computed, which others on the machine do not add to.
pub(crate) fn computed() -> Duration {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(times.split(' ').next().unwrap().parse().unwrap())
}

/// Gives a session a clock that a busy machine does not hurry: it shows what the script has computed, and
/// jumps ahead where the script would sleep.
pub(crate) fn at_its_own_pace(builder: BashBuilder) -> BashBuilder {
    let slept = Arc::new(AtomicU64::new(0));
    let passed = Arc::clone(&slept);
    builder.clock(
        Arc::new(move || computed() + Duration::from_nanos(slept.load(Ordering::Relaxed))),
        Arc::new(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            (i64::try_from(now.as_secs()).unwrap(), now.subsec_nanos())
        }),
        Arc::new(move |time| {
            // A century is as good as for ever, and can be added a few times.
            let nanos = time.as_nanos().min(3_000_000_000_000_000_000);
            passed.fetch_add(u64::try_from(nanos).unwrap(), Ordering::Relaxed);
        }),
    )
}

/// The same with more memory.
pub(crate) fn roomy() -> Bounds {
    Bounds {
        memory: 32 << 20,
        loops: 1_000_000,
        time: Duration::from_secs(20),
        ..tight()
    }
}

/// What came of an attack.
pub(crate) struct Outcome {
    script: String,
    bounds: Bounds,
    pub(crate) result: ExecResult,
}

/// Runs an attack in a new session with tight bounds.
pub(crate) fn attack(script: &str) -> Outcome {
    attack_within(tight(), script)
}

/// Runs an attack within other bounds.
pub(crate) fn attack_within(bounds: Bounds, script: &str) -> Outcome {
    attack_built(at_its_own_pace(Bash::builder().limits(bounds)), script)
}

/// Runs an attack in a session made by that builder.
pub(crate) fn attack_built(builder: BashBuilder, script: &str) -> Outcome {
    attack_in(&mut builder.build(), script)
}

/// Runs an attack in a session and checks that the session still works.
pub(crate) fn attack_in(bash: &mut Bash, script: &str) -> Outcome {
    let start = computed();
    let result = bash.exec(script.as_bytes());
    let took = computed() - start;
    let bounds = bash.limits();
    assert!(
        // An unoptimised build takes its time to look at the clock.
        took < bounds.time + Duration::from_secs(12),
        "took {took:?}: {}",
        short(script)
    );
    let most = usize::try_from(bounds.output).unwrap() + 4096;
    assert!(result.stdout.len() + result.stderr.len() <= most, "output");
    goes_on(bash, script, &result);
    Outcome {
        script: short(script),
        bounds,
        result,
    }
}

/// Runs an attack that nests, on a thread with a small stack and on one with a large stack.
pub(crate) fn attack_deep(script: &str) -> Outcome {
    let small = on_stack(2 << 20, script);
    let large = on_stack(64 << 20, script);
    if small.result.error != Some(Category::ResourceLimit(Limit::Time))
        && large.result.error != Some(Category::ResourceLimit(Limit::Time))
    {
        assert_eq!(small.result, large.result, "{}", small.script);
    }
    small
}

fn on_stack(bytes: usize, script: &str) -> Outcome {
    let script = script.to_owned();
    std::thread::Builder::new()
        .stack_size(bytes)
        .spawn(move || attack(&script))
        .unwrap()
        .join()
        .unwrap()
}

/// Checks that the session works after a call, as far as it may be full.
pub(crate) fn goes_on(bash: &mut Bash, script: &str, result: &ExecResult) {
    if result.error == Some(Category::ResourceLimit(Limit::Memory)) {
        // There is room to look and to remove, not to define.
        let after = bash.exec(b"echo ok; (exit 3) || echo $?");
        assert_eq!(
            text(&after.stdout),
            "ok\n3\n",
            "after {}: {after:?}",
            short(script)
        );
    } else {
        still_works(bash, script);
    }
}

/// Checks that nothing of the last call is left but what a session keeps.
pub(crate) fn still_works(bash: &mut Bash, script: &str) {
    let probe = b"trap; jobs; f() { local v=in; echo $v ${#FUNCNAME[@]} $#; }; f a b | cat; (exit 3) || echo $?";
    let after = bash.exec(probe);
    let shown = format!("after {}:\n{}", short(script), text(&after.stderr));
    assert_eq!(text(&after.stdout), "in 1 2\n3\n", "{shown}");
    assert_eq!(text(&after.stderr), "", "{shown}");
    assert_eq!((after.exit_code, after.error), (0, None), "{shown}");
}

impl Outcome {
    /// The run ended at that limit, and says so in all the ways it must.
    #[track_caller]
    pub(crate) fn stops_at(self, limit: Limit) -> Self {
        let category = Category::ResourceLimit(limit);
        assert_eq!(self.result.error, Some(category), "{self}");
        assert_eq!(
            self.result.exit_code,
            if limit == Limit::Time { 124 } else { 134 },
            "{self}"
        );
        let line = format!("limit reached: {}", limit.name());
        assert!(text(&self.result.stderr).contains(&line), "{self}");
        self
    }

    /// The run ended at one of the limits, whichever came first.
    #[track_caller]
    pub(crate) fn stops_at_any(self, limits: &[Limit]) -> Self {
        let reached = limits
            .iter()
            .copied()
            .find(|limit| match self.result.error {
                Some(Category::ResourceLimit(reached)) => reached == *limit,
                _ => false,
            });
        let Some(limit) = reached else {
            panic!("{self}")
        };
        self.stops_at(limit)
    }

    /// The run came to its own end, with that status.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Self {
        assert_eq!(self.result.error, None, "{self}");
        assert_eq!(self.result.exit_code, status, "{self}");
        self
    }

    /// Standard output is exactly that.
    #[track_caller]
    pub(crate) fn prints(self, expected: &str) -> Self {
        assert_eq!(text(&self.result.stdout), expected, "{self}");
        self
    }

    /// Standard output begins so: what came before the limit was kept.
    #[track_caller]
    pub(crate) fn begins(self, expected: &str) -> Self {
        assert!(text(&self.result.stdout).starts_with(expected), "{self}");
        self
    }

    /// Standard error contains that.
    #[track_caller]
    pub(crate) fn says(self, expected: &str) -> Self {
        assert!(text(&self.result.stderr).contains(expected), "{self}");
        self
    }

    /// Standard output does not contain that.
    #[track_caller]
    pub(crate) fn never_prints(self, secret: &str) -> Self {
        assert!(!text(&self.result.stdout).contains(secret), "{self}");
        assert!(!text(&self.result.stderr).contains(secret), "{self}");
        self
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "\n{}\nwithin {:?}\nexit {} error {:?}\nstdout {}\nstderr {}",
            self.script,
            self.bounds,
            self.result.exit_code,
            self.result.error,
            short(&text(&self.result.stdout)),
            short(&text(&self.result.stderr)),
        )
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Shortens a text for messages.
pub(crate) fn short(text: &str) -> String {
    if text.len() <= 2000 {
        return text.to_owned();
    }
    let head: String = text.chars().take(800).collect();
    format!("{head}… ({} bytes)", text.len())
}
