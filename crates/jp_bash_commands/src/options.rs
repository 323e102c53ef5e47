//! Options as GNU `getopt_long` reads them, with its messages, from one table for each command.
//!
//! The same table makes the documentation: what is done, and what is refused by name.

use jp_bash_system::io::{complain, say};
use jp_bash_system::{Stop, System};

use crate::Spec;

/// Whether an option takes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Required,
    /// `--color[=WHEN]`, `-i[SUFFIX]`: only when attached.
    Optional,
}

/// Whether we do what the option says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Support {
    Done,
    /// Known and refused: the text says why, in a few words for the table.
    Refused(&'static str),
    /// Accepted as GNU accepts it, without being in its `--help`.
    Hidden,
    /// Ends the reading: the command refuses it in words of its own.
    Ends,
}

/// One option of a command. What an option is called in code is its `id`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opt {
    /// Unique within the table; by habit the short letter, else any `char` above 255.
    pub(crate) id: char,
    pub(crate) short: Option<u8>,
    pub(crate) long: Option<&'static str>,
    pub(crate) takes: Takes,
    pub(crate) support: Support,
}

/// Makes an option that is done.
pub(crate) const fn opt(
    id: char,
    short: Option<u8>,
    long: Option<&'static str>,
    takes: Takes,
) -> Opt {
    Opt {
        id,
        short,
        long,
        takes,
        support: Support::Done,
    }
}

/// Makes a short option that GNU reads and does not mention.
pub(crate) const fn hidden(letter: u8, takes: Takes) -> Opt {
    Opt {
        id: letter as char,
        short: Some(letter),
        long: None,
        takes,
        support: Support::Hidden,
    }
}

/// Makes a digit that only the old form `-NUM` allows, and there only as the first argument.
pub(crate) const fn misplaced(digit: u8) -> Opt {
    Opt {
        support: Support::Ends,
        ..hidden(digit, Takes::Nothing)
    }
}

/// Makes an option that is refused.
pub(crate) const fn refused(
    short: Option<u8>,
    long: Option<&'static str>,
    takes: Takes,
    why: &'static str,
) -> Opt {
    Opt {
        id: '\0',
        short,
        long,
        takes,
        support: Support::Refused(why),
    }
}

/// `--help`, for every table.
pub(crate) const HELP: Opt = opt('\u{1000}', None, Some("help"), Takes::Nothing);

/// `--version`, for every table.
pub(crate) const VERSION: Opt = opt('\u{1001}', None, Some("version"), Takes::Nothing);

/// How operands and options may mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Options anywhere (GNU's default), until `--`.
    Permute,
    /// The first operand ends the options (`env`, `xargs`, `timeout`).
    Stop,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// Options in order, with their arguments.
    pub(crate) options: Vec<(char, Option<Vec<u8>>)>,
    /// The rest.
    pub(crate) operands: Vec<Vec<u8>>,
}

/// Reads `args[1..]`. On a usage error the GNU message is printed and `Err(Ok(()))` says so: the command
/// returns its own usage status (1, or 2 for grep, ls, sort…).
pub(crate) fn parse(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    table: &[Opt],
    order: Order,
) -> Result<Result<Parsed, Usage>, Stop> {
    parse_with_usage(sys, args, table, order, b"")
}

/// Like [`parse`], for commands that print more between the message and its hint.
pub(crate) fn parse_with_usage(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    table: &[Opt],
    order: Order,
    usage: &[u8],
) -> Result<Result<Parsed, Usage>, Stop> {
    let name = args.first().map_or(&b""[..], |name| name.as_slice());
    match read(args, table, order) {
        Ok(parsed) => Ok(Ok(parsed)),
        Err(message) => {
            complain(sys, name, &message)?;
            say(sys, &[usage])?;
            hint(sys, name)?;
            Ok(Err(Usage))
        }
    }
}

/// Turns the old form `-NUM` into `-xNUM`, for commands that still read it; values of options stay.
pub(crate) fn old_numbers(args: &[Vec<u8>], table: &[Opt], letter: u8) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(args.len());
    let mut value = false;
    let mut ended = false;
    for arg in args {
        let number = matches!(arg.as_slice(), [b'-', digit, ..] if digit.is_ascii_digit());
        if number && !value && !ended {
            out.push([&[b'-', letter], arg.get(1..).unwrap_or_default()].concat());
        } else {
            out.push(arg.clone());
        }
        ended |= arg == b"--" && !value;
        value = !value && waits_for_a_value(arg, table);
    }
    out
}

