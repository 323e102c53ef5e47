//! Text of strangers on a terminal: nothing in it may move the cursor, recolour, or hide.

use std::borrow::Cow;

/// Makes every character visible that a terminal would obey or not show, except newline and tab.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_treacherous) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_treacherous(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Escapes what stands behind a label such as `error:`. Further lines are indented: one that a stranger
/// wrote could pass for a message of ours.
pub(crate) fn message(text: &str) -> String {
    let escaped = escape(text);
    let mut lines = escaped.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let is_set_off = line.is_empty() || line.starts_with([' ', '\t']);
        out.push_str(if is_set_off { "\n" } else { "\n  " });
        out.push_str(line);
    }
    out
}

/// Shows a name of a file as one word on one line, in quotes unless it is plain.
pub(crate) fn name(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '"' => out.extend(['\\', c]),
                '\n' | '\t' => out.extend(c.escape_default()),
                c if is_treacherous(c) => out.extend(c.escape_default()),
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
pub(crate) fn line(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
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

/// Escapes a text and puts it on one line.
pub(crate) fn one_line(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    escape(first.unwrap_or_default().trim()).replace('\t', " ")
}

/// Shortens a text that is shown in a row, and says so with an ellipsis.
pub(crate) fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some(_) => {
            let kept: String = text.chars().take(most.saturating_sub(1)).collect();
            Cow::Owned(format!("{kept}…"))
        }
        None => Cow::Borrowed(text),
    }
}

/// Tells whether a terminal would obey the character or not show it.
pub(crate) fn is_treacherous(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // C0, DEL and C1: among them ESC and the one-byte CSI.
        c if c.is_control() => true,
        // Marks, embeddings, overrides and isolates that reorder what is shown.
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2066}'..='\u{2069}' => true,
        // Characters without width, and separators that some terminals break lines at.
        '\u{00ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' => true,
        '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' => true,
        // Tags: invisible, and able to spell whole sentences.
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible_and_text_stays() {
        let cases = [
            ("plain\n\ttext é 漢 🙂", "plain\n\ttext é 漢 🙂"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\rb\u{7}\u{8}\u{7f}", "a\\rb\\u{7}\\u{8}\\u{7f}"),
            ("\u{9b}2J", "\\u{9b}2J"),
            (
                "safe\u{202e}exe.txt\u{2066}",
                "safe\\u{202e}exe.txt\\u{2066}",
            ),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("x\u{e0041}", "x\\u{e0041}"),
        ];
        for (text, shown) in cases {
            assert_eq!(escape(text), shown);
        }
    }

    #[test]
    fn no_line_of_a_message_passes_for_another_message() {
        let cases = [
            ("one line", "one line"),
            ("a\nerror: b\n  c\n\n\td", "a\n  error: b\n  c\n\n\td"),
            ("a\r\nerror: b", "a\\r\n  error: b"),
            ("a\rerror: b\u{85}c", "a\\rerror: b\\u{85}c"),
        ];
        for (text, shown) in cases {
            assert_eq!(message(text), shown);
        }
    }

    #[test]
    fn a_name_is_one_word_on_one_line_whatever_it_is() {
        let cases: [(&[u8], &str); 6] = [
            (b"src/main.rs", "src/main.rs"),
            ("é/漢".as_bytes(), "é/漢"),
            (b"a b", "\"a b\""),
            (b"a\nM b\x1b[2J\xff", "\"a\\nM b\\u{1b}[2J\\xff\""),
            (b"a\"\\", "\"a\\\"\\\\\""),
            (b"", "\"\""),
        ];
        for (name, shown) in cases {
            assert_eq!(super::name(name), shown);
        }
        assert_eq!(line(b"a\tb\r\xff"), "a\tb\\r\\xff");
    }

    #[test]
    fn rows_have_one_short_line() {
        assert_eq!(one_line("\n  a\tb\nc"), "a b");
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten("abcd", 4), "abcd");
    }
}
