//! Standard input, for the script or as the script; and the streams that it writes to.

use std::io::{self, IsTerminal, Read};

use jp_bash::{Input, Output, OutputStream, Stdin, Writer};
use jp_llm::script::ScriptRecord;

use crate::error::CliError;

/// The longest script that is read from a file.
pub(super) const MAX_SCRIPT: u64 = 16 << 20;

/// Hands on the standard input of this process; it is read only when the script reads. Where it is the
/// script itself, `heard` hears what is read.
pub(super) fn of_process(heard: Option<ScriptRecord>) -> Stdin {
    let input = Input::new(move |buffer| {
        let read = io::stdin().read(buffer)?;
        if let Some(heard) = &heard {
            heard.read(buffer.get(..read).unwrap_or_default());
        }
        Ok(read)
    });
    Stdin::Reader(input.terminal(io::stdin().is_terminal()))
}

/// Writes to the streams of this process at once: a reader that has gone ends what writes, as everywhere.
pub(super) fn to_process(record: ScriptRecord) -> Output {
    Output::Writer(Writer::new(move |stream, bytes| {
        record.printed(stream, bytes.len());
        match stream {
            OutputStream::Out => write_all(io::stdout(), bytes),
            OutputStream::Err => write_all(io::stderr(), bytes),
        }
    }))
}

/// Writes without a buffer, in which bytes that were refused would stay to be written once more.
fn write_all(to: impl std::os::fd::AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(&to, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
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
            "cannot run {name}: longer than {limit} MiB"
        )));
    }
    Ok(text)
}
