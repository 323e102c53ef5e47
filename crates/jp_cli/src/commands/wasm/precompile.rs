//! `jp __precompile`: compiles the builtins with exactly the settings that load them, for `cargo xtask dist`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use clap::Args;

use crate::{error::CliError, exit::Exit, ui::Ui};

/// Arguments of `jp __precompile`.
#[derive(Debug, Args)]
pub(crate) struct PrecompileArgs {
    /// Where the compiled builtins are put
    #[arg(required_unless_present = "check")]
    dir: Option<PathBuf>,
    /// Only say whether this jp carries its builtins compiled, and accepts them
    #[arg(long, conflicts_with = "dir")]
    check: bool,
}

/// Writes the machine code of each builtin, or checks what is embedded.
pub(crate) fn run(args: &PrecompileArgs, ui: &Ui) -> Result<Exit, CliError> {
    match &args.dir {
        Some(dir) => write(dir, ui),
        None => check(ui),
    }
}

fn write(dir: &Path, ui: &Ui) -> Result<Exit, CliError> {
    let mut files = BTreeSet::new();
    for builtin in jp_llm::builtins() {
        // Several may be in one file.
        if !files.insert(builtin.file) {
            continue;
        }
        let path = dir.join(format!("{}.cwasm", builtin.file));
        let code = jp_llm::precompile(builtin)?;
        // A file that changes causes everything to be linked again, which takes minutes.
        if fs::read(&path).is_ok_and(|old| old == code) {
            continue;
        }
        fs::write(&path, code).map_err(|source| CliError::at("cannot write", &path, source))?;
        ui.line(path.display())?;
    }
    Ok(Exit::Done)
}

fn check(ui: &Ui) -> Result<Exit, CliError> {
    let mut exit = Exit::Done;
    for builtin in jp_llm::builtins() {
        let found = match jp_llm::is_precompiled(builtin)? {
            true => "precompiled",
            false => {
                exit = Exit::SaidNo;
                "compiled at its first call"
            }
        };
        ui.line(format_args!("{}: {found}", builtin.name))?;
    }
    Ok(exit)
}
