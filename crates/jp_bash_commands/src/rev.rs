//! `rev`: each line from its end to its start, by characters.

use jp_bash_system::io::Input;
use jp_bash_system::{PIECE, Stop, SysResult, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};
use super::quote::first_char;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "rev",
    about: "Prints each line with its characters in reverse order.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('0', Some(b'0'), Some("zero"), Takes::Nothing),
    HELP,
    VERSION,
];

/// Runs `rev`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[options] [<file> ...]")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let end = if parsed.options.is_empty() { b'\n' } else { 0 };
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    for file in &files {
        match failed(Input::open(cmd.sys, file))? {
            Ok(mut input) => {
                let done = reverse(&mut cmd, &mut input, end);
                input.close(cmd.sys);
                if let Err(errno) = failed(done)? {
                    cmd.fail(&[file], errno)?;
                }
            }
            Err(errno) => cmd.fail(&[b"cannot open ", file], errno)?,
        }
    }
    cmd.finish()
}

fn reverse(cmd: &mut Cmd<'_>, input: &mut Input, end: u8) -> SysResult<()> {
    let utf8 = cmd.sys.utf8();
    while let Some(line) = input.record(cmd.sys, end)? {
        let (mut text, ended) = match line.strip_suffix(&[end]) {
            Some(text) => (text, true),
            None => (line, false),
        };
        while !text.is_empty() {
            let cut = text.len().saturating_sub(PIECE);
            let cut = if utf8 { boundary(text, cut) } else { cut };
            let (before, piece) = text.split_at_checked(cut).unwrap_or((&[], text));
            reverse_piece(piece, utf8, cmd.out.buffer());
            cmd.out.settle(cmd.sys)?;
            text = before;
        }
        if ended {
            cmd.out.buffer().push(end);
        }
        cmd.out.settle(cmd.sys)?;
    }
    Ok(())
}

/// Returns the place nearest before `at` where a character begins; a byte that belongs to none is one of its own.
fn boundary(text: &[u8], at: usize) -> usize {
    let begins = |at: &usize| text.get(*at).is_some_and(|byte| byte & 0xc0 != 0x80);
    (at.saturating_sub(3)..=at).rev().find(begins).unwrap_or(at)
}

fn reverse_piece(piece: &[u8], utf8: bool, buffer: &mut Vec<u8>) {
    if !utf8 || piece.is_ascii() {
        buffer.extend(piece.iter().rev());
        return;
    }
    let mut starts = Vec::new();
    let mut at = 0;
    while at < piece.len() {
        let rest = piece.get(at..).unwrap_or_default();
        let length = first_char(rest).map_or(1, |(_, length)| length);
        starts.push((at, at + length));
        at += length;
    }
    for (from, to) in starts.iter().rev() {
        buffer.extend_from_slice(piece.get(*from..*to).unwrap_or_default());
    }
}
