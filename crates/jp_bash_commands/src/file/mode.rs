//! Permission bits: `rwx` texts, and the modes that `chmod`, `mkdir -m` and `find -perm` read.

use jp_bash_system::FileKind;

/// One step of a mode: who, what to do, which bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    /// The bits that the step may touch.
    mask: u32,
    /// Whether "who" was given; without it the umask holds.
    named: bool,
    op: u8,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Bits in all three classes, and whether `X` was among them.
    Bits { bits: u32, special_x: bool },
    /// Copied from a class: `u`, `g` or `o` by its shift.
    Copy(u32),
    /// An octal number; for a directory, set-id bits stay unless mentioned.
    Octal { bits: u32, mentioned: u32 },
}

/// A mode that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mode {
    steps: Vec<Step>,
}

/// Reads a mode; `None` if it is none.
pub(crate) fn parse_mode(text: &[u8]) -> Option<Mode> {
    if text.first().is_some_and(u8::is_ascii_digit) {
        let bits = octal(text)?;
        // With five digits or more, set-id bits of directories are meant too.
        let mentioned = if text.len() < 5 {
            bits & 0o6000 | 0o1777
        } else {
            0o7777
        };
        return Some(Mode {
            steps: vec![Step {
                mask: 0o7777,
                named: true,
                op: b'=',
                what: What::Octal { bits, mentioned },
            }],
        });
    }
    let mut steps = Vec::new();
    for clause in text.split(|b| *b == b',') {
        parse_clause(clause, &mut steps)?;
    }
    Some(Mode { steps })
}

fn parse_clause(clause: &[u8], steps: &mut Vec<Step>) -> Option<()> {
    let whose = clause
        .iter()
        .take_while(|b| matches!(b, b'u' | b'g' | b'o' | b'a'))
        .count();
    let (who, mut rest) = clause.split_at_checked(whose)?;
    let mut mask = 0;
    for b in who {
        mask |= match b {
            b'u' => 0o4700,
            b'g' => 0o2070,
            b'o' => 0o1007,
            _ => 0o7777,
        };
    }
    let named = mask != 0;
    let mask = if named { mask } else { 0o7777 };
    if rest.is_empty() {
        return None;
    }
    while let Some((&op, tail)) = rest.split_first() {
        if !matches!(op, b'+' | b'-' | b'=') {
            return None;
        }
        let len = tail
            .iter()
            .take_while(|b| !matches!(b, b'+' | b'-' | b'='))
            .count();
        let (perms, after) = tail.split_at_checked(len)?;
        steps.push(Step {
            mask,
            named,
            op,
            what: parse_perms(perms)?,
        });
        rest = after;
    }
    Some(())
}

fn parse_perms(perms: &[u8]) -> Option<What> {
    match perms {
        b"u" => return Some(What::Copy(6)),
        b"g" => return Some(What::Copy(3)),
        b"o" => return Some(What::Copy(0)),
        _ => {}
    }
    if perms.first().is_some_and(u8::is_ascii_digit) {
        let bits = octal(perms)?;
        return Some(What::Octal {
            bits,
            mentioned: 0o7777,
        });
    }
    let mut bits = 0;
    let mut special_x = false;
    for b in perms {
        match b {
            b'r' => bits |= 0o444,
            b'w' => bits |= 0o222,
            b'x' => bits |= 0o111,
            b'X' => special_x = true,
            b's' => bits |= 0o6000,
            b't' => bits |= 0o1000,
            _ => return None,
        }
    }
    Some(What::Bits { bits, special_x })
}

fn octal(text: &[u8]) -> Option<u32> {
    let mut value: u32 = 0;
    for b in text {
        if !(b'0'..=b'7').contains(b) {
            return None;
        }
        value = value.checked_mul(8)?.checked_add(u32::from(b - b'0'))?;
        if value > 0o7777 {
            return None;
        }
    }
    Some(value)
}

