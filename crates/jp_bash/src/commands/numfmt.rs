//! `numfmt`: numbers with units for people, and back.

mod scale;

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::io::Input;
use super::options::{Opt, Takes, opt, refused};
use super::pace;
use crate::stop::Stop;
use crate::system::{System, failed};
use scale::{Round, Units};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "numfmt",
    about: "Converts numbers to and from forms for people.",
    run,
    options: OPTIONS,
};

const FROM: char = '\u{200}';
const TO: char = '\u{201}';
const FIELD: char = '\u{202}';
const PADDING: char = '\u{203}';
const ROUND: char = '\u{204}';
const SUFFIX: char = '\u{205}';
const FORMAT: char = '\u{206}';
const HEADER: char = '\u{207}';
const INVALID: char = '\u{208}';
const FROM_UNIT: char = '\u{209}';
const TO_UNIT: char = '\u{20a}';

const OPTIONS: &[Opt] = &[
    refused(None, Some("debug"), Takes::Nothing, "no warnings"),
    opt('d', Some(b'd'), Some("delimiter"), Takes::Required),
    opt(FIELD, None, Some("field"), Takes::Required),
    opt(FORMAT, None, Some("format"), Takes::Required),
    opt(FROM, None, Some("from"), Takes::Required),
    opt(FROM_UNIT, None, Some("from-unit"), Takes::Required),
    opt('g', None, Some("grouping"), Takes::Nothing),
    opt(HEADER, None, Some("header"), Takes::Optional),
    opt(INVALID, None, Some("invalid"), Takes::Required),
    opt(PADDING, None, Some("padding"), Takes::Required),
    opt(ROUND, None, Some("round"), Takes::Required),
    opt(SUFFIX, None, Some("suffix"), Takes::Required),
    opt(TO, None, Some("to"), Takes::Required),
    opt(TO_UNIT, None, Some("to-unit"), Takes::Required),
    opt('z', Some(b'z'), Some("zero-terminated"), Takes::Nothing),
    HELP,
    VERSION,
];

/// What happens to what is no number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Invalid {
    Abort,
    Fail,
    Warn,
    Ignore,
}

struct Wanted {
    from: Units,
    to: Units,
    from_unit: u64,
    to_unit: u64,
    round: Round,
    suffix: Vec<u8>,
    /// Ranges of fields, counted from 1.
    fields: Vec<(usize, usize)>,
    delimiter: Option<u8>,
    /// The width, and whether text is at the left of it.
    padding: Option<(usize, bool)>,
    precision: Option<usize>,
    before: Vec<u8>,
    behind: Vec<u8>,
    zeros: bool,
    header: u64,
    invalid: Invalid,
    end: u8,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            from: Units::None,
            to: Units::None,
            from_unit: 1,
            to_unit: 1,
            round: Round::FromZero,
            suffix: Vec::new(),
            fields: vec![(1, 1)],
            delimiter: None,
            padding: None,
            precision: None,
            before: Vec::new(),
            behind: Vec::new(),
            zeros: false,
            header: 0,
            invalid: Invalid::Abort,
            end: b'\n',
        }
    }
}

/// Runs `numfmt`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [NUMBER]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let Some(wanted) = read(&mut cmd, &parsed.options)? else {
        return cmd.finish();
    };
    for operand in &parsed.operands {
        if !convert_line(&mut cmd, operand, &wanted)? {
            return cmd.finish();
        }
    }
    if parsed.operands.is_empty() {
        let mut input = Input::new(0);
        let mut header = wanted.header;
        while let Some(line) = failed(input.record(cmd.sys, wanted.end))?.unwrap_or_default() {
            let line = line.strip_suffix(&[wanted.end]).unwrap_or(line);
            if header > 0 {
                header -= 1;
                cmd.put(line)?;
                cmd.put(&[wanted.end])?;
            } else if !convert_line(&mut cmd, line, &wanted)? {
                break;
            }
        }
        input.close(cmd.sys);
    }
    cmd.finish()
}

