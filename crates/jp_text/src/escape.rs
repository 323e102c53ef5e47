//! Shows what is hidden: on a terminal, on one line, in JSON, in a file's name.

use alloc::{borrow::Cow, string::String};

use crate::{is_hidden, lacks_fixed_shape, shorten};

/// Makes every character visible that [`is_hidden`], except newline and tab.
///
/// Emoji made of several characters come apart: their joiners and selectors are written out too. A
/// backslash stays as it is, so a text that spells an escape looks like one; where it must be told
/// apart, use [`crate::inline`].
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_where(text, |c| is_hidden(c) && c != '\n' && c != '\t')
}

/// Makes every character visible that [`is_hidden`], newline and tab too: the text is on one line.
#[must_use]
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape_where(text, is_hidden)
}

/// Puts the beginning of a text on one line, with every character visible that [`is_hidden`]; an
/// ellipsis stands for the rest.
#[must_use]
pub fn short_line(text: &str, most: usize) -> String {
    escape_line(&shorten(text, most)).into_owned()
}

fn escape_where(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().saturating_add(16));
    for c in text.chars() {
        if hidden(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Escapes what stands behind a label such as `error:`. Further lines are indented: one that a stranger
/// wrote could pass for a message of ours.
#[must_use]
pub fn message(text: &str) -> String {
    let escaped = escape(text);
    let mut lines = escaped.split('\n');
    let mut out = String::from(lines.next().unwrap_or_default());
    for line in lines {
        let is_set_off = line.is_empty() || line.starts_with([' ', '\t']);
        out.push_str(if is_set_off { "\n" } else { "\n  " });
        out.push_str(line);
    }
    out
}

/// Escapes the first line that says anything: what fits a cell or a title.
#[must_use]
pub fn one_line(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    escape(first.unwrap_or_default().trim()).replace('\t', " ")
}

/// Puts a text on one line in which a replacement character stands for each one that is hidden or
/// lacks a fixed shape, and shortens it. Doing it twice changes nothing more.
#[must_use]
pub fn mask(text: &str, most: usize) -> String {
    let plain = |c: char| match is_hidden(c) || lacks_fixed_shape(c) {
        true => char::REPLACEMENT_CHARACTER,
        false => c,
    };
    shorten(text, most).chars().map(plain).collect()
}

/// Makes the name of a file harmless where it is shown or used as a part of a path: `_` stands for
/// each slash and for each character that is hidden or was not text.
#[must_use]
pub fn file_name(name: &str) -> String {
    let deceives = |c| c == '/' || c == char::REPLACEMENT_CHARACTER || is_hidden(c);
    let plain = |c| if deceives(c) { '_' } else { c };
    name.chars().map(plain).collect()
}

/// Escapes what is hidden in a JSON document in JSON's own way: a program reads the same from it.
/// Newlines and tabs stay, which can only stand between values.
#[must_use]
pub fn json_escape(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            _ if is_hidden(c) => out.push_str(JsonEscape::of(c).as_str()),
            _ => out.push(c),
        }
    }
    out
}

/// A character as JSON escapes it: `\u202e`, or a pair of these. Made without allocating.
#[derive(Debug, Clone, Copy)]
pub struct JsonEscape {
    text: [u8; 12],
    len: usize,
}

impl JsonEscape {
    /// Escapes a character.
    #[must_use]
    pub fn of(c: char) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut made = Self {
            text: [b'\\'; 12],
            len: 0,
        };
        let mut units = [0; 2];
        for (unit, place) in c
            .encode_utf16(&mut units)
            .iter()
            .zip(made.text.chunks_exact_mut(6))
        {
            let digit = |shift: u16| DIGITS[usize::from((unit >> shift) & 15)];
            place.copy_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
            made.len += 6;
        }
        made
    }

    /// Returns the escape, which is ASCII.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let kept = self.text.get(..self.len).unwrap_or_default();
        core::str::from_utf8(kept).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use proptest::prelude::*;

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
            ("x\u{e0041}\u{e0100}", "x\\u{e0041}\\u{e0100}"),
            ("\u{3164}❤\u{fe0f}", "\\u{3164}❤\\u{fe0f}"),
        ];
        for (text, shown) in cases {
            assert_eq!(escape(text), shown);
        }
        assert_eq!(escape_line("a\nb\tc"), "a\\nb\\tc");
        assert_eq!(short_line("a\nbcd", 3), "a\\n…");
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
    fn rows_have_one_line() {
        assert_eq!(one_line("\n  a\tb\nc"), "a b");
    }

    #[test]
    fn names_of_files_lead_nowhere_and_hide_nothing() {
        let cases = [
            ("report.pdf", "report.pdf"),
            ("../a\nb\u{202e}c\u{1b}[2J\u{3164}", ".._a_b_c_[2J_"),
            ("\u{fffd}é", "_é"),
        ];
        for (name, shown) in cases {
            assert_eq!(file_name(name), shown);
        }
    }

    #[test]
    fn json_is_escaped_in_units_of_utf_16() {
        let cases = [
            ('\0', "\\u0000"),
            ('\u{202e}', "\\u202e"),
            ('\u{e0041}', "\\udb40\\udc41"),
        ];
        for (c, escaped) in cases {
            assert_eq!(JsonEscape::of(c).as_str(), escaped);
        }
        assert_eq!(json_escape("[\n\t\"\u{3164}\"]"), "[\n\t\"\\u3164\"]");
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text in "(?s:[\\PC\\pC\u{2028}\u{3164}\u{fe0f}\u{e0100}]*)", most in 0..40_usize) {
            let lines = |c| c == '\n' || c == '\t';
            prop_assert!(!escape(&text).contains(|c| is_hidden(c) && !lines(c)));
            prop_assert!(!message(&text).contains(|c| is_hidden(c) && !lines(c)));
            prop_assert!(!json_escape(&text).contains(|c| is_hidden(c) && !lines(c)));
            prop_assert!(!escape_line(&text).contains(is_hidden));
            prop_assert!(!one_line(&text).contains(is_hidden));
            prop_assert!(!short_line(&text, most).contains(is_hidden));
            prop_assert!(!file_name(&text).contains(is_hidden));
            let masked = mask(&text, most);
            prop_assert!(!masked.contains(is_hidden) && masked.chars().count() <= most);
            prop_assert_eq!(mask(&masked, most), masked.to_string());
        }

        #[test]
        fn what_shows_stays_as_it_is(text in "[a-zäöü漢🙂 \\\\\"`]*") {
            prop_assert_eq!(escape(&text), &*text);
            prop_assert_eq!(escape_line(&text), &*text);
        }
    }
}
