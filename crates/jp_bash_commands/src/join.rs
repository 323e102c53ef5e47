//! `join`: lines of two sorted files that share a field.

mod line;

use std::cmp::Ordering;

use jp_bash_system::{Stop, System};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::{BadNumber, size};
use super::options::{Opt, Takes, opt};
use super::pace;
use line::{Line, Side};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "join",
    about: "Joins lines of two files on a common field.",
    run,
    options: OPTIONS,
};

const CHECK: char = '\u{200}';
const NO_CHECK: char = '\u{201}';
const HEADER: char = '\u{202}';

const OPTIONS: &[Opt] = &[
    opt('a', Some(b'a'), None, Takes::Required),
    opt('e', Some(b'e'), None, Takes::Required),
    opt('i', Some(b'i'), Some("ignore-case"), Takes::Nothing),
    opt('j', Some(b'j'), None, Takes::Required),
    opt('o', Some(b'o'), None, Takes::Required),
    opt('t', Some(b't'), None, Takes::Required),
    opt('v', Some(b'v'), None, Takes::Required),
    opt('1', Some(b'1'), None, Takes::Required),
    opt('2', Some(b'2'), None, Takes::Required),
    opt(CHECK, None, Some("check-order"), Takes::Nothing),
    opt(NO_CHECK, None, Some("nocheck-order"), Takes::Nothing),
    opt(HEADER, None, Some("header"), Takes::Nothing),
    opt('z', Some(b'z'), Some("zero-terminated"), Takes::Nothing),
    HELP,
    VERSION,
];

/// What a field of the output is.
#[derive(Clone, Copy)]
enum Field {
    Shared,
    Of(usize, usize),
}

/// What was asked for.
struct Wanted {
    /// The fields to join on, counted from 0.
    on: [usize; 2],
    /// Whether lines of a file without a partner are printed.
    unpaired: [bool; 2],
    paired: bool,
    empty: Option<Vec<u8>>,
    ignore_case: bool,
    separator: Option<u8>,
    format: Vec<Field>,
    auto: bool,
    header: bool,
    check: Option<bool>,
    end: u8,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            on: [0, 0],
            unpaired: [false, false],
            paired: true,
            empty: None,
            ignore_case: false,
            separator: None,
            format: Vec::new(),
            auto: false,
            header: false,
            check: None,
            end: b'\n',
        }
    }
}

/// Runs `join`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... FILE1 FILE2")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let Some(mut wanted) = read(&mut cmd, &parsed.options)? else {
        return cmd.finish();
    };
    let [first, second] = parsed.operands.as_slice() else {
        return match parsed.operands.as_slice() {
            [] => cmd.usage(&[b"missing operand"]),
            [only] => {
                let name = cmd.quote(only);
                cmd.usage(&[b"missing operand after ", &name])
            }
            [_, _, extra, ..] => {
                let name = cmd.q(extra);
                cmd.usage(&[b"extra operand ", &name])
            }
            _ => Ok(1),
        };
    };
    if first == b"-" && second == b"-" {
        cmd.error(&[b"both files cannot be standard input"])?;
        return cmd.finish();
    }
    let Some(left) = Side::open(&mut cmd, first)? else {
        return cmd.finish();
    };
    let Some(right) = Side::open(&mut cmd, second)? else {
        left.close(&mut cmd);
        return cmd.finish();
    };
    let mut sides = [left, right];
    let done = join(&mut cmd, &mut sides, &mut wanted);
    for side in sides {
        side.close(&mut cmd);
    }
    done?;
    cmd.finish()
}

/// Reads the options; nothing after a message.
fn read(cmd: &mut Cmd<'_>, options: &[(char, Option<Vec<u8>>)]) -> Result<Option<Wanted>, Stop> {
    let mut wanted = Wanted::default();
    for (id, value) in options {
        let text = value.as_deref().unwrap_or_default();
        match *id {
            'a' | 'v' => {
                wanted.paired &= *id == 'a';
                let Some(slot) = file_number(text).and_then(|n| wanted.unpaired.get_mut(n)) else {
                    let shown = cmd.quote(text);
                    cmd.error(&[b"invalid field number: ", &shown])?;
                    return Ok(None);
                };
                *slot = true;
            }
            'e' => wanted.empty = Some(text.to_vec()),
            'i' => wanted.ignore_case = true,
            'j' | '1' | '2' => {
                let Some(number) = field_number(cmd, text)? else {
                    return Ok(None);
                };
                let [one, two] = &mut wanted.on;
                if *id != '2' {
                    *one = number;
                }
                if *id != '1' {
                    *two = number;
                }
            }
            'o' if text == b"auto" => wanted.auto = true,
            'o' if !format(cmd, text, &mut wanted.format)? => return Ok(None),
            't' => match text {
                [] => wanted.separator = Some(b'\n'),
                b"\\0" => wanted.separator = Some(0),
                [byte] => wanted.separator = Some(*byte),
                _ => {
                    let shown = cmd.quote(text);
                    cmd.error(&[b"multi-character tab ", &shown])?;
                    return Ok(None);
                }
            },
            'z' => wanted.end = 0,
            CHECK => wanted.check = Some(true),
            NO_CHECK => wanted.check = Some(false),
            HEADER => wanted.header = true,
            _ => {}
        }
    }
    Ok(Some(wanted))
}

