//! `--diff`: what a script changed in an overlay, as a unified diff that no name and no content can forge.
//!
//! A line that starts with a letter is ours; lines of files start with a space, `+`, `-`, `@` or a backslash.

use std::io;

use jp_bash::{ApplyError, Bash, Change, ChangeKind, FileKind, Side, unified};

use super::mount::Mounted;
use crate::{error::CliError, text, ui::Ui};

/// The largest file that is compared.
const MAX_CONTENT: usize = 1 << 20;
/// The most that is shown of one file, and of all of them, in bytes.
const MAX_FILE: usize = 64 << 10;
const MAX_ALL: usize = 512 << 10;

/// Shows the changes of one overlay on standard error.
pub(super) fn show(mounted: &Mounted, bash: &mut Bash, ui: &Ui) -> Result<(), CliError> {
    let mount = mounted.path.as_bytes();
    let failed = |error: ApplyError| CliError::System {
        what: format!("cannot show what changed in {}", mounted.shown()),
        source: io::Error::other(error.to_string()),
    };
    let changes = bash.diff(mount).map_err(failed)?;
    let mut shown = 0;
    for (at, change) in changes.iter().enumerate() {
        if shown > MAX_ALL {
            let (left, limit) = (changes.len() - at, MAX_ALL >> 10);
            ui.say(format_args!(
                "(cut: {left} more changes are not shown, the limit is {limit} KiB)"
            ));
            return Ok(());
        }
        let [old, new] = bash
            .sides(mount, &change.path, MAX_CONTENT + 1)
            .map_err(failed)?;
        let text = one(mount, change, old.as_ref(), new.as_ref());
        shown += text.len();
        ui.write(&text);
    }
    Ok(())
}

/// Shows one change.
fn one(mount: &[u8], change: &Change, old: Option<&Side>, new: Option<&Side>) -> String {
    let (letter, old, new) = match change.kind {
        ChangeKind::Added => ('A', None, new),
        ChangeKind::Modified => ('M', old, new),
        ChangeKind::Deleted => ('D', old, None),
    };
    let slash: &[u8] = match change.file {
        FileKind::Directory => b"/",
        _ => b"",
    };
    let path = [mount, b"/", &change.path, slash].concat();
    let path = text::path_word(&path);
    let mut notes = Vec::new();
    let mut body = String::new();
    match change.file {
        FileKind::Regular => contents(&path, old, new, &mut notes, &mut body),
        FileKind::Fifo => notes.push("FIFO, cannot be applied".to_owned()),
        FileKind::CharDevice => notes.push("special file, cannot be applied".to_owned()),
        _ => {}
    }
    notes.extend(modes(change.file, old, new));
    let notes = match notes.is_empty() {
        true => String::new(),
        false => format!(" ({})", notes.join(", ")),
    };
    format!(
        "{letter} {path}{}{notes}\n{body}",
        target(change.file, old, new)
    )
}

/// Says where a link leads.
fn target(file: FileKind, old: Option<&Side>, new: Option<&Side>) -> String {
    let content = |side: &Side| text::path_word(&side.content);
    match (file, old, new) {
        (FileKind::Symlink, Some(old), Some(new)) if old.content != new.content => {
            format!(" -> {} (was {})", content(new), content(old))
        }
        (FileKind::Symlink, old, new) => new
            .or(old)
            .map_or(String::new(), |side| format!(" -> {}", content(side))),
        _ => String::new(),
    }
}

/// Says which mode something gets, where that is not the usual one.
fn modes(file: FileKind, old: Option<&Side>, new: Option<&Side>) -> Option<String> {
    match (old, new) {
        (Some(old), Some(new)) if old.mode != new.mode && file != FileKind::Symlink => {
            Some(format!("mode {:03o} -> {:03o}", old.mode, new.mode))
        }
        (None, Some(new)) if file == FileKind::Regular && new.mode & 0o7111 != 0 => {
            Some(format!("mode {:03o}", new.mode))
        }
        (None, Some(new)) if file == FileKind::Directory && new.mode & 0o7000 != 0 => {
            Some(format!("mode {:03o}", new.mode))
        }
        _ => None,
    }
}

fn contents(
    path: &str,
    old: Option<&Side>,
    new: Option<&Side>,
    notes: &mut Vec<String>,
    body: &mut String,
) {
    // Something of another kind is a change of its own.
    let file = |side: Option<&Side>| side.is_none_or(|side| side.file == FileKind::Regular);
    if !file(old) || !file(new) {
        return;
    }
    let before = old.map_or(&[][..], |side| side.content.as_slice());
    let after = new.map_or(&[][..], |side| side.content.as_slice());
    let sizes = match (old, new) {
        (Some(old), Some(new)) => format!("{} -> {} bytes", old.size, new.size),
        (old, new) => format!("{} bytes", old.or(new).map_or(0, |side| side.size)),
    };
    if before.len() > MAX_CONTENT || after.len() > MAX_CONTENT {
        notes.push(format!("{sizes}, too large to show"));
        return;
    }
    if before == after && old.is_some() && new.is_some() {
        notes.push("same contents".to_owned());
        return;
    }
    if before.contains(&0) || after.contains(&0) {
        notes.push(format!("binary, {sizes}"));
        return;
    }
    let hunks = unified(before, after, MAX_FILE as u64);
    if hunks.text.is_empty() && !hunks.cut {
        return;
    }
    let named = |side: Option<&Side>| if side.is_some() { path } else { "/dev/null" };
    body.push_str(&format!("--- {}\n+++ {}\n", named(old), named(new)));
    for line in hunks.text.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        body.push_str(&text::line_of_bytes(line));
        body.push('\n');
    }
    if hunks.cut {
        let limit = MAX_FILE >> 10;
        body.push_str(&format!(
            "(cut: the rest of this diff is not shown, the limit is {limit} KiB)\n"
        ));
    }
}