/// Reads the options; nothing after a message.
fn read(cmd: &mut Cmd<'_>, options: &[(char, Option<Vec<u8>>)]) -> Result<Option<Wanted>, Stop> {
    let mut wanted = Wanted::default();
    for (id, value) in options {
        let text = value.as_deref().unwrap_or_default();
        let problem: Option<&[u8]> = match *id {
            'd' => match text {
                [byte] => {
                    wanted.delimiter = Some(*byte);
                    None
                }
                _ => Some(b"the delimiter must be a single character"),
            },
            'z' => {
                wanted.end = 0;
                None
            }
            HEADER => header(&mut wanted, value.as_deref()),
            FIELD => match scale::fields(text) {
                Some(fields) => {
                    wanted.fields = fields;
                    None
                }
                None => Some(b"invalid field value "),
            },
            PADDING => padding(&mut wanted, text),
            FORMAT => (!format(text, &mut wanted)).then_some(b"invalid format "),
            SUFFIX => {
                wanted.suffix = text.to_vec();
                None
            }
            _ => choose(&mut wanted, *id, text),
        };
        if let Some(problem) = problem {
            let shown = if problem.ends_with(b" ") {
                cmd.quote(text)
            } else {
                Vec::new()
            };
            cmd.usage(&[problem, &shown])?;
            cmd.status = 1;
            return Ok(None);
        }
    }
    Ok(Some(wanted))
}

fn header(wanted: &mut Wanted, value: Option<&[u8]>) -> Option<&'static [u8]> {
    let number = value.map(|text| std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()));
    wanted.header = number.map_or(1, |number| number.unwrap_or(0));
    (wanted.header == 0).then_some(b"invalid header value ")
}

fn padding(wanted: &mut Wanted, text: &[u8]) -> Option<&'static [u8]> {
    let number: Option<i64> = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok());
    let width = number.filter(|n| *n != 0);
    wanted.padding = width.map(|n| {
        let width = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX);
        (width, n < 0)
    });
    wanted
        .padding
        .is_none()
        .then_some(b"invalid padding value ")
}

/// Applies an option that takes one of some words.
fn choose(wanted: &mut Wanted, id: char, text: &[u8]) -> Option<&'static [u8]> {
    match id {
        FROM => match Units::read(text) {
            Some(units) => wanted.from = units,
            None => return Some(b"invalid argument for '--from': "),
        },
        TO => match Units::read(text).filter(|units| *units != Units::Auto) {
            Some(units) => wanted.to = units,
            None => return Some(b"invalid argument for '--to': "),
        },
        FROM_UNIT | TO_UNIT => {
            let Some(unit) = scale::unit(text) else {
                return Some(b"invalid unit size: ");
            };
            if id == FROM_UNIT {
                wanted.from_unit = unit;
            } else {
                wanted.to_unit = unit;
            }
        }
        ROUND => match Round::read(text) {
            Some(round) => wanted.round = round,
            None => return Some(b"invalid argument for '--round': "),
        },
        INVALID => {
            wanted.invalid = match text {
                b"abort" => Invalid::Abort,
                b"fail" => Invalid::Fail,
                b"warn" => Invalid::Warn,
                b"ignore" => Invalid::Ignore,
                _ => return Some(b"invalid argument for '--invalid': "),
            };
        }
        _ => {}
    }
    None
}

