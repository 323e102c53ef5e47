//! `stat`: tells about files.

use jiff::tz::TimeZone;
use jp_bash_system::{FileKind, Follow, Stat, Stop, System, Timestamp, failed};

use super::Spec;
use super::file::mode::{kind_bits, mode_text};
use super::file::name::{group_name, user_name};
use super::file::size::blocks;
use super::file::{Cmd, HELP, VERSION, argmatch, time};
use super::options::{Opt, Takes, opt};
use super::quote::{self, Style};

pub(crate) const SPEC: Spec = Spec {
    name: "stat",
    about: "tell about files",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('L', Some(b'L'), Some("dereference"), Takes::Nothing),
    opt('f', Some(b'f'), Some("file-system"), Takes::Nothing),
    opt('C', None, Some("cached"), Takes::Required),
    opt('c', Some(b'c'), Some("format"), Takes::Required),
    opt('p', None, Some("printf"), Takes::Required),
    opt('t', Some(b't'), Some("terse"), Takes::Nothing),
    HELP,
    VERSION,
];

const LONG: &[u8] = b"  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-11i Links: %h\nAccess: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n";
const TERSE: &[u8] = b"%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";
const FS_LONG: &[u8] = b"  File: \"%n\"\n    ID: %-8i Namelen: %-7l Type: %T\nBlock size: %-10s Fundamental block size: %S\nBlocks: Total: %-10b Free: %-10f Available: %a\nInodes: Total: %-10c Free: %d\n";
const FS_TERSE: &[u8] = b"%n %i %l %t %s %S %b %f %a %c %d\n";

struct Settings {
    follow: Follow,
    format: Vec<u8>,
    /// Backslash escapes are read, and no newline is added.
    printf: bool,
    file_system: bool,
    own_format: bool,
    zone: TimeZone,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... FILE...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut settings = Settings {
        follow: Follow::No,
        format: Vec::new(),
        printf: false,
        file_system: false,
        own_format: false,
        zone: time::zone(cmd.sys),
    };
    let (mut format, mut terse) = (None, false);
    for (id, value) in parsed.options {
        match id {
            'L' => settings.follow = Follow::Yes,
            'f' => settings.file_system = true,
            'c' => (format, settings.printf) = (value, false),
            'p' => (format, settings.printf) = (value, true),
            't' => terse = true,
            _ => {
                let list = [("default", 0), ("never", 1), ("always", 2)];
                let value = value.unwrap_or_default();
                if argmatch(&mut cmd, "--cached", &value, &list)?.is_none() {
                    return Ok(1);
                }
            }
        }
    }
    if parsed.operands.is_empty() {
        return cmd.usage(&[b"missing operand"]);
    }
    let fixed = match (settings.file_system, terse) {
        (false, false) => LONG,
        (false, true) => TERSE,
        (true, false) => FS_LONG,
        (true, true) => FS_TERSE,
    };
    let given = format.is_some();
    settings.own_format = !given;
    settings.format = format.unwrap_or_else(|| fixed.to_vec());
    for path in &parsed.operands {
        let shown: &[u8] = if path == b"-" { b"/dev/stdin" } else { path };
        let found = if path == b"-" {
            failed(cmd.sys.fstat(0))?
        } else {
            failed(cmd.sys.stat(shown, settings.follow))?
        };
        match found {
            Ok(stat) => {
                let line = render(&mut cmd, path, &stat, &settings)?;
                cmd.put(&line)?;
                if given && !settings.printf {
                    cmd.put(b"\n")?;
                }
                // GNU writes each file's text out at once, so errors of later files come behind it.
                cmd.out.flush(cmd.sys)?;
            }
            Err(errno) => {
                let name = cmd.q(path);
                let what: &[u8] = if settings.file_system {
                    b"cannot read file system information for "
                } else {
                    b"cannot statx "
                };
                cmd.fail(&[what, &name], errno)?;
            }
        }
    }
    cmd.finish()
}

/// Flags, width and precision of a directive.
#[derive(Default)]
struct Field {
    left: bool,
    zero: bool,
    sign: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// `H` or `L` before `d` and `r`.
    half: u8,
}

/// A width that a format may ask for: more is a mistake or an attack.
const MAX_WIDTH: usize = 4096;

