//! `uniq`: lines that repeat one after the other.

use jp_bash_system::io::{Held, Input, Output, called, fail};
use jp_bash_system::{OpenHow, PIECE, Stop, SysError, System, failed};

use super::Spec;
use super::choice::choose;
use super::numbers::{BadNumber, size};
use super::options::{Front, HELP, Opt, Order, Takes, VERSION, begin, hidden, hint, opt};
use super::pace::{self, span};
use super::quote::{quote, quote_name, quote_name_if_odd};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "uniq",
    about: "Reports or leaves out lines that repeat the line before them.",
    run,
    options: OPTIONS,
};

const ALL_REPEATED: char = '\u{200}';
const GROUP: char = '\u{201}';

const OPTIONS: &[Opt] = &[
    opt('c', Some(b'c'), Some("count"), Takes::Nothing),
    opt('d', Some(b'd'), Some("repeated"), Takes::Nothing),
    opt('D', Some(b'D'), None, Takes::Nothing),
    opt(ALL_REPEATED, None, Some("all-repeated"), Takes::Optional),
    opt('f', Some(b'f'), Some("skip-fields"), Takes::Required),
    opt(GROUP, None, Some("group"), Takes::Optional),
    opt('i', Some(b'i'), Some("ignore-case"), Takes::Nothing),
    opt('s', Some(b's'), Some("skip-chars"), Takes::Required),
    opt('u', Some(b'u'), Some("unique"), Takes::Nothing),
    opt('z', Some(b'z'), Some("zero-terminated"), Takes::Nothing),
    opt('w', Some(b'w'), Some("check-chars"), Takes::Required),
    HELP,
    VERSION,
    hidden(b'0', Takes::Nothing),
    hidden(b'1', Takes::Nothing),
    hidden(b'2', Takes::Nothing),
    hidden(b'3', Takes::Nothing),
    hidden(b'4', Takes::Nothing),
    hidden(b'5', Takes::Nothing),
    hidden(b'6', Takes::Nothing),
    hidden(b'7', Takes::Nothing),
    hidden(b'8', Takes::Nothing),
    hidden(b'9', Takes::Nothing),
];

const FRONT: Front = Front {
    spec: &SPEC,
    usage: "[OPTION]... [INPUT [OUTPUT]]",
    usage_status: 1,
    order: Order::Permute,
};

/// Where `--group` and `-D` put empty lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    Prepend,
    Append,
    Separate,
    Both,
}

struct Settings {
    end: u8,
    count: bool,
    unique: bool,
    first_repeated: bool,
    later_repeated: bool,
    between: Gap,
    group: Gap,
    key: Key,
}

/// The part of a line that is compared.
struct Key {
    skip_fields: u64,
    skip_bytes: usize,
    most_bytes: usize,
    ignore_case: bool,
    /// Lines shorter than this are compared as they are: zero if only a part of each counts, or its letters.
    whole_below: usize,
}

impl Key {
    /// Sees, once all options are read, whether lines are compared as they are.
    fn settle(&mut self) {
        let whole = self.skip_fields == 0 && self.skip_bytes == 0 && self.most_bytes == usize::MAX;
        self.whole_below = if whole && !self.ignore_case { PIECE } else { 0 };
    }

