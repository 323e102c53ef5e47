//! `od`: bytes as octal, hexadecimal, decimal, characters or floating point.

use jp_bash_system::io::Input;
use jp_bash_system::{Stop, System, failed};

use super::Spec;
use super::choice::{Words, choose};
use super::file::{Cmd, HELP, VERSION};
use super::numbers::{BadNumber, size};
use super::options::{Opt, Takes, opt, refused};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "od",
    about: "Prints bytes as numbers or characters.",
    run,
    options: OPTIONS,
};

const ENDIAN: char = '\u{200}';

const OPTIONS: &[Opt] = &[
    opt('A', Some(b'A'), Some("address-radix"), Takes::Required),
    opt(ENDIAN, None, Some("endian"), Takes::Required),
    opt('j', Some(b'j'), Some("skip-bytes"), Takes::Required),
    opt('N', Some(b'N'), Some("read-bytes"), Takes::Required),
    refused(Some(b'S'), Some("strings"), Takes::Optional, "no strings"),
    opt('t', Some(b't'), Some("format"), Takes::Required),
    opt('v', Some(b'v'), Some("output-duplicates"), Takes::Nothing),
    opt('w', Some(b'w'), Some("width"), Takes::Optional),
    refused(None, Some("traditional"), Takes::Nothing, "no old syntax"),
    opt('a', Some(b'a'), None, Takes::Nothing),
    opt('b', Some(b'b'), None, Takes::Nothing),
    opt('c', Some(b'c'), None, Takes::Nothing),
    opt('d', Some(b'd'), None, Takes::Nothing),
    opt('f', Some(b'f'), None, Takes::Nothing),
    opt('i', Some(b'i'), None, Takes::Nothing),
    opt('l', Some(b'l'), None, Takes::Nothing),
    opt('o', Some(b'o'), None, Takes::Nothing),
    opt('s', Some(b's'), None, Takes::Nothing),
    opt('x', Some(b'x'), None, Takes::Nothing),
    HELP,
    VERSION,
];

/// How one unit is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Named,
    Char,
    Signed,
    Unsigned,
    Octal,
    Hex,
    Float,
}

/// One `-t` type.
#[derive(Debug, Clone, Copy)]
struct Format {
    kind: Kind,
    bytes: usize,
    /// Whether the printable characters follow (`z`).
    text: bool,
}

impl Format {
    /// Returns the columns one unit needs, without the blank before it.
    fn width(self) -> usize {
        match (self.kind, self.bytes) {
            (Kind::Named | Kind::Char, _) => 3,
            (Kind::Hex, bytes) => bytes * 2,
            (Kind::Octal, bytes) => (bytes * 8).div_ceil(3),
            (Kind::Unsigned, 1) => 3,
            (Kind::Unsigned, 2) => 5,
            (Kind::Unsigned, 4) => 10,
            (Kind::Unsigned, _) => 20,
            (Kind::Signed, 1) => 4,
            (Kind::Signed, 2) => 6,
            (Kind::Signed, 4) => 11,
            (Kind::Signed, _) => 20,
            (Kind::Float, 4) => 15,
            (Kind::Float, _) => 24,
        }
    }
}

/// The units of `-j` and `-N`.
const OFFSETS: &[u8] = b"bkKmMGTPEZY0";

struct Settings {
    /// The base of addresses; 0 prints none.
    radix: u32,
    formats: Vec<Format>,
    skip: u64,
    limit: Option<u64>,
    all: bool,
    width: usize,
    big: bool,
}

/// Runs `od`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    for (id, value) in &parsed.options {
        let value = value.as_deref().unwrap_or_default();
        let words: &Words = &[&["little"], &["big"]];
        if *id == ENDIAN && choose(cmd.sys, args, "--endian", value, words)?.is_err() {
            cmd.hint()?;
            return Ok(1);
        }
    }
    let settings = match read_settings(&cmd, &parsed.options) {
        Ok(settings) => settings,
        Err(message) => {
            cmd.error(&[&message])?;
            return cmd.finish();
        }
    };
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    dump(&mut cmd, &settings, &files)?;
    cmd.finish()
}

