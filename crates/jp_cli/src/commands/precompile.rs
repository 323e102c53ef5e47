//! `jp __precompile`: compiles the builtins with exactly the compiler and settings that load them.

use std::{fs, path::PathBuf};

use clap::Args;

use crate::{error::CliError, exit::Exit, ui::Ui};

/// Arguments of `jp __precompile`.
#[derive(Debug, Args)]
pub(crate) struct PrecompileArgs {
    /// Where the compiled builtins are put
    dir: PathBuf,
}

/// Writes the machine code of each builtin.
pub(crate) fn run(args: &PrecompileArgs, ui: &Ui) -> Result<Exit, CliError> {
    for builtin in jp_llm::builtins() {
        let path = args.dir.join(format!("jp_tool_{}.cwasm", builtin.name));
        let code = jp_llm::precompile(builtin)?;
        fs::write(&path, code).map_err(|source| CliError::at("cannot write", &path, source))?;
        ui.line(path.display())?;
    }
    Ok(Exit::Done)
}