    #[inline]
    fn of<'l>(&self, sys: &mut dyn System, line: &'l [u8]) -> Result<&'l [u8], Stop> {
        let rest = match self.skip_fields {
            0 => line,
            _ => self.behind_fields(sys, line)?,
        };
        let rest = rest.get(self.skip_bytes..).unwrap_or_default();
        Ok(rest.get(..self.most_bytes).unwrap_or(rest))
    }

    fn behind_fields<'l>(&self, sys: &mut dyn System, line: &'l [u8]) -> Result<&'l [u8], Stop> {
        let mut rest = line;
        let mut fields = self.skip_fields;
        let mut steps = 0_usize;
        let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n');
        while fields > 0 && !rest.is_empty() {
            let blanks = span(sys, rest, blank)?;
            rest = rest.get(blanks..).unwrap_or_default();
            let word = span(sys, rest, |byte| !blank(byte))?;
            rest = rest.get(word..).unwrap_or_default();
            fields -= 1;
            steps += blanks + word;
            if steps >= PIECE {
                sys.work_bytes(std::mem::take(&mut steps))?;
            }
        }
        Ok(rest)
    }

    /// Tells whether two lines count as the same.
    #[inline]
    fn same(&self, sys: &mut dyn System, a: &[u8], b: &[u8]) -> Result<bool, Stop> {
        if a.len() < self.whole_below {
            return Ok(a == b);
        }
        self.same_parts(sys, a, b)
    }

    #[inline(never)]
    fn same_parts(&self, sys: &mut dyn System, a: &[u8], b: &[u8]) -> Result<bool, Stop> {
        let (a, b) = (self.of(sys, a)?, self.of(sys, b)?);
        pace::same(sys, a, b, self.ignore_case)
    }
}

/// Runs `uniq`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let parsed = match begin(sys, args, &FRONT)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut settings = match read_settings(sys, args, &parsed.options)? {
        Ok(settings) => settings,
        Err(status) => return Ok(status),
    };
    let mut files: Vec<&[u8]> = Vec::new();
    for operand in &parsed.operands {
        // The old `+N`, which skips characters.
        if let Some(number) = operand.strip_prefix(b"+")
            && let Ok(skip) = size(number, b"")
            && number.first().is_some_and(u8::is_ascii_digit)
        {
            settings.key.skip_bytes = usize::try_from(skip).unwrap_or(usize::MAX);
            continue;
        }
        if files.len() == 2 {
            let shown = quote(sys.utf8(), operand);
            fail(sys, args, 1, &[b"extra operand ", &shown])?;
            hint(sys, called(args))?;
            return Ok(1);
        }
        files.push(operand);
    }
    if settings.group != Gap::None && !(settings.is_plain() && settings.between == Gap::None) {
        return usage(sys, args, b"--group is mutually exclusive with -c/-d/-D/-u");
    }
    if settings.count && settings.later_repeated {
        let text = b"printing all duplicated lines and repeat counts is meaningless";
        return usage(sys, args, text);
    }
    settings.key.settle();
    stream(
        sys,
        args,
        &settings,
        files.first().copied(),
        files.get(1).copied(),
    )
}

impl Settings {
    /// Tells whether every group is shown by its first line.
    fn is_plain(&self) -> bool {
        self.unique && self.first_repeated && !self.count && !self.later_repeated
    }
}

fn usage(sys: &mut dyn System, args: &[Vec<u8>], text: &[u8]) -> Result<i32, Stop> {
    fail(sys, args, 1, &[text])?;
    hint(sys, called(args))?;
    Ok(1)
}

fn read_settings(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    options: &[(char, Option<Vec<u8>>)],
) -> Result<Result<Settings, i32>, Stop> {
    let mut settings = Settings {
        end: b'\n',
        count: false,
        unique: true,
        first_repeated: true,
        later_repeated: false,
        between: Gap::None,
        group: Gap::None,
        key: Key {
            skip_fields: 0,
            skip_bytes: 0,
            most_bytes: usize::MAX,
            ignore_case: false,
            whole_below: 0,
        },
    };
    let mut old_fields = 0u64;
    for (id, value) in options {
        if settings.flag(*id) {
            continue;
        }
        let text = value.as_deref().unwrap_or_default();
        if let Some(digit) = id.to_digit(10) {
            // The old `-N`, digit by digit: it skips fields.
            old_fields = old_fields
                .saturating_mul(10)
                .saturating_add(u64::from(digit));
            settings.key.skip_fields = old_fields;
        } else if matches!(id, &ALL_REPEATED | &GROUP) {
            match gap(sys, args, *id, value.as_deref())? {
                Ok(gap) if *id == GROUP => settings.group = gap,
                Ok(gap) => settings.all_repeated(gap),
                Err(status) => return Ok(Err(status)),
            }
        } else if let Err(what) = settings.key.limit(*id, text) {
            let parts: &[&[u8]] = &[text, b": invalid number of ", what.as_bytes()];
            return Ok(Err(fail(sys, args, 1, parts)?));
        }
    }
    Ok(Ok(settings))
}