fn file_number(text: &[u8]) -> Option<usize> {
    match text {
        b"1" => Some(0),
        b"2" => Some(1),
        _ => None,
    }
}

/// Reads the number of a field, counted from 1; nothing after a message.
fn field_number(cmd: &mut Cmd<'_>, text: &[u8]) -> Result<Option<usize>, Stop> {
    // No line has so many fields that a larger number would find one.
    let number = match size(text, b"") {
        Ok(number) => usize::try_from(number).unwrap_or(usize::MAX),
        Err(BadNumber::Overflow) => usize::MAX,
        Err(_) => 0,
    };
    if let Some(number) = number.checked_sub(1) {
        return Ok(Some(number));
    }
    let shown = cmd.quote(text);
    cmd.error(&[b"invalid field number: ", &shown])?;
    Ok(None)
}

/// Reads the list of `-o`; `false` after a message.
fn format(cmd: &mut Cmd<'_>, text: &[u8], fields: &mut Vec<Field>) -> Result<bool, Stop> {
    for part in text.split(|byte| matches!(byte, b',' | b' ' | b'\t')) {
        if part == b"0" {
            fields.push(Field::Shared);
            continue;
        }
        let mut halves = part.splitn(2, |byte| *byte == b'.');
        let (file, number) = (halves.next().unwrap_or_default(), halves.next());
        let Some(file) = file_number(file) else {
            let shown = cmd.quote(part);
            let known = matches!(part.first(), Some(b'0' | b'1' | b'2'));
            let what: &[u8] = if known {
                b"invalid field specifier: "
            } else {
                b"invalid file number in field spec: "
            };
            cmd.error(&[what, &shown])?;
            return Ok(false);
        };
        let Some(number) = number else {
            let shown = cmd.quote(part);
            cmd.error(&[b"invalid field specifier: ", &shown])?;
            return Ok(false);
        };
        let Some(number) = field_number(cmd, number)? else {
            return Ok(false);
        };
        fields.push(Field::Of(file, number));
    }
    Ok(true)
}

/// Compares the fields that lines are joined on.
fn compare(
    sys: &mut dyn System,
    left: &[u8],
    right: &[u8],
    ignore_case: bool,
) -> Result<Ordering, Stop> {
    if ignore_case {
        pace::compare_folded(sys, left, right)
    } else {
        pace::compare(sys, left, right)
    }
}

/// The lines of both files whose field is the same right now.
type Group = Vec<Line>;

fn join(cmd: &mut Cmd<'_>, sides: &mut [Side; 2], wanted: &mut Wanted) -> Result<(), Stop> {
    let [left, right] = sides;
    left.next(cmd, wanted, 0)?;
    right.next(cmd, wanted, 1)?;
    if wanted.auto {
        wanted.format = automatic(left.line.as_ref(), right.line.as_ref(), wanted.on);
    }
    if wanted.header {
        if left.line.is_some() || right.line.is_some() {
            print(cmd, wanted, left.line.as_ref(), right.line.as_ref())?;
        }
        left.start_over();
        right.start_over();
        left.next(cmd, wanted, 0)?;
        right.next(cmd, wanted, 1)?;
    }
    while let (Some(a), Some(b)) = (&left.line, &right.line) {
        cmd.sys.work(1)?;
        let (a, b) = (a.key(wanted.on[0]), b.key(wanted.on[1]));
        match compare(cmd.sys, a, b, wanted.ignore_case)? {
            Ordering::Equal => pairs(cmd, left, right, wanted)?,
            order => {
                // From here on disorder matters in both files.
                (left.unpaired, right.unpaired) = (true, true);
                match order {
                    Ordering::Less => lonely(cmd, left, wanted, 0)?,
                    _ => lonely(cmd, right, wanted, 1)?,
                }
            }
        }
    }
    let checked = wanted.check != Some(false);
    let [of_left, of_right] = wanted.unpaired;
    while left.line.is_some() && (of_left || checked) && !right.fatal {
        lonely(cmd, left, wanted, 0)?;
    }
    while right.line.is_some() && (of_right || checked) && !left.fatal {
        lonely(cmd, right, wanted, 1)?;
    }
    if (left.told || right.told) && !left.fatal && !right.fatal {
        cmd.error(&[b"input is not in sorted order"])?;
    }
    Ok(())
}