fn read_settings(cmd: &Cmd<'_>, options: &[(char, Option<Vec<u8>>)]) -> Result<Settings, Vec<u8>> {
    let mut settings = Settings {
        radix: 8,
        formats: Vec::new(),
        skip: 0,
        limit: None,
        all: false,
        width: 0,
        big: false,
    };
    for (id, value) in options {
        let text = value.as_deref().unwrap_or_default();
        let number = |name: &[u8], suffixes: &[u8]| {
            let read = match text.strip_prefix(b"0x") {
                Some(hex) => std::str::from_utf8(hex)
                    .ok()
                    .and_then(|hex| u64::from_str_radix(hex, 16).ok())
                    .ok_or(BadNumber::Invalid),
                None => size(text, suffixes),
            };
            read.map_err(|bad| bad.of_option(name, text))
        };
        let mut plain = |kind, bytes| {
            settings.formats.push(Format {
                kind,
                bytes,
                text: false,
            });
        };
        match id {
            'A' => {
                settings.radix = match text {
                    [b'o', ..] => 8,
                    [b'd', ..] => 10,
                    [b'x', ..] => 16,
                    [b'n', ..] => 0,
                    _ => {
                        // GNU shows the byte that it looked at: the one that ends an empty text, too.
                        let shown = text.first().copied().unwrap_or(0);
                        return Err([
                            b"invalid output address radix '",
                            &[shown][..],
                            b"'; it must be one character from [doxn]",
                        ]
                        .concat());
                    }
                };
            }
            'j' => settings.skip = number(b"-j", OFFSETS)?,
            'N' => settings.limit = Some(number(b"-N", OFFSETS)?),
            't' => read_formats(cmd, text, &mut settings.formats)?,
            'v' => settings.all = true,
            'w' => {
                settings.width = match value {
                    Some(_) => usize::try_from(number(b"-w", b"")?)
                        .unwrap_or(usize::MAX)
                        .min(1 << 16),
                    None => 32,
                };
            }
            &ENDIAN => settings.big = text.starts_with(b"b"),
            'a' => plain(Kind::Named, 1),
            'b' => plain(Kind::Octal, 1),
            'c' => plain(Kind::Char, 1),
            'd' => plain(Kind::Unsigned, 2),
            'f' => plain(Kind::Float, 4),
            'i' => plain(Kind::Signed, 4),
            'l' => plain(Kind::Signed, 8),
            'o' => plain(Kind::Octal, 2),
            's' => plain(Kind::Signed, 2),
            'x' => plain(Kind::Hex, 2),
            _ => {}
        }
    }
    if settings.formats.is_empty() {
        settings.formats.push(Format {
            kind: Kind::Octal,
            bytes: 2,
            text: false,
        });
    }
    let unit = settings
        .formats
        .iter()
        .map(|format| format.bytes)
        .max()
        .unwrap_or(1);
    if settings.width == 0 || !settings.width.is_multiple_of(unit) {
        settings.width = if settings.width == 0 { 16 } else { unit };
    }
    Ok(settings)
}

fn read_formats(cmd: &Cmd<'_>, text: &[u8], formats: &mut Vec<Format>) -> Result<(), Vec<u8>> {
    let mut rest = text;
    while let Some((&letter, after)) = rest.split_first() {
        rest = after;
        let (kind, usual) = match letter {
            b'a' => (Kind::Named, 1),
            b'c' => (Kind::Char, 1),
            b'd' => (Kind::Signed, 4),
            b'u' => (Kind::Unsigned, 4),
            b'o' => (Kind::Octal, 4),
            b'x' => (Kind::Hex, 4),
            b'f' => (Kind::Float, 8),
            other => {
                let shown = cmd.quote(text);
                return Err([
                    b"invalid character '",
                    &[other][..],
                    b"' in type string ",
                    &shown,
                ]
                .concat());
            }
        };
        let mut bytes = usual;
        if !matches!(kind, Kind::Named | Kind::Char) {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if let Some((number, after)) = rest.split_at_checked(digits).filter(|_| digits > 0) {
                let number = std::str::from_utf8(number)
                    .ok()
                    .and_then(|text| text.parse().ok());
                bytes = number.unwrap_or(0);
                rest = after;
            } else if let Some((&size, after)) = rest.split_first() {
                let named = match (size, kind) {
                    (b'C', _) => Some(1),
                    (b'S', _) => Some(2),
                    (b'I', _) | (b'F', Kind::Float) => Some(4),
                    (b'L', _) | (b'D', Kind::Float) => Some(8),
                    _ => None,
                };
                if let Some(named) = named {
                    bytes = named;
                    rest = after;
                }
            }
            let known: &[usize] = if kind == Kind::Float {
                &[4, 8]
            } else {
                &[1, 2, 4, 8]
            };
            if !known.contains(&bytes) {
                let shown = cmd.quote(text);
                let what = if kind == Kind::Float {
                    "floating point"
                } else {
                    "integral"
                };
                return Err([
                    b"invalid type string ",
                    &shown[..],
                    format!(";\nthis system doesn't provide a {bytes}-byte {what} type").as_bytes(),
                ]
                .concat());
            }
        }
        let shown = rest.strip_prefix(b"z");
        formats.push(Format {
            kind,
            bytes,
            text: shown.is_some(),
        });
        rest = shown.unwrap_or(rest);
    }
    Ok(())
}

