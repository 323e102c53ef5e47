//! `umask`, `times`, `suspend`.

use super::args::{Getopt, operand};
use crate::Shell;
use crate::flow::Flow;
use crate::signals;

pub(super) fn umask(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let (mut symbolic, mut reusable) = (false, false);
    let mut options = Getopt::new(args, "pS");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) if given.letter == b'S' => symbolic = true,
            Ok(Some(_)) => reusable = true,
            Err(bad) => return shell.bad_option(b"umask", &bad, "umask [-p] [-S] [mode]"),
        }
    }
    let rest = options.rest();
    if let Some(mode) = rest.first() {
        if mode.first().is_some_and(u8::is_ascii_digit) {
            let value = std::str::from_utf8(mode)
                .ok()
                .and_then(|text| u32::from_str_radix(text, 8).ok())
                .filter(|value| *value <= 0o777);
            match value {
                Some(value) => shell.umask = value,
                None => {
                    let text = [mode, &b": octal number out of range"[..]].concat();
                    shell.complain_as(b"umask", &text)?;
                    return Ok(1);
                }
            }
        } else {
            match symbolic_mask(mode, shell.umask) {
                Ok(mask) => shell.umask = mask,
                Err((kind, byte)) => {
                    let text = format!("`{}': invalid symbolic mode {kind}", char::from(byte));
                    shell.complain_as(b"umask", text.as_bytes())?;
                    return Ok(1);
                }
            }
        }
        if !symbolic {
            return Ok(0);
        }
    }
    let mask = shell.umask;
    let mut line = String::new();
    if reusable {
        line.push_str(if symbolic { "umask -S " } else { "umask " });
    }
    if symbolic {
        let part = |shift: u32| {
            let allowed = !mask >> shift & 7;
            let mut text = String::new();
            for (bit, letter) in [(4, 'r'), (2, 'w'), (1, 'x')] {
                if allowed & bit != 0 {
                    text.push(letter);
                }
            }
            text
        };
        line.push_str(&format!("u={},g={},o={}", part(6), part(3), part(0)));
    } else {
        line.push_str(&format!("{mask:04o}"));
    }
    line.push('\n');
    shell.print(b"umask", line.as_bytes())
}

/// Applies `u=rwx,g-w` to what is allowed.
fn symbolic_mask(mode: &[u8], mask: u32) -> Result<u32, (&'static str, u8)> {
    let mut allowed = !mask & 0o777;
    for clause in mode.split(|byte| *byte == b',') {
        let mut rest = clause.iter().copied().peekable();
        let mut who = 0;
        while let Some(byte) = rest.next_if(|byte| matches!(byte, b'u' | b'g' | b'o' | b'a')) {
            who |= match byte {
                b'u' => 0o700,
                b'g' => 0o070,
                b'o' => 0o007,
                _ => 0o777,
            };
        }
        if who == 0 {
            who = 0o777;
        }
        loop {
            let op = match rest.next() {
                Some(op @ (b'=' | b'+' | b'-')) => op,
                Some(other) => return Err(("operator", other)),
                None => return Err(("operator", 0)),
            };
            let mut bits = 0;
            while let Some(byte) = rest.next_if(|byte| !matches!(byte, b'=' | b'+' | b'-')) {
                bits |= match byte {
                    b'r' => 0o444,
                    b'w' => 0o222,
                    b'x' | b'X' => 0o111,
                    b's' | b't' => 0,
                    b'u' => (allowed >> 6 & 7) * 0o111,
                    b'g' => (allowed >> 3 & 7) * 0o111,
                    b'o' => (allowed & 7) * 0o111,
                    other => return Err(("character", other)),
                };
            }
            match op {
                b'=' => allowed = allowed & !who | bits & who,
                b'+' => allowed |= bits & who,
                _ => allowed &= !(bits & who),
            }
            if rest.peek().is_none() {
                break;
            }
        }
    }
    Ok(!allowed & 0o777)
}

pub(super) fn times(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut options = Getopt::new(args, "");
    if let Err(bad) = options.next() {
        return shell.bad_option(b"times", &bad, "times");
    }
    shell.print(b"times", b"0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n")
}

pub(super) fn suspend(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    if operand(args, 1) != b"-f" {
        shell.complain_as(b"suspend", b"cannot suspend: no job control")?;
        return Ok(1);
    }
    if shell.task.is_none() {
        let text = b"-f: not supported: nobody could continue this shell";
        shell.complain_as(b"suspend", text)?;
        return Ok(1);
    }
    shell.raise(signals::STOP)?;
    Ok(0)
}
