//! `sed`: edits a stream of lines by a script.

mod compile;
mod escape;
mod exec;
mod files;
mod list;
mod script;
mod subst;
#[cfg(test)]
mod tests;

use jp_bash_system::io::{Input, complain};
use jp_bash_system::{OpenHow, Stop, System, failed};

use crate::Spec;
use crate::options::{Opt, Order, Parsed, Takes, opt, parse_with_usage, refused};

use compile::{Options, Piece, Source};
use exec::{Run, Settings};
use files::{Files, Mode};

const USAGE: &[u8] = b"Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n";

const OPTIONS: &[Opt] = &[
    opt('n', Some(b'n'), Some("quiet"), Takes::Nothing),
    opt('n', None, Some("silent"), Takes::Nothing),
    refused(None, Some("debug"), Takes::Nothing, "no annotated runs"),
    opt('e', Some(b'e'), Some("expression"), Takes::Required),
    opt('f', Some(b'f'), Some("file"), Takes::Required),
    opt('\u{100}', None, Some("follow-symlinks"), Takes::Nothing),
    opt('i', Some(b'i'), Some("in-place"), Takes::Optional),
    opt('l', Some(b'l'), Some("line-length"), Takes::Required),
    opt('\u{101}', None, Some("posix"), Takes::Nothing),
    opt('E', Some(b'E'), Some("regexp-extended"), Takes::Nothing),
    opt('E', Some(b'r'), None, Takes::Nothing),
    opt('s', Some(b's'), Some("separate"), Takes::Nothing),
    opt('\u{102}', None, Some("sandbox"), Takes::Nothing),
    opt('u', Some(b'u'), Some("unbuffered"), Takes::Nothing),
    opt('z', Some(b'z'), Some("null-data"), Takes::Nothing),
    opt('z', None, Some("zero-terminated"), Takes::Nothing),
    opt('b', Some(b'b'), Some("binary"), Takes::Nothing),
    opt('\u{103}', None, Some("help"), Takes::Nothing),
    opt('\u{104}', None, Some("version"), Takes::Nothing),
];

/// The command of this file.
pub(crate) const SPECS: &[Spec] = &[Spec {
    name: "sed",
    about: "edit a stream of lines by a script",
    run,
    options: OPTIONS,
}];

/// What the options say.
struct Wanted {
    pieces: Vec<Piece>,
    options: Options,
    settings: Settings,
    mode: Mode,
}

/// Runs sed.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let parsed = match parse_with_usage(sys, args, OPTIONS, Order::Permute, USAGE)? {
        Ok(parsed) => parsed,
        Err(_) => return Ok(1),
    };
    let (wanted, operands) = match read_options(sys, parsed)? {
        Ok(read) => read,
        Err(status) => return Ok(status),
    };
    let script = match compile::compile(sys, &wanted.pieces, wanted.options)? {
        Ok(script) => script,
        Err(error) => {
            complain(sys, b"sed", error.to_string().as_bytes())?;
            let jump = matches!(error, compile::ScriptError::NoLabel(_));
            // Labels are looked up when all is read, which GNU counts as a failure while running.
            return Ok(if jump { 4 } else { 1 });
        }
    };
    let mut settings = wanted.settings;
    settings.quiet |= script.quiet;
    let names = if operands.is_empty() {
        vec![b"-".to_vec()]
    } else {
        operands
    };
    let files = Files::new(names, wanted.mode);
    match Run::new(sys, &script, settings, files) {
        Ok(run) => match run.run(sys) {
            Ok(status) => Ok(status),
            Err(fault) => exec::report(sys, fault),
        },
        Err(fault) => exec::report(sys, fault),
    }
}

/// The options and the names of files, or the status after a message.
type Read = Result<(Wanted, Vec<Vec<u8>>), i32>;

