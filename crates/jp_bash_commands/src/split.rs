//! `split`: a file in pieces.

mod pieces;

use jp_bash_system::io::{Held, Input};
use jp_bash_system::{Stop, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::{BadNumber, SIZES, size, unsigned};
use super::options::{Opt, Takes, old_numbers, opt, refused};
use super::pace;
use super::whole::read_whole;
use pieces::{Alphabet, Pieces};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "split",
    about: "Cuts a file into pieces.",
    run,
    options: OPTIONS,
};

const ADDITIONAL: char = '\u{200}';
const VERBOSE: char = '\u{201}';

const OPTIONS: &[Opt] = &[
    opt('a', Some(b'a'), Some("suffix-length"), Takes::Required),
    opt(ADDITIONAL, None, Some("additional-suffix"), Takes::Required),
    opt('b', Some(b'b'), Some("bytes"), Takes::Required),
    opt('C', Some(b'C'), Some("line-bytes"), Takes::Required),
    opt('d', Some(b'd'), None, Takes::Nothing),
    opt('d', None, Some("numeric-suffixes"), Takes::Optional),
    opt('x', Some(b'x'), None, Takes::Nothing),
    opt('x', None, Some("hex-suffixes"), Takes::Optional),
    opt('e', Some(b'e'), Some("elide-empty-files"), Takes::Nothing),
    refused(
        None,
        Some("filter"),
        Takes::Required,
        "pieces go to files only",
    ),
    opt('l', Some(b'l'), Some("lines"), Takes::Required),
    opt('n', Some(b'n'), Some("number"), Takes::Required),
    opt('t', Some(b't'), Some("separator"), Takes::Required),
    opt('u', Some(b'u'), Some("unbuffered"), Takes::Nothing),
    opt(VERBOSE, None, Some("verbose"), Takes::Nothing),
    HELP,
    VERSION,
];

/// Where a piece ends.
#[derive(Clone, Copy)]
enum Way {
    Lines(u64),
    Bytes(u64),
    LineBytes(u64),
    /// Into so many pieces by size; if the first is given, only that one, on standard output.
    Chunks(Cut, Option<u64>, u64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Bytes,
    Lines,
    RoundRobin,
}

/// Runs `split`; a leading `-NUM` is `-l NUM`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let args = old_numbers(args, OPTIONS, b'l');
    let mut cmd = Cmd::new(sys, &args);
    let parsed = match cmd.options(&args, OPTIONS, "[OPTION]... [FILE [PREFIX]]")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let (mut way, mut separator) = (None, b'\n');
    let mut pieces = Pieces::default();
    for (id, value) in &parsed.options {
        let text = value.as_deref().unwrap_or_default();
        match *id {
            'b' | 'C' | 'l' | 'n' if way.is_some() => {
                return cmd.usage(&[b"cannot split in more than one way"]);
            }
            'b' | 'C' | 'l' | 'n' => match read_way(&mut cmd, *id, text)? {
                Some(read) => way = Some(read),
                None => return cmd.finish(),
            },
            't' => match text {
                [byte] => separator = *byte,
                b"\\0" => separator = 0,
                [] => {
                    cmd.error(&[b"empty record separator"])?;
                    return cmd.finish();
                }
                _ => {
                    let shown = cmd.quote(text);
                    cmd.error(&[b"multi-character separator ", &shown])?;
                    return cmd.finish();
                }
            },
            _ => {
                if let Some(status) = naming(&mut cmd, *id, value.as_deref(), &mut pieces)? {
                    return Ok(status);
                }
            }
        }
    }
    if let Some(extra) = parsed.operands.get(2) {
        let shown = cmd.quote(extra);
        return cmd.usage(&[b"extra operand ", &shown]);
    }
    let file = parsed.operands.first().map_or(&b"-"[..], Vec::as_slice);
    pieces.prefix = parsed.operands.get(1).cloned().unwrap_or(b"x".to_vec());
    let way = way.unwrap_or(Way::Lines(1000));
    cut(&mut cmd, file, way, separator, &mut pieces)?;
    pieces.close(&mut cmd)?;
    cmd.finish()
}

