//! `truncate`: cuts files to a size, or grows them with zeros.

use jp_bash_system::{Errno, Follow, OpenHow, Stop, System, failed};

use super::Spec;
use super::file::Cmd;
use super::numbers::{BadNumber, size};
use super::options::{HELP, Opt, Parsed, Takes, VERSION, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "truncate",
    about: "cut or grow files to a size",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('c', Some(b'c'), Some("no-create"), Takes::Nothing),
    opt('o', Some(b'o'), Some("io-blocks"), Takes::Nothing),
    opt('r', Some(b'r'), Some("reference"), Takes::Required),
    opt('s', Some(b's'), Some("size"), Takes::Required),
    HELP,
    VERSION,
];

/// What `-o` counts in: the block size that `stat` shows.
const BLOCK: u64 = 4096;

/// How the number of `-s` counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Is,
    More,
    Less,
    AtMost,
    AtLeast,
    RoundDown,
    RoundUp,
}

#[derive(Default)]
struct Settings {
    no_create: bool,
    blocks: bool,
    size: Option<(Mode, u64)>,
    /// The size of the file that `-r` names.
    reference: Option<u64>,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let usage = "OPTION... FILE...";
    let parsed = match cmd.options(args, OPTIONS, usage)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let settings = match settings(&mut cmd, &parsed)? {
        Ok(settings) => settings,
        Err(status) => return Ok(status),
    };
    for path in &parsed.operands {
        truncate(&mut cmd, path, &settings)?;
    }
    cmd.finish()
}

fn settings(cmd: &mut Cmd<'_>, parsed: &Parsed) -> Result<Result<Settings, i32>, Stop> {
    let mut settings = Settings::default();
    let mut reference = None;
    for (id, value) in &parsed.options {
        let value = value.as_deref().unwrap_or_default();
        match id {
            'c' => settings.no_create = true,
            'o' => settings.blocks = true,
            'r' => reference = Some(value),
            _ => match read_size(value) {
                Ok(size) => settings.size = Some(size),
                Err(bad) => return bad_size(cmd, value, bad).map(Err),
            },
        }
    }
    let (size, blocks) = (cmd.quote(b"--size"), cmd.quote(b"--io-blocks"));
    let by = cmd.quote(b"--reference");
    let wrong: Option<Vec<&[u8]>> = match (settings.size, reference) {
        (None, None) => Some(vec![b"you must specify either ", &size, b" or ", &by]),
        (Some((Mode::Is, _)), Some(_)) => {
            Some(vec![b"you must specify a relative ", &size, b" with ", &by])
        }
        (None, _) if settings.blocks => {
            Some(vec![&blocks, b" was specified but ", &size, b" was not"])
        }
        _ if parsed.operands.is_empty() => Some(vec![b"missing file operand"]),
        _ => None,
    };
    if let Some(wrong) = wrong {
        return cmd.usage(&wrong).map(Err);
    }
    if let Some(path) = reference {
        match failed(cmd.sys.stat(path, Follow::Yes))? {
            Ok(stat) => settings.reference = Some(stat.size),
            Err(errno) => {
                let name = cmd.q(path);
                cmd.fail(&[b"cannot stat ", &name], errno)?;
                return Ok(Err(1));
            }
        }
    }
    Ok(Ok(settings))
}

/// Why the argument of `-s` is none.
enum BadSize {
    Number(BadNumber),
    Zero,
}

fn read_size(text: &[u8]) -> Result<(Mode, u64), BadSize> {
    let text = text.trim_ascii_start();
    let (mode, number) = match text.split_first() {
        Some((b'+', _)) => (Mode::More, text),
        Some((b'-', rest)) => (Mode::Less, rest),
        Some((b'<', rest)) => (Mode::AtMost, rest),
        Some((b'>', rest)) => (Mode::AtLeast, rest),
        Some((b'/', rest)) => (Mode::RoundDown, rest),
        Some((b'%', rest)) => (Mode::RoundUp, rest),
        _ => (Mode::Is, text),
    };
    match size(number, b"EgGkKmMPtTYZ0").map_err(BadSize::Number)? {
        0 if matches!(mode, Mode::RoundDown | Mode::RoundUp) => Err(BadSize::Zero),
        number => Ok((mode, number)),
    }
}

fn bad_size(cmd: &mut Cmd<'_>, text: &[u8], bad: BadSize) -> Result<i32, Stop> {
    let shown = cmd.quote(text);
    match bad {
        BadSize::Zero => cmd.error(&[b"division by zero"])?,
        BadSize::Number(BadNumber::Overflow) => {
            let why = b": Value too large for defined data type";
            cmd.error(&[b"Invalid number: ", &shown, why])?;
        }
        BadSize::Number(_) => cmd.error(&[b"Invalid number: ", &shown])?,
    }
    Ok(1)
}

fn truncate(cmd: &mut Cmd<'_>, path: &[u8], settings: &Settings) -> Result<(), Stop> {
    let how = OpenHow {
        write: true,
        read: false,
        create: !settings.no_create,
        ..OpenHow::READ
    };
    let fd = match failed(cmd.sys.open(path, how))? {
        Ok(fd) => fd,
        Err(Errno::NoEnt) if settings.no_create => return Ok(()),
        Err(errno) => {
            let name = cmd.q(path);
            return cmd.fail(&[b"cannot open ", &name, b" for writing"], errno);
        }
    };
    let now = match settings.reference {
        Some(size) => Ok(size),
        None => failed(cmd.sys.fstat(fd))?.map(|stat| stat.size),
    };
    let name = cmd.q(path);
    match now.map(|now| wanted(now, settings)) {
        Err(errno) => cmd.fail(&[b"cannot fstat ", &name], errno)?,
        Ok(None) => cmd.error(&[b"overflow extending size of file ", &name])?,
        Ok(Some(size)) => {
            if let Err(errno) = failed(cmd.sys.ftruncate(fd, size))? {
                let size = size.to_string();
                let parts = [b"failed to truncate ", &*name, b" at ", size.as_bytes()];
                cmd.fail(&[parts.concat().as_slice(), b" bytes"], errno)?;
            }
        }
    }
    cmd.sys.close(fd);
    Ok(())
}

/// Returns the new size of a file, unless it is none.
fn wanted(now: u64, settings: &Settings) -> Option<u64> {
    let Some((mode, number)) = settings.size else {
        return Some(now);
    };
    let unit = if settings.blocks { BLOCK } else { 1 };
    let number = number.checked_mul(unit)?;
    match mode {
        Mode::Is => Some(number),
        Mode::More => now.checked_add(number),
        Mode::Less => Some(now.saturating_sub(number)),
        Mode::AtMost => Some(u64::min(now, number)),
        Mode::AtLeast => Some(u64::max(now, number)),
        Mode::RoundDown => Some(now - now.checked_rem(number)?),
        Mode::RoundUp => now.checked_next_multiple_of(number),
    }
    .filter(|size| i64::try_from(*size).is_ok())
}