impl Mode {
    /// Returns the mode that a file with these bits gets.
    pub(crate) fn apply(&self, old: u32, is_dir: bool, umask: u32) -> u32 {
        let mut mode = old & 0o7777;
        for step in &self.steps {
            let mut value = match step.what {
                What::Bits { bits, special_x } => {
                    let x = special_x && (is_dir || mode & 0o111 != 0);
                    bits | if x { 0o111 } else { 0 }
                }
                What::Copy(shift) => {
                    let bits = (mode >> shift) & 7;
                    bits | bits << 3 | bits << 6
                }
                What::Octal { bits, .. } => bits,
            };
            let mut mask = step.mask;
            if !step.named {
                value &= !umask;
            }
            value &= mask;
            // Setting a directory's bits keeps its set-id bits unless they are mentioned.
            if is_dir && step.op == b'=' {
                let mentioned = match step.what {
                    What::Octal { mentioned, .. } => mentioned,
                    What::Bits { bits, .. } => bits & 0o6000 | 0o1777,
                    What::Copy(_) => 0o1777,
                };
                mask &= mentioned | 0o1777;
            }
            // Without "who", `=` clears everything but what the umask protects is not set again.
            mode = match step.op {
                b'+' => mode | value,
                b'-' => mode & !value,
                _ => mode & !mask | value,
            };
        }
        mode
    }
}

/// Writes the ten characters of `ls -l`.
pub(crate) fn mode_text(kind: FileKind, mode: u32) -> [u8; 10] {
    let bit = |mask: u32, letter: u8| if mode & mask != 0 { letter } else { b'-' };
    let special = |x: u32, s: u32, low: u8, high: u8| match (mode & x != 0, mode & s != 0) {
        (true, true) => low,
        (false, true) => high,
        (true, false) => b'x',
        (false, false) => b'-',
    };
    [
        kind_letter(kind),
        bit(0o400, b'r'),
        bit(0o200, b'w'),
        special(0o100, 0o4000, b's', b'S'),
        bit(0o040, b'r'),
        bit(0o020, b'w'),
        special(0o010, 0o2000, b's', b'S'),
        bit(0o004, b'r'),
        bit(0o002, b'w'),
        special(0o001, 0o1000, b't', b'T'),
    ]
}

/// Returns the first letter of `ls -l`.
pub(crate) fn kind_letter(kind: FileKind) -> u8 {
    match kind {
        FileKind::Regular => b'-',
        FileKind::Directory => b'd',
        FileKind::Symlink => b'l',
        FileKind::Fifo => b'p',
        FileKind::CharDevice => b'c',
    }
}

/// Returns the type bits of `st_mode`.
pub(crate) fn kind_bits(kind: FileKind) -> u32 {
    match kind {
        FileKind::Regular => 0o100_000,
        FileKind::Directory => 0o040_000,
        FileKind::Symlink => 0o120_000,
        FileKind::Fifo => 0o010_000,
        FileKind::CharDevice => 0o020_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_change_bits_as_chmod_does() {
        for (text, old, dir, new) in [
            ("755", 0o644, false, 0o755),
            ("u+x", 0o644, false, 0o744),
            ("+x", 0o644, false, 0o755),
            ("+w", 0o444, false, 0o644),
            ("a=r,u+w", 0o777, false, 0o644),
            ("g=u", 0o640, false, 0o660),
            ("o-r,g-r", 0o644, false, 0o600),
            ("+X", 0o644, false, 0o644),
            ("+X", 0o644, true, 0o755),
            ("u+s", 0o755, false, 0o4755),
            ("755", 0o2700, true, 0o2755),
            ("00755", 0o2700, true, 0o755),
            ("=", 0o644, false, 0o000),
            ("u=rwx,go=", 0o644, false, 0o700),
            ("ug+rw-x", 0o711, false, 0o661),
        ] {
            let mode = parse_mode(text.as_bytes()).unwrap();
            assert_eq!(mode.apply(old, dir, 0o022), new, "{text}");
        }
        for text in ["", "z", "u", "8", "u+z", "77777", "u+x,"] {
            assert_eq!(parse_mode(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_ten_characters_show_every_bit() {
        assert_eq!(&mode_text(FileKind::Directory, 0o1777), b"drwxrwxrwt");
        assert_eq!(&mode_text(FileKind::Regular, 0o6644), b"-rwSr-Sr--");
    }
}
