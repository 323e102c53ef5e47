//! `mapfile` and `readarray`: lines of a descriptor into an array.

use jp_bash_system::io::Input;
use jp_bash_system::{Fd, SysError, System, Whence};

use super::args::{Getopt, number, operand};
use crate::Shell;
use crate::expand::quote;
use crate::flow::Flow;
use crate::vars::access::is_name;
use crate::vars::{Attrs, Bytes, Value, known};

const USAGE: &str = "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]";

struct Wanted {
    delimiter: u8,
    most: usize,
    origin: Option<i64>,
    skip: usize,
    strip: bool,
    fd: Fd,
    callback: Option<Vec<u8>>,
    quantum: usize,
}

/// `mapfile` and `readarray`.
pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let builtin = operand(args, 0).to_vec();
    let mut wanted = Wanted {
        delimiter: b'\n',
        most: 0,
        origin: None,
        skip: 0,
        strip: false,
        fd: 0,
        callback: None,
        quantum: 5000,
    };
    let mut options = Getopt::new(args, "d:n:O:s:tu:C:c:");
    loop {
        let given = match options.next() {
            Ok(Some(given)) => given,
            Ok(None) => break,
            Err(bad) => return shell.bad_option(&builtin, &bad, USAGE),
        };
        let value = given.value.unwrap_or_default();
        if let Err(what) = option(&mut wanted, given.letter, value) {
            shell.complain_as(&builtin, &[value, b": ", what.as_bytes()].concat())?;
            return Ok(1);
        }
    }
    let name = match options.rest() {
        [] => known::MAPFILE,
        [name, ..] if is_name(name) => shell.intern(name)?,
        [name, ..] => {
            shell.complain_as(
                &builtin,
                &[b"`", name.as_slice(), b"': not a valid identifier"].concat(),
            )?;
            return Ok(1);
        }
    };
    if shell.fds.get(wanted.fd).is_none() {
        let text = format!(
            "{}: invalid file descriptor: Bad file descriptor",
            wanted.fd
        );
        shell.complain_as(&builtin, text.as_bytes())?;
        return Ok(1);
    }
    let place = shell.resolve(name)?;
    let attrs = shell.vars.attrs(place.name);
    if attrs.has(Attrs::READONLY) {
        shell.complain_readonly(place.name)?;
        return Ok(1);
    }
    if shell.is_assoc(place.name) {
        let shown = shell.name_text(place.name);
        shell.complain_as(&builtin, &[&shown, &b": not an indexed array"[..]].concat())?;
        return Ok(1);
    }
    if wanted.origin.is_none() {
        shell.vars.set_value(
            &shell.kernel.budget,
            place.name,
            Value::Indexed(Default::default()),
        )?;
    }
    shell.vars.make_indexed(&shell.kernel.budget, place.name)?;
    fill(shell, &wanted, place.name)
}

fn option(wanted: &mut Wanted, letter: u8, value: &[u8]) -> Result<(), &'static str> {
    let count = |what: &'static str| {
        number(value)
            .and_then(|n| usize::try_from(n).ok())
            .ok_or(what)
    };
    match letter {
        b'd' => wanted.delimiter = value.first().copied().unwrap_or(0),
        b'n' => wanted.most = count("invalid line count")?,
        b'O' => {
            let origin = number(value)
                .filter(|n| *n >= 0)
                .ok_or("invalid array origin")?;
            wanted.origin = Some(origin);
        }
        b's' => wanted.skip = count("invalid line count")?,
        b't' => wanted.strip = true,
        b'u' => {
            wanted.fd = number(value)
                .and_then(|n| Fd::try_from(n).ok())
                .ok_or("invalid file descriptor specification")?;
        }
        b'C' => wanted.callback = Some(value.to_vec()),
        _ => wanted.quantum = count("invalid callback quantum")?.max(1),
    }
    Ok(())
}

/// Reads a record and not a byte more.
fn record_by_bytes<'b>(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    record: &'b mut Vec<u8>,
) -> Result<Option<&'b [u8]>, SysError> {
    record.clear();
    let mut byte = [0];
    while shell.read(wanted.fd, &mut byte)? > 0 {
        let [value] = byte;
        record.push(value);
        if record.len().is_multiple_of(4096) {
            shell.reserve(4096)?;
        }
        if value == wanted.delimiter {
            break;
        }
    }
    shell.release((record.len() / 4096 * 4096) as u64);
    Ok((!record.is_empty()).then_some(record.as_slice()))
}

fn fill(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    name: jp_bash_syntax::names::Name,
) -> Result<i32, Flow> {
    let mut input = Input::new(wanted.fd);
    // What is not wanted stays in a pipe for whoever reads next.
    let careful = wanted.most > 0 && shell.seek(wanted.fd, Whence::Current(0)).is_err();
    let mut single = Vec::new();
    let mut index = wanted.origin.unwrap_or(0);
    let mut skipped = 0;
    let mut count = 0;
    while wanted.most == 0 || count < wanted.most {
        let got = if careful {
            record_by_bytes(shell, wanted, &mut single)
        } else {
            input.record(shell, wanted.delimiter)
        };
        let line = match got {
            Ok(Some(line)) => line,
            Ok(None) | Err(SysError::Errno(_)) => break,
            Err(SysError::Stop(stop)) => return Err(stop.into()),
        };
        if skipped < wanted.skip {
            skipped += 1;
            continue;
        }
        let stripped = line
            .strip_suffix(&[wanted.delimiter])
            .filter(|_| wanted.strip || wanted.delimiter == 0);
        let text = Bytes::from(stripped.unwrap_or(line));
        count += 1;
        if let Some(callback) = &wanted.callback
            && count % wanted.quantum == 0
        {
            let mut command = callback.clone();
            command.extend_from_slice(format!(" {index} ").as_bytes());
            let utf8 = shell.utf8();
            quote::reusable(&mut command, text.as_slice(), utf8);
            shell.eval_text(&command)?;
        }
        shell
            .vars
            .set_index(&shell.kernel.budget, name, index, text)?;
        index = index.saturating_add(1);
    }
    input.give_back(shell);
    Ok(0)
}