impl Key {
    /// Applies `-f`, `-s` or `-w`; `Err` names what the number is of.
    fn limit(&mut self, id: char, text: &[u8]) -> Result<(), &'static str> {
        let what = match id {
            'f' => "fields to skip",
            's' => "bytes to skip",
            _ => "bytes to compare",
        };
        let number = match size(text, b"") {
            Ok(number) => number,
            Err(BadNumber::Overflow) => u64::MAX,
            Err(_) => return Err(what),
        };
        let bytes = usize::try_from(number).unwrap_or(usize::MAX);
        match id {
            'f' => self.skip_fields = number,
            's' => self.skip_bytes = bytes,
            _ => self.most_bytes = bytes,
        }
        Ok(())
    }
}

impl Settings {
    /// Applies an option without an argument; `false` if it is none.
    fn flag(&mut self, id: char) -> bool {
        match id {
            'c' => self.count = true,
            'd' => self.unique = false,
            'D' => self.all_repeated(Gap::None),
            'i' => self.key.ignore_case = true,
            'u' => self.first_repeated = false,
            'z' => self.end = 0,
            _ => return false,
        }
        true
    }
}

impl Settings {
    fn all_repeated(&mut self, gap: Gap) {
        self.unique = false;
        self.later_repeated = true;
        self.between = gap;
    }
}

fn gap(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    id: char,
    value: Option<&[u8]>,
) -> Result<Result<Gap, i32>, Stop> {
    let chosen = if id == GROUP {
        let Some(value) = value else {
            return Ok(Ok(Gap::Separate));
        };
        let words: &super::choice::Words = &[&["prepend"], &["append"], &["separate"], &["both"]];
        choose(sys, args, "--group", value, words)?.map(|n| {
            [Gap::Prepend, Gap::Append, Gap::Separate, Gap::Both]
                .get(n)
                .copied()
        })
    } else {
        let Some(value) = value else {
            return Ok(Ok(Gap::None));
        };
        let words: &super::choice::Words = &[&["none"], &["prepend"], &["separate"]];
        choose(sys, args, "--all-repeated", value, words)?
            .map(|n| [Gap::None, Gap::Prepend, Gap::Separate].get(n).copied())
    };
    match chosen {
        Ok(gap) => Ok(Ok(gap.unwrap_or(Gap::None))),
        Err(()) => {
            hint(sys, called(args))?;
            Ok(Err(1))
        }
    }
}

/// Opens the files and filters from one to the other.
fn stream(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    settings: &Settings,
    from: Option<&[u8]>,
    to: Option<&[u8]>,
) -> Result<i32, Stop> {
    let from = from.unwrap_or(b"-");
    let mut input = match failed(Input::open(sys, from))? {
        Ok(input) => input,
        Err(errno) => {
            let name = quote_name_if_odd(sys.utf8(), from);
            return fail(sys, args, 1, &[&name, b": ", errno.text().as_bytes()]);
        }
    };
    let to = to.filter(|to| *to != b"-");
    let target = match to {
        None => 1,
        Some(path) => match failed(sys.open(path, OpenHow::WRITE))? {
            Ok(fd) => fd,
            Err(errno) => {
                let name = quote_name_if_odd(sys.utf8(), path);
                return fail(sys, args, 1, &[&name, b": ", errno.text().as_bytes()]);
            }
        },
    };
    let mut out = Output::new(target);
    let mut held = Held::default();
    let done = filter(sys, settings, &mut input, &mut out, &mut held);
    held.end(sys);
    input.close(sys);
    if failed(done)?.is_err() {
        out.flush(sys)?;
        let name = quote_name(sys.utf8(), from);
        return fail(sys, args, 1, &[b"error reading ", &name]);
    }
    match out.finish(sys)? {
        Ok(()) => Ok(0),
        Err(errno) => fail(sys, args, 1, &[b"write error: ", errno.text().as_bytes()]),
    }
}

