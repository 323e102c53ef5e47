//! The normal and the unified form.

use std::ops::Range;

use jp_bash_system::{Follow, Stop, Timestamp, failed};

use super::Wanted;
use super::edit::Change;
use crate::file::Cmd;

/// The colors of `--color`, as GNU's default palette has them; a context has none.
const REMOVED: &[u8] = b"\x1b[31m";
const ADDED: &[u8] = b"\x1b[32m";
const PLACE: &[u8] = b"\x1b[36m";
const HEADER: &[u8] = b"\x1b[1m";
const CONTEXT: &[u8] = b"";

/// Prints text without its end of line, in a color if there are any.
fn put_colored(
    cmd: &mut Cmd<'_>,
    wanted: &Wanted,
    color: &[u8],
    parts: &[&[u8]],
) -> Result<(), Stop> {
    let colored = wanted.color && !color.is_empty();
    if colored {
        cmd.put(color)?;
    }
    for part in parts {
        cmd.put(part)?;
    }
    if colored {
        cmd.put(b"\x1b[0m")?;
    }
    Ok(())
}

fn put_lines(
    cmd: &mut Cmd<'_>,
    wanted: &Wanted,
    (mark, color): (&[u8], &[u8]),
    lines: &[&[u8]],
) -> Result<(), Stop> {
    for line in lines {
        let (text, end) = match line.strip_suffix(b"\n") {
            Some(text) => (text, &b"\n"[..]),
            None => (*line, &b"\n\\ No newline at end of file\n"[..]),
        };
        put_colored(cmd, wanted, color, &[mark, text])?;
        cmd.put(end)?;
        cmd.sys.work(1)?;
    }
    Ok(())
}

fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => lines.start.to_string(),
        1 => (lines.start + 1).to_string(),
        _ => format!("{},{}", lines.start + 1, lines.end),
    }
}

/// Prints `2c2` and its like.
pub(super) fn normal(
    cmd: &mut Cmd<'_>,
    wanted: &Wanted,
    [old, new]: [&[&[u8]]; 2],
    changes: &[Change],
) -> Result<(), Stop> {
    for change in changes {
        let letter = match (change.old.is_empty(), change.new.is_empty()) {
            (true, _) => 'a',
            (_, true) => 'd',
            _ => 'c',
        };
        let head = format!("{}{letter}{}", range(&change.old), range(&change.new));
        put_colored(cmd, wanted, PLACE, &[head.as_bytes()])?;
        cmd.put(b"\n")?;
        let removed = old.get(change.old.clone()).unwrap_or_default();
        put_lines(cmd, wanted, (b"< ", REMOVED), removed)?;
        if letter == 'c' {
            cmd.put(b"---\n")?;
        }
        let added = new.get(change.new.clone()).unwrap_or_default();
        put_lines(cmd, wanted, (b"> ", ADDED), added)?;
    }
    Ok(())
}

/// Prints hunks with lines of context around them.
pub(super) fn unified(
    cmd: &mut Cmd<'_>,
    wanted: &Wanted,
    names: [&[u8]; 2],
    [old, new]: [&[&[u8]]; 2],
    changes: &[Change],
    context: usize,
) -> Result<(), Stop> {
    for (at, (mark, name)) in [&b"--- "[..], b"+++ "].into_iter().zip(names).enumerate() {
        let line = match wanted.labels.get(at) {
            Some(label) => label.clone(),
            None => [name, b"\t", stamp(cmd, name)?.as_bytes()].concat(),
        };
        put_colored(cmd, wanted, HEADER, &[mark, &line])?;
        cmd.put(b"\n")?;
    }
    let mut rest = changes;
    while let Some(first) = rest.first() {
        let mut count = 1;
        while let (Some(last), Some(next)) = (rest.get(count - 1), rest.get(count)) {
            if next.old.start - last.old.end > context.saturating_mul(2) {
                break;
            }
            count += 1;
        }
        let (hunk, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        let last = hunk.last().unwrap_or(first);
        let lead = usize::min(context, first.old.start);
        let trail = usize::min(context, old.len() - last.old.end);
        let shown = |from: usize, to: usize| match to - from {
            0 => format!("{from},0"),
            1 => (from + 1).to_string(),
            length => format!("{},{length}", from + 1),
        };
        let head = format!(
            "@@ -{} +{} @@",
            shown(first.old.start - lead, last.old.end + trail),
            shown(first.new.start - lead, last.new.end + trail)
        );
        put_colored(cmd, wanted, PLACE, &[head.as_bytes()])?;
        cmd.put(b"\n")?;
        let mut at = first.old.start - lead;
        for change in hunk {
            let context = old.get(at..change.old.start).unwrap_or_default();
            let removed = old.get(change.old.clone()).unwrap_or_default();
            let added = new.get(change.new.clone()).unwrap_or_default();
            put_lines(cmd, wanted, (b" ", CONTEXT), context)?;
            put_lines(cmd, wanted, (b"-", REMOVED), removed)?;
            put_lines(cmd, wanted, (b"+", ADDED), added)?;
            at = change.old.end;
        }
        let after = old.get(at..at + trail).unwrap_or_default();
        put_lines(cmd, wanted, (b" ", CONTEXT), after)?;
        rest = later;
    }
    Ok(())
}

/// Returns when a file was changed, as the header shows it.
fn stamp(cmd: &mut Cmd<'_>, name: &[u8]) -> Result<String, Stop> {
    let time = if name == b"-" {
        cmd.sys.now()
    } else {
        failed(cmd.sys.stat(name, Follow::Yes))?.map_or(Timestamp::default(), |stat| stat.mtime)
    };
    let moment = jiff::Timestamp::new(time.secs, i32::try_from(time.nanos).unwrap_or(0))
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .to_zoned(jiff::tz::TimeZone::UTC);
    Ok(moment.strftime("%Y-%m-%d %H:%M:%S.%9f +0000").to_string())
}
