//! `cmp`: where two files first differ.

use std::ops::Range;

use jp_bash_system::io::Held;
use jp_bash_system::{PIECE, Stop, System};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::size;
use super::options::{Opt, Parsed, Takes, opt};
use super::whole::read_whole;

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

/// What to compare, and how.
struct Wanted {
    bytes: bool,
    all: bool,
    silent: bool,
    /// Bytes to leave out at the beginning of each file.
    skip: [u64; 2],
    most: u64,
}

/// Runs `cmp`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    cmd.failure = 2;
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let wanted = match read(&parsed) {
        Ok(wanted) => wanted,
        Err(message) => return cmd.usage(&[&message]),
    };
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
                if !wanted.silent || errno != jp_bash_system::Errno::NoEnt {
                    cmd.fail(&[file], errno)?;
                }
                cmd.status = 2;
            }
        }
    }
    if let [left, right] = texts.as_slice() {
        let cut = |text: &'_ [u8], skip: u64| -> Range<usize> {
            let from = usize::try_from(skip).map_or(text.len(), |skip| skip.min(text.len()));
            let most = usize::try_from(wanted.most).unwrap_or(usize::MAX);
            from..usize::min(from.saturating_add(most), text.len())
        };
        let [left_skip, right_skip] = wanted.skip;
        let left = left.get(cut(left, left_skip)).unwrap_or_default();
        let right = right.get(cut(right, right_skip)).unwrap_or_default();
        let how = (wanted.bytes, wanted.all, wanted.silent);
        compare(&mut cmd, [first, second], [left, right], how)?;
    }
    held.end(cmd.sys);
    cmd.finish()
}

/// Reads the options and the operands SKIP1 and SKIP2; the error is a message.
fn read(parsed: &Parsed) -> Result<Wanted, Vec<u8>> {
    let mut wanted = Wanted {
        bytes: false,
        all: false,
        silent: false,
        skip: [0, 0],
        most: u64::MAX,
    };
    for (id, value) in &parsed.options {
        let text = value.as_deref().unwrap_or_default();
        match id {
            'b' => wanted.bytes = true,
            'l' => wanted.all = true,
            's' => wanted.silent = true,
            'i' => {
                let both = match memchr::memchr(b':', text) {
                    Some(0) | None => None,
                    Some(at) => text.get(..at).zip(text.get(at + 1..)),
                };
                let (left, right) = match both {
                    Some((left, right)) if number(left).is_some() => (left, right),
                    _ => (text, text),
                };
                wanted.skip_at_least(0, left)?;
                wanted.skip_at_least(1, right)?;
            }
            'n' => {
                let most = number(text).ok_or_else(|| invalid(b"--bytes", text))?;
                wanted.most = wanted.most.min(most);
            }
            _ => {}
        }
    }
    if wanted.all && wanted.silent {
        return Err(b"options -l and -s are incompatible".to_vec());
    }
    for (at, text) in parsed.operands.iter().skip(2).enumerate() {
        match at {
            0 | 1 => wanted.skip_at_least(at, text)?,
            _ => return Err([b"extra operand '", text.as_slice(), b"'"].concat()),
        }
    }
    Ok(wanted)
}

impl Wanted {
    /// Leaves out so many bytes of a file, or more if another option said so.
    fn skip_at_least(&mut self, file: usize, text: &[u8]) -> Result<(), Vec<u8>> {
        let count = number(text).ok_or_else(|| invalid(b"--ignore-initial", text))?;
        if let Some(slot) = self.skip.get_mut(file) {
            *slot = u64::max(*slot, count);
        }
        Ok(())
    }
}

/// Reads a number of bytes: decimal, octal behind `0`, hexadecimal behind `0x`, with an optional unit.
fn number(text: &[u8]) -> Option<u64> {
    let most = u64::MAX / 2;
    let (digits, radix) = match text {
        [b'0', b'x' | b'X', hex @ ..] => (hex, 16),
        [b'0', octal @ ..] if octal.first().is_some_and(u8::is_ascii_digit) => (octal, 8),
        _ => {
            return size(text, b"kKMGTPEZY0")
                .ok()
                .filter(|number| *number <= most);
        }
    };
    let digits = std::str::from_utf8(digits).ok()?;
    u64::from_str_radix(digits, radix)
        .ok()
        .filter(|number| *number <= most)
}

fn invalid(option: &[u8], text: &[u8]) -> Vec<u8> {
    [b"invalid ", option, b" value '", text, b"'"].concat()
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