fn render(
    cmd: &mut Cmd<'_>,
    path: &[u8],
    stat: &Stat,
    settings: &Settings,
) -> Result<Vec<u8>, Stop> {
    let format = &settings.format;
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&b) = format.get(at) {
        at += 1;
        match b {
            b'%' => {
                let start = at;
                let field = read_field(format, &mut at);
                match format.get(at) {
                    None => {
                        out.push(b'%');
                        at = start;
                        if start < format.len() {
                            continue;
                        }
                    }
                    Some(b'%') => {
                        out.push(b'%');
                        at += 1;
                    }
                    Some(&letter) => {
                        at += 1;
                        let value = if settings.file_system {
                            fs_value(path, stat, letter)
                        } else {
                            value(cmd, path, stat, settings, letter, &field)?
                        };
                        put_field(&mut out, &field, value);
                    }
                }
            }
            b'\\' if settings.printf => escape(cmd, format, &mut at, &mut out)?,
            _ => out.push(b),
        }
    }
    Ok(out)
}

fn read_field(format: &[u8], at: &mut usize) -> Field {
    let mut field = Field::default();
    while let Some(b) = format.get(*at) {
        match b {
            b'-' => field.left = true,
            b'0' => field.zero = true,
            b'+' => field.sign = true,
            b'#' => field.alternate = true,
            b' ' | b'\'' => {}
            _ => break,
        }
        *at += 1;
    }
    let number = |at: &mut usize| {
        let mut number = 0_usize;
        while let Some(digit) = format.get(*at).filter(|b| b.is_ascii_digit()) {
            number = usize::min(number * 10 + usize::from(digit - b'0'), MAX_WIDTH);
            *at += 1;
        }
        number
    };
    field.width = number(at);
    if format.get(*at) == Some(&b'.') {
        *at += 1;
        field.precision = Some(number(at));
    }
    if let Some(half @ (b'H' | b'L')) = format.get(*at)
        && matches!(format.get(*at + 1), Some(b'd' | b'r'))
    {
        field.half = *half;
        *at += 1;
    }
    field
}

/// What a directive gives.
enum Value {
    Text(Vec<u8>),
    Number(u64),
    Signed(i64),
    Octal(u64),
    Hex(u64),
    Time(Timestamp),
}

fn put_field(out: &mut Vec<u8>, field: &Field, value: Value) {
    let mut numeric = true;
    let text = match value {
        Value::Text(mut text) => {
            numeric = false;
            if let Some(precision) = field.precision {
                text.truncate(precision);
            }
            text
        }
        Value::Number(number) => number.to_string().into_bytes(),
        Value::Signed(number) => number.to_string().into_bytes(),
        Value::Octal(number) if field.alternate && number != 0 => {
            format!("0{number:o}").into_bytes()
        }
        Value::Octal(number) => format!("{number:o}").into_bytes(),
        Value::Hex(number) if field.alternate && number != 0 => {
            format!("0x{number:x}").into_bytes()
        }
        Value::Hex(number) => format!("{number:x}").into_bytes(),
        Value::Time(time) => match field.precision {
            None => time.secs.to_string().into_bytes(),
            Some(digits) => {
                let digits = if digits == 0 {
                    9
                } else {
                    usize::min(digits, 9)
                };
                let nanos = format!("{:09}", time.nanos);
                let shown = nanos.get(..digits).unwrap_or_default();
                format!("{}.{shown}", time.secs).into_bytes()
            }
        },
    };
    let fill = field.width.saturating_sub(text.len());
    if field.left {
        out.extend_from_slice(&text);
        out.resize(out.len() + fill, b' ');
    } else {
        let pad = if field.zero && numeric { b'0' } else { b' ' };
        out.resize(out.len() + fill, pad);
        out.extend_from_slice(&text);
    }
}

fn value(
    cmd: &mut Cmd<'_>,
    path: &[u8],
    stat: &Stat,
    settings: &Settings,
    letter: u8,
    field: &Field,
) -> Result<Value, Stop> {
    let iso = |at: Timestamp| Value::Text(time::full_iso(at, &settings.zone).into_bytes());
    Ok(match letter {
        b'a' => Value::Octal(u64::from(stat.mode)),
        b'A' => Value::Text(mode_text(stat.kind, stat.mode).to_vec()),
        b'b' => Value::Number(blocks(stat)),
        b'B' => Value::Number(512),
        b'C' => Value::Text(b"?".to_vec()),
        b'd' => match field.half {
            b'H' => Value::Number(0),
            _ => Value::Number(stat.dev),
        },
        b'D' => Value::Hex(stat.dev),
        b'f' => Value::Hex(u64::from(stat.mode | kind_bits(stat.kind))),
        b'F' => Value::Text(kind_text(stat).to_vec()),
        b'g' => Value::Number(u64::from(stat.gid)),
        b'G' => Value::Text(group_name(cmd.sys, stat.gid)),
        b'h' => Value::Number(stat.nlink),
        b'i' => Value::Number(stat.ino),
        b'm' => Value::Text(b"/".to_vec()),
        b'n' => Value::Text(path.to_vec()),
        b'N' => Value::Text(quoted_name(cmd, path, stat, settings.own_format)?),
        b'o' => Value::Number(4096),
        b's' => Value::Number(stat.size),
        b'r' | b't' | b'T' | b'R' => Value::Hex(0),
        b'u' => Value::Number(u64::from(stat.uid)),
        b'U' => Value::Text(user_name(cmd.sys, stat.uid)),
        b'w' => iso(stat.btime),
        b'W' => Value::Signed(stat.btime.secs),
        b'x' => iso(stat.atime),
        b'X' => Value::Time(stat.atime),
        b'y' => iso(stat.mtime),
        b'Y' => Value::Time(stat.mtime),
        b'z' => iso(stat.ctime),
        b'Z' => Value::Time(stat.ctime),
        _ => Value::Text(b"?".to_vec()),
    })
}

