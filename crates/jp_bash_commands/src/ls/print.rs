//! How `ls` writes entries: long lines, columns, commas.

use jiff::tz::TimeZone;
use jp_bash_system::{FileKind, Stat, Stop, Timestamp};

use super::list::{Entry, width};
use super::options::{Format, Indicator, Settings};
use crate::file::mode::mode_text;
use crate::file::name::{group_name, user_name};
use crate::file::size::{blocks, show};
use crate::file::{Cmd, time};
use crate::quote::{self, Style, pieces};

/// Half of a mean year: older times show the year instead of the hour.
const HALF_YEAR: i64 = 31_556_952 / 2;

/// What printing needs to know.
pub(super) struct Printer<'a> {
    pub(super) settings: &'a Settings,
    pub(super) zone: TimeZone,
    pub(super) now: Timestamp,
    /// A colour was used: the first one is preceded by a reset.
    pub(super) colored: bool,
}

/// The widths of the columns before a name.
#[derive(Default)]
struct Widths {
    inode: usize,
    blocks: usize,
    nlink: usize,
    owner: usize,
    group: usize,
    size: usize,
}

impl Printer<'_> {
    /// Prints `total N` where the format has it.
    pub(super) fn total(&self, cmd: &mut Cmd<'_>, entries: &[Entry]) -> Result<(), Stop> {
        if self.settings.format != Format::Long && !self.settings.blocks {
            return Ok(());
        }
        let sum: u64 = entries
            .iter()
            .filter_map(|entry| entry.stat.as_ref().map(blocks))
            .sum();
        let line = format!(
            "total {}",
            show(sum.saturating_mul(512), self.settings.block_scale)
        );
        cmd.put(line.as_bytes())?;
        cmd.put(&[self.settings.end])
    }

    /// Prints entries.
    pub(super) fn entries(&mut self, cmd: &mut Cmd<'_>, entries: &[Entry]) -> Result<(), Stop> {
        let utf8 = cmd.sys.utf8();
        let names: Vec<Vec<u8>> = entries
            .iter()
            .map(|entry| self.name(&entry.name, utf8))
            .collect();
        let aligned = matches!(self.settings.style, Style::Shell | Style::ShellEscape)
            && !matches!(self.settings.format, Format::Single | Format::Commas)
            && names.iter().any(|name| is_quoted(name));
        let widths = self.widths(cmd, entries);
        if self.settings.format == Format::Long {
            for (entry, name) in entries.iter().zip(&names) {
                cmd.sys.work(1)?;
                let mut line = self.long(cmd, entry, &widths);
                if aligned && !is_quoted(name) {
                    line.push(b' ');
                }
                self.shown(&mut line, entry, name, utf8);
                line.push(self.settings.end);
                cmd.put(&line)?;
            }
            return Ok(());
        }
        let mut cells = Vec::with_capacity(entries.len());
        for (entry, name) in entries.iter().zip(&names) {
            let mut cell = self.lead(entry, &widths, self.settings.format == Format::Commas);
            if aligned && !is_quoted(name) {
                cell.push(b' ');
            }
            let lead = cell.len();
            let len = lead
                + width(name, utf8)
                + usize::from(self.mark(entry.kind, entry.stat.as_ref()).is_some());
            self.shown(&mut cell, entry, name, utf8);
            cells.push((cell, len));
        }
        match self.settings.format {
            Format::Columns => self.columns(cmd, &cells, true),
            Format::Across => self.columns(cmd, &cells, false),
            Format::Commas => self.commas(cmd, &cells),
            _ => {
                for (cell, _) in &cells {
                    cmd.put(cell)?;
                    cmd.put(&[self.settings.end])?;
                }
                Ok(())
            }
        }
    }

    /// Appends a name with colour, indicator and, in a long line, what a symlink points to.
    fn shown(&mut self, out: &mut Vec<u8>, entry: &Entry, name: &[u8], utf8: bool) {
        let color = self
            .settings
            .colors
            .as_ref()
            .and_then(|colors| colors.color(entry))
            .map(<[u8]>::to_vec);
        self.colored_text(out, name, color.as_deref());
        let Some((target, stat)) = &entry.target else {
            if let Some(mark) = self.mark(entry.kind, entry.stat.as_ref()) {
                out.push(mark);
            }
            return;
        };
        out.extend_from_slice(b" -> ");
        let there = Entry {
            name: target.clone(),
            kind: stat.map_or(FileKind::Symlink, |stat| stat.kind),
            ino: 0,
            stat: *stat,
            target: None,
            is_dir_to_list: false,
        };
        let color = self
            .settings
            .colors
            .as_ref()
            .and_then(|colors| colors.color(&there))
            .map(<[u8]>::to_vec);
        let text = self.name(target, utf8);
        self.colored_text(out, &text, color.as_deref());
        if let Some(stat) = stat
            && self.settings.indicator != Indicator::None
            && let Some(mark) = self.mark(stat.kind, Some(stat))
        {
            out.push(mark);
        }
    }

    fn colored_text(&mut self, out: &mut Vec<u8>, text: &[u8], color: Option<&[u8]>) {
        let Some(color) = color else {
            return out.extend_from_slice(text);
        };
        if !self.colored {
            out.extend_from_slice(b"\x1b[0m");
            self.colored = true;
        }
        out.extend_from_slice(b"\x1b[");
        out.extend_from_slice(color);
        out.push(b'm');
        out.extend_from_slice(text);
        out.extend_from_slice(b"\x1b[0m");
    }

    /// Returns a name as the quoting style wants it.
    fn name(&self, name: &[u8], utf8: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(name.len() + 2);
        if self.settings.hide_control && self.settings.style == Style::Literal {
            for (piece, shown) in pieces(name, utf8) {
                out.extend_from_slice(if shown { piece } else { b"?" });
            }
        } else {
            quote::append(&mut out, name, self.settings.style, utf8);
        }
        out
    }

    fn mark(&self, kind: FileKind, stat: Option<&Stat>) -> Option<u8> {
        let indicator = self.settings.indicator;
        if indicator == Indicator::None {
            return None;
        }
        match kind {
            FileKind::Directory => Some(b'/'),
            _ if indicator == Indicator::Slash => None,
            FileKind::Symlink => Some(b'@'),
            FileKind::Fifo => Some(b'|'),
            FileKind::Regular
                if indicator == Indicator::Classify
                    && stat.is_some_and(|stat| stat.mode & 0o111 != 0) =>
            {
                Some(b'*')
            }
            _ => None,
        }
    }

    fn widths(&self, cmd: &Cmd<'_>, entries: &[Entry]) -> Widths {
        let mut widths = Widths::default();
        let long = self.settings.format == Format::Long;
        let grow = |width: &mut usize, len: usize| *width = usize::max(*width, len);
        for entry in entries {
            if self.settings.inode {
                grow(&mut widths.inode, entry.ino.to_string().len());
            }
            let Some(stat) = &entry.stat else {
                grow(&mut widths.size, 1);
                grow(&mut widths.owner, 1);
                grow(&mut widths.group, 1);
                grow(&mut widths.nlink, 1);
                continue;
            };
            if self.settings.blocks {
                let text = show(blocks(stat).saturating_mul(512), self.settings.block_scale);
                grow(&mut widths.blocks, text.len());
            }
            if long {
                grow(&mut widths.nlink, stat.nlink.to_string().len());
                grow(&mut widths.owner, self.owner(cmd, stat.uid).len());
                grow(&mut widths.group, self.group(cmd, stat.gid).len());
                grow(&mut widths.size, self.size(stat).len());
            }
        }
        widths
    }

    fn owner(&self, cmd: &Cmd<'_>, uid: u32) -> Vec<u8> {
        match self.settings.numeric {
            true => uid.to_string().into_bytes(),
            false => user_name(cmd.sys, uid),
        }
    }

    fn group(&self, cmd: &Cmd<'_>, gid: u32) -> Vec<u8> {
        match self.settings.numeric {
            true => gid.to_string().into_bytes(),
            false => group_name(cmd.sys, gid),
        }
    }

    fn size(&self, stat: &Stat) -> String {
        match stat.kind {
            FileKind::CharDevice => format!("1, {}", stat.ino),
            _ => show(stat.size, self.settings.file_scale),
        }
    }

    /// Returns inode and blocks, where they are shown.
    fn lead(&self, entry: &Entry, widths: &Widths, tight: bool) -> Vec<u8> {
        let mut line = String::new();
        if self.settings.inode {
            let width = if tight { 0 } else { widths.inode };
            let ino = if entry.ino == 0 {
                "?".to_owned()
            } else {
                entry.ino.to_string()
            };
            line.push_str(&format!("{ino:>width$} "));
        }
        if self.settings.blocks {
            let width = if tight { 0 } else { widths.blocks };
            let text = entry.stat.as_ref().map_or("?".to_owned(), |stat| {
                show(blocks(stat).saturating_mul(512), self.settings.block_scale)
            });
            line.push_str(&format!("{text:>width$} "));
        }
        line.into_bytes()
    }

    fn long(&self, cmd: &Cmd<'_>, entry: &Entry, widths: &Widths) -> Vec<u8> {
        let mut line = self.lead(entry, widths, false);
        let Some(stat) = &entry.stat else {
            let letter = crate::file::mode::kind_letter(entry.kind);
            line.push(letter);
            line.extend_from_slice(b"????????? ");
            pad(&mut line, b"?", widths.nlink, false);
            if self.settings.owner {
                pad(&mut line, b"?", widths.owner, true);
            }
            if self.settings.group {
                pad(&mut line, b"?", widths.group, true);
            }
            pad(&mut line, b"?", widths.size, false);
            line.extend_from_slice(b"           ? ");
            return line;
        };
        line.extend_from_slice(&mode_text(stat.kind, stat.mode));
        line.push(b' ');
        pad(
            &mut line,
            stat.nlink.to_string().as_bytes(),
            widths.nlink,
            false,
        );
        if self.settings.owner {
            pad(
                &mut line,
                &self.owner(cmd, stat.uid),
                widths.owner,
                !self.settings.numeric,
            );
        }
        if self.settings.group {
            pad(
                &mut line,
                &self.group(cmd, stat.gid),
                widths.group,
                !self.settings.numeric,
            );
        }
        if self.settings.author {
            pad(
                &mut line,
                &self.owner(cmd, stat.uid),
                widths.owner,
                !self.settings.numeric,
            );
        }
        pad(&mut line, self.size(stat).as_bytes(), widths.size, false);
        let at = entry.time(self.settings.time);
        let half_ago = Timestamp {
            secs: self.now.secs - HALF_YEAR,
            nanos: self.now.nanos,
        };
        let (old, recent) = &self.settings.time_format;
        let format = if half_ago < at && at <= self.now {
            recent
        } else {
            old
        };
        line.extend_from_slice(time::format(at, &self.zone, format).as_bytes());
        line.push(b' ');
        line
    }

    /// Prints cells in as many columns as fit, downwards or across.
    fn columns(
        &self,
        cmd: &mut Cmd<'_>,
        cells: &[(Vec<u8>, usize)],
        down: bool,
    ) -> Result<(), Stop> {
        let count = cells.len();
        if count == 0 {
            return Ok(());
        }
        let place = |at: usize, columns: usize| {
            let rows = count.div_ceil(columns);
            if down { at / rows } else { at % columns }
        };
        let most = usize::min(count, usize::max(1, self.settings.width / 3));
        let mut widths = vec![0; 1];
        for columns in (1..=most).rev() {
            cmd.sys
                .work(u32::try_from(count / 64 + 1).unwrap_or(u32::MAX))?;
            // Downwards, fewer columns may be used than were asked for.
            let mut tried = vec![0_usize; columns];
            for (at, (_, len)) in cells.iter().enumerate() {
                let column = place(at, columns);
                let last = column + 1 == columns;
                if let Some(width) = tried.get_mut(column) {
                    *width = usize::max(*width, len + if last { 0 } else { 2 });
                }
            }
            let total: usize = tried.iter().map(|width| usize::max(*width, 3)).sum();
            if columns == 1 || total < self.settings.width || self.settings.width == usize::MAX {
                widths = tried;
                break;
            }
        }
        let columns = widths.len();
        let rows = count.div_ceil(columns);
        for row in 0..rows {
            let mut at = 0;
            let mut line = Vec::new();
            let indexes: Vec<usize> = if down {
                (0..columns).map(|column| row + column * rows).collect()
            } else {
                (0..columns).map(|column| row * columns + column).collect()
            };
            let shown: Vec<usize> = indexes.into_iter().filter(|index| *index < count).collect();
            for (column, index) in shown.iter().enumerate() {
                let Some((cell, len)) = cells.get(*index) else {
                    continue;
                };
                line.extend_from_slice(cell);
                let next = widths.iter().take(column + 1).sum::<usize>();
                if column + 1 < shown.len() {
                    self.indent(&mut line, at + len, next);
                    at = next;
                }
            }
            line.push(b'\n');
            cmd.put(&line)?;
        }
        Ok(())
    }

    /// Fills up to a column, with tabs where they save anything.
    fn indent(&self, line: &mut Vec<u8>, from: usize, to: usize) {
        let tab = self.settings.tab;
        let mut from = from;
        while from < to {
            if tab != 0 && to / tab > (from + 1) / tab {
                line.push(b'\t');
                from += tab - from % tab;
            } else {
                line.push(b' ');
                from += 1;
            }
        }
    }

    fn commas(&self, cmd: &mut Cmd<'_>, cells: &[(Vec<u8>, usize)]) -> Result<(), Stop> {
        let mut at: usize = 0;
        for (index, (cell, len)) in cells.iter().enumerate() {
            if index > 0 {
                let fits = self.settings.width == usize::MAX
                    || at.saturating_add(*len).saturating_add(2) < self.settings.width;
                if fits {
                    at += 2;
                    cmd.put(b", ")?;
                } else {
                    at = 0;
                    cmd.put(b",\n")?;
                }
            }
            cmd.put(cell)?;
            at += len;
        }
        if !cells.is_empty() {
            cmd.put(b"\n")?;
        }
        Ok(())
    }
}

fn is_quoted(name: &[u8]) -> bool {
    matches!(name.first(), Some(b'\'' | b'"'))
}

fn pad(line: &mut Vec<u8>, text: &[u8], width: usize, left: bool) {
    let fill = width.saturating_sub(text.len());
    if !left {
        line.resize(line.len() + fill, b' ');
    }
    line.extend_from_slice(text);
    if left {
        line.resize(line.len() + fill, b' ');
    }
    line.push(b' ');
}
