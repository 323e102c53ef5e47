//! `base64`: bytes as letters and back.

use jp_bash_system::io::Held;
use jp_bash_system::{PIECE, Stop, System};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::{BadNumber, size};
use super::options::{Opt, Takes, opt};
use super::whole::read_whole;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "base64",
    about: "Encodes or decodes base64.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('d', Some(b'd'), Some("decode"), Takes::Nothing),
    opt('i', Some(b'i'), Some("ignore-garbage"), Takes::Nothing),
    opt('w', Some(b'w'), Some("wrap"), Takes::Required),
    HELP,
    VERSION,
];

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Runs `base64`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let (mut decode, mut ignore, mut wrap) = (false, false, 76_usize);
    for (id, value) in &parsed.options {
        match id {
            'd' => decode = true,
            'i' => ignore = true,
            'w' => {
                let text = value.as_deref().unwrap_or_default();
                match size(text, b"") {
                    // A line that is longer than all there is does not end.
                    Ok(width) => wrap = usize::try_from(width).unwrap_or(0),
                    Err(BadNumber::Overflow) => wrap = 0,
                    Err(_) => {
                        let shown = cmd.quote(text);
                        cmd.error(&[b"invalid wrap size: ", &shown])?;
                        return cmd.finish();
                    }
                }
            }
            _ => {}
        }
    }
    if let Some(extra) = parsed.operands.get(1) {
        let shown = cmd.quote(extra);
        return cmd.usage(&[b"extra operand ", &shown]);
    }
    let file = parsed.operands.first().map_or(&b"-"[..], Vec::as_slice);
    let mut held = Held::default();
    match read_whole(cmd.sys, file, &mut held)? {
        Ok(text) if decode => {
            let good = decoded(&mut cmd, &text, ignore)?;
            if !good {
                cmd.out.flush(cmd.sys)?;
                cmd.error(&[b"invalid input"])?;
            }
        }
        Ok(text) => encode(&mut cmd, &text, wrap)?,
        Err(errno) => {
            let name = cmd.qf(file);
            cmd.fail(&[&name], errno)?;
        }
    }
    held.end(cmd.sys);
    cmd.finish()
}

fn encode(cmd: &mut Cmd<'_>, text: &[u8], wrap: usize) -> Result<(), Stop> {
    let mut column = 0;
    for chunk in text.chunks(3) {
        let mut three = [0; 3];
        for (slot, byte) in three.iter_mut().zip(chunk) {
            *slot = *byte;
        }
        let [a, b, c] = three;
        let bits = u32::from(a) << 16 | u32::from(b) << 8 | u32::from(c);
        for place in 0..4_usize {
            let byte = if place > chunk.len() {
                b'='
            } else {
                let six = bits >> (18 - 6 * place) & 63;
                ALPHABET.get(six as usize).copied().unwrap_or(b'A')
            };
            if wrap > 0 && column == wrap {
                cmd.out.buffer().push(b'\n');
                column = 0;
            }
            cmd.out.buffer().push(byte);
            column += 1;
        }
        cmd.out.settle(cmd.sys)?;
    }
    if wrap > 0 && column > 0 {
        cmd.put(b"\n")?;
    }
    Ok(())
}

/// Writes what the text encodes; `false` at the first thing that is wrong.
fn decoded(cmd: &mut Cmd<'_>, text: &[u8], ignore: bool) -> Result<bool, Stop> {
    let mut group = [0_u8; 4];
    let mut count = 0;
    let mut pads = 0;
    for (at, byte) in text.iter().enumerate() {
        if at.is_multiple_of(PIECE) {
            cmd.sys.work_bytes(PIECE)?;
        }
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' if count >= 2 => {
                pads += 1;
                0
            }
            b'\n' => continue,
            _ if ignore => continue,
            _ => {
                put_group(cmd, group, count.min(4))?;
                return Ok(false);
            }
        };
        if pads > 0 && *byte != b'=' {
            return Ok(false);
        }
        if let Some(slot) = group.get_mut(count) {
            *slot = value;
        }
        count += 1;
        if count == 4 {
            put_group(cmd, group, 4 - pads)?;
            (group, count, pads) = ([0; 4], 0, 0);
        }
    }
    put_group(cmd, group, count)?;
    Ok(count == 0)
}

fn put_group(cmd: &mut Cmd<'_>, group: [u8; 4], letters: usize) -> Result<(), Stop> {
    let [a, b, c, d] = group;
    let bytes = [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d];
    let length = letters.saturating_sub(1).min(3);
    cmd.put(bytes.get(..length).unwrap_or_default())
}
