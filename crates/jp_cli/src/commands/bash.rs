//! `jp bash`: a script in the virtual bash, with the mounts and hosts that its caller names.
//!
//! The script sees no file, variable or host of this machine beside those.

mod diff;
mod input;
mod mount;
mod overlay;
mod words;

use std::{
    ffi::OsString,
    fs::File,
    io::{self, IsTerminal, Write},
    os::unix::ffi::OsStrExt,
    sync::atomic::Ordering,
};

use clap::Args;
use jp_bash::{Bash, Category, ExecOptions, ExecResult, OnOutput, Stdin};

use crate::{error::CliError, exit::Exit, interrupt::Interrupts, ui::Ui};
use mount::Mounts;

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
  echo 'seq 3 | tac' | jp bash -
  jp bash --mount .:/src -c 'grep -rn TODO /src | head'
  jp bash --mount .:/src:overlay --diff -c 'cd /src && sed -i s/a/b/ *.txt'
  jp bash --net example.com -c 'curl -s https://example.com/ | head -3'
  jp bash --limit time=2 --limit output=1M -c 'yes'"
)]
pub(crate) struct BashArgs {
    /// Run this command; further words are $0, $1 and so on
    #[arg(short = 'c', value_name = "CMD")]
    command: Option<OsString>,
    /// Start in this directory
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
    /// A script file of this machine, or -, and its arguments
    #[arg(value_name = "FILE", allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Runs a script.
pub(crate) fn run(args: &BashArgs, ui: &Ui) -> Result<Exit, CliError> {
    let mounts = Mounts::parse(&args.mount)?;
    let (text, options) = script(args)?;
    let mut builder = Bash::builder().limits(words::limits(&args.limit)?);
    for word in &args.env {
        let (name, value) = words::variable(word)?;
        builder = builder.env(name, value);
    }
    if let Some(cwd) = &args.cwd {
        builder = builder.cwd(cwd.as_str());
    }
    if let Some(transport) = words::network(&args.net)? {
        builder = builder.network(transport);
    }
    let mut bash = mounts.add_to(builder, ui)?.build();
    let interrupts = Interrupts::listen().map_err(|source| CliError::System {
        what: "cannot listen for signals".to_owned(),
        source,
    })?;
    let cancel = bash.cancel_handle();
    interrupts.on_cancel(Box::new(move || cancel.store(true, Ordering::Relaxed)));
    let on_output = (!args.json).then(|| -> OnOutput {
        Box::new(|out, err| {
            // Whoever read has read enough; the script may go on.
            let _ = pass_on(&mut io::stdout(), out);
            let _ = pass_on(&mut io::stderr(), err);
        })
    });
    let result = bash.exec_with(&text, &options, on_output);
    if args.json {
        ui.json(&serde_json::json!({
            "stdout": String::from_utf8_lossy(&result.stdout),
            "stderr": String::from_utf8_lossy(&result.stderr),
            "exit_code": result.exit_code,
            "error": result.error.map(Category::name),
        }))?;
    }
    if let Some(Category::ResourceLimit(limit)) = result.error {
        ui.hint(&format!("raise it with `--limit {}=N`", limit.name()));
    }
    let wanted = overlay::Wanted {
        diff: args.diff,
        apply: args.apply,
        set_id: args.apply_setuid,
    };
    overlay::finish(mounts.overlays(), &mut bash, wanted, result.exit_code, ui)?;
    Ok(exit(&result))
}

/// Returns the script and how it is called.
fn script(args: &BashArgs) -> Result<(Vec<u8>, ExecOptions), CliError> {
    let bytes = |words: &[OsString]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let mut options = ExecOptions {
        stdin: input::of_process(),
        ..ExecOptions::default()
    };
    if let Some(command) = &args.command {
        if let Some((name, rest)) = args.words.split_first() {
            options.name = name.as_bytes().to_vec();
            options.args = bytes(rest);
        }
        return Ok((command.as_bytes().to_vec(), options));
    }
    let (file, rest) = match args.words.split_first() {
        Some((file, rest)) => (file.as_os_str(), rest),
        None if io::stdin().is_terminal() => {
            let hint = "write `jp bash -c CMD`, `jp bash FILE`, or pipe a script in";
            return Err(CliError::Usage {
                message: "nothing to run".to_owned(),
                hint: Some(hint.to_owned()),
            });
        }
        None => ("-".as_ref(), &[][..]),
    };
    options.args = bytes(rest);
    if file == "-" {
        // All of it is the script.
        options.stdin = Stdin::Empty;
        let text = input::read_all(&mut io::stdin(), "standard input")?;
        return Ok((text, options));
    }
    let mut opened = File::open(file).map_err(|error| CliError::at("cannot read", file, error))?;
    options.name = file.as_bytes().to_vec();
    options.script = true;
    let text = input::read_all(&mut opened, &file.to_string_lossy())?;
    Ok((text, options))
}

fn pass_on(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    to.write_all(bytes)?;
    to.flush()
}

fn exit(result: &ExecResult) -> Exit {
    Exit::Script(u8::try_from(result.exit_code & 0xff).unwrap_or(u8::MAX))
}