/// Returns what `-f` shows: a session has no disk, so sizes are zero.
fn fs_value(path: &[u8], stat: &Stat, letter: u8) -> Value {
    match letter {
        b'n' => Value::Text(path.to_vec()),
        b'i' => Value::Hex(stat.dev),
        b'l' => Value::Number(255),
        b't' => Value::Hex(0x0102_1994),
        b'T' => Value::Text(b"tmpfs".to_vec()),
        b's' | b'S' => Value::Number(4096),
        b'a' | b'b' | b'c' | b'd' | b'f' => Value::Number(0),
        _ => Value::Text(b"?".to_vec()),
    }
}

fn quoted_name(cmd: &mut Cmd<'_>, path: &[u8], stat: &Stat, plain: bool) -> Result<Vec<u8>, Stop> {
    let utf8 = cmd.sys.utf8();
    let style = match cmd.sys.env(b"QUOTING_STYLE").as_deref() {
        Some(b"literal") => Style::Literal,
        Some(b"shell") => Style::Shell,
        Some(b"shell-escape") => Style::ShellEscape,
        Some(b"c") => Style::C,
        Some(b"escape") => Style::Escape,
        // GNU quotes only where it must in its own format, and always in one that was given.
        _ if plain => Style::ShellEscape,
        _ => Style::ShellEscapeAlways,
    };
    let mut name = Vec::new();
    quote::append(&mut name, path, style, utf8);
    if stat.kind == FileKind::Symlink
        && let Ok(target) = failed(cmd.sys.readlink(path))?
    {
        name.extend_from_slice(b" -> ");
        quote::append(&mut name, &target, style, utf8);
    }
    Ok(name)
}

/// Names a kind of file as GNU does.
pub(super) fn kind_text(stat: &Stat) -> &'static [u8] {
    match stat.kind {
        FileKind::Regular if stat.size == 0 => b"regular empty file",
        FileKind::Regular => b"regular file",
        FileKind::Directory => b"directory",
        FileKind::Symlink => b"symbolic link",
        FileKind::Fifo => b"fifo",
        FileKind::CharDevice => b"character special file",
    }
}

fn escape(cmd: &mut Cmd<'_>, format: &[u8], at: &mut usize, out: &mut Vec<u8>) -> Result<(), Stop> {
    let Some(&b) = format.get(*at) else {
        cmd.note(&[b"warning: backslash at end of format"])?;
        out.push(b'\\');
        return Ok(());
    };
    *at += 1;
    match b {
        b'a' => out.push(7),
        b'b' => out.push(8),
        b'e' => out.push(27),
        b'f' => out.push(12),
        b'n' => out.push(b'\n'),
        b'r' => out.push(b'\r'),
        b't' => out.push(b'\t'),
        b'v' => out.push(11),
        b'"' | b'\\' => out.push(b),
        b'0'..=b'7' => {
            let mut value = u32::from(b - b'0');
            for _ in 0..2 {
                let Some(digit @ b'0'..=b'7') = format.get(*at) else {
                    break;
                };
                value = value * 8 + u32::from(digit - b'0');
                *at += 1;
            }
            out.push(u8::try_from(value & 0xff).unwrap_or(0));
        }
        b'x' if format.get(*at).is_some_and(u8::is_ascii_hexdigit) => {
            let mut value = 0;
            for _ in 0..2 {
                let digit = format.get(*at).and_then(|b| char::from(*b).to_digit(16));
                let Some(digit) = digit else { break };
                value = value * 16 + digit;
                *at += 1;
            }
            out.push(u8::try_from(value & 0xff).unwrap_or(0));
        }
        _ => {
            cmd.put(out)?;
            cmd.out.flush(cmd.sys)?;
            out.clear();
            cmd.note(&[b"warning: unrecognized escape '\\", &[b], b"'"])?;
            out.push(b);
        }
    }
    Ok(())
}
