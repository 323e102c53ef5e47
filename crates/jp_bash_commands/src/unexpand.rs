//! `unexpand`: blanks become tabs.

use jp_bash_system::io::Input;
use jp_bash_system::{PIECE, Stop, SysResult, System, failed};

use super::Spec;
use super::expand::{next_stop, read_stops};
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "unexpand",
    about: "Replaces blanks by tabs.",
    run,
    options: OPTIONS,
};

const FIRST: char = '\u{200}';

const OPTIONS: &[Opt] = &[
    opt('a', Some(b'a'), Some("all"), Takes::Nothing),
    opt(FIRST, None, Some("first-only"), Takes::Nothing),
    opt('t', Some(b't'), Some("tabs"), Takes::Required),
    HELP,
    VERSION,
];

/// Runs `unexpand`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let (mut all, mut first) = (false, false);
    let mut stops = Vec::new();
    for (id, value) in &parsed.options {
        match *id {
            'a' => all = true,
            FIRST => first = true,
            't' => {
                all = true;
                let text = value.as_deref().unwrap_or_default();
                if !read_stops(&mut cmd, text, &mut stops)? {
                    return cmd.finish();
                }
            }
            _ => {}
        }
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    for file in &files {
        let done = match failed(Input::open(cmd.sys, file))? {
            Ok(mut input) => {
                let done = unexpand(&mut cmd, &mut input, all && !first, &stops);
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

fn unexpand(cmd: &mut Cmd<'_>, input: &mut Input, all: bool, stops: &[usize]) -> SysResult<()> {
    while let Some(line) = input.record(cmd.sys, b'\n')? {
        // Where the blanks that wait to become a tab began.
        let (mut column, mut pending) = (0_usize, 0);
        let mut converting = true;
        for (at, &byte) in line.iter().enumerate() {
            if at.is_multiple_of(PIECE) {
                cmd.sys.work_bytes(PIECE)?;
                cmd.out.settle(cmd.sys)?;
            }
            if converting && matches!(byte, b' ' | b'\t') {
                let stop = next_stop(column, stops);
                column = if byte == b'\t' { stop } else { column + 1 };
                // Behind the last stop of a list nothing is converted.
                let beyond = stops.len() > 1 && stops.last().is_some_and(|last| column > *last);
                let alone = pending == at
                    && line
                        .get(at + 1)
                        .is_none_or(|next| !matches!(next, b' ' | b'\t'));
                if column == stop && !beyond && !(alone && byte == b' ') {
                    pending = at + 1;
                    cmd.out.buffer().push(b'\t');
                }
                continue;
            }
            cmd.put(line.get(pending..at).unwrap_or_default())?;
            pending = at + 1;
            converting &= all;
            match byte {
                8 => column = column.saturating_sub(1),
                _ => column += 1,
            }
            cmd.out.buffer().push(byte);
        }
        cmd.put(line.get(pending..).unwrap_or_default())?;
        cmd.out.settle(cmd.sys)?;
    }
    Ok(())
}
