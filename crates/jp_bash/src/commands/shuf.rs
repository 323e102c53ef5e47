//! `shuf`: lines in random order.

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::io::Held;
use super::numbers::{BadNumber, size};
use super::options::{Opt, Takes, opt};
use super::whole::read_whole;
use crate::stop::Stop;
use crate::system::System;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "shuf",
    about: "Prints lines in random order.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('e', Some(b'e'), Some("echo"), Takes::Nothing),
    opt('i', Some(b'i'), Some("input-range"), Takes::Required),
    opt('n', Some(b'n'), Some("head-count"), Takes::Required),
    opt('o', Some(b'o'), Some("output"), Takes::Required),
    opt('r', Some(b'r'), Some("repeat"), Takes::Nothing),
    opt('z', Some(b'z'), Some("zero-terminated"), Takes::Nothing),
    HELP,
    VERSION,
];

/// Runs `shuf`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let (mut echo, mut range, mut most, mut repeat, mut end) = (false, None, None, false, b'\n');
    let mut to = None;
    for (id, value) in parsed.options {
        let value = value.unwrap_or_default();
        match id {
            'e' => echo = true,
            'i' => {
                if range.is_some() {
                    return cmd.usage(&[b"multiple -i options specified"]);
                }
                match input_range(&value) {
                    Ok(ends) => range = Some(ends),
                    Err((wrong, why)) => {
                        let shown = cmd.quote(wrong);
                        cmd.error(&[b"invalid input range: ", &shown, why])?;
                        return cmd.finish();
                    }
                }
            }
            'n' => match size(&value, b"") {
                Ok(count) => most = Some(u64::min(count, most.unwrap_or(u64::MAX))),
                Err(BadNumber::Overflow) => {}
                Err(_) => {
                    let shown = cmd.quote(&value);
                    cmd.error(&[b"invalid line count: ", &shown])?;
                    return cmd.finish();
                }
            },
            'o' => to = Some(value),
            'r' => repeat = true,
            'z' => end = 0,
            _ => {}
        }
    }
    if echo && range.is_some() {
        return cmd.usage(&[b"cannot combine -e and -i options"]);
    }
    let names = if echo { 0 } else { usize::from(range.is_none()) };
    if let (false, Some(extra)) = (echo, parsed.operands.get(names)) {
        let shown = cmd.quote(extra);
        return cmd.usage(&[b"extra operand ", &shown]);
    }
    let mut held = Held::default();
    let mut items: Vec<Vec<u8>> = Vec::new();
    if let Some((low, high)) = range {
        for value in low..=high {
            held.more(cmd.sys, 48)?;
            items.push(value.to_string().into_bytes());
        }
    } else if echo {
        items = parsed.operands;
    } else {
        let file = parsed.operands.first().map_or(&b"-"[..], Vec::as_slice);
        match read_whole(cmd.sys, file, &mut held)? {
            Ok(text) => {
                let text = text
                    .strip_suffix(&[end])
                    .map_or(text.clone(), <[u8]>::to_vec);
                if !text.is_empty() {
                    items = text
                        .split(|byte| *byte == end)
                        .map(<[u8]>::to_vec)
                        .collect();
                }
            }
            Err(errno) => {
                let name = cmd.qf(file);
                cmd.fail(&[&name], errno)?;
                return cmd.finish();
            }
        }
    }
    if let Some(path) = to {
        match crate::system::failed(cmd.sys.open(&path, crate::system::OpenHow::WRITE))? {
            Ok(fd) => cmd.out = super::io::Output::new(fd),
            Err(errno) => {
                let name = cmd.qf(&path);
                cmd.fail(&[&name], errno)?;
                return cmd.finish();
            }
        }
    }
    print(&mut cmd, items, most, repeat, end)?;
    held.end(cmd.sys);
    cmd.finish()
}

/// Reads `LO-HI`; the error is the part that is wrong, and why.
fn input_range(text: &[u8]) -> Result<(u64, u64), (&[u8], &'static [u8])> {
    let read = |part| {
        size(part, b"").map_err(|bad| match bad {
            BadNumber::Overflow => (part, &b": Value too large for defined data type"[..]),
            _ => (part, &b""[..]),
        })
    };
    let Some((low, high)) = memchr::memchr(b'-', text)
        .and_then(|at| Some((text.get(..at)?, text.get(at + 1..)?)))
    else {
        return Err((text, read(text).err().map_or(b"", |(_, why)| why)));
    };
    let (low, high) = (read(low)?, read(high)?);
    if low > high {
        return Err((text, b""));
    }
    Ok((low, high))
}

fn below(cmd: &mut Cmd<'_>, bound: usize) -> usize {
    let mut bytes = [0; 8];
    cmd.sys.random(&mut bytes);
    let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
    usize::try_from(u64::from_le_bytes(bytes) % bound).unwrap_or(0)
}

fn print(
    cmd: &mut Cmd<'_>,
    mut items: Vec<Vec<u8>>,
    most: Option<u64>,
    repeat: bool,
    end: u8,
) -> Result<(), Stop> {
    if items.is_empty() {
        if repeat && most != Some(0) {
            return cmd.error(&[b"no lines to repeat"]);
        }
        return Ok(());
    }
    let mut left = most.unwrap_or(if repeat { u64::MAX } else { items.len() as u64 });
    let mut at = 0;
    while left > 0 && (repeat || at < items.len()) && !cmd.out.failed() {
        let pick = if repeat {
            below(cmd, items.len())
        } else {
            let pick = at + below(cmd, items.len() - at);
            items.swap(at, pick);
            at += 1;
            at - 1
        };
        let item = items.get(pick).cloned().unwrap_or_default();
        cmd.put(&item)?;
        cmd.put(&[end])?;
        cmd.sys.turns(1)?;
        left -= 1;
    }
    Ok(())
}
