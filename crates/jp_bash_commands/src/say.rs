//! What small commands say alike: quoted words, usage errors, help, durations.

use jp_bash_system::io::{Output, complain};
use jp_bash_system::{Errno, Stop, System, failed};

use crate::options::hint;
pub(crate) use crate::options::{HELP, VERSION};
use crate::quote::quote;

/// Puts a word in GNU's quotes: curly in UTF-8.
pub(crate) fn quoted(sys: &dyn System, word: &[u8]) -> Vec<u8> {
    quote(sys.utf8(), word)
}

/// Prints `NAME: MESSAGE` and the hint at `--help`; returns the status given.
pub(crate) fn misused(
    sys: &mut dyn System,
    name: &[u8],
    message: &[u8],
    status: i32,
) -> Result<i32, Stop> {
    if !message.is_empty() {
        complain(sys, name, message)?;
    }
    hint(sys, name)?;
    Ok(status)
}

/// Answers `--help` or `--version`, if one was asked for.
pub(crate) fn answered(
    sys: &mut dyn System,
    options: &[(char, Option<Vec<u8>>)],
    name: &str,
    usage: &str,
) -> Result<Option<i32>, Stop> {
    for (id, _) in options {
        let text = if *id == HELP.id {
            format!("Usage: {usage}\n")
        } else if *id == VERSION.id {
            format!("{name} (jp, like GNU {name})\n")
        } else {
            continue;
        };
        return Ok(Some(i32::from(
            failed(sys.write(1, text.as_bytes()))?.is_err(),
        )));
    }
    Ok(None)
}

/// Writes a short answer to standard output; returns the status.
pub(crate) fn print(sys: &mut dyn System, name: &[u8], text: &[u8]) -> Result<i32, Stop> {
    let written = failed(sys.write(1, text))?;
    told(sys, name, written)
}

/// Ends the output of a command; returns the status.
pub(crate) fn finished(sys: &mut dyn System, name: &[u8], out: Output) -> Result<i32, Stop> {
    let written = out.finish(sys)?;
    told(sys, name, written)
}

fn told(sys: &mut dyn System, name: &[u8], written: Result<(), Errno>) -> Result<i32, Stop> {
    match written {
        Ok(()) => Ok(0),
        Err(errno) => {
            complain(
                sys,
                name,
                &[b"write error: ", errno.text().as_bytes()].concat(),
            )?;
            Ok(1)
        }
    }
}

/// Reads a duration such as `1.5m`: seconds, or `None` if it is none. `infinity` is the longest.
pub(crate) fn seconds(text: &[u8]) -> Option<f64> {
    let (digits, unit) = match text.split_last() {
        Some((b's', rest)) => (rest, 1.0),
        Some((b'm', rest)) => (rest, 60.0),
        Some((b'h', rest)) => (rest, 3600.0),
        Some((b'd', rest)) => (rest, 86400.0),
        _ => (text, 1.0),
    };
    let digits = std::str::from_utf8(digits).ok()?;
    if digits.starts_with(|c: char| c.is_whitespace())
        || digits.ends_with(|c: char| c.is_whitespace())
    {
        return None;
    }
    let value: f64 = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        #[expect(clippy::cast_precision_loss, reason = "a duration need not be exact")]
        Some(hex) => u64::from_str_radix(hex, 16).ok()? as f64,
        None => digits.parse().ok()?,
    };
    (value >= 0.0).then_some(value * unit)
}

/// Returns the status of a program that could not be run: 127 if there is none, else 126.
pub(crate) fn not_run(errno: Errno) -> i32 {
    if errno == Errno::NoEnt { 127 } else { 126 }
}
