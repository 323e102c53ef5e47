//! `xxd -r`: bytes out of a dump.

use jp_bash_system::{PIECE, Stop};

use crate::file::Cmd;
use crate::pace;

/// The most bytes that a dump may leave out before a place that it names.
const MOST_GAP: u64 = 1 << 24;

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// Writes the bytes of a dump. A place that lies ahead is reached with NULs.
pub(super) fn write(cmd: &mut Cmd<'_>, text: &[u8], plain: bool, shift: i64) -> Result<(), Stop> {
    let mut at = 0_u64;
    let mut rest = text;
    loop {
        cmd.sys.work(1)?;
        let end = pace::find(cmd.sys, rest, b'\n')?;
        let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if plain {
            bytes(cmd, line)?;
        } else if let Some((place, digits)) = parse(cmd, line)? {
            let place = place.saturating_add_signed(shift);
            if place > at {
                let gap = place - at;
                if gap > MOST_GAP {
                    return cmd.error(&[b"Sorry, cannot seek."]);
                }
                let gap = usize::try_from(gap).unwrap_or(0);
                cmd.out.repeat(cmd.sys, 0, gap)?;
            } else if place < at {
                return cmd.error(&[b"Sorry, cannot seek backwards."]);
            }
            at = place + bytes(cmd, digits)?;
        }
        match end {
            Some(end) => rest = rest.get(end + 1..).unwrap_or_default(),
            None => return Ok(()),
        }
    }
}

/// Writes what pairs of digits stand for, whatever lies between them; returns how many bytes.
fn bytes(cmd: &mut Cmd<'_>, text: &[u8]) -> Result<u64, Stop> {
    let mut high = None;
    let mut count = 0;
    for piece in text.chunks(PIECE) {
        cmd.sys.work_bytes(piece.len())?;
        for low in piece.iter().filter_map(|byte| digit(*byte)) {
            match high.take() {
                None => high = Some(low),
                Some(high) => {
                    cmd.out.buffer().push(high << 4 | low);
                    count += 1;
                }
            }
        }
        cmd.out.settle(cmd.sys)?;
    }
    Ok(count)
}

/// Reads `PLACE: HEX HEX  text`; two blanks end the bytes. The digits are not yet read, but there is nothing else
/// between them than blanks.
fn parse<'t>(cmd: &mut Cmd<'_>, line: &'t [u8]) -> Result<Option<(u64, &'t [u8])>, Stop> {
    // A place has sixteen digits at most, and maybe blanks around it.
    let near = line.get(..4096).unwrap_or(line);
    let Some(colon) = memchr::memchr(b':', near) else {
        return Ok(None);
    };
    let place = std::str::from_utf8(line.get(..colon).unwrap_or_default().trim_ascii()).ok();
    let Some(place) = place.and_then(|place| u64::from_str_radix(place, 16).ok()) else {
        return Ok(None);
    };
    let rest = line.get(colon + 1..).unwrap_or_default();
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let mut before = 0;
    let good = pace::span(cmd.sys, rest, |byte| {
        let ends = before == b' ' && byte == b' ';
        before = byte;
        !ends && (byte.is_ascii_whitespace() || digit(byte).is_some())
    })?;
    let digits = rest.get(..good).unwrap_or_default();
    let whole = good == rest.len() || (digits.ends_with(b" ") && rest.get(good) == Some(&b' '));
    Ok(whole.then_some((place, digits)))
}
