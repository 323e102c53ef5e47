//! `tail`: the last lines or bytes of files, or everything from one on; `-f` is in `tail_follow`.

use std::time::Duration;

use jp_bash_system::io::{CHUNK, Input, Output, called, fail};
use jp_bash_system::{Fd, FileKind, Pid, Stop, SysError, System, Whence, failed};

use super::Spec;
use super::choice::choose;
use super::head::{bad_count, finish, header};
use super::numbers::{SIZES, size};
use super::options::{Front, HELP, Opt, Order, Takes, VERSION, begin, hint, misplaced, opt};
use super::quote::{quote, quote_name};
use super::tail_follow::{By, Followed, Following};
use super::window::{Part, Unit, Window, position_after};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "tail",
    about: "Prints the last 10 lines of each file, with a header before each if there are several.",
    run,
    options: OPTIONS,
};

const MAX_UNCHANGED: char = '\u{200}';
const PID: char = '\u{201}';
const RETRY: char = '\u{202}';

const OPTIONS: &[Opt] = &[
    opt('c', Some(b'c'), Some("bytes"), Takes::Required),
    opt('f', Some(b'f'), None, Takes::Nothing),
    opt('f', None, Some("follow"), Takes::Optional),
    opt('F', Some(b'F'), None, Takes::Nothing),
    opt('n', Some(b'n'), Some("lines"), Takes::Required),
    opt(
        MAX_UNCHANGED,
        None,
        Some("max-unchanged-stats"),
        Takes::Required,
    ),
    opt(PID, None, Some("pid"), Takes::Required),
    opt('q', Some(b'q'), Some("quiet"), Takes::Nothing),
    opt('q', None, Some("silent"), Takes::Nothing),
    opt(RETRY, None, Some("retry"), Takes::Nothing),
    opt('s', Some(b's'), Some("sleep-interval"), Takes::Required),
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

pub(super) struct Settings {
    unit: Unit,
    count: u64,
    from_start: bool,
    /// `None`: only if there are several files.
    headers: Option<bool>,
    pub(super) follow: Option<By>,
    pub(super) retry: bool,
    pub(super) pid: Option<Pid>,
    pub(super) pause: Duration,
}

/// Runs `tail`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut settings = Settings {
        unit: Unit::Lines(b'\n'),
        count: 10,
        from_start: false,
        headers: None,
        follow: None,
        retry: false,
        pid: None,
        pause: Duration::from_secs(1),
    };
    let plain = match obsolete(sys, args, &mut settings)? {
        Ok(plain) => plain,
        Err(status) => return Ok(status),
    };
    let parsed = match begin(sys, plain.as_deref().unwrap_or(args), &FRONT)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut end = b'\n';
    for (id, value) in &parsed.options {
        let value = value.as_deref();
        if *id == 'z' {
            end = 0;
        } else if let Some(status) = set(sys, args, &mut settings, *id, value)? {
            return Ok(status);
        }
    }
    if settings.unit != Unit::Bytes {
        settings.unit = Unit::Lines(end);
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    warn(sys, args, &mut settings)?;
    // `+0` and `+1` both start at the beginning.
    if settings.from_start {
        settings.count = settings.count.saturating_sub(1);
    }
    if settings.count == 0 && settings.follow.is_none() && !settings.from_start {
        return Ok(0);
    }
    all(sys, args, &settings, &files)
}

fn warn(sys: &mut dyn System, args: &[Vec<u8>], settings: &mut Settings) -> Result<(), Stop> {
    if settings.retry && settings.follow.is_none() {
        let text = b"warning: --retry ignored; --retry is useful only when following";
        fail(sys, args, 0, &[text])?;
        settings.retry = false;
    } else if settings.retry && settings.follow == Some(By::Descriptor) {
        fail(
            sys,
            args,
            0,
            &[b"warning: --retry only effective for the initial open"],
        )?;
    }
    if settings.pid.is_some() && settings.follow.is_none() {
        let text = b"warning: PID ignored; --pid=PID is useful only when following";
        fail(sys, args, 0, &[text])?;
    }
    Ok(())
}

