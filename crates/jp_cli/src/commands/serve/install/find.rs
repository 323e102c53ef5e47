//! Finds the clients of this machine, and the name under which they find jp.

use std::{
    env,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use clap::ValueEnum as _;

use super::{
    client::{Client, Machine},
    error::InstallError,
};

/// A client that is there, and what gave it away.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) client: Client,
    pub(super) by: PathBuf,
}

/// Returns the clients that have a configuration or are programs that can be started by name.
pub(super) fn clients(machine: &Machine) -> Vec<Found> {
    let all = Client::value_variants().iter();
    let found = all.filter_map(|&client| {
        let trace = client.trace(machine).filter(|trace| trace.exists());
        let program = || client.facts().program.and_then(on_path);
        let by = trace.or_else(program)?;
        Some(Found { client, by })
    });
    found.collect()
}

/// Returns how a client calls jp: `jp` where that is this very program, or else its path.
pub(super) fn program(client: Client) -> Result<String, InstallError> {
    let failed = |source| InstallError::Program { source };
    let own = env::current_exe()
        .and_then(|own| own.canonicalize())
        .map_err(failed)?;
    let named = on_path("jp").filter(|named| named.canonicalize().is_ok_and(|named| named == own));
    let program = match (named, client) {
        // It is started from the desktop, where PATH is another one.
        (Some(named), Client::ClaudeDesktop) => named,
        (Some(_), _) => PathBuf::from("jp"),
        (None, _) => own,
    };
    text(&program)
}

/// Returns a path as text that can stand in a configuration.
pub(super) fn text(path: &Path) -> Result<String, InstallError> {
    let text = path
        .to_str()
        .filter(|text| !text.contains(char::is_control));
    text.map(str::to_owned).ok_or_else(|| {
        let shown = path.display();
        InstallError::Usage(format!(
            "invalid path {shown}: expected UTF-8 without control characters"
        ))
    })
}

fn on_path(name: &str) -> Option<PathBuf> {
    let dirs = env::var_os("PATH")?;
    let files = env::split_paths(&dirs).map(|dir| dir.join(name));
    let mut files = files.filter(|file| file.is_absolute());
    files.find(|file| {
        let found = file.metadata();
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}
