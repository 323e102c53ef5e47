//! `xxd`: bytes in hexadecimal, and back.

mod back;

use jp_bash_system::io::{Held, Output, say};
use jp_bash_system::{Errno, OpenHow, PIECE, Stop, System, failed};

use super::Spec;
use super::file::Cmd;
use super::options::{Opt, Support, Takes, opt, refused};
use super::whole::read_whole;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "xxd",
    about: "Shows bytes in hexadecimal, or makes bytes of that.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('a', Some(b'a'), None, Takes::Nothing),
    opt('b', Some(b'b'), None, Takes::Nothing),
    opt('C', Some(b'C'), None, Takes::Nothing),
    opt('c', Some(b'c'), None, Takes::Required),
    refused(Some(b'E'), None, Takes::Nothing, "ASCII only"),
    opt('e', Some(b'e'), None, Takes::Nothing),
    opt('g', Some(b'g'), None, Takes::Required),
    opt('h', Some(b'h'), None, Takes::Nothing),
    opt('i', Some(b'i'), None, Takes::Nothing),
    opt('l', Some(b'l'), None, Takes::Required),
    opt('n', Some(b'n'), None, Takes::Required),
    opt('o', Some(b'o'), None, Takes::Required),
    opt('p', Some(b'p'), None, Takes::Nothing),
    opt('r', Some(b'r'), None, Takes::Nothing),
    opt('d', Some(b'd'), None, Takes::Nothing),
    opt('s', Some(b's'), None, Takes::Required),
    opt('u', Some(b'u'), None, Takes::Nothing),
    opt('v', Some(b'v'), None, Takes::Nothing),
];

const USAGE: &[u8] = b"Usage:\n       xxd [options] [infile [outfile]]\n    or\n       xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]\n";

/// The most bytes in a line.
const MOST_COLUMNS: u64 = 256;

/// The form of what is shown.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Hex,
    Bits,
    Little,
    Plain,
    Include,
    Reverse,
}

#[derive(Default)]
struct Wanted {
    form: Form,
    plain: bool,
    columns: Option<usize>,
    group: Option<usize>,
    length: Option<u64>,
    offset: i64,
    skip: i64,
    upper: bool,
    autoskip: bool,
    decimal: bool,
    capital: bool,
    name: Option<Vec<u8>>,
}

/// Runs `xxd`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let Some((wanted, operands)) = read(&mut cmd, args)? else {
        return Ok(cmd.status);
    };
    let file = operands.first().map_or(&b"-"[..], Vec::as_slice);
    let mut held = Held::default();
    let text = match read_whole(cmd.sys, file, &mut held)? {
        Ok(text) => text,
        Err(errno) => {
            cmd.failure = 2;
            cmd.fail(&[file], errno)?;
            return cmd.finish();
        }
    };
    if let Some(path) = operands.get(1).filter(|path| *path != b"-") {
        match failed(cmd.sys.open(path, OpenHow::WRITE))? {
            Ok(fd) => cmd.out = Output::new(fd),
            Err(errno) => {
                cmd.failure = 3;
                cmd.fail(&[path], errno)?;
                return cmd.finish();
            }
        }
    }
    if wanted.form == Form::Reverse {
        back::write(&mut cmd, &text, wanted.plain, wanted.skip)?;
    } else {
        show(&mut cmd, &text, file, &wanted)?;
    }
    held.end(cmd.sys);
    cmd.finish()
}

/// What was asked for, and the operands.
type Call = (Wanted, Vec<Vec<u8>>);

