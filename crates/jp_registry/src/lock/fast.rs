//! Reads a lock file that is in the form we write, and gives up on any other.
//!
//! Every listing reads the whole file, and a thousand tools are 430 kB: TOML's own reader takes ten
//! times as long over it (18 ms to 2 ms). Giving up costs nothing but that time; what is read here is
//! what the other reader would read.

use std::str::Lines;

use super::{Lock, LockedCustom, LockedTool};
use crate::Pinned;

/// Returns the lock, or `None` when the text must be read, or refused, by the general reader.
pub(super) fn read(text: &str) -> Option<Lock> {
    let mut lines = text.lines();
    let head = lines.next()?.starts_with("# ");
    let has_custom = match lines.next()? {
        "version = 1" => false,
        "version = 2" => true,
        _ => return None,
    };
    if !head {
        return None;
    }
    let mut lock = Lock::default();
    let mut line = lines.next();
    while let Some(blank) = line {
        let kind = (blank.is_empty()).then(|| lines.next()).flatten()?;
        line = match kind {
            "[[tool]]" => tool(&mut lines, &mut lock)?,
            "[[custom]]" if has_custom => {
                lock.add_custom(custom(&mut lines)?).ok()?;
                lines.next()
            }
            "[[mcp]]" => {
                let server = value(lines.next()?, "server")?;
                let tool = value(lines.next()?, "tool")?;
                let shown = value(lines.next()?, "shown")?.parse().ok()?;
                lock.add_mcp(server, tool, shown).ok()?;
                lines.next()
            }
            _ => return None,
        };
    }
    Some(lock)
}

/// Reads one tool; returns the line after it.
#[expect(
    clippy::option_option,
    reason = "given up, at the end, or another line"
)]
fn tool<'a>(lines: &mut Lines<'a>, lock: &mut Lock) -> Option<Option<&'a str>> {
    let mut next = |key| value(lines.next()?, key);
    let mut tool = LockedTool {
        name: next("name")?.parse().ok()?,
        id: next("id")?.parse().ok()?,
        version: next("version")?.parse().ok()?,
        registry: next("registry")?.to_owned(),
        sha256: next("sha256")?.parse().ok()?,
        manifest: next("manifest")?.parse().ok()?,
        key: next("key")?.parse().ok()?,
        shown: next("shown")?.parse().ok()?,
        capabilities: next("capabilities")?.parse().ok()?,
        models: Vec::new(),
    };
    let mut line = lines.next();
    if let Some(list) = line.and_then(|line| line.strip_prefix("models = [")) {
        let items = list.strip_suffix(']')?.split(", ");
        tool.models = items.map(pinned).collect::<Option<_>>()?;
        line = lines.next();
    }
    lock.add(tool).ok()?;
    Some(line)
}

fn custom(lines: &mut Lines<'_>) -> Option<LockedCustom> {
    let mut next = |key| value(lines.next()?, key);
    Some(LockedCustom {
        name: next("name")?.parse().ok()?,
        version: next("version")?.parse().ok()?,
        sha256: next("sha256")?.parse().ok()?,
        manifest: next("manifest")?.parse().ok()?,
        key: next("key")?.parse().ok()?,
        shown: next("shown")?.parse().ok()?,
        capabilities: next("capabilities")?.parse().ok()?,
    })
}

fn pinned(item: &str) -> Option<Pinned> {
    let item = item.strip_prefix('"')?.strip_suffix('"')?;
    item.parse().ok()
}

/// Returns what stands between the quotes of `key = "…"`, unless it has anything to unescape.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(key)?.strip_prefix(" = \"")?;
    let value = rest.strip_suffix('"')?;
    (!value.contains(['"', '\\'])).then_some(value)
}
