//! Standard input, for the script or as the script.

use std::io::{self, Read};

use jp_bash::{Input, Stdin};

use crate::error::CliError;

/// The longest script that is read.
const MAX_SCRIPT: u64 = 16 << 20;

/// Hands on the standard input of this process; it is read only when the script reads.
pub(super) fn of_process() -> Stdin {
    Stdin::Reader(Input::new(|buffer| io::stdin().read(buffer)))
}

/// Reads a script.
pub(super) fn read_all(from: &mut impl Read, name: &str) -> Result<Vec<u8>, CliError> {
    let mut text = Vec::new();
    let read = from.take(MAX_SCRIPT + 1).read_to_end(&mut text);
    read.map_err(|source| CliError::System {
        what: format!("cannot read {name}"),
        source,
    })?;
    if text.len() as u64 > MAX_SCRIPT {
        let limit = MAX_SCRIPT >> 20;
        return Err(CliError::usage(format!(
            "{name}: longer than {limit} MiB, which no script may be"
        )));
    }
    Ok(text)
}
