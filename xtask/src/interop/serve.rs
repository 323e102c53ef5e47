//! Clients that others wrote, talking to `jp serve`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jp_guest_build::Guest;

use super::{inspector, install_from_npm, interop_dir, mcp};
use crate::guests;
use crate::process::Run;
use crate::report::say;
use crate::sample::Sample;

const PYTHON_CLIENT: &str = "crates/jp_test/interop/serve_client.py";
const NODE_CLIENT: &str = "crates/jp_test/interop/serve_client.mjs";
const TYPESCRIPT_SDK: &str = "@modelcontextprotocol/client@2.4.0";

const CONFIG: &str = "\
[conversation.tools.test_tool]
source = \"local\"
wasm = \".jp/tools/test_tool.wasm\"
grant.workspace = \"read\"
parameters.path = { type = \"string\", required = true }
parameters.ask = { type = \"boolean\" }

[conversation.tools.test_tool_with_progress]
source = \"local\"
wasm = \".jp/tools/conformance.wasm\"
grant.workspace = \"none\"

# For clients that know tasks; the others wait.
[conversation.tools.bash]
source = \"builtin\"
task = \"always\"
";

/// The example of `jp_tool_test` that says how far it is.
const EXAMPLE: &str = "conformance";

/// Lets all clients talk to a server and returns what was left out.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let sample = Sample::of_tests(root, "interop/serve")?;
    let guests = guests::build(root)?;
    let guest = guests.iter().find(|guest| guest.name == "jp_tool_test");
    let guest = guest.context("jp_tool_test was not built")?;
    sample.copy(&guest.path, ".jp/tools/test_tool.wasm")?;
    let examples = jp_guest_build::build(root, &[Guest::examples(&guest.name)])?;
    let example = examples.iter().find(|example| example.name == EXAMPLE);
    let example = example.context("the example of jp_tool_test was not built")?;
    sample.copy(&example.path, ".jp/tools/conformance.wasm")?;
    sample.write(".jp/config.toml", CONFIG)?;
    sample.write("notes.txt", "first note\nsecond note\n")?;
    let mut skipped = Vec::new();
    for (name, client) in [
        ("python-sdk client", python as fn(&Path) -> _),
        ("typescript-sdk client", typescript),
    ] {
        match client(root)? {
            Ok((program, script)) => {
                say(&format!("serve {name}"));
                talk(&sample, &program, &script).with_context(|| name)?;
            }
            Err(why) => {
                say(&format!("serve {name}: skipped: {why}"));
                skipped.push(format!("serve {name}: {why}"));
            }
        }
    }
    say("serve inspector");
    if let Err(why) = inspector::check(root, &sample)? {
        say(&format!("serve inspector: skipped: {why}"));
        skipped.push(format!("serve inspector: {why}"));
    }
    Ok(skipped)
}

/// What runs a client, and the client; or why it cannot be had.
type Client = Result<(PathBuf, PathBuf), String>;

fn python(root: &Path) -> Result<Client> {
    let script = root.join(PYTHON_CLIENT).canonicalize()?;
    Ok(mcp::python_sdk(root)?.map(|python| (python, script)))
}

fn typescript(root: &Path) -> Result<Client> {
    let modules = interop_dir(root)?.join("typescript-sdk");
    Ok(match install_from_npm(&modules, TYPESCRIPT_SDK) {
        // A module finds its packages beside itself.
        Ok(()) => {
            let script = modules.join("serve_client.mjs");
            std::fs::copy(root.join(NODE_CLIENT), &script)?;
            Ok((PathBuf::from("node"), script.canonicalize()?))
        }
        Err(why) => Err(why),
    })
}

fn talk(sample: &Sample, program: &Path, script: &Path) -> Result<()> {
    let run = sample.places(Run::new(program, &sample.workspace()));
    let run = run
        .arg(script)
        .arg(sample.program())
        .arg(sample.workspace());
    let output = run.output()?;
    for stream in [&output.stdout, &output.stderr] {
        say(String::from_utf8_lossy(stream).trim_end());
    }
    if !output.status.success() {
        bail!("the client failed: {}", output.status);
    }
    Ok(())
}