/// Applies one option; `Some` is the status to end with.
fn set(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    settings: &mut Settings,
    id: char,
    value: Option<&[u8]>,
) -> Result<Option<i32>, Stop> {
    match (id, value) {
        ('c' | 'n', Some(value)) => {
            let lines = id == 'n';
            settings.unit = if lines {
                Unit::Lines(b'\n')
            } else {
                Unit::Bytes
            };
            settings.from_start = value.first() == Some(&b'+');
            let number = value.strip_prefix(b"-").unwrap_or(value);
            match size(number, SIZES) {
                Ok(count) => settings.count = count,
                Err(bad) => return bad_count(sys, args, number, lines, bad).map(Some),
            }
        }
        ('f', how) => match follow_mode(sys, args, how)? {
            Ok(by) => settings.follow = Some(by),
            Err(status) => return Ok(Some(status)),
        },
        ('F', _) => {
            settings.follow = Some(By::Name);
            settings.retry = true;
        }
        (RETRY, _) => settings.retry = true,
        ('q', _) => settings.headers = Some(false),
        ('v', _) => settings.headers = Some(true),
        (PID, Some(value)) => match size(value, b"")
            .ok()
            .and_then(|pid| Pid::try_from(pid).ok())
        {
            Some(pid) => settings.pid = Some(pid),
            None => return invalid(sys, args, b"invalid PID: ", value),
        },
        (MAX_UNCHANGED, Some(value)) => {
            // Every look checks the name, so the number changes nothing.
            if size(value, b"").is_err() {
                let text = b"invalid maximum number of unchanged stats between opens: ";
                return invalid(sys, args, text, value);
            }
        }
        ('s', Some(value)) => match seconds(value) {
            Some(pause) => settings.pause = pause,
            None => return invalid(sys, args, b"invalid number of seconds: ", value),
        },
        (digit, _) => {
            let text = digit.to_string();
            let parts: &[&[u8]] = &[b"option used in invalid context -- ", text.as_bytes()];
            return fail(sys, args, 1, parts).map(Some);
        }
    }
    Ok(None)
}

fn invalid(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    text: &[u8],
    value: &[u8],
) -> Result<Option<i32>, Stop> {
    let shown = quote(sys.utf8(), value);
    fail(sys, args, 1, &[text, &shown]).map(Some)
}

fn seconds(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.trim_start().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn follow_mode(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    how: Option<&[u8]>,
) -> Result<Result<By, i32>, Stop> {
    let Some(how) = how else {
        return Ok(Ok(By::Descriptor));
    };
    match choose(sys, args, "--follow", how, &[&["descriptor"], &["name"]])? {
        Ok(0) => Ok(Ok(By::Descriptor)),
        Ok(_) => Ok(Ok(By::Name)),
        Err(()) => {
            hint(sys, called(args))?;
            Ok(Err(1))
        }
    }
}

/// A command line.
type Words = Vec<Vec<u8>>;

/// Reads the old forms `-NUM[bcl][f]` and `+NUM[bcl][f]`: the only option, with at most one file.
fn obsolete(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    settings: &mut Settings,
) -> Result<Result<Option<Words>, i32>, Stop> {
    let second = args.get(2).map(Vec::as_slice);
    let alone = match args.len() {
        2 => true,
        3 => second.is_some_and(|arg| arg == b"-" || arg == b"--" || arg.first() != Some(&b'-')),
        4 => second == Some(b"--"),
        _ => false,
    };
    let Some((sign, old)) = args
        .get(1)
        .and_then(|arg| arg.split_first())
        .filter(|_| alone)
    else {
        return Ok(Ok(None));
    };
    // A lone `-` is standard input and `-c` wants its argument.
    let bare = old.is_empty() || old == b"c";
    if !(*sign == b'+' || *sign == b'-' && !bare) {
        return Ok(Ok(None));
    }
    let digits = old.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, letters) = old.split_at_checked(digits).unwrap_or((old, b""));
    let (letter, rest) = match letters.split_first() {
        Some((letter @ (b'b' | b'c' | b'l'), rest)) => (Some(*letter), rest),
        _ => (None, letters),
    };
    if !(rest.is_empty() || rest == b"f") {
        return Ok(Ok(None));
    }
    let factor: u64 = if letter == Some(b'b') { 512 } else { 1 };
    let count = if number.is_empty() {
        Some(10 * factor)
    } else {
        size(number, b"")
            .ok()
            .and_then(|count| count.checked_mul(factor))
    };
    let Some(count) = count else {
        let shown = quote(sys.utf8(), old);
        let tail = b": Numerical result out of range";
        return Ok(Err(fail(
            sys,
            args,
            1,
            &[b"invalid number: ", &shown, tail],
        )?));
    };
    settings.count = count;
    settings.from_start = *sign == b'+';
    if letter.is_some_and(|letter| letter != b'l') {
        settings.unit = Unit::Bytes;
    }
    if rest == b"f" {
        settings.follow = Some(By::Descriptor);
    }
    let mut plain = args.to_vec();
    plain.remove(1);
    Ok(Ok(Some(plain)))
}

