//! `cut`: chosen bytes or fields of each line. As GNU's, `-c` counts bytes.

use jp_bash_system::io::{Input, Output, called, fail};
use jp_bash_system::{PIECE, Stop, SysError, System, failed};

use super::Spec;
use super::options::{Front, HELP, Opt, Order, Takes, VERSION, begin, hint, opt};
use super::pace::find;
use super::quote::{quote, quote_name_if_odd};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "cut",
    about: "Prints chosen bytes or fields of each line.",
    run,
    options: OPTIONS,
};

const COMPLEMENT: char = '\u{200}';
const OUTPUT_DELIMITER: char = '\u{201}';

const OPTIONS: &[Opt] = &[
    opt('b', Some(b'b'), Some("bytes"), Takes::Required),
    opt('c', Some(b'c'), Some("characters"), Takes::Required),
    opt('d', Some(b'd'), Some("delimiter"), Takes::Required),
    opt('f', Some(b'f'), Some("fields"), Takes::Required),
    opt('n', Some(b'n'), None, Takes::Nothing),
    opt(COMPLEMENT, None, Some("complement"), Takes::Nothing),
    opt('s', Some(b's'), Some("only-delimited"), Takes::Nothing),
    opt(
        OUTPUT_DELIMITER,
        None,
        Some("output-delimiter"),
        Takes::Required,
    ),
    opt('z', Some(b'z'), Some("zero-terminated"), Takes::Nothing),
    HELP,
    VERSION,
];

const FRONT: Front = Front {
    spec: &SPEC,
    usage: "OPTION... [FILE]...",
    usage_status: 1,
    order: Order::Permute,
};

/// A range of positions, from 1, both ends included; open ranges end at `u64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: u64,
    pub(super) to: u64,
}

struct Settings {
    ranges: Vec<Range>,
    fields: bool,
    delimiter: u8,
    only_delimited: bool,
    /// What joins the parts; for bytes only if it was given.
    joint: Vec<u8>,
    /// Fields are joined by what divides them.
    own_joint: bool,
    /// The longest line that is cut without asking on the way.
    short: usize,
    end: u8,
}

/// Runs `cut`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let parsed = match begin(sys, args, &FRONT)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let settings = match read_settings(&parsed.options, sys.utf8()) {
        Ok(settings) => settings,
        Err(message) => {
            fail(sys, args, 1, &[&message])?;
            hint(sys, called(args))?;
            return Ok(1);
        }
    };
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut out = Output::new(1);
    let mut status = 0;
    for file in &files {
        let done = match failed(Input::open(sys, file))? {
            Ok(mut input) => {
                let done = cut(sys, &settings, &mut input, &mut out);
                input.close(sys);
                failed(done)?
            }
            Err(errno) => Err(errno),
        };
        if let Err(errno) = done {
            out.flush(sys)?;
            let name = quote_name_if_odd(sys.utf8(), file);
            status = fail(sys, args, 1, &[&name, b": ", errno.text().as_bytes()])?;
        }
    }
    match out.finish(sys)? {
        Ok(()) => Ok(status),
        Err(errno) => fail(sys, args, 1, &[b"write error: ", errno.text().as_bytes()]),
    }
}

fn read_settings(options: &[(char, Option<Vec<u8>>)], utf8: bool) -> Result<Settings, Vec<u8>> {
    let mut list: Option<(bool, &[u8])> = None;
    let mut delimiter = None;
    let mut joint = None;
    let mut only_delimited = false;
    let mut complement = false;
    let mut end = b'\n';
    for (id, value) in options {
        let value = value.as_deref().unwrap_or_default();
        match id {
            'b' | 'c' | 'f' => {
                if list.is_some() {
                    return Err(b"only one list may be specified".to_vec());
                }
                list = Some((*id == 'f', value));
            }
            'd' => match value {
                [] => delimiter = Some(0),
                [one] => delimiter = Some(*one),
                _ => return Err(b"the delimiter must be a single character".to_vec()),
            },
            's' => only_delimited = true,
            'z' => end = 0,
            &COMPLEMENT => complement = true,
            // An empty one is a NUL, as for `-d`.
            &OUTPUT_DELIMITER if value.is_empty() => joint = Some(vec![0]),
            &OUTPUT_DELIMITER => joint = Some(value.to_vec()),
            _ => {}
        }
    }
    let Some((fields, list)) = list else {
        return Err(b"you must specify a list of bytes, characters, or fields".to_vec());
    };
    if !fields && delimiter.is_some() {
        let text = b"an input delimiter may be specified only when operating on fields";
        return Err(text.to_vec());
    }
    if !fields && only_delimited {
        let text = b"suppressing non-delimited lines makes sense\n\tonly when operating on fields";
        return Err(text.to_vec());
    }
    let mut ranges = read_list(list, fields, utf8)?;
    if complement {
        ranges = gaps(&ranges);
    }
    let delimiter = delimiter.unwrap_or(b'\t');
    let joint = joint.unwrap_or_else(|| if fields { vec![delimiter] } else { Vec::new() });
    Ok(Settings {
        ranges,
        fields,
        delimiter,
        only_delimited,
        own_joint: joint == [delimiter],
        short: SHORT / (1 + joint.len()),
        joint,
        end,
    })
}

