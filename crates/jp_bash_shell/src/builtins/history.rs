//! `history` and `fc`: the commands that `history -s` stored, or that ran under `set -o history`.

use std::sync::Arc;

use jp_bash_system::{OpenHow, System, failed};

use super::args::{Getopt, number};
use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;

const USAGE: &str =
    "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]";
const FC_USAGE: &str = "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]";
/// Entries at most, as `HISTSIZE` is by default.
const MOST: usize = 500;

/// The history, oldest first, and how many entries before it were forgotten.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    lines: Vec<Arc<[u8]>>,
    forgotten: usize,
}

impl Shell<'_> {
    /// Adds an entry to the history.
    pub(crate) fn add_history(&mut self, line: &[u8]) -> Result<(), Flow> {
        self.keep(line.len() as u64 + 64)?;
        let history = Arc::make_mut(&mut self.history);
        if history.lines.len() >= MOST {
            let old = history.lines.remove(0);
            history.forgotten += 1;
            self.forget(old.len() as u64 + 64);
        }
        Arc::make_mut(&mut self.history).lines.push(Arc::from(line));
        Ok(())
    }

    /// Takes the last entry back: `history -s` and `fc -s` replace the line they stand on.
    fn drop_own_line(&mut self) {
        if self.options.has(Opt::History) {
            Arc::make_mut(&mut self.history).lines.pop();
        }
    }
}

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut options = Getopt::new(args, "acd:npsrw");
    let (mut how, mut clear, mut offset) = (0, false, None);
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'c' => clear = true,
                b'd' => offset = given.value.map(<[u8]>::to_vec),
                letter => how = letter,
            },
            Err(bad) => return shell.bad_option(b"history", &bad, USAGE),
        }
    }
    if clear {
        shell.history = Arc::default();
    }
    let rest = options.rest();
    match how {
        b's' => {
            shell.drop_own_line();
            if !rest.is_empty() {
                shell.add_history(&rest.join(&b' '))?;
            }
            Ok(0)
        }
        b'p' => {
            let mut out = rest.join(&b'\n');
            if !rest.is_empty() {
                out.push(b'\n');
            }
            shell.print(b"history", &out)
        }
        b'a' | b'w' => write(shell, rest.first().map(Vec::as_slice), how == b'a'),
        b'r' | b'n' => read(shell, rest.first().map(Vec::as_slice)),
        _ => match offset {
            Some(offset) => delete(shell, &offset),
            None if clear => Ok(0),
            None => list(shell, rest),
        },
    }
}

fn list(shell: &mut Shell<'_>, rest: &[Vec<u8>]) -> Result<i32, Flow> {
    if rest.len() > 1 {
        shell.complain_as(b"history", b"too many arguments")?;
        return Err(Flow::Exit(1));
    }
    let total = shell.history.lines.len();
    let count = match rest.first() {
        None => total,
        Some(word) => match number(word) {
            Some(n) => usize::try_from(n.unsigned_abs()).unwrap_or(total),
            None => {
                let text = [word, &b": numeric argument required"[..]].concat();
                shell.complain_as(b"history", &text)?;
                return Ok(1);
            }
        },
    };
    let skip = total.saturating_sub(count);
    let mut out = Vec::new();
    let first = shell.history.forgotten + 1;
    for (at, line) in shell.history.lines.iter().enumerate().skip(skip) {
        out.extend_from_slice(format!("{:>5}  ", first + at).as_bytes());
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    shell.print(b"history", &out)
}

fn delete(shell: &mut Shell<'_>, offset: &[u8]) -> Result<i32, Flow> {
    let lines = shell.history.lines.len();
    let at = match number(offset) {
        Some(n) if n < 0 => usize::try_from(n.unsigned_abs())
            .ok()
            .and_then(|n| lines.checked_sub(n)),
        Some(n) => usize::try_from(n)
            .ok()
            .and_then(|n| n.checked_sub(shell.history.forgotten + 1)),
        None => None,
    };
    match at.filter(|at| *at < lines) {
        Some(at) => {
            Arc::make_mut(&mut shell.history).lines.remove(at);
            Ok(0)
        }
        None => {
            let text = [offset, &b": history position out of range"[..]].concat();
            shell.complain_as(b"history", &text)?;
            Ok(1)
        }
    }
}

fn write(shell: &mut Shell<'_>, file: Option<&[u8]>, append: bool) -> Result<i32, Flow> {
    let Some(file) = file else { return Ok(0) };
    let mut text = Vec::new();
    for line in &shell.history.lines {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    let how = if append {
        OpenHow::APPEND
    } else {
        OpenHow::WRITE
    };
    let fd = match failed(shell.open(file, how))? {
        Ok(fd) => fd,
        Err(errno) => {
            let text = [file, &b": cannot create: "[..], errno.text().as_bytes()].concat();
            shell.complain_as(b"history", &text)?;
            return Ok(1);
        }
    };
    let written = failed(System::write(shell, fd, &text));
    shell.close(fd);
    Ok(i32::from(written?.is_err()))
}

fn read(shell: &mut Shell<'_>, file: Option<&[u8]>) -> Result<i32, Flow> {
    let Some(file) = file else { return Ok(0) };
    let fd = match failed(shell.open(file, OpenHow::READ))? {
        Ok(fd) => fd,
        Err(_) => return Ok(1),
    };
    let text = crate::redirect::read_whole(shell, fd);
    shell.close(fd);
    for line in text?
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        shell.add_history(line)?;
    }
    Ok(0)
}

pub(super) fn fc(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    // A negative number is an operand.
    let is_number = |arg: &Vec<u8>| matches!(arg.as_slice(), [b'-', b'0'..=b'9', ..]);
    let end = args.iter().position(is_number).unwrap_or(args.len());
    let (head, tail) = args.split_at_checked(end).unwrap_or((args, &[]));
    let mut options = Getopt::new(head, "e:lnrs");
    let (mut how, mut numbers, mut reverse) = (0, true, false);
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'n' => numbers = false,
                b'r' => reverse = true,
                b'e' if given.value == Some(b"-") => how = b's',
                b'e' => {}
                letter => how = letter,
            },
            Err(bad) => return shell.bad_option(b"fc", &bad, FC_USAGE),
        }
    }
    let rest: Vec<Vec<u8>> = options.rest().iter().chain(tail).cloned().collect();
    match how {
        b'l' => fc_list(shell, &rest, numbers, reverse),
        b's' => fc_again(shell, &rest),
        // There is no editor to change a command with.
        _ => {
            shell.complain_as(b"fc", b"no command found")?;
            Ok(1)
        }
    }
}

