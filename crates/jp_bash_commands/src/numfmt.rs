//! `numfmt`: numbers with units for people, and back.

mod format;
mod scale;

use jp_bash_system::io::Input;
use jp_bash_system::{Stop, System, failed};

use super::Spec;
use super::choice::{Words, choose};
use super::cut::read_list;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::{signed, unsigned};
use super::options::{Opt, Parsed, Takes, opt, refused};
use super::pace;
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
    fields: Vec<(u64, u64)>,
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
    let Some(wanted) = read(&mut cmd, args, &parsed)? else {
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

/// What follows a message about an option.
enum Problem {
    /// Nothing: the message is all.
    Plain(Vec<u8>),
    /// The hint at `--help`.
    Usage(Vec<u8>),
    /// Nothing: it was reported.
    Reported,
}

/// Reads the options; nothing after a message.
fn read(cmd: &mut Cmd<'_>, args: &[Vec<u8>], parsed: &Parsed) -> Result<Option<Wanted>, Stop> {
    let mut wanted = Wanted::default();
    let mut given = Given::default();
    let mut problem = None;
    for (id, value) in &parsed.options {
        problem = take(cmd, args, &mut wanted, &mut given, (*id, value.as_deref()))?.err();
        if problem.is_some() {
            break;
        }
    }
    let problem = match problem {
        Some(problem) => Some(problem),
        None => given.apply(&mut wanted, cmd.sys.utf8()).err(),
    };
    match problem {
        None => return Ok(Some(wanted)),
        Some(Problem::Plain(message)) => cmd.note(&[&message])?,
        Some(Problem::Usage(message)) => drop(cmd.usage(&[&message])?),
        Some(Problem::Reported) => drop(cmd.hint()?),
    }
    cmd.status = 1;
    Ok(None)
}

/// Options that are looked at when all were read.
#[derive(Default)]
struct Given {
    fields: bool,
    grouping: bool,
    format: Option<Vec<u8>>,
}

impl Given {
    fn apply(self, wanted: &mut Wanted, utf8: bool) -> Result<(), Problem> {
        let plain = |text: &[u8]| Err(Problem::Plain(text.to_vec()));
        if self.grouping && self.format.is_some() {
            return plain(b"--grouping cannot be combined with --format");
        }
        if let Some(text) = &self.format {
            format::read(text, wanted, utf8).map_err(Problem::Plain)?;
        }
        if self.grouping && wanted.to != Units::None {
            return plain(b"grouping cannot be combined with --to");
        }
        Ok(())
    }
}

/// Takes one option.
fn take(
    cmd: &mut Cmd<'_>,
    args: &[Vec<u8>],
    wanted: &mut Wanted,
    given: &mut Given,
    (id, value): (char, Option<&[u8]>),
) -> Result<Result<(), Problem>, Stop> {
    let text = value.unwrap_or_default();
    let wrong =
        |cmd: &Cmd<'_>, what: &[u8]| Ok(Err(Problem::Plain([what, &cmd.quote(text)].concat())));
    match id {
        'd' => match text {
            [] => wanted.delimiter = Some(0),
            [byte] => wanted.delimiter = Some(*byte),
            _ => {
                let message = b"the delimiter must be a single character".to_vec();
                return Ok(Err(Problem::Plain(message)));
            }
        },
        'z' => wanted.end = 0,
        'g' => given.grouping = true,
        HEADER => match value.map_or(Ok(1), |text| unsigned(text, 1, u64::MAX)) {
            Ok(lines) => wanted.header = lines,
            Err(_) => return wrong(cmd, b"invalid header value "),
        },
        FIELD if given.fields => {
            return Ok(Err(Problem::Plain(
                b"multiple field specifications".to_vec(),
            )));
        }
        FIELD => {
            given.fields = true;
            wanted.fields = match text {
                b"-" => vec![(1, u64::MAX)],
                _ => match read_list(text, true, cmd.sys.utf8()) {
                    Ok(ranges) => ranges.iter().map(|range| (range.from, range.to)).collect(),
                    Err(message) => return Ok(Err(Problem::Usage(message))),
                },
            };
        }
        PADDING => match signed(text, i64::MIN, i64::MAX) {
            Ok(0) | Err(_) => return wrong(cmd, b"invalid padding value "),
            Ok(number) => {
                let width = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
                wanted.padding = Some((width, number < 0));
            }
        },
        FORMAT => given.format = Some(text.to_vec()),
        SUFFIX => wanted.suffix = text.to_vec(),
        FROM_UNIT | TO_UNIT => match (scale::unit(text), id) {
            (None, _) => return wrong(cmd, b"invalid unit size: "),
            (Some(unit), FROM_UNIT) => wanted.from_unit = unit,
            (Some(unit), _) => wanted.to_unit = unit,
        },
        _ => return one_of(cmd, args, wanted, id, text),
    }
    Ok(Ok(()))
}

/// Takes an option whose value is one of some words.
fn one_of(
    cmd: &mut Cmd<'_>,
    args: &[Vec<u8>],
    wanted: &mut Wanted,
    id: char,
    text: &[u8],
) -> Result<Result<(), Problem>, Stop> {
    let (option, words): (&str, &Words) = match id {
        FROM => (
            "--from",
            &[&["none"], &["auto"], &["si"], &["iec"], &["iec-i"]],
        ),
        TO => ("--to", &[&["none"], &["si"], &["iec"], &["iec-i"]]),
        ROUND => (
            "--round",
            &[
                &["up"],
                &["down"],
                &["from-zero"],
                &["towards-zero"],
                &["nearest"],
            ],
        ),
        INVALID => (
            "--invalid",
            &[&["abort"], &["fail"], &["warn"], &["ignore"]],
        ),
        _ => return Ok(Ok(())),
    };
    let Ok(found) = choose(cmd.sys, args, option, text, words)? else {
        return Ok(Err(Problem::Reported));
    };
    let word = words.get(found).and_then(|names| names.first());
    let word = word.copied().unwrap_or_default();
    match id {
        FROM => wanted.from = Units::read(word),
        TO => wanted.to = Units::read(word),
        ROUND => wanted.round = Round::read(word),
        _ => {
            wanted.invalid = match word {
                "fail" => Invalid::Fail,
                "warn" => Invalid::Warn,
                "ignore" => Invalid::Ignore,
                _ => Invalid::Abort,
            };
        }
    }
    Ok(Ok(()))
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