/// Tells whether the next word is the value of this one.
fn waits_for_a_value(arg: &[u8], table: &[Opt]) -> bool {
    if let Some(long) = arg.strip_prefix(b"--") {
        return long_option(long, table)
            .is_ok_and(|(opt, value)| opt.takes == Takes::Required && value.is_none());
    }
    let Some(letters) = arg.strip_prefix(b"-") else {
        return false;
    };
    let takes = |letter: &u8| {
        let opt = table.iter().find(|opt| opt.short == Some(*letter));
        opt.is_some_and(|opt| opt.takes == Takes::Required)
    };
    letters.iter().position(takes).map(|at| at + 1) == Some(letters.len())
}

/// Prints the line that follows every usage error.
pub(crate) fn hint(sys: &mut dyn System, name: &[u8]) -> Result<(), Stop> {
    // Diffutils say who they are in this line too.
    if matches!(name, b"cmp" | b"diff") {
        say(sys, &[name, b": "])?;
    }
    say(sys, &[b"Try '", name, b" --help' for more information.\n"])
}

/// What a command's `--help` and usage errors need beside its table.
pub(crate) struct Front {
    pub(crate) spec: &'static Spec,
    /// What follows `Usage: NAME `.
    pub(crate) usage: &'static str,
    /// The status of a usage error: 1, or 2 for `sort`, `ls`, `grep`.
    pub(crate) usage_status: i32,
    pub(crate) order: Order,
}

/// Reads the options of a command and answers `--help` and `--version`; `Err` is the status to end with.
pub(crate) fn begin(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    front: &Front,
) -> Result<Result<Parsed, i32>, Stop> {
    let parsed = match parse(sys, args, front.spec.options, front.order)? {
        Ok(parsed) => parsed,
        Err(Usage) => return Ok(Err(front.usage_status)),
    };
    let answer = match parsed.options.last() {
        Some((id, _)) if *id == HELP.id => help_text(front),
        Some((id, _)) if *id == VERSION.id => version_text(front.spec.name),
        _ => return Ok(Ok(parsed)),
    };
    let _ = jp_bash_system::failed(sys.write(1, &answer))?;
    Ok(Err(0))
}

/// Writes what `--help` prints, from the same table that reads the options.
pub(crate) fn help_text(front: &Front) -> Vec<u8> {
    let spec = front.spec;
    let mut out = format!("Usage: {} {}\n{}\n\n", spec.name, front.usage, spec.about);
    let mut refused = String::new();
    for opt in spec.options {
        match opt.support {
            Support::Done => out.push_str(&format!("  {}\n", shown(opt))),
            Support::Refused(why) => refused.push_str(&format!("  {} ({why})\n", shown(opt))),
            Support::Hidden | Support::Ends => {}
        }
    }
    if !refused.is_empty() {
        out.push_str("\nNot supported:\n");
        out.push_str(&refused);
    }
    out.into_bytes()
}

/// Writes what `--version` prints: scripts look for "GNU" in the first line to learn which dialect they have.
pub(crate) fn version_text(name: &str) -> Vec<u8> {
    format!(
        "{name} (jp {}, options and output of GNU coreutils 9.1)\n",
        env!("CARGO_PKG_VERSION")
    )
    .into_bytes()
}

/// Writes an option as help texts do: `-c, --bytes=ARG`.
pub(crate) fn shown(opt: &Opt) -> String {
    let mut out = String::new();
    if let Some(short) = opt.short {
        out.push('-');
        out.push(char::from(short));
    }
    if let Some(long) = opt.long {
        out.push_str(if opt.short.is_some() { ", --" } else { "--" });
        out.push_str(long);
    }
    match (opt.takes, opt.long) {
        (Takes::Nothing, _) => {}
        (Takes::Required, Some(_)) => out.push_str("=ARG"),
        (Takes::Required, None) => out.push_str(" ARG"),
        (Takes::Optional, Some(_)) => out.push_str("[=ARG]"),
        (Takes::Optional, None) => out.push_str("[ARG]"),
    }
    out
}

/// A usage error that was already reported.
#[derive(Debug)]
pub(crate) struct Usage;