/// Prints all files as one stream of bytes.
fn dump(cmd: &mut Cmd<'_>, settings: &Settings, files: &[Vec<u8>]) -> Result<(), Stop> {
    let mut skip = settings.skip;
    let mut left = settings.limit.unwrap_or(u64::MAX);
    let mut state = Lines {
        settings,
        offset: settings.skip,
        line: Vec::new(),
        last: None,
        starred: false,
    };
    for file in files {
        let mut input = match failed(Input::open(cmd.sys, file))? {
            Ok(input) => input,
            Err(errno) => {
                let name = cmd.qf(file);
                cmd.fail(&[&name], errno)?;
                continue;
            }
        };
        while left > 0 {
            let most = usize::try_from(left.saturating_add(skip))
                .unwrap_or(usize::MAX)
                .min(32 * 1024);
            let piece = match failed(input.fill_at_most(cmd.sys, most))? {
                Ok(piece) => piece.to_vec(),
                Err(errno) => {
                    let name = cmd.qf(file);
                    cmd.fail(&[&name], errno)?;
                    break;
                }
            };
            if piece.is_empty() {
                break;
            }
            input.consume(piece.len());
            cmd.sys.work(1)?;
            let length = u64::try_from(piece.len()).unwrap_or(0);
            let passed = u64::min(skip, length);
            skip -= passed;
            let piece = piece
                .get(usize::try_from(passed).unwrap_or(0)..)
                .unwrap_or_default();
            left -= u64::try_from(piece.len()).unwrap_or(0);
            for part in piece.chunks(settings.width) {
                state.add(cmd, part)?;
            }
        }
        input.close(cmd.sys);
    }
    if skip > 0 {
        return cmd.error(&[b"cannot skip past end of combined input"]);
    }
    state.end(cmd)
}

/// The line being filled, and the last one printed, for `*`.
struct Lines<'s> {
    settings: &'s Settings,
    offset: u64,
    line: Vec<u8>,
    last: Option<Vec<u8>>,
    starred: bool,
}

impl Lines<'_> {
    fn add(&mut self, cmd: &mut Cmd<'_>, mut bytes: &[u8]) -> Result<(), Stop> {
        while !bytes.is_empty() {
            let room = self.settings.width - self.line.len();
            let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, b""));
            self.line.extend_from_slice(now);
            bytes = later;
            if self.line.len() == self.settings.width {
                self.flush(cmd)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, cmd: &mut Cmd<'_>) -> Result<(), Stop> {
        let line = std::mem::take(&mut self.line);
        let length = u64::try_from(line.len()).unwrap_or(0);
        let full = line.len() == self.settings.width;
        if full && !self.settings.all && self.last.as_ref() == Some(&line) {
            if !self.starred {
                self.starred = true;
                cmd.put(b"*\n")?;
            }
        } else {
            self.starred = false;
            print_line(cmd, self.settings, self.offset, &line)?;
            self.last = Some(line);
        }
        self.offset += length;
        Ok(())
    }

    fn end(&mut self, cmd: &mut Cmd<'_>) -> Result<(), Stop> {
        if !self.line.is_empty() {
            self.flush(cmd)?;
        }
        if self.settings.radix == 0 {
            return Ok(());
        }
        put_address(cmd, self.settings.radix, self.offset);
        cmd.put(b"\n")
    }
}

fn put_address(cmd: &mut Cmd<'_>, radix: u32, offset: u64) {
    let text = match radix {
        8 => format!("{offset:07o}"),
        10 => format!("{offset:07}"),
        16 => format!("{offset:06x}"),
        _ => return,
    };
    cmd.out.buffer().extend_from_slice(text.as_bytes());
}

