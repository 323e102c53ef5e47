//! `expand`: tabs become blanks.

use jp_bash_system::io::Input;
use jp_bash_system::{PIECE, Stop, SysResult, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::{BadNumber, size};
use super::options::{Opt, Takes, old_numbers, opt};

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
    let args = old_numbers(args, OPTIONS, b't');
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
    for part in text.split(|byte| matches!(byte, b',' | b' ' | b'\t')) {
        let digits = part.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let rest = part.get(digits..).unwrap_or_default();
        if part.is_empty() {
            continue;
        }
        if !rest.is_empty() {
            let shown = cmd.quote(rest);
            cmd.error(&[b"tab size contains invalid character(s): ", &shown])?;
            return Ok(false);
        }
        match size(part, b"") {
            Ok(0) => cmd.error(&[b"tab size cannot be 0"])?,
            Ok(number) if stops.last().is_none_or(|last| (*last as u64) < number) => {
                stops.push(usize::try_from(number).unwrap_or(usize::MAX));
                continue;
            }
            Ok(_) => cmd.error(&[b"tab sizes must be ascending"])?,
            Err(BadNumber::Invalid | BadNumber::Suffix | BadNumber::Overflow) => {
                let shown = cmd.quote(part);
                cmd.error(&[b"tab stop is too large ", &shown])?;
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