fn read(args: &[Vec<u8>], table: &[Opt], order: Order) -> Result<Parsed, Vec<u8>> {
    let mut parsed = Parsed::default();
    let mut rest = args.iter().skip(1);
    while let Some(arg) = rest.next() {
        if arg == b"--" {
            parsed.operands.extend(rest.cloned());
            break;
        }
        if let Some(long) = arg.strip_prefix(b"--") {
            let (opt, value) = long_option(long, table)?;
            let value = match (opt.takes, value) {
                (Takes::Nothing, Some(_)) => {
                    return Err(text(&[
                        b"option '--",
                        long_name(opt),
                        b"' doesn't allow an argument",
                    ]));
                }
                (Takes::Required, None) => Some(rest.next().cloned().ok_or_else(|| {
                    text(&[b"option '--", long_name(opt), b"' requires an argument"])
                })?),
                (_, value) => value,
            };
            push(&mut parsed, opt, value, &text(&[b"--", long_name(opt)]))?;
            // GNU tools answer these where they stand; what follows is not looked at.
            if opt.id == HELP.id || opt.id == VERSION.id {
                break;
            }
        } else if arg.len() > 1 && arg.first() == Some(&b'-') {
            if !short_options(arg, table, &mut rest, &mut parsed)? {
                break;
            }
        } else if order == Order::Stop {
            parsed.operands.push(arg.clone());
            parsed.operands.extend(rest.cloned());
            break;
        } else {
            parsed.operands.push(arg.clone());
        }
    }
    Ok(parsed)
}

/// Reads a cluster of short options; `false` if reading ends there.
fn short_options(
    arg: &[u8],
    table: &[Opt],
    rest: &mut dyn Iterator<Item = &Vec<u8>>,
    parsed: &mut Parsed,
) -> Result<bool, Vec<u8>> {
    for (at, &letter) in arg.iter().enumerate().skip(1) {
        let opt = table
            .iter()
            .find(|opt| opt.short == Some(letter))
            .ok_or_else(|| text(&[b"invalid option -- '", &[letter], b"'"]))?;
        let attached = arg.get(at + 1..).filter(|rest| !rest.is_empty());
        let value = match opt.takes {
            Takes::Nothing => None,
            Takes::Optional => attached.map(<[u8]>::to_vec),
            Takes::Required => Some(match attached {
                Some(value) => value.to_vec(),
                None => rest
                    .next()
                    .cloned()
                    .ok_or_else(|| text(&[b"option requires an argument -- '", &[letter], b"'"]))?,
            }),
        };
        let took = value.is_some();
        push(parsed, opt, value, &[b'-', letter])?;
        if opt.support == Support::Ends {
            return Ok(false);
        }
        if took {
            break;
        }
    }
    Ok(true)
}

fn push(
    parsed: &mut Parsed,
    opt: &Opt,
    value: Option<Vec<u8>>,
    shown: &[u8],
) -> Result<(), Vec<u8>> {
    if let Support::Refused(why) = opt.support {
        return Err(text(&[
            b"option '",
            shown,
            b"' is not supported: ",
            why.as_bytes(),
        ]));
    }
    parsed.options.push((opt.id, value));
    Ok(())
}

/// Finds a long option by its name or an unambiguous beginning of it.
fn long_option<'t>(long: &[u8], table: &'t [Opt]) -> Result<(&'t Opt, Option<Vec<u8>>), Vec<u8>> {
    let (name, value) = match memchr::memchr(b'=', long) {
        Some(at) => (
            long.get(..at).unwrap_or_default(),
            long.get(at + 1..).map(<[u8]>::to_vec),
        ),
        None => (long, None),
    };
    if let Some(opt) = table
        .iter()
        .find(|opt| opt.long.is_some_and(|l| l.as_bytes() == name))
    {
        return Ok((opt, value));
    }
    let mut found = table
        .iter()
        .filter(|opt| opt.long.is_some_and(|l| l.as_bytes().starts_with(name)));
    let Some(first) = found.next() else {
        return Err(text(&[b"unrecognized option '--", long, b"'"]));
    };
    // Two names of one option (`--utc`, `--universal`) do not clash.
    let same = |opt: &Opt| opt.id != '\0' && opt.id == first.id && opt.takes == first.takes;
    let others: Vec<&Opt> = found.filter(|opt| !same(opt)).collect();
    if others.is_empty() {
        return Ok((first, value));
    }
    let mut message = text(&[b"option '--", long, b"' is ambiguous; possibilities:"]);
    for opt in std::iter::once(first).chain(others) {
        message.extend_from_slice(&text(&[b" '--", long_name(opt), b"'"]));
    }
    Err(message)
}

fn long_name(opt: &Opt) -> &'static [u8] {
    opt.long.unwrap_or_default().as_bytes()
}

fn text(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}
