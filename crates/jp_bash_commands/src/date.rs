//! `date`: prints a moment. The clock is the run's own and cannot be set.

use jp_bash_system::io::{Input, Output, called, fail, say};
use jp_bash_system::{Follow, PIECE, Stop, System, Timestamp, failed};

use super::Spec;
use super::choice::{Words, choose};
use super::date_format::{Shown, format};
use super::date_text::parse;
use super::date_zone::Zone;
use super::options::{Front, HELP, Opt, Order, Support, Takes, VERSION, begin, hint, opt, refused};
use super::quote::{quote, quote_long, quote_name_if_odd};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "date",
    about: "Prints the time of day, or another moment, in a format of choice.",
    run,
    options: OPTIONS,
};

const RESOLUTION: char = '\u{200}';
const RFC_3339: char = '\u{201}';

const OPTIONS: &[Opt] = &[
    opt('d', Some(b'd'), Some("date"), Takes::Required),
    refused(
        None,
        Some("debug"),
        Takes::Nothing,
        "the parts of a date are not annotated",
    ),
    opt('f', Some(b'f'), Some("file"), Takes::Required),
    opt('I', Some(b'I'), Some("iso-8601"), Takes::Optional),
    opt('r', Some(b'r'), Some("reference"), Takes::Required),
    opt(RESOLUTION, None, Some("resolution"), Takes::Nothing),
    opt('R', Some(b'R'), Some("rfc-email"), Takes::Nothing),
    alias('R', "rfc-822"),
    alias('R', "rfc-2822"),
    opt(RFC_3339, None, Some("rfc-3339"), Takes::Required),
    opt('s', Some(b's'), Some("set"), Takes::Required),
    alias('u', "uct"),
    opt('u', Some(b'u'), Some("utc"), Takes::Nothing),
    opt('u', None, Some("universal"), Takes::Nothing),
    HELP,
    VERSION,
];

const fn alias(id: char, long: &'static str) -> Opt {
    Opt {
        id,
        short: None,
        long: Some(long),
        takes: Takes::Nothing,
        support: Support::Hidden,
    }
}

const FRONT: Front = Front {
    spec: &SPEC,
    usage: "[OPTION]... [+FORMAT]",
    usage_status: 1,
    order: Order::Permute,
};

const ISO: &Words = &[&["hours"], &["minutes"], &["date"], &["seconds"], &["ns"]];
const ISO_FORMATS: [&[u8]; 5] = [
    b"%Y-%m-%dT%H%:z",
    b"%Y-%m-%dT%H:%M%:z",
    b"%Y-%m-%d",
    b"%Y-%m-%dT%H:%M:%S%:z",
    b"%Y-%m-%dT%H:%M:%S,%N%:z",
];
const RFC: &Words = &[&["date"], &["seconds"], &["ns"]];
const RFC_FORMATS: [&[u8]; 3] = [
    b"%Y-%m-%d",
    b"%Y-%m-%d %H:%M:%S%:z",
    b"%Y-%m-%d %H:%M:%S.%N%:z",
];

#[derive(Default)]
struct Settings {
    date: Option<Vec<u8>>,
    file: Option<Vec<u8>>,
    reference: Option<Vec<u8>>,
    set: Option<Vec<u8>>,
    resolution: bool,
    utc: bool,
    format: Option<Vec<u8>>,
}

/// Runs `date`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let parsed = match begin(sys, args, &FRONT)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut settings = Settings::default();
    for (id, value) in parsed.options {
        if let Some(status) = set(sys, args, &mut settings, id, value)? {
            return Ok(status);
        }
    }
    if let Some(status) = check(sys, args, &mut settings, &parsed.operands)? {
        return Ok(status);
    }
    let zone = if settings.utc {
        Zone::utc()
    } else {
        Zone::from_variable(sys.env(b"TZ").as_deref())
    };
    let mut job = Job {
        args,
        format: settings
            .format
            .clone()
            .unwrap_or_else(|| b"%a %b %e %H:%M:%S %Z %Y".to_vec()),
        zone,
        out: Output::new(1),
        status: 0,
    };
    job.run(sys, &settings)?;
    let status = job.status;
    match job.out.finish(sys)? {
        Ok(()) => Ok(status),
        Err(errno) => fail(sys, args, 1, &[b"write error: ", errno.text().as_bytes()]),
    }
}