/// Reads an option about names; a status after a message.
fn naming(
    cmd: &mut Cmd<'_>,
    id: char,
    value: Option<&[u8]>,
    pieces: &mut Pieces,
) -> Result<Option<i32>, Stop> {
    let text = value.unwrap_or_default();
    match id {
        'a' => match unsigned(text, 0, 255) {
            Ok(0) => {}
            Ok(n) => pieces.length = usize::try_from(n).ok(),
            Err(why) => {
                let shown = cmd.quote(text);
                cmd.error(&[b"invalid suffix length: ", &shown, why])?;
                return Ok(Some(1));
            }
        },
        ADDITIONAL if text.contains(&b'/') => {
            let shown = cmd.quote(text);
            return Ok(Some(cmd.usage(&[
                b"invalid suffix ",
                &shown,
                b", contains directory separator",
            ])?));
        }
        ADDITIONAL => pieces.additional = text.to_vec(),
        'd' | 'x' => {
            pieces.alphabet = if id == 'd' {
                Alphabet::Digits
            } else {
                Alphabet::Hex
            };
            if let Some(text) = value.filter(|text| !text.is_empty()) {
                let from = std::str::from_utf8(text).ok();
                let base = if id == 'd' { 10 } else { 16 };
                let digit = |byte: &u8| char::from(*byte).is_digit(base);
                let Some(from) = from.and_then(|t| u64::from_str_radix(t, base).ok()) else {
                    if text.iter().all(digit) {
                        let message =
                            b"numerical suffix start value is too large for the suffix length";
                        return Ok(Some(cmd.usage(&[message])?));
                    }
                    let shown = cmd.quote(text);
                    let what: &[u8] = if id == 'd' {
                        b"numerical"
                    } else {
                        b"hexadecimal"
                    };
                    let start = [&shown, &b": invalid start value for "[..], what, b" suffix"];
                    return Ok(Some(cmd.usage(&[&start.concat()])?));
                };
                pieces.start_at(from);
            }
        }
        'e' => pieces.elide = true,
        VERBOSE => pieces.verbose = true,
        _ => {}
    }
    Ok(None)
}

/// Reads how to cut; nothing after a message.
fn read_way(cmd: &mut Cmd<'_>, id: char, text: &[u8]) -> Result<Option<Way>, Stop> {
    if id == 'n' {
        return chunks(cmd, text);
    }
    let what: &[u8] = if id == 'b' || id == 'C' {
        b"bytes"
    } else {
        b"lines"
    };
    let suffixes = if id == 'l' { b"" } else { SIZES };
    let why: &[u8] = match size(text, suffixes) {
        Ok(0) => b": Numerical result out of range",
        Err(BadNumber::Overflow) => b": Value too large for defined data type",
        Err(_) => b"",
        Ok(n) => {
            return Ok(Some(match id {
                'b' => Way::Bytes(n),
                'C' => Way::LineBytes(n),
                _ => Way::Lines(n),
            }));
        }
    };
    let shown = cmd.quote(text);
    cmd.error(&[b"invalid number of ", what, b": ", &shown, why])?;
    Ok(None)
}

/// Reads `N`, `K/N`, `l/N`, `l/K/N`, `r/N`, `r/K/N`.
fn chunks(cmd: &mut Cmd<'_>, text: &[u8]) -> Result<Option<Way>, Stop> {
    let (cut, rest) = match text {
        [b'l', b'/', rest @ ..] => (Cut::Lines, rest),
        [b'r', b'/', rest @ ..] => (Cut::RoundRobin, rest),
        rest => (Cut::Bytes, rest),
    };
    let (which, count) = match memchr::memchr(b'/', rest) {
        Some(at) => (rest.get(..at), rest.get(at + 1..).unwrap_or_default()),
        None => (None, rest),
    };
    let range: &[u8] = b": Numerical result out of range";
    let total = match size(count, b"") {
        Ok(0) => Err(range),
        Ok(n) => Ok(n),
        Err(BadNumber::Overflow) => Err(&b": Value too large for defined data type"[..]),
        Err(_) => Err(&b""[..]),
    };
    let total = match total {
        Ok(total) => total,
        Err(why) => {
            let shown = cmd.quote(count);
            cmd.error(&[b"invalid number of chunks: ", &shown, why])?;
            return Ok(None);
        }
    };
    let Some(which) = which else {
        return Ok(Some(Way::Chunks(cut, None, total)));
    };
    match size(which, b"") {
        Ok(n) if n >= 1 && n <= total => Ok(Some(Way::Chunks(cut, Some(n - 1), total))),
        read => {
            let shown = cmd.quote(which);
            let why = if read.is_ok() { range } else { b"" };
            cmd.error(&[b"invalid chunk number: ", &shown, why])?;
            Ok(None)
        }
    }
}

fn cut(
    cmd: &mut Cmd<'_>,
    file: &[u8],
    way: Way,
    separator: u8,
    pieces: &mut Pieces,
) -> Result<(), Stop> {
    if let Way::Chunks(cut, only, total) = way {
        let mut held = Held::default();
        match read_whole(cmd.sys, file, &mut held)? {
            Ok(text) => in_chunks(cmd, &text, cut, only, total, separator, pieces)?,
            Err(errno) => {
                let name = cmd.q(file);
                cmd.fail(&[b"cannot open ", &name, b" for reading"], errno)?;
            }
        }
        held.end(cmd.sys);
        return Ok(());
    }
    let mut input = match failed(Input::open(cmd.sys, file))? {
        Ok(input) => input,
        Err(errno) => {
            let name = cmd.q(file);
            return cmd.fail(&[b"cannot open ", &name, b" for reading"], errno);
        }
    };
    let done = match way {
        Way::Bytes(most) => by_bytes(cmd, &mut input, most, pieces),
        Way::Lines(most) => by_lines(cmd, &mut input, most, u64::MAX, separator, pieces),
        Way::LineBytes(most) => by_lines(cmd, &mut input, u64::MAX, most, separator, pieces),
        Way::Chunks(..) => Ok(()),
    };
    input.close(cmd.sys);
    done
}

