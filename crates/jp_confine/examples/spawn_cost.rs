//! Measures what confinement adds to starting a program: `true`, bare and confined.
//!
//! Run with `cargo run --release -p jp_confine --example spawn_cost`.

use std::{
    error::Error,
    io::{self, Write},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use jp_confine::{Confinement, Launcher, Network, ProcessLimits};

const ROUNDS: usize = 200;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(code) = jp_confine::enter_if_asked() {
        return Ok(code);
    }
    let launcher = Launcher::current_exe()?;
    let start = Instant::now();
    launcher.support()?;
    writeln!(io::stdout(), "finding out      {:?}", start.elapsed())?;
    measure("bare", || Ok(Command::new("true").status()?.success()))?;
    for (name, network) in [("confined", Network::None), ("with network", Network::Host)] {
        let confinement = confinement(network);
        measure(name, || {
            let mut confined = launcher.command(&confinement, "true".as_ref(), &[])?;
            let ended = confined.command.status()?;
            confined
                .report
                .failure()
                .map_or(Ok(ended.success()), |error| Err(error.into()))
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn confinement(network: Network) -> Confinement {
    Confinement {
        read: Vec::new(),
        write: Vec::new(),
        network,
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: "/".into(),
        limits: ProcessLimits {
            memory_bytes: 1 << 30,
            processes: 64,
            open_files: 256,
            file_bytes: 1 << 30,
            cpu_seconds: 60,
        },
    }
}

fn measure(
    name: &str,
    run: impl Fn() -> Result<bool, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        if !run()? {
            return Err("`true` said no".into());
        }
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at = |percent: usize| {
        times
            .get(ROUNDS * percent / 100)
            .copied()
            .unwrap_or_default()
    };
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let (low, middle, high) = (ms(at(5)), ms(at(50)), ms(at(95)));
    writeln!(
        io::stdout(),
        "{name:<16} median {middle:.2} ms, p5 {low:.2}, p95 {high:.2}"
    )?;
    Ok(())
}
