//! The format of `find -printf`.

use jp_bash_system::{Errno, FileKind, Follow, Stop, Timestamp, failed};

use super::Item;
use super::eval::{Evaluator, kind_letter};
use crate::file::mode::mode_text;
use crate::file::name::{group_name, user_name};
use crate::file::size::blocks;
use crate::file::time;

/// The name of the file system, as `%F` and `-fstype` have it.
pub(super) const FS_TYPE: &[u8] = b"tmpfs";

/// A width that a format may ask for: more is a mistake or an attack.
const MAX_WIDTH: usize = 4096;

/// Writes what a format says of a file.
pub(super) fn render(
    evaluator: &mut Evaluator<'_, '_>,
    item: &Item,
    format: &[u8],
) -> Result<Vec<u8>, Stop> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&b) = format.get(at) {
        at += 1;
        match b {
            b'\\' => {
                if !escape(evaluator, format, &mut at, &mut out)? {
                    break;
                }
            }
            b'%' => directive(evaluator, item, format, &mut at, &mut out)?,
            _ => out.push(b),
        }
    }
    Ok(out)
}

/// Writes an escape; `false` is `\c`, which ends everything.
fn escape(
    evaluator: &mut Evaluator<'_, '_>,
    format: &[u8],
    at: &mut usize,
    out: &mut Vec<u8>,
) -> Result<bool, Stop> {
    let Some(&b) = format.get(*at) else {
        evaluator
            .cmd
            .note(&[b"warning: escape `\\' followed by nothing at all"])?;
        out.push(b'\\');
        return Ok(true);
    };
    *at += 1;
    match b {
        b'a' => out.push(7),
        b'b' => out.push(8),
        b'c' => return Ok(false),
        b'f' => out.push(12),
        b'n' => out.push(b'\n'),
        b'r' => out.push(b'\r'),
        b't' => out.push(b'\t'),
        b'v' => out.push(11),
        b'\\' => out.push(b'\\'),
        b'0'..=b'7' => {
            let mut value = u32::from(b - b'0');
            for _ in 0..2 {
                let Some(digit @ b'0'..=b'7') = format.get(*at) else {
                    break;
                };
                value = value * 8 + u32::from(digit - b'0');
                *at += 1;
            }
            out.push(u8::try_from(value & 0xff).unwrap_or(0));
        }
        _ => {
            evaluator
                .cmd
                .note(&[b"warning: unrecognized escape `\\", &[b], b"'"])?;
            out.extend_from_slice(&[b'\\', b]);
        }
    }
    Ok(true)
}

fn directive(
    evaluator: &mut Evaluator<'_, '_>,
    item: &Item,
    format: &[u8],
    at: &mut usize,
    out: &mut Vec<u8>,
) -> Result<(), Stop> {
    let start = *at;
    let (mut left, mut zero) = (false, false);
    while let Some(flag @ (b'-' | b'+' | b' ' | b'#' | b'0')) = format.get(*at) {
        left |= *flag == b'-';
        zero |= *flag == b'0';
        *at += 1;
    }
    let number = |at: &mut usize| {
        let mut number = 0_usize;
        while let Some(digit) = format.get(*at).filter(|b| b.is_ascii_digit()) {
            number = usize::min(number * 10 + usize::from(digit - b'0'), MAX_WIDTH);
            *at += 1;
        }
        number
    };
    let width = number(at);
    let mut precision = None;
    if format.get(*at) == Some(&b'.') {
        *at += 1;
        precision = Some(number(at));
    }
    let Some(&letter) = format.get(*at) else {
        let rest = format.get(start..).unwrap_or_default();
        out.push(b'%');
        out.extend_from_slice(rest);
        return Ok(());
    };
    *at += 1;
    if letter == b'%' {
        out.push(b'%');
        return Ok(());
    }
    let value = match letter {
        b'A' | b'B' | b'C' | b'T' => {
            let time = match letter {
                b'A' => item.stat.atime,
                b'B' => item.stat.btime,
                b'C' => item.stat.ctime,
                _ => item.stat.mtime,
            };
            let key = format.get(*at).copied();
            *at += usize::from(key.is_some());
            key.map(|key| time_field(evaluator, time, key).into_bytes())
        }
        _ => field(evaluator, item, letter)?,
    };
    let Some(mut text) = value else {
        let shown = [b'%', letter];
        evaluator
            .cmd
            .note(&[b"warning: unrecognized format directive `", &shown, b"'"])?;
        out.extend_from_slice(&shown);
        return Ok(());
    };
    if let Some(precision) = precision.filter(|_| !b"Gbdiknms".contains(&letter)) {
        text.truncate(precision);
    }
    let fill = width.saturating_sub(text.len());
    if left {
        out.extend_from_slice(&text);
        out.resize(out.len() + fill, b' ');
    } else {
        let pad = if zero && b"mGU".contains(&letter) {
            b'0'
        } else {
            b' '
        };
        out.resize(out.len() + fill, pad);
        out.extend_from_slice(&text);
    }
    Ok(())
}

