//! Characters that a person does not see and a model does: strangers hide instructions in them.

/// Tells whether a character is invisible, changes the direction of text, or drives a terminal.
fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Soft hyphen, the marks that fold Hangul and Mongolian to nothing, and all zero-width and
        // direction characters.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        // Tags spell ASCII without showing it; the selectors after them can carry any byte.
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => c.is_control(),
    }
}

const fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Tells whether a text holds anything that [`clean`] would take out.
pub(crate) fn has_hidden(text: &str) -> bool {
    clean(text).1 > 0
}

/// Takes out what nobody can see, and returns how many characters that were.
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
        if is_hidden(c) || is_selector(c) && after_selector {
            removed = removed.saturating_add(1);
            continue;
        }
        after_selector = is_selector(c);
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
    let (mut text, _) = clean(text);
    if let Some((end, _)) = text.char_indices().nth(most) {
        let left_out = text.len().saturating_sub(end);
        text.truncate(end);
        text.push_str(&format!("… [{left_out} bytes left out]"));
    }
    text
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

    #[test]
    fn a_long_text_is_cut_where_it_says_so() {
        assert_eq!(shown("äöü", 2), "äö… [2 bytes left out]");
        assert_eq!(shown("äö", 2), "äö");
    }
}
