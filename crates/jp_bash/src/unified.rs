//! How two texts differ, as hunks: the virtual `diff -u` itself, in a session of its own and under its limits.

use std::time::Duration;

use crate::bash::Bash;
use crate::budget::Bounds;

/// What one comparison may take.
const MAX_MEMORY: u64 = 512 << 20;
const MAX_TIME: Duration = Duration::from_secs(10);

/// The hunks of a unified diff, without the two lines that name the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunks {
    /// The lines, each with a newline.
    pub text: Vec<u8>,
    /// Whether there would be more: a limit was reached.
    pub cut: bool,
}

/// Compares two texts; at most `most` bytes are returned.
#[must_use]
pub fn unified(old: &[u8], new: &[u8], most: u64) -> Hunks {
    let head = b"--- o\n+++ n\n";
    let bounds = Bounds {
        output: most.saturating_add(head.len() as u64),
        memory: MAX_MEMORY,
        time: MAX_TIME,
        ..Bounds::default()
    };
    let mut bash = Bash::builder()
        .limits(bounds)
        .file("/tmp/o", old)
        .file("/tmp/n", new)
        .build();
    let result = bash.exec(b"diff -a -u --label o --label n /tmp/o /tmp/n");
    let text = result.stdout.strip_prefix(head).unwrap_or_default();
    Hunks {
        text: text.to_vec(),
        cut: result.error.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_those_of_diff_and_a_cut_is_told() {
        let hunks = unified(b"a\nb\n", b"a\nc", 1000);
        let text = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n";
        assert_eq!(String::from_utf8(hunks.text).unwrap(), text);
        assert!(!hunks.cut);
        assert_eq!(unified(b"same", b"same", 1000).text, b"");
        let many = "line\n".repeat(1000);
        let hunks = unified(b"", many.as_bytes(), 100);
        assert!(hunks.cut && hunks.text.len() == 100, "{hunks:?}");
    }
}