fn print_line(
    cmd: &mut Cmd<'_>,
    settings: &Settings,
    offset: u64,
    line: &[u8],
) -> Result<(), Stop> {
    // All formats are lined up: the widest field for a byte sets the step of the others.
    let unit = settings
        .formats
        .iter()
        .map(|format| format.bytes)
        .max()
        .unwrap_or(1);
    let block = settings
        .formats
        .iter()
        .map(|format| (format.width() + 1) * (unit / format.bytes))
        .max()
        .unwrap_or(0);
    for (number, format) in settings.formats.iter().enumerate() {
        if number == 0 {
            put_address(cmd, settings.radix, offset);
        } else if settings.radix != 0 {
            let blanks = if settings.radix == 16 { 6 } else { 7 };
            cmd.out.buffer().extend(std::iter::repeat_n(b' ', blanks));
        }
        let per_block = unit / format.bytes;
        let blocks = settings.width / unit;
        let units: Vec<&[u8]> = line.chunks(format.bytes).collect();
        for at in 0..blocks {
            let mut used = 0;
            for place in 0..per_block {
                let shown = units
                    .get(at * per_block + place)
                    .map(|bytes| show(*format, bytes, settings.big));
                // Padding is spread over the units of a block from the left.
                let goal = block * (place + 1) / per_block;
                let width = goal - used;
                used = goal;
                match shown {
                    Some(text) => cmd
                        .out
                        .buffer()
                        .extend_from_slice(format!("{text:>width$}").as_bytes()),
                    None if format.text => {
                        cmd.out.buffer().extend(std::iter::repeat_n(b' ', width))
                    }
                    None => {}
                }
            }
        }
        if format.text {
            let buffer = cmd.out.buffer();
            buffer.extend_from_slice(b"  >");
            buffer.extend(line.iter().map(|byte| {
                if matches!(byte, 32..=126) {
                    *byte
                } else {
                    b'.'
                }
            }));
            buffer.push(b'<');
        }
        cmd.put(b"\n")?;
    }
    cmd.sys.work(1)?;
    cmd.out.settle(cmd.sys)
}

const NAMES: [&str; 33] = [
    "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr",
    "so", "si", "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc",
    "fs", "gs", "rs", "us", "sp",
];

/// Shows one unit; a short one at the end is filled with zeros.
fn show(format: Format, bytes: &[u8], big: bool) -> String {
    let mut raw = [0u8; 8];
    for (place, byte) in bytes.iter().enumerate() {
        let at = if big { format.bytes - 1 - place } else { place };
        if let Some(slot) = raw.get_mut(at) {
            *slot = *byte;
        }
    }
    let value = u64::from_le_bytes(raw);
    let first = bytes.first().copied().unwrap_or(0);
    match format.kind {
        Kind::Named => {
            let low = first & 127;
            match NAMES.get(usize::from(low)) {
                Some(name) => (*name).to_owned(),
                None if low == 127 => "del".to_owned(),
                None => char::from(low).to_string(),
            }
        }
        Kind::Char => match first {
            0 => "\\0".to_owned(),
            7 => "\\a".to_owned(),
            8 => "\\b".to_owned(),
            9 => "\\t".to_owned(),
            10 => "\\n".to_owned(),
            11 => "\\v".to_owned(),
            12 => "\\f".to_owned(),
            13 => "\\r".to_owned(),
            32..=126 => char::from(first).to_string(),
            other => format!("{other:03o}"),
        },
        Kind::Octal => format!("{value:0width$o}", width = format.width()),
        Kind::Hex => format!("{value:0width$x}", width = format.width()),
        Kind::Unsigned => value.to_string(),
        Kind::Signed => {
            let shift = 64 - 8 * u32::try_from(format.bytes).unwrap_or(8);
            ((value << shift).cast_signed() >> shift).to_string()
        }
        Kind::Float if format.bytes == 4 => {
            let [a, b, c, d, ..] = raw;
            let value = f32::from_le_bytes([a, b, c, d]);
            shortest(f64::from(value), format!("{value}"), &format!("{value:e}"))
        }
        Kind::Float => {
            let value = f64::from_bits(value);
            shortest(value, format!("{value}"), &format!("{value:e}"))
        }
    }
}

/// Writes a number as C's `%g` with just enough digits.
fn shortest(value: f64, plain: String, scientific: &str) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() {
            "-nan"
        } else {
            "nan"
        }
        .to_owned();
    }
    if value.is_infinite() || value == 0.0 {
        return plain;
    }
    let exponent = value.abs().log10().floor();
    if (-5.0..17.0).contains(&exponent) {
        return plain;
    }
    match scientific.split_once('e') {
        Some((mantissa, power)) => {
            let (sign, power) = match power.strip_prefix('-') {
                Some(power) => ('-', power),
                None => ('+', power),
            };
            format!("{mantissa}e{sign}{power:0>2}")
        }
        None => scientific.to_owned(),
    }
}
