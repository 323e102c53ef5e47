//! Where this user keeps things, and which workspace a command is about.

use std::env;

use jp_host::{Location, Places};

use crate::{error::CliError, recover, ui::Ui};

/// Returns where this user keeps things.
pub(crate) fn own() -> Places {
    Places::from_environment(&|name| env::var_os(name))
}

/// Finds the workspace of a command, and undoes or finishes an apply that was killed in it.
pub(crate) fn workspace(ui: &Ui) -> Result<Location, CliError> {
    let location = Location::find(ui.global.dir.as_deref())?;
    recover::workspace(&location, ui);
    Ok(location)
}
