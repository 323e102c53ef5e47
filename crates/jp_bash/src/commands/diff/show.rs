//! The normal and the unified form.

use std::ops::Range;

use super::Wanted;
use super::edit::Change;
use crate::commands::file::Cmd;
use crate::stop::Stop;
use crate::system::{Follow, Timestamp, failed};

fn put_lines(cmd: &mut Cmd<'_>, mark: &[u8], lines: &[&[u8]]) -> Result<(), Stop> {
    for line in lines {
        cmd.put(mark)?;
        cmd.put(line)?;
        if !line.ends_with(b"\n") {
            cmd.put(b"\n\\ No newline at end of file\n")?;
        }
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
    [old, new]: [&[&[u8]]; 2],
    changes: &[Change],
) -> Result<(), Stop> {
    for change in changes {
        let letter = match (change.old.is_empty(), change.new.is_empty()) {
            (true, _) => 'a',
            (_, true) => 'd',
            _ => 'c',
        };
        let head = format!("{}{letter}{}\n", range(&change.old), range(&change.new));
        cmd.put(head.as_bytes())?;
        put_lines(cmd, b"< ", old.get(change.old.clone()).unwrap_or_default())?;
        if letter == 'c' {
            cmd.put(b"---\n")?;
        }
        put_lines(cmd, b"> ", new.get(change.new.clone()).unwrap_or_default())?;
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
        cmd.put(&[mark, &line, b"\n"].concat())?;
    }
    let mut rest = changes;
    while let Some(first) = rest.first() {
        let mut count = 1;
        while let (Some(last), Some(next)) = (rest.get(count - 1), rest.get(count)) {
            if next.old.start - last.old.end > 2 * context {
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
            "@@ -{} +{} @@\n",
            shown(first.old.start - lead, last.old.end + trail),
            shown(first.new.start - lead, last.new.end + trail)
        );
        cmd.put(head.as_bytes())?;
        let mut at = first.old.start - lead;
        for change in hunk {
            put_lines(cmd, b" ", old.get(at..change.old.start).unwrap_or_default())?;
            put_lines(cmd, b"-", old.get(change.old.clone()).unwrap_or_default())?;
            put_lines(cmd, b"+", new.get(change.new.clone()).unwrap_or_default())?;
            at = change.old.end;
        }
        put_lines(cmd, b" ", old.get(at..at + trail).unwrap_or_default())?;
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