/// Prints the end of each file, then follows them if asked to.
fn all(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    settings: &Settings,
    files: &[Vec<u8>],
) -> Result<i32, Stop> {
    let headers = settings.headers.unwrap_or(files.len() > 1);
    let mut out = Output::new(1);
    let mut status = 0;
    let mut first = true;
    let mut followed = Vec::new();
    for file in files {
        let shown: &[u8] = if file == b"-" {
            b"standard input"
        } else {
            file
        };
        let mut entry = Followed::new(file, shown);
        match failed(Input::open(sys, file))? {
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
                entry.missing(errno, settings.retry);
            }
            Ok(mut input) => {
                if headers {
                    header(sys, &mut out, shown, first)?;
                    first = false;
                }
                let done = one(sys, &mut out, &mut input, settings);
                let fd = input.fd();
                if let Err(errno) = failed(done)? {
                    out.flush(sys)?;
                    let name = quote_name(sys.utf8(), shown);
                    let text = errno.text().as_bytes();
                    status = fail(sys, args, 1, &[b"error reading ", &name, b": ", text])?;
                    if settings.follow.is_some() {
                        entry.cannot_follow(sys, args)?;
                    }
                    input.close(sys);
                } else if settings.follow.is_some() {
                    entry.opened(sys, fd);
                } else {
                    input.close(sys);
                }
            }
        }
        followed.push(entry);
    }
    if settings.follow.is_some() {
        out.flush(sys)?;
        let following = Following {
            args,
            settings,
            out: &mut out,
            headers,
            last: files.len().saturating_sub(1),
        };
        status = following.run(sys, &mut followed, status)?;
    }
    finish(sys, args, out, status)
}

fn one(
    sys: &mut dyn System,
    out: &mut Output,
    input: &mut Input,
    settings: &Settings,
) -> Result<(), SysError> {
    if settings.from_start {
        return skip(sys, out, input, settings);
    }
    if let Some(start) = find_start(sys, input.fd(), settings)? {
        sys.seek(input.fd(), Whence::Start(start))?;
        return copy(sys, out, input);
    }
    let mut window = Window::new(settings.unit, settings.count);
    let done = keep_last(sys, out, input, &mut window);
    window.end(sys);
    done
}

fn keep_last(
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
        window.push(sys, bytes, |_, _| Ok(()))?;
        input.consume(len);
    }
    window.finish(sys, Part::Last, |sys, right| out.put(sys, right))?;
    Ok(())
}

/// Copies the rest of a file.
fn copy(sys: &mut dyn System, out: &mut Output, input: &mut Input) -> Result<(), SysError> {
    while !out.failed() {
        let bytes = input.fill(sys)?;
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        out.put(sys, bytes)?;
        input.consume(len);
        sys.work(32)?;
    }
    Ok(())
}

/// Skips the first units, then copies.
fn skip(
    sys: &mut dyn System,
    out: &mut Output,
    input: &mut Input,
    settings: &Settings,
) -> Result<(), SysError> {
    let mut left = settings.count;
    while left > 0 {
        let bytes = input.fill(sys)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let take = position_after(settings.unit, bytes, left).unwrap_or(bytes.len());
        let part = bytes.get(..take).unwrap_or(bytes);
        left = left.saturating_sub(match settings.unit {
            Unit::Bytes => take as u64,
            Unit::Lines(end) => memchr::memchr_iter(end, part).count() as u64,
        });
        input.consume(take);
        sys.work(32)?;
    }
    copy(sys, out, input)
}

/// Finds where the last units of a regular file begin, reading it from its end; `None` if it cannot seek.
fn find_start(sys: &mut dyn System, fd: Fd, settings: &Settings) -> Result<Option<u64>, SysError> {
    let regular = failed(sys.fstat(fd))?.is_ok_and(|stat| stat.kind == FileKind::Regular);
    if !regular {
        return Ok(None);
    }
    let Ok(from) = failed(sys.seek(fd, Whence::Current(0)))? else {
        return Ok(None);
    };
    let Ok(size) = failed(sys.seek(fd, Whence::End(0)))? else {
        return Ok(None);
    };
    let Unit::Lines(end) = settings.unit else {
        return Ok(Some(u64::max(
            size.saturating_sub(settings.count),
            u64::min(from, size),
        )));
    };
    let mut buf = vec![0; CHUNK];
    let mut left = settings.count;
    let mut at = size;
    while at > from {
        let step = usize::try_from(at - from).map_or(CHUNK, |rest| usize::min(rest, CHUNK));
        at -= step as u64;
        sys.seek(fd, Whence::Start(at))?;
        let mut piece = buf.get_mut(..step).unwrap_or_default();
        let mut got = 0;
        while !piece.is_empty() {
            let n = sys.read(fd, piece)?;
            if n == 0 {
                break;
            }
            got += n;
            piece = piece.get_mut(n..).unwrap_or_default();
        }
        sys.work(32)?;
        let mut piece = buf.get(..got).unwrap_or_default();
        // The end of the last line is not the start of another one.
        if at + step as u64 == size && piece.last() == Some(&end) {
            piece = piece.get(..piece.len() - 1).unwrap_or_default();
        }
        for position in memchr::memrchr_iter(end, piece) {
            left -= 1;
            if left == 0 {
                return Ok(Some(at + position as u64 + 1));
            }
        }
    }
    Ok(Some(from))
}
