//! `expand`: tabs become blanks.

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::io::Input;
use super::options::{Opt, Takes, opt};
use crate::stop::Stop;
use crate::system::{PIECE, SysResult, System, failed};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "expand",
    about: "Replaces tabs by blanks.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('i', Some(b'i'), Some("initial"), Takes::Nothing),
    opt('t', Some(b't'), Some("tabs"), Takes::Required),
    HELP,
    VERSION,
];

/// Runs `expand`; a leading `-NUM` is `-t NUM`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let args: Vec<Vec<u8>> = args
        .iter()
        .map(|arg| match arg.strip_prefix(b"-") {
            Some(rest) if rest.first().is_some_and(u8::is_ascii_digit) => [b"-t", rest].concat(),
            _ => arg.clone(),
        })
        .collect();
    let mut cmd = Cmd::new(sys, &args);
    let parsed = match cmd.options(&args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut initial = false;
    let mut stops: Vec<usize> = Vec::new();
    for (id, value) in &parsed.options {
        if *id == 'i' {
            initial = true;
        }
        if *id == 't' {
            let text = value.as_deref().unwrap_or_default();
            if !read_stops(&mut cmd, text, &mut stops)? {
                return cmd.finish();
            }
        }
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    for file in &files {
        let done = match failed(Input::open(cmd.sys, file))? {
            Ok(mut input) => {
                let done = expand(&mut cmd, &mut input, initial, &stops);
                input.close(cmd.sys);
                failed(done)?
            }
            Err(errno) => Err(errno),
        };
        if let Err(errno) = done {
            let name = cmd.qf(file);
            cmd.fail(&[&name], errno)?;
        }
    }
    cmd.finish()
}

/// Reads a list of tab stops; after a message it returns `false`.
pub(super) fn read_stops(
    cmd: &mut Cmd<'_>,
    text: &[u8],
    stops: &mut Vec<usize>,
) -> Result<bool, Stop> {
    for part in text.split(|byte| matches!(byte, b',' | b' ')) {
        let number: Option<usize> = std::str::from_utf8(part).ok().and_then(|t| t.parse().ok());
        match number {
            Some(0) => cmd.error(&[b"tab size cannot be 0"])?,
            Some(number) if stops.last().is_none_or(|last| *last < number) => {
                stops.push(number);
                continue;
            }
            Some(_) => cmd.error(&[b"tab sizes must be ascending"])?,
            None => {
                let shown = cmd.quote(part);
                cmd.error(&[b"tab size contains invalid character(s): ", &shown])?;
            }
        }
        return Ok(false);
    }
    Ok(true)
}

/// Returns the column of the tab stop after `column`.
pub(super) fn next_stop(column: usize, stops: &[usize]) -> usize {
    match stops {
        [] => column.saturating_add(8 - column % 8),
        [size] => column.saturating_add(size - column % size),
        stops => {
            let next = stops.partition_point(|stop| *stop <= column);
            stops.get(next).copied().unwrap_or(column + 1)
        }
    }
}

fn expand(cmd: &mut Cmd<'_>, input: &mut Input, initial: bool, stops: &[usize]) -> SysResult<()> {
    while let Some(line) = input.record(cmd.sys, b'\n')? {
        let mut column = 0_usize;
        let mut leading = true;
        for piece in line.chunks(PIECE) {
            for byte in piece {
                match byte {
                    b'\t' if leading || !initial => {
                        let stop = next_stop(column, stops);
                        cmd.out.repeat(cmd.sys, b' ', stop - column)?;
                        column = stop;
                        continue;
                    }
                    8 => column = column.saturating_sub(1),
                    _ => column += 1,
                }
                leading &= *byte == b' ';
                cmd.out.buffer().push(*byte);
            }
            cmd.out.settle(cmd.sys)?;
        }
    }
    Ok(())
}