/// Reads `--format`: text around one `%['][0][-][WIDTH][.PRECISION]f`.
fn format(text: &[u8], wanted: &mut Wanted) -> bool {
    let Some(percent) = memchr::memchr(b'%', text) else {
        return false;
    };
    wanted.before = text.get(..percent).unwrap_or_default().to_vec();
    let mut rest = text.get(percent + 1..).unwrap_or_default();
    let mut left = false;
    while let [flag @ (b'\'' | b'0' | b'-' | b' '), tail @ ..] = rest {
        wanted.zeros |= *flag == b'0';
        left |= *flag == b'-';
        rest = tail;
    }
    let digits = |rest: &[u8]| rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = |text: Option<&[u8]>| -> usize {
        let text = text.and_then(|text| std::str::from_utf8(text).ok());
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    let width = digits(rest);
    if width > 0 {
        wanted.padding = Some((number(rest.get(..width)), left));
    }
    rest = rest.get(width..).unwrap_or_default();
    if let Some(tail) = rest.strip_prefix(b".") {
        let len = digits(tail);
        wanted.precision = Some(usize::min(number(tail.get(..len)), 60));
        rest = tail.get(len..).unwrap_or_default();
    }
    match rest.strip_prefix(b"f") {
        Some(behind) if !behind.contains(&b'%') => wanted.behind = behind.to_vec(),
        _ => return false,
    }
    true
}

/// Converts the fields of a line and prints it; `false` ends the run.
fn convert_line(cmd: &mut Cmd<'_>, line: &[u8], wanted: &Wanted) -> Result<bool, Stop> {
    let mut rest = line;
    let mut number = 0;
    while number == 0 || !rest.is_empty() {
        number += 1;
        let blank = |byte: u8| byte.is_ascii_whitespace();
        let (lead, len) = match wanted.delimiter {
            Some(delimiter) => (
                0,
                pace::find(cmd.sys, rest, delimiter)?.unwrap_or(rest.len()),
            ),
            None => {
                let lead = pace::span(cmd.sys, rest, blank)?;
                let tail = rest.get(lead..).unwrap_or_default();
                (lead, pace::span(cmd.sys, tail, |byte| !blank(byte))?)
            }
        };
        cmd.sys.work_bytes(wanted.fields.len() * 4)?;
        let (blanks, field) = (
            rest.get(..lead).unwrap_or_default(),
            rest.get(lead..lead + len),
        );
        let field = field.unwrap_or_default();
        if wanted
            .fields
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&number))
        {
            // Without a delimiter, blanks before a field are its padding.
            let extra = lead.saturating_sub(usize::from(number > 1));
            if number > 1 && lead > 0 {
                cmd.put(blanks.get(..1).unwrap_or_default())?;
            }
            let width = (wanted.padding.is_none() && extra > 0).then_some(extra + len);
            if !convert(cmd, field, wanted, width)? {
                return Ok(false);
            }
        } else {
            cmd.put(blanks)?;
            cmd.put(field)?;
        }
        rest = rest.get(lead + len..).unwrap_or_default();
        if let (Some(delimiter), [_, tail @ ..]) = (wanted.delimiter, rest) {
            cmd.put(&[delimiter])?;
            rest = tail;
        }
    }
    cmd.put(&[wanted.end])?;
    Ok(true)
}

fn convert(
    cmd: &mut Cmd<'_>,
    field: &[u8],
    wanted: &Wanted,
    width: Option<usize>,
) -> Result<bool, Stop> {
    let bare = field
        .strip_suffix(wanted.suffix.as_slice())
        .unwrap_or(field);
    let number = match scale::parse(bare, wanted.from) {
        Ok(number) => number,
        Err(why) => {
            if wanted.invalid != Invalid::Ignore {
                let shown = cmd.quote(field);
                cmd.out.flush(cmd.sys)?;
                cmd.note(&[why.as_bytes(), &shown, scale::hint(why)])?;
            }
            if matches!(wanted.invalid, Invalid::Abort | Invalid::Fail) {
                cmd.status = 2;
            }
            if wanted.invalid == Invalid::Abort {
                return Ok(false);
            }
            cmd.put(field)?;
            return Ok(true);
        }
    };
    let text = scale::show(&number, wanted);
    let text = [text.as_bytes(), &wanted.suffix].concat();
    let (width, left) = match (wanted.padding, width) {
        (Some((width, left)), _) => (width, left),
        (None, Some(width)) => (width, false),
        (None, None) => (0, false),
    };
    let pad = width.saturating_sub(text.len());
    let fill = if wanted.zeros && !left { b'0' } else { b' ' };
    cmd.put(&wanted.before)?;
    if !left {
        cmd.out.repeat(cmd.sys, fill, pad)?;
    }
    cmd.put(&text)?;
    if left {
        cmd.out.repeat(cmd.sys, b' ', pad)?;
    }
    cmd.put(&wanted.behind)?;
    Ok(true)
}
