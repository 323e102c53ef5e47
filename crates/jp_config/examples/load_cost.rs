//! Measures what a configured tool costs at start-up: loads a workspace with 1,000 tools.
//!
//! `cargo run --release -p jp_config --example load_cost`

use std::{
    error::Error,
    fmt::Write as _,
    fs,
    io::{self, Write as _},
    time::Instant,
};

use jp_config::{Sources, load};

const TOOLS: u32 = 1_000;
const RUNS: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    fs::create_dir(dir.path().join(".jp"))?;
    let mut text = String::new();
    for id in 0..TOOLS {
        write!(
            text,
            r#"
[conversation.tools.tool_{id}]
source = "local"
wasm = ".jp/tools/tool_{id}.wasm"
description = "Reads a file of the workspace and says what is in it."
limits = {{ memory = "64MB", time = "5s" }}
grant = {{ workspace = "read" }}
parameters.path = {{ type = "string", required = true, description = "The file" }}
parameters.lines = {{ type = ["integer", "null"], default = 10 }}
"#
        )?;
    }
    fs::write(dir.path().join(".jp/config.toml"), text)?;
    let sources = Sources {
        workspace_root: Some(dir.path().to_path_buf()),
        cwd: dir.path().to_path_buf(),
        ..Sources::default()
    };
    let mut micros = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let loaded = load(&sources)?;
        micros.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(TOOLS));
        assert_eq!(loaded.config.conversation.tools.tools.len(), 1_000);
    }
    micros.sort_by(f64::total_cmp);
    let (least, median) = (micros[0], micros[RUNS / 2]);
    let most = micros[RUNS - 1];
    writeln!(
        io::stdout(),
        "{TOOLS} tools, {RUNS} runs: {least:.2} to {most:.2} µs per tool, median {median:.2}"
    )?;
    Ok(())
}