fn read_options(sys: &mut dyn System, parsed: Parsed) -> Result<Read, Stop> {
    let utf8 = sys.utf8();
    let mut wanted = Wanted {
        pieces: Vec::new(),
        options: Options {
            utf8,
            ..Options::default()
        },
        settings: Settings {
            quiet: false,
            posix: sys.env(b"POSIXLY_CORRECT").is_some(),
            unbuffered: false,
            utf8,
            end: b'\n',
            width: 70,
        },
        mode: Mode {
            end: b'\n',
            ..Mode::default()
        },
    };
    let mut expressions = 0;
    for (id, value) in parsed.options {
        let value = value.unwrap_or_default();
        match id {
            'n' => wanted.settings.quiet = true,
            'e' => {
                expressions += 1;
                wanted.pieces.push(Piece {
                    text: value,
                    from: Source::Expression(expressions),
                });
            }
            'f' => match script_file(sys, &value)? {
                Ok(piece) => wanted.pieces.push(piece),
                Err(status) => return Ok(Err(status)),
            },
            '\u{100}' => wanted.mode.follow = true,
            'i' => {
                wanted.mode.in_place = Some(value);
                wanted.mode.separate = true;
            }
            'l' => match std::str::from_utf8(&value)
                .ok()
                .and_then(|v| v.parse().ok())
            {
                Some(width) => wanted.settings.width = width,
                None => {
                    let text = [b"invalid line length: ".as_slice(), &value].concat();
                    complain(sys, b"sed", &text)?;
                    return Ok(Err(1));
                }
            },
            '\u{101}' => {
                wanted.options.posix = true;
                wanted.settings.posix = true;
            }
            'E' => wanted.options.extended = true,
            's' => wanted.mode.separate = true,
            '\u{102}' => wanted.options.sandbox = true,
            'u' => wanted.settings.unbuffered = true,
            'z' => {
                wanted.options.null_data = true;
                wanted.settings.end = 0;
                wanted.mode.end = 0;
            }
            '\u{103}' => {
                failed(sys.write(1, &help()))?.ok();
                return Ok(Err(0));
            }
            '\u{104}' => {
                failed(sys.write(1, b"sed (jp, like GNU sed) 4.9\n"))?.ok();
                return Ok(Err(0));
            }
            _ => {}
        }
    }
    let mut operands = parsed.operands;
    if wanted.pieces.is_empty() {
        if operands.is_empty() {
            failed(sys.write(2, &help()))?.ok();
            return Ok(Err(1));
        }
        wanted.pieces.push(Piece {
            text: operands.remove(0),
            from: Source::Expression(1),
        });
    }
    if wanted.mode.in_place.is_some() && operands.is_empty() {
        complain(sys, b"sed", b"no input files")?;
        return Ok(Err(4));
    }
    Ok(Ok((wanted, operands)))
}

/// Reads a script from a file or standard input.
fn script_file(sys: &mut dyn System, name: &[u8]) -> Result<Result<Piece, i32>, Stop> {
    let fd = match name {
        b"-" | b"/dev/stdin" => 0,
        _ => match failed(sys.open(name, OpenHow::READ))? {
            Ok(fd) => fd,
            Err(errno) => {
                let text = [b"couldn't open file ", name, b": ", errno.text().as_bytes()];
                complain(sys, b"sed", &text.concat())?;
                return Ok(Err(4));
            }
        },
    };
    let mut input = Input::new(fd);
    let mut text = Vec::new();
    while let Ok(piece) = failed(input.fill(sys))? {
        if piece.is_empty() {
            break;
        }
        let len = piece.len();
        text.extend_from_slice(piece);
        sys.reserve(len as u64)?;
        input.consume(len);
    }
    if fd != 0 {
        sys.close(fd);
    }
    // A first line that names an interpreter is a comment to the reader anyway.
    Ok(Ok(Piece {
        text,
        from: Source::File(name.to_vec()),
    }))
}

/// Lists the options from the table.
fn help() -> Vec<u8> {
    let mut text = USAGE.to_vec();
    text.extend_from_slice(b"\nOptions:\n");
    for option in OPTIONS {
        let short = option
            .short
            .map_or("   ".to_owned(), |s| format!("-{} ", char::from(s)));
        let long = option.long.map_or(String::new(), |l| format!("--{l}"));
        text.extend_from_slice(format!("  {short} {long}\n").as_bytes());
    }
    text
}