/// Applies one option; `Some` is the status to end with.
fn set(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    settings: &mut Settings,
    id: char,
    value: Option<Vec<u8>>,
) -> Result<Option<i32>, Stop> {
    let format: &[u8] = match id {
        'd' => {
            settings.date = value;
            return Ok(None);
        }
        'f' => {
            settings.file = value;
            return Ok(None);
        }
        'r' => {
            settings.reference = value;
            return Ok(None);
        }
        's' => {
            settings.set = value;
            return Ok(None);
        }
        RESOLUTION => {
            settings.resolution = true;
            return Ok(None);
        }
        'u' => {
            settings.utc = true;
            return Ok(None);
        }
        'I' | RFC_3339 => {
            let (option, words) = if id == 'I' {
                ("--iso-8601", ISO)
            } else {
                ("--rfc-3339", RFC)
            };
            let chosen = match value {
                None => Ok(2),
                Some(value) => choose(sys, args, option, &value, words)?,
            };
            let formats: &[&[u8]] = if id == 'I' {
                &ISO_FORMATS
            } else {
                &RFC_FORMATS
            };
            match chosen {
                Ok(at) => formats.get(at).copied().unwrap_or_default(),
                Err(()) => {
                    hint(sys, called(args))?;
                    return Ok(Some(1));
                }
            }
        }
        _ => b"%a, %d %b %Y %H:%M:%S %z",
    };
    if settings.format.is_some() {
        return fail(sys, args, 1, &[b"multiple output formats specified"]).map(Some);
    }
    settings.format = Some(format.to_vec());
    Ok(None)
}

/// Checks options against each other and reads the operand.
fn check(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    settings: &mut Settings,
    operands: &[Vec<u8>],
) -> Result<Option<i32>, Stop> {
    let sources = [
        settings.date.is_some(),
        settings.file.is_some(),
        settings.reference.is_some(),
        settings.resolution,
    ];
    let sources = sources.iter().filter(|given| **given).count();
    let wrong: Option<&[u8]> = if sources > 1 {
        Some(b"the options to specify dates for printing are mutually exclusive")
    } else if sources > 0 && settings.set.is_some() {
        Some(b"the options to print and set the time may not be used together")
    } else {
        None
    };
    if let Some(text) = wrong {
        fail(sys, args, 1, &[text])?;
        hint(sys, called(args))?;
        return Ok(Some(1));
    }
    if let Some(extra) = operands.get(1) {
        let shown = quote(sys.utf8(), extra);
        fail(sys, args, 1, &[b"extra operand ", &shown])?;
        hint(sys, called(args))?;
        return Ok(Some(1));
    }
    let Some(operand) = operands.first() else {
        return Ok(None);
    };
    if let Some(format) = operand.strip_prefix(b"+") {
        if settings.format.is_some() {
            return fail(sys, args, 1, &[b"multiple output formats specified"]).map(Some);
        }
        settings.format = Some(format.to_vec());
    } else if sources > 0 || settings.set.is_some() {
        let shown = quote(sys.utf8(), operand);
        fail(
            sys,
            args,
            1,
            &[b"the argument ", &shown, b" lacks a leading '+';"],
        )?;
        say(
            sys,
            &[b"when using an option to specify date(s), any non-option\n"],
        )?;
        say(
            sys,
            &[b"argument must be a format string beginning with '+'\n"],
        )?;
        hint(sys, called(args))?;
        return Ok(Some(1));
    } else {
        return refuse_to_set(sys, args, operand).map(Some);
    }
    Ok(None)
}

