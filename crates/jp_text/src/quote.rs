//! Text of strangers inside a sentence: on one line, between quotes, and unambiguous.

use alloc::string::{String, ToString as _};
use core::fmt;

use crate::{is_hidden, shorten};

/// Shows a text inside quotes of any kind: on one line, every character visible, quotes and backslashes
/// escaped, so that no two texts look alike.
#[must_use]
pub const fn inline(text: &str) -> Inline<'_> {
    Inline(text)
}

/// Shows the beginning of a text inside quotes; an ellipsis stands for the rest.
#[must_use]
pub fn start(text: &str, most: usize) -> String {
    inline(&shorten(text, most)).to_string()
}

/// What [`inline`] returns.
#[derive(Debug, Clone, Copy)]
pub struct Inline<'a>(&'a str);

impl fmt::Display for Inline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(is_hidden) {
            let (plain, from) = rest.split_at(at);
            let mut chars = from.chars();
            let hidden = chars.next().map(char::escape_default);
            write!(f, "{}", plain.escape_debug())?;
            hidden.map_or(Ok(()), |hidden| write!(f, "{hidden}"))?;
            rest = chars.as_str();
        }
        write!(f, "{}", rest.escape_debug())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads back what `inline` wrote.
    fn read(shown: &str) -> String {
        let mut text = String::new();
        let mut chars = shown.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                text.push(c);
                continue;
            }
            text.push(match chars.next().unwrap() {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                'u' => {
                    let code: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap()
                }
                other => other,
            });
        }
        text
    }

    #[test]
    fn a_text_inside_quotes_does_not_leave_them() {
        let cases = [
            ("plain é 漢", "plain é 漢"),
            ("a\"b'c\\", "a\\\"b\\'c\\\\"),
            ("\u{1b}[31mred\r\n", "\\u{1b}[31mred\\r\\n"),
            ("\\u{202e}\u{202e}", "\\\\u{202e}\\u{202e}"),
            ("x\u{3164}\u{fe0f}y", "x\\u{3164}\\u{fe0f}y"),
        ];
        for (text, shown) in cases {
            assert_eq!(inline(text).to_string(), shown);
        }
        assert_eq!(start("abcdef", 4), "abc…");
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left_and_all_is_read_back(text in "(?s:[\\PC\\pC\u{3164}\u{fe0f}\u{e0100}\\\\u{}n]*)") {
            let shown = inline(&text).to_string();
            prop_assert!(!shown.contains(is_hidden));
            prop_assert_eq!(read(&shown), text);
        }
    }
}
