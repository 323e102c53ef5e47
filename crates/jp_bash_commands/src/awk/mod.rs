//! awk: POSIX awk with gawk's common functions, under all four names people call it by.
//!
//! Not done, and refused by name: `|&`, arrays of arrays, `@include` and indirect calls, `--debug` and its kin.

mod array;
mod chars;
pub(super) mod format;
mod lex;
mod number;
mod op;
mod parse;
mod pattern;
mod record;
mod run;
mod streams;
#[cfg(test)]
mod tests;
mod value;

use lex::Dialect;
use op::Program;
use parse::ParseError;
use run::{Fault, Vm, assignment};
use value::Meter;

use jp_bash_system::io::{Input, complain};
use jp_bash_system::{OpenHow, Stop, System, failed};

use super::Spec;
use super::options::{Opt, Order, Takes, opt, parse as parse_options, refused};

const DEBUG: &str = "made for people at a terminal";
const EXTENSIONS: &str = "one dialect only";

/// gawk's options; mawk's `-W` is refused as a whole.
const OPTIONS: &[Opt] = &[
    opt('F', Some(b'F'), Some("field-separator"), Takes::Required),
    opt('v', Some(b'v'), Some("assign"), Takes::Required),
    opt('f', Some(b'f'), Some("file"), Takes::Required),
    opt('e', Some(b'e'), Some("source"), Takes::Required),
    opt('E', Some(b'E'), Some("exec"), Takes::Required),
    opt('b', Some(b'b'), Some("characters-as-bytes"), Takes::Nothing),
    opt('h', Some(b'h'), Some("help"), Takes::Nothing),
    opt('V', Some(b'V'), Some("version"), Takes::Nothing),
    // What these ask for is so already.
    opt('r', Some(b'r'), Some("re-interval"), Takes::Nothing),
    opt('O', Some(b'O'), Some("optimize"), Takes::Nothing),
    opt('s', Some(b's'), Some("no-optimize"), Takes::Nothing),
    opt('N', Some(b'N'), Some("use-lc-numeric"), Takes::Nothing),
    refused(Some(b'c'), Some("traditional"), Takes::Nothing, EXTENSIONS),
    refused(Some(b'C'), Some("copyright"), Takes::Nothing, DEBUG),
    refused(Some(b'd'), Some("dump-variables"), Takes::Optional, DEBUG),
    refused(Some(b'D'), Some("debug"), Takes::Optional, DEBUG),
    refused(Some(b'g'), Some("gen-pot"), Takes::Nothing, DEBUG),
    refused(Some(b'i'), Some("include"), Takes::Required, "no libraries"),
    refused(Some(b'I'), Some("trace"), Takes::Nothing, DEBUG),
    refused(Some(b'l'), Some("load"), Takes::Required, "no libraries"),
    refused(Some(b'L'), Some("lint"), Takes::Optional, DEBUG),
    refused(
        Some(b'M'),
        Some("bignum"),
        Takes::Nothing,
        "numbers are doubles",
    ),
    refused(
        Some(b'n'),
        Some("non-decimal-data"),
        Takes::Nothing,
        EXTENSIONS,
    ),
    refused(Some(b'o'), Some("pretty-print"), Takes::Optional, DEBUG),
    refused(Some(b'p'), Some("profile"), Takes::Optional, DEBUG),
    refused(Some(b'P'), Some("posix"), Takes::Nothing, EXTENSIONS),
    refused(
        Some(b'S'),
        Some("sandbox"),
        Takes::Nothing,
        "everything is in one",
    ),
    refused(Some(b't'), Some("lint-old"), Takes::Nothing, DEBUG),
    refused(Some(b'W'), None, Takes::Required, "mawk's own options"),
];

/// All names that run this awk.
pub(crate) const SPECS: &[Spec] = &[spec("awk"), spec("gawk"), spec("mawk"), spec("nawk")];

const fn spec(name: &'static str) -> Spec {
    Spec {
        name,
        about: "run an awk program over lines of text",
        run,
        options: OPTIONS,
    }
}

/// What the command line says.
#[derive(Default)]
struct Call {
    separator: Option<Vec<u8>>,
    assigns: Vec<Vec<u8>>,
    /// Program texts: a file's name, or the text itself.
    sources: Vec<(Vec<u8>, bool)>,
    bytes: bool,
    operands: Vec<Vec<u8>>,
}

