//! `head`: the first lines or bytes of files, or all but the last.

use jp_bash_system::io::{Input, Output, called, fail};
use jp_bash_system::{Errno, Stop, SysError, System, failed};

use super::Spec;
use super::numbers::{BadNumber, SIZES, size};
use super::options::{Front, HELP, Opt, Order, Takes, VERSION, begin, hint, misplaced, opt};
use super::quote::{quote, quote_name};
use super::window::{Part, Unit, Window, position_after};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "head",
    about: "Prints the first 10 lines of each file, with a header before each if there are several.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('c', Some(b'c'), Some("bytes"), Takes::Required),
    opt('n', Some(b'n'), Some("lines"), Takes::Required),
    opt('q', Some(b'q'), Some("quiet"), Takes::Nothing),
    opt('q', None, Some("silent"), Takes::Nothing),
    opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
    opt('z', Some(b'z'), Some("zero-terminated"), Takes::Nothing),
    HELP,
    VERSION,
    misplaced(b'0'),
    misplaced(b'1'),
    misplaced(b'2'),
    misplaced(b'3'),
    misplaced(b'4'),
    misplaced(b'5'),
    misplaced(b'6'),
    misplaced(b'7'),
    misplaced(b'8'),
    misplaced(b'9'),
];

const FRONT: Front = Front {
    spec: &SPEC,
    usage: "[OPTION]... [FILE]...",
    usage_status: 1,
    order: Order::Permute,
};

/// When file names are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Headers {
    Never,
    Always,
    IfSeveral,
}

#[derive(Debug)]
struct Settings {
    unit: Unit,
    count: u64,
    all_but_last: bool,
    headers: Headers,
}

/// Runs `head`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut settings = Settings {
        unit: Unit::Lines(b'\n'),
        count: 10,
        all_but_last: false,
        headers: Headers::IfSeveral,
    };
    let mut end = b'\n';
    let plain = match obsolete(sys, args, &mut settings, &mut end)? {
        Ok(plain) => plain,
        Err(status) => return Ok(status),
    };
    let parsed = match begin(sys, &plain, &FRONT)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    for (id, value) in &parsed.options {
        match (id, value) {
            ('c' | 'n', Some(value)) => {
                let lines = *id == 'n';
                settings.unit = if lines { Unit::Lines(end) } else { Unit::Bytes };
                if let Some(status) = set_count(sys, args, &mut settings, value, lines)? {
                    return Ok(status);
                }
            }
            ('q', _) => settings.headers = Headers::Never,
            ('v', _) => settings.headers = Headers::Always,
            ('z', _) => end = 0,
            (digit, _) => {
                let text = digit.to_string();
                fail(
                    sys,
                    args,
                    1,
                    &[b"invalid trailing option -- ", text.as_bytes()],
                )?;
                hint(sys, called(args))?;
                return Ok(1);
            }
        }
    }
    if settings.unit != Unit::Bytes {
        settings.unit = Unit::Lines(end);
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    all(sys, args, &settings, &files)
}

/// Reads the number of `-c` and `-n`; a leading `-` means all but that many.
fn set_count(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    settings: &mut Settings,
    value: &[u8],
    lines: bool,
) -> Result<Option<i32>, Stop> {
    settings.all_but_last = value.first() == Some(&b'-');
    let number = value.strip_prefix(b"-").unwrap_or(value);
    match size(number, SIZES) {
        Ok(count) => settings.count = count,
        Err(bad) => return bad_count(sys, args, number, lines, bad).map(Some),
    }
    Ok(None)
}

/// Says what is wrong with a count, for `head` and `tail`.
pub(super) fn bad_count(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    number: &[u8],
    lines: bool,
    bad: BadNumber,
) -> Result<i32, Stop> {
    let what: &[u8] = if lines { b"lines" } else { b"bytes" };
    let tail: &[u8] = if bad == BadNumber::Overflow {
        b": Value too large for defined data type"
    } else {
        b""
    };
    let shown = quote(sys.utf8(), number);
    fail(
        sys,
        args,
        1,
        &[b"invalid number of ", what, b": ", &shown, tail],
    )
}

/// Reads the old form `-NUM[bcklmqvz]`, which is allowed as the first argument only, and returns the rest.
fn obsolete(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    settings: &mut Settings,
    end: &mut u8,
) -> Result<Result<Vec<Vec<u8>>, i32>, Stop> {
    let old = args.get(1).and_then(|arg| arg.strip_prefix(b"-"));
    let Some(old) = old.filter(|old| old.first().is_some_and(u8::is_ascii_digit)) else {
        return Ok(Ok(args.to_vec()));
    };
    let digits = old.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, letters) = old.split_at_checked(digits).unwrap_or((old, b""));
    let mut number = number.to_vec();
    let mut factor = None;
    for letter in letters {
        match letter {
            b'c' => {
                settings.unit = Unit::Bytes;
                factor = None;
            }
            b'b' | b'k' | b'm' => {
                settings.unit = Unit::Bytes;
                factor = Some(*letter);
            }
            b'l' => settings.unit = Unit::Lines(b'\n'),
            b'q' => settings.headers = Headers::Never,
            b'v' => settings.headers = Headers::Always,
            b'z' => *end = 0,
            other => {
                fail(sys, args, 1, &[b"invalid trailing option -- ", &[*other]])?;
                hint(sys, called(args))?;
                return Ok(Err(1));
            }
        }
    }
    number.extend(factor);
    let lines = settings.unit != Unit::Bytes;
    if let Some(status) = set_count(sys, args, settings, &number, lines)? {
        return Ok(Err(status));
    }
    let mut rest = args.to_vec();
    rest.remove(1);
    Ok(Ok(rest))
}

