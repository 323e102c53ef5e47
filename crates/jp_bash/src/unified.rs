//! How two texts differ, as hunks: the virtual `diff -u` itself, in a session of its own and under its limits.

use std::time::Duration;

use jp_bash_system::Bounds;

use crate::bash::Bash;

/// What one comparison may take.
const MAX_MEMORY: u64 = 512 << 20;
const MAX_TIME: Duration = Duration::from_secs(10);

/// The hunks of a unified diff, without the two lines that name the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunks {
    /// The lines, each with a newline.
    pub text: Vec<u8>,
    /// Whether there would be more: a limit was reached.
    pub cut: bool,
}

/// Compares two texts; at most `most` bytes are returned.
#[must_use]
pub fn unified(old: &[u8], new: &[u8], most: u64) -> Hunks {
    // A file that comes or goes has nothing to be compared with.
    if old.is_empty() || new.is_empty() {
        return whole(old, new, most);
    }
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

/// Shows all lines of the side that is not empty.
fn whole(old: &[u8], new: &[u8], most: u64) -> Hunks {
    let (mark, lines) = match new.is_empty() {
        true => (b'-', old),
        false => (b'+', new),
    };
    let count = lines.split_inclusive(|byte| *byte == b'\n').count();
    let range = match count {
        0 => return Hunks::default(),
        1 => "1".to_owned(),
        count => format!("1,{count}"),
    };
    let head = match mark {
        b'-' => format!("@@ -{range} +0,0 @@\n"),
        _ => format!("@@ -0,0 +{range} @@\n"),
    };
    let mut text = head.into_bytes();
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        text.push(mark);
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
        if text.len() as u64 > most {
            text.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            return Hunks { text, cut: true };
        }
    }
    Hunks { text, cut: false }
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
        let hunks = unified(b"", b"a\nb", 1000);
        let text = "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n";
        assert_eq!(String::from_utf8(hunks.text).unwrap(), text);
        assert_eq!(unified(b"a\n", b"", 1000).text, b"@@ -1 +0,0 @@\n-a\n");
        assert_eq!(unified(b"", b"", 1000), Hunks::default());
    }
}