/// Runs awk.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let name = args.first().cloned().unwrap_or_else(|| b"awk".to_vec());
    let base = name.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let dialect = if base == b"gawk" {
        Dialect::Gnu
    } else {
        Dialect::Plain
    };
    let Ok(parsed) = parse_options(sys, args, OPTIONS, Order::Stop)? else {
        return Ok(2);
    };
    let mut call = Call {
        operands: parsed.operands,
        ..Call::default()
    };
    for (id, value) in parsed.options {
        let value = value.unwrap_or_default();
        match id {
            'F' => call.separator = Some(value),
            'v' => call.assigns.push(value),
            'f' | 'E' => call.sources.push((value, true)),
            'e' => call.sources.push((value, false)),
            'b' => call.bytes = true,
            'h' => return help(sys),
            'V' => return print(sys, b"GNU Awk 5.2.1 (virtual)\n"),
            _ => {}
        }
    }
    if call.sources.is_empty() {
        if call.operands.is_empty() {
            help_to(sys, 2)?;
            return Ok(2);
        }
        call.sources.push((call.operands.remove(0), false));
    }
    let Some((text, sources)) = read_sources(sys, &name, &call.sources)? else {
        return Ok(2);
    };
    let meter = Meter::default();
    sys.reserve(text.len() as u64 * 16)?;
    let result = match parse::compile(sys, &text, dialect, &meter) {
        Ok(mut program) => {
            program.sources = sources;
            execute(sys, &name, dialect, &program, meter, &call)
        }
        Err(error) => {
            let told = match error.stop {
                Some(stop) => Err(stop),
                None => syntax_error(sys, &name, &text, &sources, &error),
            };
            told.map(|()| {
                if dialect == Dialect::Gnu && !error.fatal {
                    1
                } else {
                    2
                }
            })
        }
    };
    sys.release(text.len() as u64 * 16);
    result
}

type Sources = Vec<(u32, Vec<u8>)>;

/// Reads all program texts into one; returns where each begins, by line.
fn read_sources(
    sys: &mut dyn System,
    name: &[u8],
    given: &[(Vec<u8>, bool)],
) -> Result<Option<(Vec<u8>, Sources)>, Stop> {
    let mut text = Vec::new();
    let mut sources = Vec::new();
    for (source, is_file) in given {
        let line = u32::try_from(memchr::memchr_iter(b'\n', &text).count()).unwrap_or(u32::MAX);
        if !is_file {
            sources.push((line, b"cmd. line".to_vec()));
            text.extend_from_slice(source);
            text.push(b'\n');
            continue;
        }
        sources.push((line, source.clone()));
        let opened = if source == b"-" {
            Ok(0)
        } else {
            failed(sys.open(source, OpenHow::READ))?
        };
        let read = match opened {
            Ok(fd) => {
                let mut input = Input::new(fd);
                let read = read_all(sys, &mut input, &mut text)?;
                if fd != 0 {
                    sys.close(fd);
                }
                read
            }
            Err(errno) => Err(errno),
        };
        if let Err(errno) = read {
            let message = [
                b"fatal: cannot open source file `",
                source.as_slice(),
                b"' for reading: ",
                errno.text().as_bytes(),
            ];
            complain(sys, name, &message.concat())?;
            return Ok(None);
        }
        if text.last() != Some(&b'\n') {
            text.push(b'\n');
        }
    }
    Ok(Some((text, sources)))
}

fn read_all(
    sys: &mut dyn System,
    input: &mut Input,
    text: &mut Vec<u8>,
) -> Result<Result<(), jp_bash_system::Errno>, Stop> {
    loop {
        let piece = match failed(input.fill(sys))? {
            Ok(piece) => piece,
            Err(errno) => return Ok(Err(errno)),
        };
        if piece.is_empty() {
            return Ok(Ok(()));
        }
        let len = piece.len();
        text.extend_from_slice(piece);
        input.consume(len);
        sys.reserve(len as u64)?;
    }
}

