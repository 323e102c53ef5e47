//! `fold`: breaks long lines.

use jp_bash_system::io::Input;
use jp_bash_system::{PIECE, Stop, SysResult, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::unsigned;
use super::options::{Opt, Takes, old_numbers, opt};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "fold",
    about: "Breaks lines that are too wide.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('b', Some(b'b'), Some("bytes"), Takes::Nothing),
    opt('s', Some(b's'), Some("spaces"), Takes::Nothing),
    opt('w', Some(b'w'), Some("width"), Takes::Required),
    HELP,
    VERSION,
];

/// Runs `fold`; a leading `-NUM` is `-w NUM`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let args = old_numbers(args, OPTIONS, b'w');
    let mut cmd = Cmd::new(sys, &args);
    let parsed = match cmd.options(&args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let (mut bytes, mut spaces, mut width) = (false, false, 80_usize);
    for (id, value) in &parsed.options {
        match id {
            'b' => bytes = true,
            's' => spaces = true,
            'w' => {
                let text = value.as_deref().unwrap_or_default();
                match unsigned(text, 1, u64::MAX - 9) {
                    Ok(number) => width = usize::try_from(number).unwrap_or(usize::MAX),
                    Err(why) => {
                        let shown = cmd.quote(text);
                        cmd.error(&[b"invalid number of columns: ", &shown, why])?;
                        return cmd.finish();
                    }
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
                let done = fold(&mut cmd, &mut input, bytes, spaces, width);
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

/// Returns the column after a byte. As GNU's, every other byte counts one.
fn advance(column: usize, byte: u8, bytes: bool) -> usize {
    match byte {
        _ if bytes => column + 1,
        8 => column.saturating_sub(1),
        b'\r' => 0,
        b'\t' => column + 8 - column % 8,
        _ => column + 1,
    }
}

fn fold(
    cmd: &mut Cmd<'_>,
    input: &mut Input,
    bytes: bool,
    spaces: bool,
    width: usize,
) -> SysResult<()> {
    while let Some(line) = input.record(cmd.sys, b'\n')? {
        let (text, ended) = match line.strip_suffix(b"\n") {
            Some(text) => (text, true),
            None => (line, false),
        };
        let (mut start, mut column, mut at) = (0, 0, 0);
        // Where the text behind the last blank of this line begins.
        let mut word = None;
        while let Some(&byte) = text.get(at) {
            let next = advance(column, byte, bytes);
            if next <= width || at == start {
                column = next;
                at += 1;
                if spaces && matches!(byte, b' ' | b'\t') {
                    word = Some(at);
                }
                if at.is_multiple_of(PIECE) {
                    cmd.sys.work_bytes(PIECE)?;
                }
                continue;
            }
            let cut = word.take().unwrap_or(at);
            cmd.put(text.get(start..cut).unwrap_or_default())?;
            cmd.put(b"\n")?;
            start = cut;
            column = 0;
            for piece in text.get(start..at).unwrap_or_default().chunks(PIECE) {
                cmd.sys.work_bytes(piece.len() / 4)?;
                column = piece
                    .iter()
                    .fold(column, |column, byte| advance(column, *byte, bytes));
            }
        }
        cmd.put(text.get(start..).unwrap_or_default())?;
        if ended {
            cmd.put(b"\n")?;
        }
    }
    Ok(())
}
