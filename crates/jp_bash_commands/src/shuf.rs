//! `shuf`: lines in random order.

use jp_bash_system::io::Held;
use jp_bash_system::{Stop, System};
use rustc_hash::FxHashMap;

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::{BadNumber, size};
use super::options::{Opt, Takes, opt};
use super::pace;
use super::whole::read_whole;

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
    let names = if echo {
        0
    } else {
        usize::from(range.is_none())
    };
    if let (false, Some(extra)) = (echo, parsed.operands.get(names)) {
        let shown = cmd.quote(extra);
        return cmd.usage(&[b"extra operand ", &shown]);
    }
    let mut held = Held::default();
    let mut text = Vec::new();
    let items = if let Some((low, high)) = range {
        Items::Numbers(low, (high - low).saturating_add(1))
    } else if echo {
        held.more(
            cmd.sys,
            parsed.operands.len().saturating_mul(size_of::<&[u8]>()),
        )?;
        Items::Lines(parsed.operands.iter().map(Vec::as_slice).collect())
    } else {
        let file = parsed.operands.first().map_or(&b"-"[..], Vec::as_slice);
        match read_whole(cmd.sys, file, &mut held)? {
            Ok(read) => {
                text = read;
                let mut lines = pace::lines(cmd.sys, &mut held, &text, end)?;
                for line in &mut lines {
                    *line = line.strip_suffix(&[end]).unwrap_or(line);
                }
                Items::Lines(lines)
            }
            Err(errno) => {
                let name = cmd.qf(file);
                cmd.fail(&[&name], errno)?;
                return cmd.finish();
            }
        }
    };
    if let Some(path) = to {
        match jp_bash_system::failed(cmd.sys.open(&path, jp_bash_system::OpenHow::WRITE))? {
            Ok(fd) => cmd.out = jp_bash_system::io::Output::new(fd),
            Err(errno) => {
                let name = cmd.qf(&path);
                cmd.fail(&[&name], errno)?;
                return cmd.finish();
            }
        }
    }
    print(&mut cmd, &mut held, items, most, repeat, end)?;
    drop(text);
    held.end(cmd.sys);
    cmd.finish()
}

/// What is wrong with a range: a part of it, and why.
type Wrong<'t> = (&'t [u8], &'static [u8]);

/// Reads `LO-HI`; the error is the part that is wrong, and why.
fn input_range(text: &[u8]) -> Result<(u64, u64), Wrong<'_>> {
    let read = |part| {
        size(part, b"").map_err(|bad| match bad {
            BadNumber::Overflow => (part, &b": Value too large for defined data type"[..]),
            _ => (part, &b""[..]),
        })
    };
    let Some((low, high)) =
        memchr::memchr(b'-', text).and_then(|at| Some((text.get(..at)?, text.get(at + 1..)?)))
    else {
        return Err((text, read(text).err().map_or(b"", |(_, why)| why)));
    };
    let (low, high) = (read(low)?, read(high)?);
    if low > high {
        return Err((text, b""));
    }
    Ok((low, high))
}

fn below(cmd: &mut Cmd<'_>, bound: u64) -> u64 {
    let mut bytes = [0; 8];
    cmd.sys.random(&mut bytes);
    u64::from_le_bytes(bytes) % u64::max(bound, 1)
}

/// What is shuffled.
enum Items<'t> {
    /// The first number, and how many.
    Numbers(u64, u64),
    /// Lines without their ends.
    Lines(Vec<&'t [u8]>),
}

impl Items<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Numbers(_, count) => *count,
            Self::Lines(lines) => lines.len() as u64,
        }
    }

    fn put(&self, cmd: &mut Cmd<'_>, at: u64, end: u8) -> Result<(), Stop> {
        match self {
            Self::Numbers(low, _) => cmd.put((low + at).to_string().as_bytes())?,
            Self::Lines(lines) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                let line = lines.get(at).copied().unwrap_or_default();
                cmd.put(line)?;
            }
        }
        cmd.put(&[end])
    }
}

fn print(
    cmd: &mut Cmd<'_>,
    held: &mut Held,
    items: Items<'_>,
    most: Option<u64>,
    repeat: bool,
    end: u8,
) -> Result<(), Stop> {
    let count = items.len();
    if count == 0 {
        if repeat && most != Some(0) {
            return cmd.error(&[b"no lines to repeat"]);
        }
        return Ok(());
    }
    let mut left = most.unwrap_or(if repeat { u64::MAX } else { count });
    // What was swapped to which place; every other place still has its own item.
    let mut moved: FxHashMap<u64, u64> = FxHashMap::default();
    let mut at = 0;
    while left > 0 && (repeat || at < count) && !cmd.out.failed() {
        if repeat {
            let pick = below(cmd, count);
            items.put(cmd, pick, end)?;
        } else {
            let pick = at + below(cmd, count - at);
            let here = moved.remove(&at).unwrap_or(at);
            let chosen = if pick == at {
                here
            } else {
                held.more(cmd.sys, 3 * size_of::<(u64, u64)>())?;
                moved.insert(pick, here).unwrap_or(pick)
            };
            items.put(cmd, chosen, end)?;
            at += 1;
        }
        cmd.sys.turns(1)?;
        left -= 1;
    }
    Ok(())
}
