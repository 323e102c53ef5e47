//! The frame of a line: `{"seq":…,"prev":"…",<body>,"mac":"…"}`. Does not know what bodies say.
//!
//! The MAC covers every byte before `,"mac"`, the MAC of the record before among them. Nothing is
//! parsed and written again, so there is exactly one spelling that verifies.

use crate::{json, key::Keys};

const SEQ: &[u8] = b"{\"seq\":";
const PREV: &[u8] = b",\"prev\":\"";
const MAC: &[u8] = b",\"mac\":\"";
const END: &[u8] = b"\"}";

/// How many bytes a line ends with from `,"mac"` to `}`.
const TRAILER: usize = MAC.len() + 64 + END.len();

/// The longest line that is ever read. Ours stay far below; a hostile file's may not.
pub(crate) const MAX_LINE: usize = 1 << 20;

/// What a body begins with when the log itself speaks instead of a call.
pub(crate) const EVENT: &[u8] = b"\"event\":";
/// The last line of a file that another follows.
pub(crate) const ROTATED: &str = "rotated";
/// Half a record was set aside.
pub(crate) const REPAIRED: &str = "repaired";
/// The head file was gone or damaged, so that records may have been cut off unseen.
pub(crate) const HEAD_LOST: &str = "head_lost";

/// A line taken apart, not yet verified.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) seq: u64,
    pub(crate) prev: [u8; 32],
    pub(crate) body: &'a [u8],
    pub(crate) mac: [u8; 32],
    signed: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Takes a line without its newline apart.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        let (signed, trailer) = line.split_at_checked(line.len().checked_sub(TRAILER)?)?;
        let mac = unhex(trailer.strip_prefix(MAC)?.strip_suffix(END)?)?;
        let rest = signed.strip_prefix(SEQ)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = rest.split_at_checked(digits)?;
        let seq = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let (prev, rest) = rest.strip_prefix(PREV)?.split_at_checked(64)?;
        let body = rest.strip_prefix(b"\",")?;
        Some(Self {
            seq,
            prev: unhex(prev)?,
            body,
            mac,
            signed,
        })
    }

    /// Returns whether the holder of the key wrote this line.
    pub(crate) fn is_authentic(&self, keys: &Keys) -> bool {
        keys.chain(self.signed) == blake3::Hash::from_bytes(self.mac)
    }

    /// Returns whether the log itself wrote this line, to say that `event` happened.
    pub(crate) fn is_event(&self, event: &str) -> bool {
        let text = self
            .body
            .strip_prefix(EVENT)
            .and_then(|rest| rest.strip_prefix(b"\""));
        text.and_then(|rest| rest.strip_prefix(event.as_bytes()))
            .is_some_and(|rest| rest.first() == Some(&b'"'))
    }
}

/// Writes a line with its newline at the end of a buffer, and returns its MAC.
pub(crate) fn write(
    out: &mut Vec<u8>,
    keys: &Keys,
    seq: u64,
    prev: &[u8; 32],
    body: impl FnOnce(&mut Vec<u8>),
) -> [u8; 32] {
    let start = out.len();
    out.extend_from_slice(SEQ);
    json::number(out, seq);
    out.extend_from_slice(PREV);
    json::hex(out, prev);
    out.extend_from_slice(b"\",");
    body(out);
    let mac = *keys.chain(out.get(start..).unwrap_or_default()).as_bytes();
    write_trailer(out, &mac);
    mac
}

/// Writes the end of a line, newline included.
pub(crate) fn write_trailer(out: &mut Vec<u8>, mac: &[u8; 32]) {
    out.extend_from_slice(MAC);
    json::hex(out, mac);
    out.extend_from_slice(END);
    out.push(b'\n');
}

/// Reads 64 lower-case hexadecimal digits. Upper case is refused: a second spelling would be a
/// change that goes unnoticed.
fn unhex(text: &[u8]) -> Option<[u8; 32]> {
    fn digit(byte: u8) -> Option<u8> {
        match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        }
    }
    let text: &[u8; 64] = text.try_into().ok()?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_line_parses_and_every_changed_byte_shows() {
        let (keys, _) = Keys::generate().unwrap();
        let mut line = Vec::new();
        let mac = write(&mut line, &keys, 7, &[3; 32], |out| {
            out.extend_from_slice(b"\"a\":1")
        });
        assert_eq!(line.pop(), Some(b'\n'));
        let frame = Frame::parse(&line).unwrap();
        assert_eq!(
            (frame.seq, frame.prev, frame.body, frame.mac),
            (7, [3; 32], &b"\"a\":1"[..], mac)
        );
        assert!(frame.is_authentic(&keys));
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut changed = line.clone();
                changed[at] ^= 1 << bit;
                assert!(
                    Frame::parse(&changed).is_none_or(|frame| !frame.is_authentic(&keys)),
                    "{at}"
                );
            }
        }
    }

    #[test]
    fn only_a_body_that_begins_with_an_event_is_one() {
        let (keys, _) = Keys::generate().unwrap();
        for (body, expected) in [
            (&b"\"event\":\"rotated\",\"next\":2"[..], true),
            (b"\"event\":\"rotated2\"", false),
            (b"\"tool\":\"\\\"event\\\":\\\"rotated\\\"\"", false),
        ] {
            let mut line = Vec::new();
            write(&mut line, &keys, 1, &[0; 32], |out| {
                out.extend_from_slice(body)
            });
            line.pop();
            assert_eq!(Frame::parse(&line).unwrap().is_event(ROTATED), expected);
        }
    }
}
