//! `jp bash`: a script in the virtual bash, with the mounts and hosts that its caller names.
//!
//! The script sees no file, variable or host of this machine beside those.

mod diff;
mod input;
mod mount;
mod overlay;
mod record;
mod script;
mod words;

use std::{ffi::OsString, io};

use clap::Args;
use jp_bash::{Category, ExecMode, ExecResult};
use jp_llm::script::{Script, ScriptBuilder, ScriptRecord, ScriptSession};
use jp_policy::Net;

use crate::{error::CliError, exit::Exit, interrupt::Interrupts, ui::Ui};
use mount::Mounts;
use script::{Found, NoScript};

/// Arguments of `jp bash`.
#[derive(Debug, Args)]
#[command(
    trailing_var_arg = true,
    after_help = "\
The files of the script are virtual: nothing of this machine is there unless
--mount puts it there. ro (the default) is for reading, rw writes through, and
overlay keeps writes apart: --diff shows them afterwards, --apply writes them,
all or none.

Limits: commands, loops, output, memory, files, depth, time (seconds). Numbers
may end in K, M or G. A script that reaches one ends there; what it printed is
kept.

Examples:
  jp bash -c 'for i in 1 2 3; do echo $i; done'
  jp bash script.sh first second
  echo 'seq 3 | tac' | jp bash
  jp bash --mount .:/src -c 'grep -rn TODO /src | head'
  jp bash --mount .:/src:overlay --diff -c 'cd /src && sed -i s/a/b/ *.txt'
  jp bash --net example.com -c 'curl -s https://example.com/ | head -3'
  jp bash --limit time=2 --limit output=1M -c 'yes'"
)]
pub(crate) struct BashArgs {
    /// Run this command; further words are $0, $1 and so on
    #[arg(short = 'c', value_name = "CMD")]
    command: Option<OsString>,
    /// Start in this directory of the script's files
    #[arg(long, value_name = "PATH")]
    cwd: Option<String>,
    /// Export a variable (may be repeated)
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Show a directory of this machine to the script (may be repeated)
    #[arg(long, value_name = "HOST:VIRTUAL[:ro|rw|overlay]")]
    mount: Vec<String>,
    /// Let the script reach this host: `example.com`, `*.example.com`, `example.com:8443` (may be repeated)
    #[arg(long, value_name = "HOST")]
    net: Vec<String>,
    /// Set a limit (may be repeated)
    #[arg(long, value_name = "NAME=N")]
    limit: Vec<String>,
    /// Show what changed in overlays, as a unified diff on standard error
    #[arg(long)]
    diff: bool,
    /// Write what changed in overlays to this machine, if the script succeeds
    #[arg(long)]
    apply: bool,
    /// Apply setuid and setgid bits too, which are left out otherwise
    #[arg(long, requires = "apply")]
    apply_setuid: bool,
    /// Print one JSON object: stdout, stderr, exit_code, and error when the run was cut short
    #[arg(long)]
    json: bool,
    /// A script file of this machine or of the script's files, or - for standard input, and its arguments
    #[arg(value_name = "FILE", allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Runs a script.
pub(crate) fn run(args: &BashArgs, ui: &Ui) -> Result<Exit, CliError> {
    let mounts = Mounts::parse(&args.mount)?;
    refuse_without_overlay(args, &mounts)?;
    let net = words::network(&args.net)?;
    let mut builder = mounts.add_to(set_up(args, &net)?, ui)?;
    let mut script = match script::find(args.command.as_ref(), &args.words, &mounts) {
        Ok(script) => script,
        Err(NoScript::Error(error)) => return Err(error),
        Err(NoScript::Unreadable { message, code }) => {
            ui.say(message);
            return Ok(Exit::Script(code));
        }
    };
    if let Some(copy) = script.copy.take() {
        builder = builder.file(&script.options.name, copy);
    }
    let mut session = builder.build();
    session.check().map_err(|error| CliError::Usage {
        message: error.to_string(),
        hint: Some("paths of --cwd and --mount are those that the script sees".to_owned()),
    })?;
    let record = record::begin(args, &mounts, &net, &script)?;
    let result = execute(script, &mut session, &record, args.json)?;
    // Before anything is applied: what nobody can account for did not happen.
    record.ended(&result)?;
    if args.json {
        ui.json(&json(&result))?;
    }
    if let Some(Category::ResourceLimit(limit)) = result.error {
        ui.hint(&format!("raise it with `--limit {}=N`", limit.name()));
    }
    let wanted = overlay::Wanted {
        diff: args.diff,
        apply: args.apply,
        set_id: args.apply_setuid,
    };
    let shell = session.shell();
    overlay::finish(mounts.overlays(), shell, wanted, result.exit_code, ui)?;
    Ok(exit(&result))
}

/// Runs a script on the streams of this process, until it ends or a signal comes.
fn execute(
    found: Found,
    session: &mut ScriptSession,
    record: &ScriptRecord,
    keep_output: bool,
) -> Result<ExecResult, CliError> {
    let Found {
        text, mut options, ..
    } = found;
    let is_input = options.mode == ExecMode::Input;
    options.stdin = input::of_process(is_input.then(|| record.clone()));
    if !keep_output {
        options.output = input::to_process(record.clone());
    }
    let interrupts = Interrupts::listen().map_err(|source| CliError::System {
        what: "cannot listen for signals".to_owned(),
        source,
    })?;
    let stop = session.stop();
    interrupts.on_cancel(Box::new(move || stop.now()));
    interrupts.on_leave(record.on_leave());
    Ok(session.run(Script {
        text,
        options,
        on_output: None,
    }))
}

/// Refuses to show or apply changes where none are kept apart.
fn refuse_without_overlay(args: &BashArgs, mounts: &Mounts) -> Result<(), CliError> {
    let option = match (args.apply, args.diff) {
        (true, _) => "--apply",
        (false, true) => "--diff",
        (false, false) => return Ok(()),
    };
    match mounts.overlays().next() {
        Some(_) => Ok(()),
        None => Err(CliError::Usage {
            message: format!("{option} needs an overlay: no mount keeps changes apart"),
            hint: Some("mount the directory as `--mount HOST:VIRTUAL:overlay`".to_owned()),
        }),
    }
}

/// Takes over the options that name no host directory.
fn set_up(args: &BashArgs, net: &Net) -> Result<ScriptBuilder, CliError> {
    let mut builder = ScriptBuilder::new(words::limits(&args.limit)?);
    for word in &args.env {
        let (name, value) = words::variable(word)?;
        builder = builder.variable(name, value);
    }
    if let Some(cwd) = &args.cwd {
        if !cwd.starts_with('/') {
            return Err(CliError::usage(format!(
                "invalid value `{cwd}` for --cwd: expected an absolute path of the script's files"
            )));
        }
        builder = builder.start_in_existing(cwd);
    }
    builder.network(net).map_err(|error| CliError::System {
        what: "cannot set up the network".to_owned(),
        source: io::Error::other(error.to_string()),
    })
}

fn json(result: &ExecResult) -> serde_json::Value {
    let (stdout, stderr) = (&result.stdout, &result.stderr);
    let mut json = serde_json::json!({
        "stdout": String::from_utf8_lossy(stdout),
        "stderr": String::from_utf8_lossy(stderr),
        "exit_code": result.exit_code,
        "error": result.error.map(Category::name),
    });
    if [stdout, stderr]
        .iter()
        .any(|bytes| str::from_utf8(bytes).is_err())
    {
        json["lossy"] = true.into();
    }
    json
}

fn exit(result: &ExecResult) -> Exit {
    Exit::Script(u8::try_from(result.exit_code & 0xff).unwrap_or(u8::MAX))
}
