//! New processes: a whole `jp tool run learn`, next to `bash -c true`.
//!
//! `cargo bench -p jp_bench --bench startup -- --jp target/dist/jp`

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on stops")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use jp_bench::{Samples, line, rounds};

fn main() {
    let Some(jp) = jp() else {
        line(
            "startup: no jp binary; build one with `cargo xtask dist` and name it with `--jp PATH`",
        );
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let (few, many) = (dir.path().join("few"), dir.path().join("many"));
    workspace(&few, 0);
    workspace(&many, 1000);
    let learn = |root: &Path, home: &str| {
        let mut command = Command::new(&jp);
        command
            .arg("-C")
            .arg(root)
            .args(["tool", "run", "learn", "topic=skills", "subjects=one"]);
        let home = dir.path().join(home);
        for name in ["CONFIG", "DATA", "CACHE"] {
            command.env(format!("JP_{name}_DIR"), home.join(name));
        }
        command.stdout(Stdio::null()).stderr(Stdio::inherit());
        assert!(command.status().unwrap().success());
    };
    let mut first = Samples::new("process/first-call-on-a-machine/1");
    for round in 0..rounds(5) {
        first.time(|| learn(&few, &format!("home-{round}")));
    }
    let mut bash = Samples::new("process/bash-c-true/1");
    let mut warm = Samples::new("process/jp-learn/1");
    let mut crowded = Samples::new("process/jp-learn-1000-other-tools/1");
    for _ in 0..rounds(100) {
        bash.time(|| Command::new("bash").args(["-c", "true"]).status().unwrap());
        warm.time(|| learn(&few, "home-0"));
        crowded.time(|| learn(&many, "home-0"));
    }
    first.report(None);
    bash.report(None);
    warm.report(Some(&bash));
    crowded.report(Some(&warm));
    let each = (crowded.percentile(0.5) - warm.percentile(0.5)) / 1000.0;
    line(&format!(
        "  {each:.2} us of start-up for each configured tool that is not called"
    ));
}

fn jp() -> Option<PathBuf> {
    let mut args = std::env::args().skip_while(|arg| arg != "--jp");
    args.nth(1)
        .map(PathBuf::from)
        .and_then(|path| path.canonicalize().ok())
}

/// Makes a workspace with one topic and some tools that nobody calls; their files do not exist,
/// so opening one would fail.
fn workspace(root: &Path, tools: usize) {
    fs::create_dir_all(root.join(".jp/kb/skills")).unwrap();
    fs::write(root.join(".jp/kb/skills/one.md"), "# One\n").unwrap();
    let mut config = "[kb.topic.skills]\nsubjects = \".jp/kb/skills\"\n".to_owned();
    for n in 0..tools {
        config.push_str(&format!(
            "[conversation.tools.tool_{n}]\nsource = \"local\"\nwasm = \".jp/tools/{n}.wasm\"\n\
             description = \"A tool\"\nparameters.input.type = \"string\"\nparameters.input.required = true\n"
        ));
    }
    fs::write(root.join(".jp/config.toml"), config).unwrap();
}
