//! `cmp`: where two files first differ.

use std::ops::Range;

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::io::Held;
use super::numbers::{SIZES, size};
use super::options::{Opt, Takes, opt};
use super::whole::read_whole;
use crate::stop::Stop;
use crate::system::{PIECE, System};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "cmp",
    about: "Compares two files byte by byte.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('b', Some(b'b'), Some("print-bytes"), Takes::Nothing),
    opt('i', Some(b'i'), Some("ignore-initial"), Takes::Required),
    opt('l', Some(b'l'), Some("verbose"), Takes::Nothing),
    opt('n', Some(b'n'), Some("bytes"), Takes::Required),
    opt('s', Some(b's'), Some("quiet"), Takes::Nothing),
    opt('s', None, Some("silent"), Takes::Nothing),
    HELP,
    VERSION,
];

/// Runs `cmp`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    cmd.failure = 2;
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let (mut bytes, mut all, mut silent, mut skip, mut most) = (false, false, false, 0, usize::MAX);
    for (id, value) in &parsed.options {
        let number = value.as_deref().and_then(|text| size(text, SIZES).ok());
        let number = number.and_then(|number| usize::try_from(number).ok());
        match id {
            'b' => bytes = true,
            'l' => all = true,
            's' => silent = true,
            'i' => skip = number.unwrap_or(0),
            'n' => most = number.unwrap_or(usize::MAX),
            _ => {}
        }
    }
    let Some(first) = parsed.operands.first() else {
        return cmd.usage(&[b"missing operand after 'cmp'"]);
    };
    let second = parsed.operands.get(1).map_or(&b"-"[..], Vec::as_slice);
    let mut held = Held::default();
    let mut texts = Vec::new();
    for file in [first.as_slice(), second] {
        match read_whole(cmd.sys, file, &mut held)? {
            Ok(text) => texts.push(text),
            Err(errno) => {
                if !silent || errno != crate::errno::Errno::NoEnt {
                    cmd.fail(&[file], errno)?;
                }
                cmd.status = 2;
            }
        }
    }
    if let [left, right] = texts.as_slice() {
        let cut = |text: &'_ [u8]| -> Range<usize> {
            let from = usize::min(skip, text.len());
            from..usize::min(from.saturating_add(most), text.len())
        };
        let (left, right) = (left.get(cut(left)), right.get(cut(right)));
        compare(
            &mut cmd,
            [first, second],
            [left.unwrap_or_default(), right.unwrap_or_default()],
            (bytes, all, silent),
        )?;
    }
    held.end(cmd.sys);
    cmd.finish()
}

fn compare(
    cmd: &mut Cmd<'_>,
    [first, second]: [&[u8]; 2],
    [left, right]: [&[u8]; 2],
    (bytes, all, silent): (bool, bool, bool),
) -> Result<(), Stop> {
    let width = left.len().min(right.len()).max(1).to_string().len();
    let mut line = 1_u64;
    let mut at = 0;
    for (piece, other) in left.chunks(PIECE).zip(right.chunks(PIECE)) {
        cmd.sys.work_bytes(piece.len())?;
        if piece == other {
            line += memchr::memchr_iter(b'\n', piece).count() as u64;
            at += piece.len();
            continue;
        }
        for (a, b) in piece.iter().zip(other) {
            at += 1;
            if a == b {
                line += u64::from(*a == b'\n');
                continue;
            }
            cmd.status = 1;
            if silent {
                return Ok(());
            }
            let place = at;
            if !all {
                let mut text = [first, b" ", second, b" differ: "].concat();
                text.extend_from_slice(format!("byte {place}, line {line}").as_bytes());
                if bytes {
                    text.extend_from_slice(
                        format!(" is {a:3o} {} {b:3o} {}", shown(*a), shown(*b)).as_bytes(),
                    );
                }
                text.push(b'\n');
                return cmd.put(&text);
            }
            let text = if bytes {
                format!(
                    "{place:width$} {a:3o} {:<4} {b:3o} {}\n",
                    shown(*a),
                    shown(*b)
                )
            } else {
                format!("{place:width$} {a:3o} {b:3o}\n")
            };
            cmd.put(text.as_bytes())?;
            line += u64::from(*a == b'\n');
        }
    }
    if left.len() != right.len() {
        cmd.status = 1;
        if silent {
            return Ok(());
        }
        let (name, text) = if left.len() < right.len() {
            (first, left)
        } else {
            (second, right)
        };
        cmd.out.flush(cmd.sys)?;
        let mut message = [b"EOF on ", name].concat();
        if text.is_empty() {
            message.extend_from_slice(b" which is empty");
        } else {
            message.extend_from_slice(format!(" after byte {}", text.len()).as_bytes());
            if !all {
                let lines = memchr::memchr_iter(b'\n', text).count();
                let whole = text.last() == Some(&b'\n');
                let text = if whole {
                    format!(", line {lines}")
                } else {
                    format!(", in line {}", lines + 1)
                };
                message.extend_from_slice(text.as_bytes());
            }
        }
        cmd.note(&[&message])?;
    }
    Ok(())
}

/// Shows a byte as `cat -v` does.
fn shown(byte: u8) -> String {
    let (meta, low) = if byte >= 128 {
        ("M-", byte - 128)
    } else {
        ("", byte)
    };
    match low {
        0..=31 => format!("{meta}^{}", char::from(low + 64)),
        127 => format!("{meta}^?"),
        low => format!("{meta}{}", char::from(low)),
    }
}