/// Reads `1,3-5,7-`; the ranges come back in order, those that overlap as one.
pub(super) fn read_list(list: &[u8], fields: bool, utf8: bool) -> Result<Vec<Range>, Vec<u8>> {
    let mut ranges = Vec::new();
    for part in list.split(|byte| matches!(byte, b',' | b' ' | b'\t')) {
        ranges.push(read_range(part, fields, utf8)?);
    }
    ranges.sort_by_key(|range: &Range| range.from);
    let mut merged: Vec<Range> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.from <= last.to => last.to = u64::max(last.to, range.to),
            _ => merged.push(range),
        }
    }
    Ok(merged)
}

fn read_range(part: &[u8], fields: bool, utf8: bool) -> Result<Range, Vec<u8>> {
    let zero: &[u8] = if fields {
        b"fields are numbered from 1"
    } else {
        b"byte/character positions are numbered from 1"
    };
    let mut ends = part.splitn(3, |byte| *byte == b'-');
    let (first, second, third) = (ends.next().unwrap_or_default(), ends.next(), ends.next());
    // Reported from left to right, as GNU meets them.
    let from = read_number(first, fields, utf8)?;
    let Some(second) = second else {
        return match from {
            Some(from) if from > 0 => Ok(Range { from, to: from }),
            _ => Err(zero.to_vec()),
        };
    };
    if from == Some(0) {
        return Err(zero.to_vec());
    }
    let to = read_number(second, fields, utf8)?;
    if third.is_some() {
        let text: &[u8] = if fields {
            b"invalid field range"
        } else {
            b"invalid byte or character range"
        };
        return Err(text.to_vec());
    }
    match (from, to) {
        (None, None) => Err(b"invalid range with no endpoint: -".to_vec()),
        (from, None) => Ok(Range {
            from: from.unwrap_or(1),
            to: u64::MAX,
        }),
        (from, Some(to)) if to < from.unwrap_or(1) => Err(b"invalid decreasing range".to_vec()),
        (from, Some(to)) => Ok(Range {
            from: from.unwrap_or(1),
            to,
        }),
    }
}

fn read_number(text: &[u8], fields: bool, utf8: bool) -> Result<Option<u64>, Vec<u8>> {
    if text.is_empty() {
        return Ok(None);
    }
    if let Some(at) = text.iter().position(|byte| !byte.is_ascii_digit()) {
        let what: &[u8] = if fields {
            b"invalid field value "
        } else {
            b"invalid byte/character position "
        };
        return Err([what, &quote(utf8, text.get(at..).unwrap_or_default())].concat());
    }
    let number = text.iter().try_fold(0u64, |sum, digit| {
        sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    });
    match number {
        Some(number) if number < u64::MAX => Ok(Some(number)),
        _ => {
            let what: &[u8] = if fields {
                b"field number "
            } else {
                b"byte/character offset "
            };
            Err([what, &quote(utf8, text), b" is too large"].concat())
        }
    }
}

/// Returns the ranges between the ranges.
fn gaps(ranges: &[Range]) -> Vec<Range> {
    let mut next = 1;
    let mut found = Vec::new();
    for range in ranges {
        if range.from > next {
            found.push(Range {
                from: next,
                to: range.from - 1,
            });
        }
        if range.to == u64::MAX {
            return found;
        }
        next = u64::max(next, range.to + 1);
    }
    found.push(Range {
        from: next,
        to: u64::MAX,
    });
    found
}

fn cut(
    sys: &mut dyn System,
    settings: &Settings,
    input: &mut Input,
    out: &mut Output,
) -> Result<(), SysError> {
    if settings.fields && settings.delimiter == settings.end {
        return cut_lines(sys, settings, input, out);
    }
    while let Some(line) = input.record(sys, settings.end)? {
        let line = line.strip_suffix(&[settings.end]).unwrap_or(line);
        if cut_line(sys, settings, line, out)? {
            out.buffer().push(settings.end);
        }
        out.settle(sys)?;
        if out.failed() {
            break;
        }
    }
    Ok(())
}

/// The longest line, with its joints, that is cut without asking on the way.
const SHORT: usize = 4096;

/// How one line is gone through: where its fields end, and where what is chosen goes.
trait Cutting {
    /// Returns where the next field ends: at a delimiter, or at the end of the line.
    fn next(&mut self) -> Result<usize, Stop>;
    fn put(&mut self, bytes: &[u8]) -> Result<(), Stop>;
    fn join(&mut self, joint: &[u8]) -> Result<(), Stop> {
        self.put(joint)
    }
}

/// A short line: reading it has paid for all that is done with it.
struct Short<'l> {
    delimiters: memchr::Memchr<'l>,
    end: usize,
    buffer: &'l mut Vec<u8>,
}