fn filter(
    sys: &mut dyn System,
    settings: &Settings,
    input: &mut Input,
    out: &mut Output,
    held: &mut Held,
) -> Result<(), SysError> {
    if settings.is_plain() {
        return by_first(sys, settings, input, out, held);
    }
    let mut previous = Vec::new();
    if !next(sys, settings.end, input, |sys, line| {
        keep(sys, held, &mut previous, line)
    })? {
        return Ok(());
    }
    let mut repeats: u64 = 0;
    let mut first_gap = true;
    let mut current = Vec::new();
    while next(sys, settings.end, input, |sys, line| {
        keep(sys, held, &mut current, line)
    })? {
        let same = settings.key.same(sys, &current, &previous)?;
        repeats += u64::from(same);
        if settings.between != Gap::None {
            if !same {
                first_gap &= repeats == 0;
            } else if repeats == 1
                && (settings.between == Gap::Prepend
                    || settings.between == Gap::Separate && !first_gap)
            {
                out.put(sys, &[settings.end])?;
            }
        }
        if !same || settings.later_repeated {
            write(sys, settings, out, &previous, same, repeats)?;
            std::mem::swap(&mut previous, &mut current);
            if !same {
                repeats = 0;
            }
        }
        if out.failed() {
            return Ok(());
        }
    }
    write(sys, settings, out, &previous, false, repeats)?;
    Ok(())
}

/// Reads one line without its end; tells whether there was one.
fn next(
    sys: &mut dyn System,
    end: u8,
    input: &mut Input,
    mut with: impl FnMut(&mut dyn System, &[u8]) -> Result<(), Stop>,
) -> Result<bool, SysError> {
    let Some(line) = input.record(sys, end)? else {
        return Ok(false);
    };
    let line = line.strip_suffix(&[end]).unwrap_or(line);
    with(sys, line)?;
    Ok(true)
}

fn keep(sys: &mut dyn System, held: &mut Held, line: &mut Vec<u8>, new: &[u8]) -> Result<(), Stop> {
    held.copy(sys, line, new)
}

fn write(
    sys: &mut dyn System,
    settings: &Settings,
    out: &mut Output,
    line: &[u8],
    same: bool,
    repeats: u64,
) -> Result<(), Stop> {
    let wanted = if repeats == 0 {
        settings.unique
    } else if same {
        settings.later_repeated
    } else {
        settings.first_repeated
    };
    if !wanted {
        return Ok(());
    }
    if settings.count {
        let count = format!("{:7} ", repeats + 1);
        out.put(sys, count.as_bytes())?;
    }
    out.put(sys, line)?;
    out.put(sys, &[settings.end])
}

/// The usual case: the first line of each group, or with `--group` all lines with gaps between groups.
fn by_first(
    sys: &mut dyn System,
    settings: &Settings,
    input: &mut Input,
    out: &mut Output,
    held: &mut Held,
) -> Result<(), SysError> {
    let mut previous = Vec::new();
    let mut any = false;
    let group = settings.group;
    let before = |any: bool| match group {
        Gap::Prepend | Gap::Both => true,
        Gap::Append | Gap::Separate => any,
        Gap::None => false,
    };
    while next(sys, settings.end, input, |sys, line| {
        let new = !any || !settings.key.same(sys, line, &previous)?;
        if new && before(any) {
            out.put(sys, &[settings.end])?;
        }
        if new || group != Gap::None {
            out.put(sys, line)?;
            out.put(sys, &[settings.end])?;
        }
        if new {
            keep(sys, held, &mut previous, line)?;
        }
        any = true;
        Ok(())
    })? {
        if out.failed() {
            return Ok(());
        }
    }
    if any && matches!(group, Gap::Both | Gap::Append) {
        out.put(sys, &[settings.end])?;
    }
    Ok(())
}