fn execute(
    sys: &mut dyn System,
    name: &[u8],
    dialect: Dialect,
    program: &Program,
    meter: Meter,
    call: &Call,
) -> Result<i32, Stop> {
    let mut argv = vec![name.to_vec()];
    argv.extend(call.operands.iter().cloned());
    let mut vm = Vm::new(sys, program, meter, &argv, call.bytes)?;
    if let Err(message) = vm.compile_regexes() {
        complain(
            vm.sys,
            name,
            &[&place(program, 0), b"error: ".as_slice(), &message].concat(),
        )?;
        return Ok(if dialect == Dialect::Gnu { 1 } else { 2 });
    }
    let ran = prepare(&mut vm, dialect, call).and_then(|()| vm.main());
    let fatal = match ran {
        Ok(()) => None,
        Err(Fault::Fatal(message)) => Some(message),
        Err(Fault::Stop(stop)) => {
            // What was printed so far is kept.
            let flushed = vm.flush_stdout();
            return Err(flushed
                .err()
                .filter(|_| matches!(stop, Stop::Signal(_)))
                .unwrap_or(stop));
        }
    };
    if let Some(message) = fatal {
        vm.flush_stdout()?;
        // An operand that cannot be opened is no line's fault.
        let place = if message.starts_with(b"cannot open file") {
            Vec::new()
        } else {
            place(program, vm.pc)
        };
        complain(
            vm.sys,
            name,
            &[place.as_slice(), b"fatal: ", &message].concat(),
        )?;
        vm.status = 2;
    }
    vm.finish()?;
    Ok(vm.status)
}

fn prepare(vm: &mut Vm<'_>, dialect: Dialect, call: &Call) -> Result<(), Fault> {
    if let Some(separator) = &call.separator {
        vm.assign(b"FS", separator, dialect)?;
    }
    for assign in &call.assigns {
        match assignment(assign) {
            Some((name, value)) => vm.assign(name, value, dialect)?,
            None => {
                let name = assign.split(|b| *b == b'=').next().unwrap_or_default();
                return Err(Fault::Fatal(
                    [b"`", name, b"' is not a legal variable name"].concat(),
                ));
            }
        }
    }
    Ok(())
}

/// Returns `cmd. line:3: `, the place of a step.
fn place(program: &Program, pc: usize) -> Vec<u8> {
    match program.lines.get(pc) {
        Some(line) if !program.ops.is_empty() => place_of(&program.sources, *line),
        _ => Vec::new(),
    }
}

fn place_of(sources: &[(u32, Vec<u8>)], line: u32) -> Vec<u8> {
    let source = sources.iter().rev().find(|(first, _)| *first < line);
    match source {
        Some((first, name)) => {
            let line = line.saturating_sub(*first).to_string();
            [name.as_slice(), b":", line.as_bytes(), b": "].concat()
        }
        None => Vec::new(),
    }
}

/// Prints what is wrong, the line and a caret under the place, as gawk does.
fn syntax_error(
    sys: &mut dyn System,
    name: &[u8],
    text: &[u8],
    sources: &[(u32, Vec<u8>)],
    error: &ParseError,
) -> Result<(), Stop> {
    let place = place_of(sources, error.line);
    let Some(at) = error.at else {
        let kind: &[u8] = if error.fatal { b"fatal: " } else { b"error: " };
        let message = [place.as_slice(), kind, &error.message].concat();
        return complain(sys, name, &message);
    };
    let at = usize::min(at, text.len().saturating_sub(1));
    let before = text.get(..at).unwrap_or_default();
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let line = text.get(start..).unwrap_or_default();
    let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
    complain(sys, name, &[place.as_slice(), line].concat())?;
    let mut caret = place;
    for byte in text.get(start..at).unwrap_or_default() {
        caret.push(if *byte == b'\t' { b'\t' } else { b' ' });
    }
    caret.extend_from_slice(b"^ ");
    caret.extend_from_slice(&error.message);
    complain(sys, name, &caret)
}

fn print(sys: &mut dyn System, text: &[u8]) -> Result<i32, Stop> {
    Ok(if failed(sys.write(1, text))?.is_ok() {
        0
    } else {
        2
    })
}

const HELP: &[u8] = b"Usage: awk [-F fs] [-v var=value] [--] 'program' [file ...]
       awk [-F fs] [-v var=value] -f progfile [--] [file ...]
";

fn help(sys: &mut dyn System) -> Result<i32, Stop> {
    print(sys, HELP)
}

fn help_to(sys: &mut dyn System, fd: u32) -> Result<(), Stop> {
    failed(sys.write(fd, HELP)).map(|_| ())
}
