//! The audit record of a script: what it is and what it may do, as the command line says.

use std::path::{Path, PathBuf};

use jp_bash::{ExecMode, HostMode};
use jp_llm::script::{ScriptRecord, ScriptWords};
use jp_policy::Net;

use super::{
    BashArgs,
    input::MAX_SCRIPT,
    mount::{Mounted, Mounts},
    script::{Found, real},
    words,
};
use crate::{clock, error::CliError, places};

/// Opens the log and begins the record of a script. Without a log nothing runs.
pub(super) fn begin(
    args: &BashArgs,
    mounts: &Mounts,
    net: &Net,
    script: &Found,
) -> Result<ScriptRecord, CliError> {
    let log = places::own().open_log(jp_audit::Options::default())?;
    let mut granted = ScriptWords::default();
    for mounted in mounts.all() {
        let Mounted { host, path, mode } = mounted;
        let leads_to = real(host).unwrap_or_else(|| host.clone());
        granted.mount(path, *mode, &leads_to, &log);
    }
    granted.network(net);
    let names = args
        .env
        .iter()
        .filter_map(|word| words::variable(word).ok());
    granted.variables(names.map(|(name, _)| name));
    if args.apply
        && mounts
            .all()
            .iter()
            .any(|mounted| mounted.mode == HostMode::Overlay)
    {
        granted.applied();
    }
    let record = ScriptRecord::begin(log, jp_host::principal(), clock::call_id(), granted);
    let options = &script.options;
    match options.mode {
        ExecMode::Command | ExecMode::File => {
            record.runs(Some(&script.text), &options.name, &options.args);
        }
        ExecMode::Path => {
            let text = of_session(args, mounts, &options.name);
            record.runs(text.as_deref(), &options.name, &options.args);
        }
        // What it reads is its text.
        ExecMode::Input => record.runs(None, &options.name, &options.args),
    }
    Ok(record)
}

/// Reads a script that only the script's own files have; nothing where none of a mount has its name.
fn of_session(args: &BashArgs, mounts: &Mounts, name: &[u8]) -> Option<Vec<u8>> {
    let name = str::from_utf8(name).ok()?;
    let path: PathBuf = Path::new(args.cwd.as_deref().unwrap_or("/")).join(name);
    let file = mounts.host_path(&path)?;
    // A pipe would be waited for, and read in the script's place.
    let is_script = |file: &Path| {
        let found = file.metadata().ok()?;
        (found.is_file() && found.len() <= MAX_SCRIPT).then_some(())
    };
    is_script(&file)?;
    std::fs::read(&file).ok()
}
