//! Sizes for people: `-h`, `--si`, `--block-size`.

use crate::numbers::{BadNumber, size};

/// How sizes are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// In units of that many bytes, rounded up, with a suffix to print.
    Blocks(u64, &'static str),
    /// `1.5K`: powers of 1024 or 1000.
    Human(u64),
}

/// Shows a number of bytes.
pub(crate) fn show(bytes: u64, scale: Scale) -> String {
    match scale {
        Scale::Blocks(unit, suffix) => format!("{}{suffix}", bytes.div_ceil(u64::max(unit, 1))),
        Scale::Human(base) => human(bytes, base),
    }
}

fn human(bytes: u64, base: u64) -> String {
    if bytes < base {
        return bytes.to_string();
    }
    let letters = if base == 1024 { "KMGTPEZ" } else { "kMGTPEZ" };
    let mut unit = u128::from(base);
    let bytes = u128::from(bytes);
    for letter in letters.chars() {
        let tenths = (bytes * 10).div_ceil(unit);
        if tenths < 100 {
            return format!("{}.{}{letter}", tenths / 10, tenths % 10);
        }
        let whole = bytes.div_ceil(unit);
        if whole < u128::from(base) {
            return format!("{whole}{letter}");
        }
        unit *= u128::from(base);
    }
    bytes.to_string()
}

/// Reads the block size that the environment asks for: a command's own, then the one for all.
pub(crate) fn block_size_of(env: impl Fn(&[u8]) -> Option<Vec<u8>>, own: &[u8]) -> Option<Scale> {
    let names: [&[u8]; 3] = [own, b"BLOCK_SIZE", b"BLOCKSIZE"];
    let text = names.into_iter().find_map(env)?;
    parse_block_size(&text)
}

/// Returns GNU's message about a block size that is none.
pub(crate) fn bad_block_size(option: &[u8], text: &[u8]) -> Vec<u8> {
    let bad = size(text, b"eEgGkKmMpPtTyYzZ0").err();
    bad.unwrap_or(BadNumber::Invalid).of_option(option, text)
}

/// Reads `--block-size`; `None` if it is none.
pub(crate) fn parse_block_size(text: &[u8]) -> Option<Scale> {
    let text = std::str::from_utf8(text)
        .ok()
        .filter(|text| !text.is_empty())?;
    let text = text.strip_prefix('\'').unwrap_or(text);
    match text {
        "human-readable" => return Some(Scale::Human(1024)),
        "si" => return Some(Scale::Human(1000)),
        _ => {}
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (count, unit) = text.split_at(digits);
    let number: u64 = if count.is_empty() {
        1
    } else {
        count.parse().ok()?
    };
    let (factor, suffix) = unit_of(unit)?;
    let suffix = if count.is_empty() { suffix } else { "" };
    number
        .checked_mul(factor)
        .filter(|unit| *unit > 0)
        .map(|unit| Scale::Blocks(unit, suffix))
}

fn unit_of(unit: &str) -> Option<(u64, &'static str)> {
    const UNITS: &[(&str, u64, &str)] = &[
        ("", 1, ""),
        ("B", 1, ""),
        ("K", 1 << 10, "K"),
        ("k", 1 << 10, "K"),
        ("KiB", 1 << 10, "K"),
        ("KB", 1_000, "kB"),
        ("kB", 1_000, "kB"),
        ("M", 1 << 20, "M"),
        ("MiB", 1 << 20, "M"),
        ("MB", 1_000_000, "MB"),
        ("G", 1 << 30, "G"),
        ("GiB", 1 << 30, "G"),
        ("GB", 1_000_000_000, "GB"),
        ("T", 1 << 40, "T"),
        ("TiB", 1 << 40, "T"),
        ("TB", 1_000_000_000_000, "TB"),
        ("P", 1 << 50, "P"),
        ("PiB", 1 << 50, "P"),
        ("E", 1 << 60, "E"),
        ("EiB", 1 << 60, "E"),
    ];
    UNITS
        .iter()
        .find(|(name, ..)| *name == unit)
        .map(|(_, factor, suffix)| (*factor, *suffix))
}

/// Returns the 512-byte blocks that a file takes, as ext4 would count them.
pub(crate) fn blocks(stat: &jp_bash_system::Stat) -> u64 {
    use jp_bash_system::FileKind;
    match stat.kind {
        FileKind::Symlink if stat.size < 60 => 0,
        FileKind::Fifo | FileKind::CharDevice => 0,
        _ => stat.size.div_ceil(4096).saturating_mul(8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_as_gnu_does() {
        for (bytes, shown) in [
            (0, "0"),
            (1023, "1023"),
            (1024, "1.0K"),
            (1025, "1.1K"),
            (1536, "1.5K"),
            (10_138, "10K"),
            (10_240, "10K"),
            (1 << 20, "1.0M"),
            ((1 << 20) - 1, "1.0M"),
            (1_000_000, "977K"),
        ] {
            assert_eq!(show(bytes, Scale::Human(1024)), shown, "{bytes}");
        }
        assert_eq!(show(1_000_000, Scale::Human(1000)), "1.0M");
        assert_eq!(parse_block_size(b"1K"), Some(Scale::Blocks(1024, "")));
        assert_eq!(parse_block_size(b"M"), Some(Scale::Blocks(1 << 20, "M")));
        assert_eq!(parse_block_size(b"0"), None);
        assert_eq!(parse_block_size(b"zz"), None);
    }
}