/// Reads the options, whose letters may have `ps`, `-cols` and the like behind them; nothing after an answer.
fn read(cmd: &mut Cmd<'_>, args: &[Vec<u8>]) -> Result<Option<Call>, Stop> {
    let mut wanted = Wanted::default();
    let mut words = args.iter().skip(1).peekable();
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        let Some(letters) = word.strip_prefix(b"-").filter(|rest| !rest.is_empty()) else {
            operands.push(word.clone());
            continue;
        };
        if letters == b"-" {
            operands.extend(words.by_ref().cloned());
            break;
        }
        let letters = letters.strip_prefix(b"-").unwrap_or(letters);
        let (letter, tail) = letters
            .split_first()
            .map_or((0, &b""[..]), |(l, t)| (*l, t));
        let known = OPTIONS.iter().find(|opt| opt.short == Some(letter));
        if let Some(Support::Refused(why)) = known.map(|opt| opt.support) {
            let name = [b'-', letter];
            cmd.error(&[b"option '", &name, b"' is not supported: ", why.as_bytes()])?;
            return Ok(None);
        }
        let Some(known) = known else {
            say(cmd.sys, &[USAGE])?;
            cmd.status = 1;
            return Ok(None);
        };
        let tail = tail
            .strip_prefix(b"ols")
            .filter(|_| letter == b'c')
            .unwrap_or(tail);
        let value = match known.takes {
            Takes::Required if tail.is_empty() => words.next().cloned(),
            Takes::Required => Some(tail.to_vec()),
            _ => None,
        };
        let counts = known.takes == Takes::Required && letter != b'n';
        if counts && number(value.as_deref()).is_none() {
            let (name, text) = ([b'-', letter], value.unwrap_or_default());
            cmd.error(&[b"option ", &name, b": invalid number '", &text, b"'"])?;
            return Ok(None);
        }
        if !apply(&mut wanted, known.id, value.as_deref()) {
            say(cmd.sys, &[USAGE])?;
            cmd.status = i32::from(known.id != 'h');
            return Ok(None);
        }
        // Letters without an argument may follow each other only as whole words here: `-u -p`.
    }
    if wanted.columns.is_some_and(|n| n > 256) && wanted.form != Form::Plain {
        cmd.error(&[b"invalid number of columns (max. 256)."])?;
        return Ok(None);
    }
    Ok(Some((wanted, operands)))
}

