//! `xxd -r`: bytes out of a dump.

use crate::commands::file::Cmd;
use crate::stop::Stop;

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
    for line in text.split(|byte| *byte == b'\n') {
        cmd.sys.work(1)?;
        if plain {
            let digits: Vec<u8> = line.iter().filter_map(|byte| digit(*byte)).collect();
            let bytes: Vec<u8> = digits.chunks_exact(2).map(join).collect();
            cmd.put(&bytes)?;
            continue;
        }
        let Some((place, bytes)) = parse(line) else {
            continue;
        };
        let place = place.saturating_add_signed(shift);
        if place > at {
            let gap = place - at;
            if gap > MOST_GAP {
                return cmd.error(&[b"Sorry, cannot seek."]);
            }
            cmd.put(&vec![0; usize::try_from(gap).unwrap_or(0)])?;
        } else if place < at {
            return cmd.error(&[b"Sorry, cannot seek backwards."]);
        }
        cmd.put(&bytes)?;
        at = place + u64::try_from(bytes.len()).unwrap_or(0);
    }
    Ok(())
}

fn join(pair: &[u8]) -> u8 {
    pair.iter().fold(0, |sum, digit| sum << 4 | digit)
}

/// Reads `PLACE: HEX HEX  text`; two blanks end the bytes.
fn parse(line: &[u8]) -> Option<(u64, Vec<u8>)> {
    let colon = memchr::memchr(b':', line)?;
    let place = std::str::from_utf8(line.get(..colon)?.trim_ascii()).ok()?;
    let place = u64::from_str_radix(place, 16).ok()?;
    let rest = line.get(colon + 1..)?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let end = memchr::memmem::find(rest, b"  ").unwrap_or(rest.len());
    let digits: Option<Vec<u8>> = rest
        .get(..end)?
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| digit(*byte))
        .collect();
    Some((place, digits?.chunks_exact(2).map(join).collect()))
}