fn field(
    evaluator: &mut Evaluator<'_, '_>,
    item: &Item,
    letter: u8,
) -> Result<Option<Vec<u8>>, Stop> {
    let stat = &item.stat;
    let text = |number: u64| number.to_string().into_bytes();
    Ok(Some(match letter {
        b'a' => ctime(evaluator, stat.atime).into_bytes(),
        b'c' => ctime(evaluator, stat.ctime).into_bytes(),
        b't' => ctime(evaluator, stat.mtime).into_bytes(),
        b'b' => text(blocks(stat)),
        b'k' => text(blocks(stat).div_ceil(2)),
        b'd' => item.depth.to_string().into_bytes(),
        b'D' => text(stat.dev),
        b'f' => item.name().to_vec(),
        b'F' => FS_TYPE.to_vec(),
        b'g' => group_name(evaluator.cmd.sys, stat.gid),
        b'G' => text(u64::from(stat.gid)),
        b'h' => match memchr::memrchr(b'/', &item.path) {
            None => b".".to_vec(),
            Some(at) => item.path.get(..at).unwrap_or_default().to_vec(),
        },
        b'H' => item.path.get(..item.start).unwrap_or_default().to_vec(),
        b'i' => text(stat.ino),
        b'l' => match stat.kind {
            FileKind::Symlink => {
                failed(evaluator.cmd.sys.readlink(&item.path))?.unwrap_or_default()
            }
            _ => Vec::new(),
        },
        b'm' => format!("{:o}", stat.mode).into_bytes(),
        b'M' => mode_text(stat.kind, stat.mode).to_vec(),
        b'n' => text(stat.nlink),
        b'p' => item.path.clone(),
        b'P' => {
            let rest = item.path.get(item.start..).unwrap_or_default();
            rest.strip_prefix(b"/").unwrap_or(rest).to_vec()
        }
        b's' => text(stat.size),
        b'S' => sparseness(blocks(stat), stat.size).into_bytes(),
        b'u' => user_name(evaluator.cmd.sys, stat.uid),
        b'U' => text(u64::from(stat.uid)),
        b'y' => vec![kind_letter(stat)],
        b'Y' => vec![target_letter(evaluator, item)?],
        b'Z' => Vec::new(),
        _ => return Ok(None),
    }))
}

fn target_letter(evaluator: &mut Evaluator<'_, '_>, item: &Item) -> Result<u8, Stop> {
    if item.stat.kind != FileKind::Symlink {
        return Ok(kind_letter(&item.stat));
    }
    Ok(
        match failed(evaluator.cmd.sys.stat(&item.path, Follow::Yes))? {
            Ok(stat) => kind_letter(&stat),
            Err(Errno::NoEnt | Errno::NotDir) => b'N',
            Err(Errno::Loop) => b'L',
            Err(_) => b'?',
        },
    )
}

fn sparseness(blocks: u64, size: u64) -> String {
    if size == 0 {
        return "1".to_owned();
    }
    // Six significant digits, as C's `%g`.
    #[expect(clippy::cast_precision_loss, reason = "six digits are shown")]
    let ratio = (blocks * 512) as f64 / size as f64;
    let digits = if ratio >= 1.0 {
        ratio.log10().floor()
    } else {
        -1.0
    };
    let places = [5_usize, 4, 3, 2, 1, 0]
        .into_iter()
        .find(|places| (5.0 - digits) >= f64::from(u8::try_from(*places).unwrap_or(0)))
        .unwrap_or(0);
    let text = format!("{ratio:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn ctime(evaluator: &Evaluator<'_, '_>, at: Timestamp) -> String {
    let zone = &evaluator.zone;
    format!(
        "{}.{:09}0 {}",
        time::format(at, zone, "%a %b %e %H:%M:%S"),
        at.nanos,
        time::format(at, zone, "%Y")
    )
}

fn time_field(evaluator: &Evaluator<'_, '_>, at: Timestamp, key: u8) -> String {
    let zone = &evaluator.zone;
    let nanos = format!(".{:09}0", at.nanos);
    match key {
        b'@' => format!("{}{nanos}", at.secs),
        b'+' => format!("{}{nanos}", time::format(at, zone, "%Y-%m-%d+%H:%M:%S")),
        b'S' => format!("{}{nanos}", time::format(at, zone, "%S")),
        b'T' | b'X' => format!("{}{nanos}", time::format(at, zone, "%H:%M:%S")),
        _ => time::format(at, zone, &format!("%{}", char::from(key))),
    }
}
