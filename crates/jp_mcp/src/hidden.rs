//! Characters that a person does not see and a model does: strangers hide instructions in them.

use jp_text::{is_hidden, is_variation_selector, shorten_and_count};

/// Returns whether a character stays out of text: everything hidden but the ends of lines and the
/// selectors, which colour an emoji.
fn is_removed(c: char) -> bool {
    !matches!(c, '\n' | '\t') && is_hidden(c) && !is_variation_selector(c)
}

/// Returns whether a text holds anything that [`clean`] would take out.
pub(crate) fn has_hidden(text: &str) -> bool {
    clean(text).1 > 0
}

/// Removes invisible characters, and returns how many there were.
pub(crate) fn clean(text: &str) -> (String, usize) {
    let mut kept = String::with_capacity(text.len());
    let mut removed = 0_usize;
    let mut after_selector = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        // One selector colours an emoji; a row of them is a message.
        if is_removed(c) || is_variation_selector(c) && after_selector {
            removed = removed.saturating_add(1);
            continue;
        }
        after_selector = is_variation_selector(c);
        kept.push(c);
    }
    let (kept, comments) = without_comments(&kept);
    (kept, removed.saturating_add(comments))
}

/// Takes out HTML comments, which a page that shows the text would not show.
fn without_comments(text: &str) -> (String, usize) {
    let mut kept = String::with_capacity(text.len());
    let mut removed = 0_usize;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        // One that is never closed hides all that follows.
        rest = after.split_once("-->").map_or("", |(_, rest)| rest);
        let hidden = after.strip_suffix(rest).unwrap_or(after);
        removed = removed.saturating_add(hidden.chars().count().saturating_add(4));
    }
    kept.push_str(rest);
    (kept, removed)
}

/// Makes a stranger's text fit for a message: cleaned, on as many lines as it has, and short.
pub(crate) fn shown(text: &str, most: usize) -> String {
    shorten_and_count(&clean(text).0, most).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_taken_out_and_counted() {
        for (text, kept, removed) in [
            ("plain\r\ntext\there", "plain\ntext\there", 0),
            ("zero\u{200b}width", "zerowidth", 1),
            ("\u{202e}txt.exe", "txt.exe", 1),
            ("\u{1b}[31mred\u{7}", "[31mred", 2),
            ("tag\u{e0041}\u{e0042}", "tag", 2),
            ("❤\u{fe0f}", "❤\u{fe0f}", 0),
            ("❤\u{fe0f}\u{fe01}\u{fe02}", "❤\u{fe0f}", 2),
            ("a<!-- do x -->b", "ab", 13),
            ("a<!-- open", "a", 9),
            ("crlf\rfake", "crlffake", 1),
        ] {
            assert_eq!(clean(text), (kept.to_owned(), removed), "{text:?}");
        }
    }
}