/// Reads a number in C's notation, with a sign.
fn number(text: Option<&[u8]>) -> Option<i64> {
    let text = std::str::from_utf8(text?).ok()?;
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = if let Some(hex) = digits.strip_prefix("0x") {
        i64::from_str_radix(hex, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    Some(sign * value.ok()?)
}

/// Applies an option; `false` if it asks for help or makes no sense.
fn apply(wanted: &mut Wanted, id: char, value: Option<&[u8]>) -> bool {
    let count = || number(value).and_then(|n| usize::try_from(n).ok());
    match id {
        'a' => wanted.autoskip = true,
        'b' => wanted.form = Form::Bits,
        'C' => wanted.capital = true,
        'c' => match count() {
            Some(0) => {}
            Some(columns) => wanted.columns = Some(columns),
            None => return false,
        },
        'd' => wanted.decimal = true,
        'e' => wanted.form = Form::Little,
        'g' => wanted.group = count(),
        'i' => wanted.form = Form::Include,
        'l' => wanted.length = number(value).and_then(|n| u64::try_from(n).ok()),
        'n' => wanted.name = value.map(<[u8]>::to_vec),
        'o' => wanted.offset = number(value).unwrap_or(0),
        'p' if wanted.form == Form::Reverse => wanted.plain = true,
        'p' => {
            wanted.form = Form::Plain;
            wanted.plain = true;
        }
        'r' => wanted.form = Form::Reverse,
        's' => wanted.skip = number(value).unwrap_or(0),
        'u' => wanted.upper = true,
        _ => return false,
    }
    true
}

fn show(cmd: &mut Cmd<'_>, text: &[u8], file: &[u8], wanted: &Wanted) -> Result<(), Stop> {
    let skip = match usize::try_from(wanted.skip.unsigned_abs()) {
        Ok(back) if wanted.skip < 0 => match text.len().checked_sub(back) {
            Some(skip) => skip,
            None => return cmd.fail(&[b"Sorry, cannot seek"], Errno::Inval),
        },
        Ok(skip) => usize::min(skip, text.len()),
        Err(_) => text.len(),
    };
    let mut part = text.get(skip..).unwrap_or_default();
    if let Some(length) = wanted.length.and_then(|n| usize::try_from(n).ok()) {
        part = part.get(..length).unwrap_or(part);
    }
    match wanted.form {
        Form::Plain => plain(cmd, part, wanted),
        Form::Include => include(cmd, part, file, wanted),
        _ => dump(cmd, part, skip, wanted),
    }
}

fn hex(byte: u8, upper: bool) -> String {
    if upper {
        format!("{byte:02X}")
    } else {
        format!("{byte:02x}")
    }
}

fn plain(cmd: &mut Cmd<'_>, text: &[u8], wanted: &Wanted) -> Result<(), Stop> {
    for line in text.chunks(usize::max(wanted.columns.unwrap_or(30), 1)) {
        for piece in line.chunks(PIECE / 4) {
            let out: String = piece.iter().map(|byte| hex(*byte, wanted.upper)).collect();
            cmd.put(out.as_bytes())?;
        }
        cmd.put(b"\n")?;
        cmd.sys.work(1)?;
    }
    Ok(())
}

fn include(cmd: &mut Cmd<'_>, text: &[u8], file: &[u8], wanted: &Wanted) -> Result<(), Stop> {
    let given = wanted
        .name
        .clone()
        .or((file != b"-").then(|| file.to_vec()));
    let name = given.map(|name| {
        let mut out = Vec::new();
        if name.first().is_some_and(u8::is_ascii_digit) {
            out.extend_from_slice(b"__");
        }
        out.extend(
            name.iter()
                .map(|b| if b.is_ascii_alphanumeric() { *b } else { b'_' }),
        );
        if wanted.capital {
            out.to_ascii_uppercase()
        } else {
            out
        }
    });
    if let Some(name) = &name {
        cmd.put(&[&b"unsigned char "[..], name, b"[] = {\n"].concat())?;
    }
    let lines = text.chunks(usize::max(wanted.columns.unwrap_or(12), 1));
    let last = lines.len();
    for (at, line) in (1..).zip(lines) {
        cmd.sys.work(1)?;
        let lead = if wanted.upper { "0X" } else { "0x" };
        for (number, byte) in line.iter().enumerate() {
            let before = if number == 0 { "  " } else { ", " };
            let item = format!("{before}{lead}{}", hex(*byte, wanted.upper));
            cmd.put(item.as_bytes())?;
        }
        cmd.put(if at == last { b"\n" } else { b",\n" })?;
    }
    if let Some(name) = &name {
        let len: &[u8] = if wanted.capital { b"_LEN" } else { b"_len" };
        let count = format!(" = {};\n", text.len());
        cmd.put(&[&b"};\nunsigned int "[..], name, len, count.as_bytes()].concat())?;
    }
    Ok(())
}

fn dump(cmd: &mut Cmd<'_>, text: &[u8], skip: usize, wanted: &Wanted) -> Result<(), Stop> {
    let (columns, group, width) = match wanted.form {
        Form::Bits => (6, 1, 8),
        Form::Little => (16, 4, 2),
        _ => (16, 2, 2),
    };
    let most = usize::try_from(MOST_COLUMNS).unwrap_or(256);
    let columns = usize::clamp(wanted.columns.unwrap_or(columns), 1, most);
    let group = match wanted.group.unwrap_or(group) {
        0 => columns,
        group => usize::min(group, columns),
    };
    let full = columns * width + columns.div_ceil(group);
    let count = text.chunks(columns).len();
    let mut skipped = 0_usize;
    for (at, line) in text.chunks(columns).enumerate() {
        cmd.sys.work(1)?;
        let zero = wanted.autoskip && line.iter().all(|byte| *byte == 0);
        skipped = if zero { skipped + 1 } else { 0 };
        if skipped > 1 && at + 1 < count {
            if skipped == 2 {
                cmd.put(b"*\n")?;
            }
            continue;
        }
        let offset = i64::try_from(skip + at * columns).unwrap_or(i64::MAX);
        let offset = offset.saturating_add(wanted.offset);
        let mut out = if wanted.decimal {
            format!("{offset:08}:")
        } else {
            format!("{offset:08x}:")
        };
        let lead = out.len();
        for part in line.chunks(group) {
            out.push(' ');
            out.push_str(&one_group(part, group, wanted));
        }
        let pad = (lead + full + 2).saturating_sub(out.len());
        out.push_str(&" ".repeat(pad));
        let shown = line.iter().map(|byte| match byte {
            b' '..=b'~' => char::from(*byte),
            _ => '.',
        });
        out.extend(shown);
        out.push('\n');
        cmd.put(out.as_bytes())?;
    }
    Ok(())
}

fn one_group(part: &[u8], group: usize, wanted: &Wanted) -> String {
    match wanted.form {
        Form::Bits => part.iter().map(|byte| format!("{byte:08b}")).collect(),
        // The bytes of a number from the highest down, at the right of its place.
        Form::Little => {
            let digits: String = part
                .iter()
                .rev()
                .map(|byte| hex(*byte, wanted.upper))
                .collect();
            format!("{digits:>width$}", width = group * 2)
        }
        _ => part.iter().map(|byte| hex(*byte, wanted.upper)).collect(),
    }
}
