//! `column`: a table (`-t`), or items in columns.

use jp_bash_system::io::Held;
use jp_bash_system::{PIECE, Stop, System};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::{BadNumber, size};
use super::options::{Opt, Takes, opt};
use super::pace;
use super::whole::read_whole;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "column",
    about: "Arranges lines in columns.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('t', Some(b't'), Some("table"), Takes::Nothing),
    opt('s', Some(b's'), Some("separator"), Takes::Required),
    opt('o', Some(b'o'), Some("output-separator"), Takes::Required),
    opt('c', Some(b'c'), Some("output-width"), Takes::Required),
    opt('N', Some(b'N'), Some("table-columns"), Takes::Required),
    opt('R', Some(b'R'), Some("table-right"), Takes::Required),
    opt('x', Some(b'x'), Some("fillrows"), Takes::Nothing),
    HELP,
    VERSION,
];

struct Wanted {
    table: bool,
    separators: Option<Vec<u8>>,
    joint: Vec<u8>,
    width: usize,
    names: Vec<Vec<u8>>,
    right: Vec<Vec<u8>>,
    rows: bool,
}

/// Runs `column`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[options] [<file>...]")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut wanted = Wanted {
        table: false,
        separators: None,
        joint: b"  ".to_vec(),
        width: 80,
        names: Vec::new(),
        right: Vec::new(),
        rows: false,
    };
    let list = |value: &[u8]| {
        value
            .split(|byte| *byte == b',')
            .map(<[u8]>::to_vec)
            .collect()
    };
    for (id, value) in parsed.options {
        let value = value.unwrap_or_default();
        match id {
            't' => wanted.table = true,
            's' => wanted.separators = Some(value),
            'o' => wanted.joint = value,
            'c' => {
                let width = match size(&value, b"") {
                    Ok(number) => u32::try_from(number).map_err(|_| BadNumber::Overflow),
                    Err(_) if value.starts_with(b"-") => Err(BadNumber::Overflow),
                    Err(bad) => Err(bad),
                };
                match width {
                    Ok(width) => wanted.width = usize::try_from(width).unwrap_or(usize::MAX),
                    Err(bad) => {
                        let why = if bad == BadNumber::Overflow {
                            RANGE
                        } else {
                            b""
                        };
                        cmd.error(&[b"invalid columns argument: '", &value, b"'", why])?;
                        return cmd.finish();
                    }
                }
            }
            'N' => wanted.names = list(&value),
            'R' => wanted.right = list(&value),
            'x' => wanted.rows = true,
            _ => {}
        }
    }
    if wanted.table
        && let Some(message) = unknown_column(&wanted)
    {
        cmd.error(&[&message])?;
        return cmd.finish();
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut held = Held::default();
    let mut text = Vec::new();
    for file in &files {
        match read_whole(cmd.sys, file, &mut held)? {
            Ok(mut more) => {
                if !more.is_empty() && more.last() != Some(&b'\n') {
                    more.push(b'\n');
                }
                held.room(cmd.sys, &mut text, more.len() + 1)?;
                text.append(&mut more);
                held.less(cmd.sys, more.capacity());
            }
            Err(errno) => cmd.fail(&[b"cannot open ", file], errno)?,
        }
    }
    let mut lines = pace::lines(cmd.sys, &mut held, &text, b'\n')?;
    for line in &mut lines {
        *line = line.strip_suffix(b"\n").unwrap_or(line);
    }
    lines.retain(|line| !line.trim_ascii_start().is_empty());
    if wanted.table {
        table(&mut cmd, &mut held, &wanted, &lines)?;
    } else {
        fill(&mut cmd, &wanted, &lines)?;
    }
    held.end(cmd.sys);
    cmd.finish()
}

/// What follows a number that is too large.
const RANGE: &[u8] = b": Numerical result out of range";

/// Returns the message about a column of `-R` that has neither such a name nor such a number.
fn unknown_column(wanted: &Wanted) -> Option<Vec<u8>> {
    let mut names = wanted.right.iter();
    names.find_map(|name| {
        if name.is_empty() || wanted.names.contains(name) {
            return None;
        }
        match size(name, b"") {
            Ok(number) if u32::try_from(number).is_ok() => None,
            Ok(_) | Err(BadNumber::Overflow) => {
                Some([b"failed to parse column: '", name.as_slice(), b"'", RANGE].concat())
            }
            Err(_) => Some([b"undefined column name '", name.as_slice(), b"'"].concat()),
        }
    })
}

