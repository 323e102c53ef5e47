//! `cargo xtask demo`: the main job, on a fresh machine, with each outcome checked.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::report::{Steps, say};
use crate::sample::{Call, Sample};
use crate::{ceilings, guests};

pub(crate) const HELP: &str = "\
shows what jp does: tools that work, and tools that are stopped

Builds jp and the guests, makes a workspace in target/demo with its own
configuration (yours is not touched), runs seven calls and checks each exit
code. From an empty target directory it also says how much processor time the
builds took; with CI set it fails above the ceiling in xtask/src/ceilings.rs.";

/// The knowledge that `learn` serves: slug and text.
const SUBJECTS: &[(&str, &str)] = &[
    (
        "ast-grep.md",
        "# ast-grep\n\nSearches code by its syntax tree.\n",
    ),
    ("review/naming.md", "# Naming\n\nOne word per idea.\n"),
    ("review/errors.md", "# Errors\n\nSay what to do next.\n"),
];

/// Guests of the demo: the component's name, and the tool's file in the workspace.
const TOOLS: &[(&str, &str)] = &[
    ("jp_tool_test", ".jp/tools/test_tool.wasm"),
    ("outside", ".jp/tools/outside.wasm"),
    ("spin", ".jp/tools/spin.wasm"),
];

const CONFIG: &str = r#"
[kb.topic.skills]
subjects = ".jp/kb/skills"
title = "Skills"
description = "How we work."

[conversation.tools.learn]
source = "builtin"

[conversation.tools.read]
source = "local"
wasm = ".jp/tools/test_tool.wasm"
description = "Reads a file of the workspace"
run = "unattended"
parameters.path = { type = "string", required = true }

[conversation.tools.count]
source = "local"
command = "wc -l notes.txt"
description = "Counts the lines of the notes"
run = "unattended"

[conversation.tools.outside]
source = "local"
wasm = ".jp/tools/outside.wasm"
description = "Tries to read a file outside of the workspace"
run = "unattended"

[conversation.tools.spin]
source = "local"
wasm = ".jp/tools/spin.wasm"
description = "Never ends"
run = "unattended"
limits.time = 300
"#;

const CALLS: &[Call] = &[
    Call {
        title: "A builtin tool lists what there is to learn.",
        words: &["learn", "topic=skills"],
        exit: 0,
        contains: "ast-grep",
    },
    Call {
        title: "It loads one subject.",
        words: &["learn", "topic=skills", "subjects=ast-grep"],
        exit: 0,
        contains: "syntax tree",
    },
    Call {
        title: "It loads all that match a pattern.",
        words: &["learn", "topic=skills", "subjects=review/*"],
        exit: 0,
        contains: "One word per idea",
    },
    Call {
        title: "A Wasm tool of the workspace reads a file.",
        words: &["read", "path=notes.txt"],
        exit: 0,
        contains: "second note",
    },
    Call {
        title: "A command runs, confined to the workspace.",
        words: &["count"],
        exit: 0,
        contains: "2 notes.txt",
    },
    Call {
        title: "A tool that reaches outside of the workspace is told no.",
        words: &["outside"],
        exit: 1,
        contains: "",
    },
    Call {
        title: "A tool that never ends is stopped by its time limit.",
        words: &["spin"],
        exit: 124,
        contains: "time",
    },
];

/// Runs the chore.
pub(crate) fn run(root: &Path) -> Result<()> {
    let target = Metadata::read(root)?.target_directory;
    let is_cold = ceilings::is_cold(&target, &jp_guest_build::target_dir(root));
    let mut steps = Steps::default();
    let mut artifacts = Vec::new();
    steps.run("guests", || {
        artifacts = guests::build(root)?;
        Ok(())
    })?;
    let mut made = None;
    steps.run("jp", || {
        made = Some(Sample::create(root, "demo")?);
        Ok(())
    })?;
    let Some(sample) = made else {
        bail!("the step `jp` makes the workspace")
    };
    if is_cold {
        judge_builds()?;
    }
    for (name, path) in TOOLS {
        let artifact = artifacts
            .iter()
            .find(|artifact| artifact.name == *name)
            .with_context(|| format!("no guest is called `{name}`"))?;
        sample.copy(&artifact.path, path)?;
    }
    for (slug, text) in SUBJECTS {
        sample.write(&format!(".jp/kb/skills/{slug}"), text)?;
    }
    sample.write(".jp/config.toml", CONFIG.trim_start())?;
    sample.write("notes.txt", "first note\nsecond note\n")?;
    say(&format!(
        "\nthe workspace: {}",
        sample.workspace().display()
    ));
    sample.jp(&["trust"]).run()?;
    for call in CALLS {
        sample.call(call)?;
    }
    say("\nall seven went as they must");
    Ok(())
}

/// Tells the processor time of a cold demo's builds, and holds CI to the ceiling.
fn judge_builds() -> Result<()> {
    let spent = match ceilings::children() {
        Ok(spent) => spent,
        Err(error) => {
            say(&format!("the builds' processor time is unknown: {error:#}"));
            return Ok(());
        }
    };
    say(&format!(
        "the builds took {} s of processor time, from an empty target directory",
        spent.as_secs()
    ));
    match ceilings::check_demo(spent) {
        Err(error) if std::env::var_os("CI").is_none() => {
            say(&format!("warning: {error}"));
            Ok(())
        }
        checked => checked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_toml_and_names_every_tool_that_is_called() {
        let config: toml::Table = CONFIG.parse().unwrap();
        let tools = config["conversation"]["tools"].as_table().unwrap();
        for call in CALLS {
            assert!(tools.contains_key(call.words[0]), "{}", call.words[0]);
        }
        for (_, path) in TOOLS {
            assert!(CONFIG.contains(path), "{path}");
        }
    }

    #[test]
    fn the_demo_ends_with_a_refusal_and_a_limit() {
        let exits: Vec<i32> = CALLS.iter().map(|call| call.exit).collect();
        assert_eq!(exits, [0, 0, 0, 0, 0, 1, 124]);
    }
}