impl Cutting for Short<'_> {
    #[inline]
    fn next(&mut self) -> Result<usize, Stop> {
        Ok(self.delimiters.next().unwrap_or(self.end))
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn join(&mut self, joint: &[u8]) -> Result<(), Stop> {
        match joint {
            [byte] => self.buffer.push(*byte),
            _ => self.buffer.extend_from_slice(joint),
        }
        Ok(())
    }
}

/// A long line: the run is asked once for every piece of it.
struct Long<'l, 's> {
    sys: &'l mut (dyn System + 's),
    out: &'l mut Output,
    line: &'l [u8],
    delimiter: u8,
    at: usize,
    ask: usize,
}

impl Cutting for Long<'_, '_> {
    fn next(&mut self) -> Result<usize, Stop> {
        if self.at >= self.ask {
            self.sys.work_bytes(PIECE)?;
            self.ask = self.at + PIECE;
        }
        let rest = self.line.get(self.at..).unwrap_or_default();
        let found = find(self.sys, rest, self.delimiter)?;
        let end = found.map_or(self.line.len(), |found| self.at + found);
        self.at = end + 1;
        Ok(end)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.out.put(self.sys, bytes)
    }
}

/// Writes what is chosen of a line; `false` if the line is left out altogether.
fn cut_line(
    sys: &mut dyn System,
    settings: &Settings,
    line: &[u8],
    out: &mut Output,
) -> Result<bool, Stop> {
    if line.len() <= settings.short {
        let short = Short {
            delimiters: memchr::memchr_iter(settings.delimiter, line),
            end: line.len(),
            buffer: out.buffer(),
        };
        return cut_with(short, settings, line);
    }
    let long = Long {
        sys,
        out,
        line,
        delimiter: settings.delimiter,
        at: 0,
        ask: PIECE,
    };
    cut_with(long, settings, line)
}

#[inline]
fn cut_with(cutting: impl Cutting, settings: &Settings, line: &[u8]) -> Result<bool, Stop> {
    if settings.fields {
        cut_fields(cutting, settings, line)
    } else {
        cut_bytes(cutting, settings, line).map(|()| true)
    }
}

fn cut_bytes(mut cutting: impl Cutting, settings: &Settings, line: &[u8]) -> Result<(), Stop> {
    let mut first = true;
    for range in &settings.ranges {
        let Ok(from) = usize::try_from(range.from - 1) else {
            break;
        };
        if from >= line.len() {
            break;
        }
        let to = usize::try_from(range.to).map_or(line.len(), |to| usize::min(to, line.len()));
        if !first {
            cutting.join(&settings.joint)?;
        }
        first = false;
        cutting.put(line.get(from..to).unwrap_or_default())?;
    }
    Ok(())
}

fn cut_fields(mut cutting: impl Cutting, settings: &Settings, line: &[u8]) -> Result<bool, Stop> {
    let mut end = cutting.next()?;
    if end == line.len() {
        if !settings.only_delimited {
            cutting.put(line)?;
        }
        return Ok(!settings.only_delimited);
    }
    let mut start = 0;
    let mut field = 1;
    let mut first = true;
    for range in &settings.ranges {
        while field < range.from {
            if end == line.len() {
                return Ok(true);
            }
            start = end + 1;
            end = cutting.next()?;
            field += 1;
        }
        if settings.own_joint && range.to == u64::MAX {
            if !first {
                cutting.put(&[settings.delimiter])?;
            }
            cutting.put(line.get(start..).unwrap_or_default())?;
            return Ok(true);
        }
        loop {
            if !first {
                cutting.join(&settings.joint)?;
            }
            first = false;
            cutting.put(line.get(start..end).unwrap_or_default())?;
            if field >= range.to {
                break;
            }
            if end == line.len() {
                return Ok(true);
            }
            start = end + 1;
            end = cutting.next()?;
            field += 1;
        }
    }
    Ok(true)
}

/// Fields that end where lines end: the whole file is one record, each line a field.
fn cut_lines(
    sys: &mut dyn System,
    settings: &Settings,
    input: &mut Input,
    out: &mut Output,
) -> Result<(), SysError> {
    let mut number = 0u64;
    let mut first = true;
    let mut ranges = settings.ranges.iter().peekable();
    while let Some(line) = input.record(sys, settings.end)? {
        number += 1;
        if number == 1 && line.last() != Some(&settings.end) {
            // One line without its end has no delimiter at all.
            if !settings.only_delimited {
                out.put(sys, line)?;
                out.put(sys, &[settings.end])?;
            }
            return Ok(());
        }
        while ranges.peek().is_some_and(|range| range.to < number) {
            ranges.next();
        }
        if ranges.peek().is_some_and(|range| range.from <= number) {
            let line = line.strip_suffix(&[settings.end]).unwrap_or(line);
            if !first {
                out.put(sys, &settings.joint)?;
            }
            first = false;
            out.put(sys, line)?;
        }
    }
    if number > 0 && (!first || number > 1 || !settings.only_delimited) {
        out.put(sys, &[settings.end])?;
    }
    Ok(())
}