/// Prints each file.
fn all(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    settings: &Settings,
    files: &[Vec<u8>],
) -> Result<i32, Stop> {
    let headers = match settings.headers {
        Headers::Never => false,
        Headers::Always => true,
        Headers::IfSeveral => files.len() > 1,
    };
    let mut out = Output::new(1);
    let mut status = 0;
    let mut first = true;
    for file in files {
        let shown: &[u8] = if file == b"-" {
            b"standard input"
        } else {
            file
        };
        let mut input = match failed(Input::open(sys, file))? {
            Ok(input) => input,
            Err(errno) => {
                out.flush(sys)?;
                let name = quote_name(sys.utf8(), shown);
                let text = errno.text().as_bytes();
                status = fail(
                    sys,
                    args,
                    1,
                    &[b"cannot open ", &name, b" for reading: ", text],
                )?;
                continue;
            }
        };
        if headers {
            header(sys, &mut out, shown, first)?;
            first = false;
        }
        let done = one(sys, &mut out, &mut input, settings);
        if file == b"-" {
            input.give_back(sys);
        }
        input.close(sys);
        if let Err(errno) = failed(done)? {
            out.flush(sys)?;
            let name = quote_name(sys.utf8(), shown);
            let text = errno.text().as_bytes();
            status = fail(sys, args, 1, &[b"error reading ", &name, b": ", text])?;
        }
    }
    finish(sys, args, out, status)
}

/// Prints the line that names a file, for `head` and `tail`.
pub(super) fn header(
    sys: &mut dyn System,
    out: &mut Output,
    shown: &[u8],
    first: bool,
) -> Result<(), Stop> {
    let gap: &[u8] = if first { b"" } else { b"\n" };
    out.put(sys, &[gap, b"==> ", shown, b" <==\n"].concat())
}

/// Ends the output of `head` and `tail`, with their message if it failed.
pub(super) fn finish(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    out: Output,
    status: i32,
) -> Result<i32, Stop> {
    match out.finish(sys)? {
        Ok(()) => Ok(status),
        Err(errno) => write_error(sys, args, errno),
    }
}

fn write_error(sys: &mut dyn System, args: &[Vec<u8>], errno: Errno) -> Result<i32, Stop> {
    let text = errno.text().as_bytes();
    fail(sys, args, 1, &[b"write error: ", text])
}

fn one(
    sys: &mut dyn System,
    out: &mut Output,
    input: &mut Input,
    settings: &Settings,
) -> Result<(), SysError> {
    if settings.all_but_last {
        let mut window = Window::new(settings.unit, settings.count);
        let done = hold_back(sys, out, input, &mut window);
        window.end(sys);
        return done;
    }
    match settings.unit {
        Unit::Bytes => first_bytes(sys, out, input, settings.count),
        unit => first_lines(sys, out, input, unit, settings.count),
    }
}

fn hold_back(
    sys: &mut dyn System,
    out: &mut Output,
    input: &mut Input,
    window: &mut Window,
) -> Result<(), SysError> {
    loop {
        let bytes = input.fill(sys)?;
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        sys.work(32)?;
        window.push(sys, bytes, |sys, gone| out.put(sys, gone))?;
        input.consume(len);
    }
    window.finish(sys, Part::Before, |sys, left| out.put(sys, left))?;
    Ok(())
}

/// Reads no more than was asked for, so that whoever reads the same pipe next gets the rest.
fn first_bytes(
    sys: &mut dyn System,
    out: &mut Output,
    input: &mut Input,
    count: u64,
) -> Result<(), SysError> {
    let mut left = count;
    while left > 0 && !out.failed() {
        let want = usize::try_from(left).unwrap_or(usize::MAX);
        let bytes = input.fill_at_most(sys, want)?;
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        out.put(sys, bytes)?;
        input.consume(len);
        left -= len as u64;
        sys.work(32)?;
    }
    Ok(())
}

fn first_lines(
    sys: &mut dyn System,
    out: &mut Output,
    input: &mut Input,
    unit: Unit,
    count: u64,
) -> Result<(), SysError> {
    let Unit::Lines(end) = unit else {
        return Ok(());
    };
    let mut left = count;
    while left > 0 && !out.failed() {
        let bytes = input.fill(sys)?;
        if bytes.is_empty() {
            break;
        }
        sys.work(32)?;
        let take = position_after(unit, bytes, left).unwrap_or(bytes.len());
        let part = bytes.get(..take).unwrap_or(bytes);
        left = left.saturating_sub(memchr::memchr_iter(end, part).count() as u64);
        out.put(sys, part)?;
        input.consume(take);
    }
    Ok(())
}