fn width(sys: &mut dyn System, text: &[u8]) -> Result<usize, Stop> {
    let of = |text: &[u8]| unicode_width::UnicodeWidthStr::width(&*String::from_utf8_lossy(text));
    if text.len() <= PIECE {
        return Ok(of(text));
    }
    let mut sum = 0;
    let mut rest = text;
    while !rest.is_empty() {
        sys.work_bytes(PIECE)?;
        // Characters stay whole.
        let mut cut = usize::min(PIECE, rest.len());
        while rest.get(cut).is_some_and(|byte| byte & 0xc0 == 0x80) && cut + 4 > PIECE {
            cut -= 1;
        }
        let (piece, later) = rest.split_at_checked(cut).unwrap_or((rest, &[]));
        sum += of(piece);
        rest = later;
    }
    Ok(sum)
}

/// Finds the cells of a line; their list is counted.
fn cells<'t>(
    sys: &mut dyn System,
    held: &mut Held,
    wanted: &Wanted,
    line: &'t [u8],
) -> Result<Vec<&'t [u8]>, Stop> {
    let mut list = Vec::new();
    let mut rest = line;
    let is_end = |byte: u8| match &wanted.separators {
        Some(set) => set.contains(&byte),
        None => matches!(byte, b' ' | b'\t'),
    };
    loop {
        let length = pace::span(sys, rest, |byte| !is_end(byte))?;
        let (cell, later) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        if wanted.separators.is_some() || !cell.is_empty() {
            held.room(sys, &mut list, 1)?;
            list.push(cell);
        }
        sys.work(1)?;
        match later.split_first() {
            Some((_, later)) => rest = later,
            None => return Ok(list),
        }
    }
}

fn table(cmd: &mut Cmd<'_>, held: &mut Held, wanted: &Wanted, lines: &[&[u8]]) -> Result<(), Stop> {
    let mut rows: Vec<Vec<&[u8]>> = Vec::new();
    held.room(cmd.sys, &mut rows, lines.len() + 1)?;
    if !wanted.names.is_empty() {
        rows.push(wanted.names.iter().map(Vec::as_slice).collect());
    }
    for line in lines {
        rows.push(cells(cmd.sys, held, wanted, line)?);
    }
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths: Vec<usize> = Vec::new();
    held.room(cmd.sys, &mut widths, count)?;
    widths.resize(count, 0);
    for row in &rows {
        for (slot, cell) in widths.iter_mut().zip(row) {
            cmd.sys.work(1)?;
            *slot = usize::max(*slot, width(cmd.sys, cell)?);
        }
    }
    let is_right = |at: usize| {
        wanted.right.iter().any(|name| {
            wanted.names.get(at) == Some(name)
                || std::str::from_utf8(name).ok().and_then(|n| n.parse().ok()) == Some(at + 1)
        })
    };
    for row in &rows {
        for (at, size) in widths.iter().enumerate() {
            cmd.sys.work(1)?;
            let cell = row.get(at).copied().unwrap_or_default();
            let last = at + 1 == count;
            let blanks = size.saturating_sub(width(cmd.sys, cell)?);
            if is_right(at) {
                cmd.out.repeat(cmd.sys, b' ', blanks)?;
                cmd.put(cell)?;
            } else {
                cmd.put(cell)?;
                if !last {
                    cmd.out.repeat(cmd.sys, b' ', blanks)?;
                }
            }
            if !last {
                cmd.put(&wanted.joint)?;
            }
        }
        cmd.put(b"\n")?;
    }
    Ok(())
}

/// Fills columns from top to bottom, or rows with `-x`.
fn fill(cmd: &mut Cmd<'_>, wanted: &Wanted, lines: &[&[u8]]) -> Result<(), Stop> {
    let mut longest = 0;
    for line in lines {
        cmd.sys.work(1)?;
        longest = usize::max(longest, width(cmd.sys, line)?);
    }
    // Columns end at tab stops.
    let step = (longest + 8) / 8 * 8;
    let across = usize::max(wanted.width / step.max(1), 1);
    let down = lines.len().div_ceil(across);
    for row in 0..down {
        let mut column = 0;
        for at in 0..across {
            let index = if wanted.rows {
                row * across + at
            } else {
                at * down + row
            };
            let Some(item) = lines.get(index) else { break };
            cmd.sys.work(1)?;
            let tabs = (at * step).saturating_sub(column).div_ceil(8);
            cmd.out.repeat(cmd.sys, b'\t', tabs)?;
            if tabs > 0 {
                column = at * step;
            }
            cmd.put(item)?;
            column += width(cmd.sys, item)?;
        }
        cmd.put(b"\n")?;
    }
    Ok(())
}