fn by_bytes(
    cmd: &mut Cmd<'_>,
    input: &mut Input,
    most: u64,
    pieces: &mut Pieces,
) -> Result<(), Stop> {
    let mut left = 0;
    loop {
        let piece = match failed(input.fill(cmd.sys))? {
            Ok(piece) => piece,
            Err(errno) => return cmd.fail(&[b"read error"], errno),
        };
        if piece.is_empty() || cmd.status != 0 {
            return Ok(());
        }
        if left == 0 {
            pieces.next(cmd)?;
            left = most;
        }
        let take = usize::try_from(left).map_or(piece.len(), |left| usize::min(left, piece.len()));
        pieces.put(cmd, piece.get(..take).unwrap_or_default())?;
        left -= u64::try_from(take).unwrap_or(left);
        input.consume(take);
        cmd.sys.work(1)?;
    }
}

/// Cuts behind so many lines, or before a line that would make the piece too large.
fn by_lines(
    cmd: &mut Cmd<'_>,
    input: &mut Input,
    lines: u64,
    bytes: u64,
    separator: u8,
    pieces: &mut Pieces,
) -> Result<(), Stop> {
    let (mut left, mut room) = (0, 0);
    loop {
        let line = match failed(input.record(cmd.sys, separator))? {
            Ok(Some(line)) if cmd.status == 0 => line,
            Ok(_) => return Ok(()),
            Err(errno) => return cmd.fail(&[b"read error"], errno),
        };
        let mut rest = line;
        while !rest.is_empty() {
            let len = u64::try_from(rest.len()).unwrap_or(u64::MAX);
            let fits = len <= room;
            if left == 0 || (!fits && room < bytes) {
                pieces.next(cmd)?;
                (left, room) = (lines, bytes);
            }
            let take =
                usize::try_from(room).map_or(rest.len(), |room| usize::min(room, rest.len()));
            let (head, tail) = rest.split_at_checked(take).unwrap_or((rest, b""));
            pieces.put(cmd, head)?;
            room -= u64::try_from(take).unwrap_or(room);
            rest = tail;
        }
        left -= 1;
    }
}

fn in_chunks(
    cmd: &mut Cmd<'_>,
    text: &[u8],
    cut: Cut,
    only: Option<u64>,
    total: u64,
    separator: u8,
    pieces: &mut Pieces,
) -> Result<(), Stop> {
    let len = u64::try_from(text.len()).unwrap_or(u64::MAX);
    // More pieces than bytes: one byte each, then empty ones.
    let each = u64::max(len / total, 1);
    let mut held = Held::default();
    let lines = match cut {
        Cut::Bytes => Vec::new(),
        _ => pace::lines(cmd.sys, &mut held, text, separator)?,
    };
    // At worst all of them are in one piece.
    held.more(cmd.sys, lines.len().saturating_mul(size_of::<&[u8]>()))?;
    // The lines of the piece are `lines[from..]`, one after the other or every `total`th.
    let (mut from, mut at) = (0_usize, 0_u64);
    for number in 0..total {
        let end = match number + 1 == total {
            true => len,
            false => u64::min((number + 1) * each, len),
        };
        let mut piece: Vec<&[u8]> = Vec::new();
        match cut {
            Cut::Bytes => {
                let start = usize::try_from(u64::min(number * each, len)).unwrap_or(0);
                let end = usize::try_from(end).unwrap_or(0);
                piece.extend(text.get(start..end).filter(|part| !part.is_empty()));
            }
            Cut::Lines => {
                while let Some(line) = lines.get(from).filter(|_| at < end) {
                    piece.push(line);
                    from += 1;
                    at += line.len() as u64;
                }
            }
            _ => {
                let step = usize::try_from(total).unwrap_or(usize::MAX);
                let first = usize::try_from(number).unwrap_or(usize::MAX);
                piece.extend(lines.iter().skip(first).step_by(step));
            }
        }
        if only.is_some_and(|only| only != number) {
            cmd.sys.work(1)?;
            continue;
        }
        cmd.sys.turns(1)?;
        let skipped = pieces.elide && piece.is_empty();
        if only.is_none() && !skipped {
            pieces.next(cmd)?;
        }
        for line in piece {
            match only {
                Some(_) => cmd.put(line)?,
                None => pieces.put(cmd, line)?,
            }
        }
        if only.is_some() || cmd.status != 0 {
            break;
        }
    }
    held.end(cmd.sys);
    Ok(())
}