/// Answers `date MMDDhhmm[[CC]YY][.ss]`, which would set the clock.
fn refuse_to_set(sys: &mut dyn System, args: &[Vec<u8>], operand: &[u8]) -> Result<i32, Stop> {
    let (digits, seconds) = match memchr::memchr(b'.', operand) {
        Some(at) => (operand.get(..at).unwrap_or_default(), operand.get(at + 1..)),
        None => (operand, None),
    };
    let plausible = matches!(digits.len(), 8 | 10 | 12)
        && digits.iter().all(u8::is_ascii_digit)
        && seconds
            .is_none_or(|seconds| seconds.len() == 2 && seconds.iter().all(u8::is_ascii_digit));
    if plausible {
        return fail(sys, args, 1, &[b"cannot set date: Operation not permitted"]);
    }
    let shown = quote(sys.utf8(), operand);
    fail(sys, args, 1, &[b"invalid date ", &shown])
}

struct Job<'a> {
    args: &'a [Vec<u8>],
    format: Vec<u8>,
    zone: Zone,
    out: Output,
    status: i32,
}

impl Job<'_> {
    fn run(&mut self, sys: &mut dyn System, settings: &Settings) -> Result<(), Stop> {
        let now = sys.now();
        if let Some(file) = &settings.file {
            return self.lines(sys, file);
        }
        if settings.resolution {
            if settings.format.is_none() {
                self.format = b"%s.%N".to_vec();
            }
            return self.print(sys, Timestamp { secs: 0, nanos: 1 });
        }
        if let Some(path) = &settings.reference {
            return match failed(sys.stat(path, Follow::Yes))? {
                Ok(stat) => self.print(sys, stat.mtime),
                Err(errno) => {
                    let name = quote_name_if_odd(sys.utf8(), path);
                    self.complain(sys, &[&name, b": ", errno.text().as_bytes()])
                }
            };
        }
        let Some(text) = settings.set.as_ref().or(settings.date.as_ref()) else {
            return self.print(sys, now);
        };
        let Some(moment) = parse(text, now, &self.zone) else {
            return self.invalid(sys, text);
        };
        if settings.set.is_some() {
            self.complain(sys, &[b"cannot set date: Operation not permitted"])?;
        }
        self.print(sys, moment)
    }

    fn complain(&mut self, sys: &mut dyn System, parts: &[&[u8]]) -> Result<(), Stop> {
        self.out.flush(sys)?;
        self.status = fail(sys, self.args, 1, parts)?;
        Ok(())
    }

    fn invalid(&mut self, sys: &mut dyn System, text: &[u8]) -> Result<(), Stop> {
        let shown = quote_long(sys, text)?;
        self.complain(sys, &[b"invalid date ", &shown])
    }

    /// Prints a moment for each line of a file.
    fn lines(&mut self, sys: &mut dyn System, file: &[u8]) -> Result<(), Stop> {
        let mut input = match failed(Input::open(sys, file))? {
            Ok(input) => input,
            Err(errno) => {
                let name = quote_name_if_odd(sys.utf8(), file);
                return self.complain(sys, &[&name, b": ", errno.text().as_bytes()]);
            }
        };
        let mut done = Ok(());
        while let Ok(Some(line)) = failed(input.record(sys, b'\n'))? {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            for piece in line.chunks(PIECE) {
                sys.work_bytes(piece.len())?;
            }
            done = match parse(line, sys.now(), &self.zone) {
                Some(moment) => self.print(sys, moment),
                None => self.invalid(sys, line),
            };
            if done.is_err() {
                break;
            }
        }
        input.close(sys);
        done
    }

    fn print(&mut self, sys: &mut dyn System, moment: Timestamp) -> Result<(), Stop> {
        let Some((civil, local)) = self.zone.civil(moment.secs) else {
            let text = moment.secs.to_string();
            let shown = quote(sys.utf8(), text.as_bytes());
            return self.complain(sys, &[b"time ", &shown, b" is out of range"]);
        };
        let shown = Shown {
            seconds: moment.secs,
            nanos: moment.nanos,
            civil,
            local,
        };
        let mut line = format(&shown, &self.format);
        line.push(b'\n');
        self.out.put(sys, &line)
    }
}
