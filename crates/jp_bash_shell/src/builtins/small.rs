//! `shift`, `let`, `echo`, `getopts`.

use jp_bash_system::System;

use super::args::{Getopt, number, operand};
use crate::Shell;
use crate::expand::escapes;
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::access::{Assigned, is_name};
use crate::vars::{Bytes, known};

/// `shift`
pub(super) fn shift(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut words = args.get(1..).unwrap_or_default();
    if operand(words, 0) == b"--" {
        words = words.get(1..).unwrap_or_default();
    }
    let count = match words.first() {
        None => 1,
        Some(text) => match number(text) {
            Some(count) => count,
            None => {
                shell.complain_as(
                    b"shift",
                    &[text, &b": numeric argument required"[..]].concat(),
                )?;
                return Ok(1);
            }
        },
    };
    if words.len() > 1 {
        shell.complain_as(b"shift", b"too many arguments")?;
        return Err(Flow::Exit(1));
    }
    let Ok(n) = usize::try_from(count) else {
        let text = format!("{count}: shift count out of range");
        shell.complain_as(b"shift", text.as_bytes())?;
        return Ok(1);
    };
    if shell.args.shift(n) {
        return Ok(0);
    }
    if shell.options.has(Opt::ShiftVerbose) {
        let text = format!("{count}: shift count out of range");
        shell.complain_as(b"shift", text.as_bytes())?;
    }
    Ok(1)
}

/// `let`
pub(super) fn let_(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut words = args.get(1..).unwrap_or_default();
    if operand(words, 0) == b"--" {
        words = words.get(1..).unwrap_or_default();
    }
    if words.is_empty() {
        shell.complain_as(b"let", b"expression expected")?;
        return Ok(1);
    }
    let mut value = 0;
    for text in words {
        value = match shell.arith_text_as(text, b"let: ") {
            Ok(value) => value,
            // The message is printed; `let` only fails.
            Err(Flow::Abandon(status)) => return Ok(status),
            Err(flow) => return Err(flow),
        };
    }
    Ok(i32::from(value == 0))
}

/// `echo`
pub(super) fn echo(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut words = args.get(1..).unwrap_or_default();
    let mut newline = true;
    let mut escaped = shell.options.has(Opt::XpgEcho);
    let posix = escaped && shell.options.has(Opt::Posix);
    while let Some((first, rest)) = words.split_first() {
        let flags = match first.as_slice() {
            [b'-', flags @ ..] if !flags.is_empty() && !posix => flags,
            _ => break,
        };
        if !flags.iter().all(|flag| matches!(flag, b'n' | b'e' | b'E')) {
            break;
        }
        for flag in flags {
            match flag {
                b'n' => newline = false,
                b'e' => escaped = true,
                _ => escaped = false,
            }
        }
        words = rest;
    }
    let size: usize = words.iter().map(|word| word.len() + 1).sum();
    let mut out = Vec::with_capacity(size + 1);
    let utf8 = shell.utf8();
    for (count, word) in words.iter().enumerate() {
        if count > 0 {
            out.push(b' ');
        }
        if !escaped {
            out.extend_from_slice(word);
        } else if !escapes::echo(&mut out, word, utf8) {
            // `\c`: nothing more, not even the newline.
            newline = false;
            break;
        }
    }
    if newline {
        out.push(b'\n');
    }
    shell.print(b"echo", &out)
}

/// `getopts`
pub(super) fn getopts(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    const USAGE: &str = "getopts optstring name [arg ...]";
    let mut options = Getopt::new(args, "");
    if let Err(bad) = options.next() {
        return shell.bad_option(b"getopts", &bad, USAGE);
    }
    let [letters, name, given @ ..] = options.rest() else {
        return shell.usage(b"getopts", USAGE);
    };
    let given: Vec<Vec<u8>> = if given.is_empty() {
        shell.args.as_slice().to_vec()
    } else {
        given.to_vec()
    };
    let quiet = letters.first() == Some(&b':');
    let index = shell
        .var_text(known::OPTIND)?
        .and_then(|text| number(text.as_slice()))
        .unwrap_or(1);
    let mut state = shell.vars.getopts;
    if state.index != index {
        // Someone set OPTIND: begin a new word.
        state.at = 0;
        state.index = index.max(1);
    }
    let found = next_option(&mut state, letters, &given);
    shell.vars.getopts = state;
    shell
        .set_var(known::OPTIND, Bytes::from_int(state.index))?
        .or_abandon()?;
    report(shell, found, name, quiet)
}