/// Finds an entry: a number, how many from the end, or what it starts with.
fn find(shell: &Shell<'_>, word: &[u8]) -> Option<usize> {
    let lines = &shell.history.lines;
    let last = lines.len().checked_sub(1)?;
    let Some(n) = number(word) else {
        return lines.iter().rposition(|line| line.starts_with(word));
    };
    let size = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX);
    if n > 0 {
        return Some(size.saturating_sub(shell.history.forgotten + 1).min(last));
    }
    Some((last + 1).saturating_sub(size).min(last))
}

fn fc_list(
    shell: &mut Shell<'_>,
    rest: &[Vec<u8>],
    numbers: bool,
    reverse: bool,
) -> Result<i32, Flow> {
    let total = shell.history.lines.len();
    let Some(end) = total.checked_sub(1) else {
        return Ok(0);
    };
    let place = |word: Option<&Vec<u8>>, default| match word {
        Some(word) => find(shell, word),
        None => Some(default),
    };
    let first = place(rest.first(), total.saturating_sub(16));
    let last = place(rest.get(1), end);
    let (Some(first), Some(last)) = (first, last) else {
        shell.complain_as(b"fc", b"no command found")?;
        return Ok(1);
    };
    let (low, high) = (first.min(last), first.max(last));
    let shown = shell.history.lines.iter().enumerate();
    let mut shown: Vec<(usize, Arc<[u8]>)> = shown
        .skip(low)
        .take(high - low + 1)
        .map(|(at, line)| (at, Arc::clone(line)))
        .collect();
    if reverse != (first > last) {
        shown.reverse();
    }
    let mut out = Vec::new();
    for (at, line) in shown {
        if numbers {
            out.extend_from_slice((shell.history.forgotten + at + 1).to_string().as_bytes());
        }
        out.extend_from_slice(&[b"\t ", &*line, b"\n"].concat());
    }
    shell.print(b"fc", &out)
}

/// `fc -s [pat=rep] [command]`: runs an entry again.
fn fc_again(shell: &mut Shell<'_>, rest: &[Vec<u8>]) -> Result<i32, Flow> {
    shell.drop_own_line();
    let mut rest = rest.iter();
    let mut word = rest.next();
    let mut changes = Vec::new();
    while let Some((from, to)) = word.and_then(|word| {
        let at = memchr::memchr(b'=', word)?;
        Some((word.get(..at)?.to_vec(), word.get(at + 1..)?.to_vec()))
    }) {
        changes.push((from, to));
        word = rest.next();
    }
    let at = match word {
        Some(word) => find(shell, word),
        None => shell.history.lines.len().checked_sub(1),
    };
    let Some(mut line) = at.and_then(|at| shell.history.lines.get(at).map(|line| line.to_vec()))
    else {
        shell.complain_as(b"fc", b"no command found")?;
        return Ok(1);
    };
    for (from, to) in changes {
        if let Some(at) = memchr::memmem::find(&line, &from) {
            line.splice(at..at + from.len(), to);
        }
    }
    shell.print_error(&[&line, &b"\n"[..]].concat())?;
    if shell.options.has(Opt::History) {
        shell.add_history(&line)?;
    }
    shell.eval_text(&line)
}