/// Passes over a line without a partner.
fn lonely(cmd: &mut Cmd<'_>, side: &mut Side, wanted: &Wanted, file: usize) -> Result<(), Stop> {
    if wanted.unpaired.get(file) == Some(&true) {
        let (left, right) = match file {
            0 => (side.line.as_ref(), None),
            _ => (None, side.line.as_ref()),
        };
        print(cmd, wanted, left, right)?;
    }
    side.next(cmd, wanted, file)
}

/// Prints all pairs of the lines that share the field.
fn pairs(
    cmd: &mut Cmd<'_>,
    left: &mut Side,
    right: &mut Side,
    wanted: &Wanted,
) -> Result<(), Stop> {
    let lefts = group(cmd, left, wanted, 0)?;
    let rights = group(cmd, right, wanted, 1)?;
    if wanted.paired && !left.fatal && !right.fatal {
        for a in &lefts {
            for b in &rights {
                cmd.sys.turns(1)?;
                print(cmd, wanted, Some(a), Some(b))?;
            }
        }
    }
    for line in lefts.into_iter().chain(rights) {
        line.free(cmd.sys);
        cmd.sys.release(size_of::<Line>() as u64 * 2);
    }
    Ok(())
}

fn group(cmd: &mut Cmd<'_>, side: &mut Side, wanted: &Wanted, file: usize) -> Result<Group, Stop> {
    let on = wanted.on.get(file).copied().unwrap_or(0);
    let mut group: Group = Vec::new();
    while let Some(line) = side.line.take() {
        if let Some(first) = group.first()
            && compare(cmd.sys, first.key(on), line.key(on), wanted.ignore_case)?.is_ne()
        {
            side.line = Some(line);
            break;
        }
        cmd.sys.reserve(size_of::<Line>() as u64 * 2)?;
        side.line = Some(line.copy(cmd.sys)?);
        group.push(line);
        side.next(cmd, wanted, file)?;
    }
    Ok(group)
}

/// The format of `-o auto`: the shared field, then all others that the first lines have.
fn automatic(left: Option<&Line>, right: Option<&Line>, on: [usize; 2]) -> Vec<Field> {
    let mut fields = vec![Field::Shared];
    for (file, line) in [left, right].into_iter().enumerate() {
        let count = line.map_or(0, Line::count);
        let shared = on.get(file).copied().unwrap_or(0);
        fields.extend(
            (0..count)
                .filter(|at| *at != shared)
                .map(|at| Field::Of(file, at)),
        );
    }
    fields
}

fn print(
    cmd: &mut Cmd<'_>,
    wanted: &Wanted,
    left: Option<&Line>,
    right: Option<&Line>,
) -> Result<(), Stop> {
    let [on_left, on_right] = wanted.on;
    let shared = match (left, right) {
        (Some(line), _) => line.field(on_left),
        (None, Some(line)) => line.field(on_right),
        (None, None) => None,
    };
    let separator = wanted.separator.unwrap_or(b' ');
    let empty = wanted.empty.as_deref().unwrap_or_default();
    let filled = |field: Option<&'_ [u8]>| field.is_some_and(|field| !field.is_empty());
    let or_empty = |field| if filled(field) { field } else { Some(empty) };
    if wanted.format.is_empty() && !wanted.auto {
        cmd.put(or_empty(shared).unwrap_or_default())?;
        for (line, on) in [(left, on_left), (right, on_right)] {
            let Some(line) = line else { continue };
            for at in (0..line.count()).filter(|at| *at != on) {
                cmd.put(&[separator])?;
                cmd.put(line.field(at).unwrap_or_default())?;
            }
        }
    } else {
        for (number, field) in wanted.format.iter().enumerate() {
            let found = match field {
                Field::Shared => shared,
                Field::Of(0, at) => left.and_then(|line| line.field(*at)),
                Field::Of(_, at) => right.and_then(|line| line.field(*at)),
            };
            if number > 0 {
                cmd.put(&[separator])?;
            }
            cmd.put(or_empty(found).unwrap_or_default())?;
        }
    }
    cmd.put(&[wanted.end])
}