/// Where `getopts` is: the word that `OPTIND` names, and the letter in it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GetoptsState {
    index: i64,
    at: usize,
}

enum Found {
    End,
    Option(u8, Option<Vec<u8>>),
    Unknown(u8),
    Missing(u8),
}

fn next_option(state: &mut GetoptsState, letters: &[u8], given: &[Vec<u8>]) -> Found {
    let word_at = |index: i64| usize::try_from(index - 1).ok().and_then(|at| given.get(at));
    if state.at == 0 {
        match word_at(state.index).map(Vec::as_slice) {
            Some(b"--") => {
                state.index += 1;
                return Found::End;
            }
            Some([b'-', _, ..]) => state.at = 1,
            _ => return Found::End,
        }
    }
    let word = word_at(state.index).map_or(&b""[..], Vec::as_slice);
    let Some(letter) = word.get(state.at).copied() else {
        state.at = 0;
        state.index += 1;
        return next_option(state, letters, given);
    };
    state.at += 1;
    let known = letters
        .iter()
        .position(|known| *known == letter && letter != b':');
    let rest = word.get(state.at..).unwrap_or_default();
    let Some(known) = known else {
        if rest.is_empty() {
            state.at = 0;
            state.index += 1;
        }
        return Found::Unknown(letter);
    };
    if letters.get(known + 1) != Some(&b':') {
        if rest.is_empty() {
            state.at = 0;
            state.index += 1;
        }
        return Found::Option(letter, None);
    }
    state.at = 0;
    state.index += 1;
    if !rest.is_empty() {
        return Found::Option(letter, Some(rest.to_vec()));
    }
    match word_at(state.index) {
        Some(value) => {
            state.index += 1;
            Found::Option(letter, Some(value.clone()))
        }
        None => Found::Missing(letter),
    }
}

fn report(shell: &mut Shell<'_>, found: Found, name: &[u8], quiet: bool) -> Result<i32, Flow> {
    let loud = !quiet
        && shell
            .var_text(known::OPTERR)?
            .is_none_or(|text| text.as_slice() != b"0");
    let (value, argument, message) = match &found {
        Found::End => (b'?', None, None),
        Found::Option(letter, argument) => (*letter, argument.clone(), None),
        Found::Unknown(letter) if quiet => (b'?', Some(vec![*letter]), None),
        Found::Unknown(letter) => (b'?', None, Some(("illegal option", *letter))),
        Found::Missing(letter) if quiet => (b':', Some(vec![*letter]), None),
        Found::Missing(letter) => (b'?', None, Some(("option requires an argument", *letter))),
    };
    if let (Some((text, letter)), true) = (message, loud) {
        let line = [
            &*shell.arg0,
            b": ",
            text.as_bytes(),
            b" -- ",
            &[letter],
            b"\n",
        ]
        .concat();
        shell.print_error(&line)?;
    }
    match argument {
        Some(argument) => {
            let _ = shell.set_var(known::OPTARG, Bytes::from(argument))?;
        }
        None => shell.vars.unset(&shell.kernel.budget, known::OPTARG)?,
    }
    if !is_name(name) {
        shell.complain_as(
            b"getopts",
            &[b"`", name, b"': not a valid identifier"].concat(),
        )?;
        return Ok(1);
    }
    let name = shell.intern(name)?;
    match shell.set_var(name, Bytes::from(&[value][..]))? {
        Assigned::Done => Ok(i32::from(matches!(found, Found::End))),
        Assigned::Refused => Ok(1),
    }
}
