//! Shows bytes that may not be text: names of files, and lines of them.

use alloc::{format, string::String};

use crate::{escape, is_hidden};

/// Shows a path as one word on one line, in quotes unless it is plain.
#[must_use]
pub fn path_word(path: &[u8]) -> String {
    let mut out = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '"' => out.extend(['\\', c]),
                c if is_hidden(c) => out.extend(c.escape_default()),
                c => out.push(c),
            }
        }
        push_bytes(&mut out, chunk.invalid());
    }
    match out.is_empty() || out.contains(['\\', '"', ' ']) {
        true => format!("\"{out}\""),
        false => out,
    }
}

/// Shows a line of a file; bytes that are not text are shown as numbers.
#[must_use]
pub fn line_of_bytes(line: &[u8]) -> String {
    let mut out = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        out.push_str(&escape(chunk.valid()));
        push_bytes(&mut out, chunk.invalid());
    }
    out
}

fn push_bytes(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        out.push_str(&format!("\\x{byte:02x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_on_one_line_whatever_it_is() {
        let cases: [(&[u8], &str); 6] = [
            (b"src/main.rs", "src/main.rs"),
            ("é/漢".as_bytes(), "é/漢"),
            (b"a b", "\"a b\""),
            (b"a\nM b\x1b[2J\xff", "\"a\\nM b\\u{1b}[2J\\xff\""),
            (b"a\"\\", "\"a\\\"\\\\\""),
            (b"", "\"\""),
        ];
        for (path, shown) in cases {
            assert_eq!(path_word(path), shown);
        }
        assert_eq!(line_of_bytes(b"a\tb\r\xff"), "a\tb\\r\\xff");
    }
}
