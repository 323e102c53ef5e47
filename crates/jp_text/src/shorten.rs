//! Bounds a text, and says that it did.

use alloc::{borrow::Cow, format};

/// Shortens a text to so many characters; the last one is then an ellipsis.
#[must_use]
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    if text.char_indices().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    match most.checked_sub(1) {
        None => Cow::Borrowed(""),
        Some(kept) => Cow::Owned(format!("{}…", beginning(text, kept))),
    }
}

/// Keeps so many characters of a text, and counts the bytes that it leaves out.
#[must_use]
pub fn shorten_and_count(text: &str, most: usize) -> Cow<'_, str> {
    let kept = beginning(text, most);
    match text.len().saturating_sub(kept.len()) {
        0 => Cow::Borrowed(text),
        left_out => Cow::Owned(format!("{kept}… [{left_out} bytes left out]")),
    }
}

fn beginning(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_cut_and_says_so() {
        let cases = [
            ("abcdef", 4, "abc…"),
            ("abcd", 4, "abcd"),
            ("äöü", 2, "ä…"),
            ("ab", 1, "…"),
            ("a", 0, ""),
        ];
        for (text, most, shown) in cases {
            assert_eq!(shorten(text, most), shown);
        }
    }

    #[test]
    fn what_was_left_out_is_counted() {
        assert_eq!(shorten_and_count("äöü", 2), "äö… [2 bytes left out]");
        assert_eq!(shorten_and_count("äö", 2), "äö");
    }
}
