//! Named fields, one below the other, for people.

use std::fmt::Write;

use crate::text;

/// Lines of fields: the name on the left, the text on the right, with every character visible.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    width: usize,
}

impl Page {
    /// Makes an empty page with so much room for names.
    pub(crate) const fn new(width: usize) -> Self {
        Self {
            text: String::new(),
            width,
        }
    }

    /// Adds a field. Further lines of the text stay on the right.
    pub(crate) fn field(&mut self, name: &str, value: &str) {
        let width = self.width;
        let next = format!("\n{:width$} ", "");
        let value = text::escape(value.trim_end()).replace('\n', &next);
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{name:<width$} {value}");
    }

    /// Returns the page as bytes to print.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_of_a_field_are_there_and_none_passes_for_another_field() {
        let mut page = Page::new(6);
        page.field("what", "a\nkey b\u{1b}[2J\n");
        page.field("key", "c");
        let text = String::from_utf8(page.as_bytes().to_vec()).unwrap();
        assert_eq!(text, "what   a\n       key b\\u{1b}[2J\nkey    c\n");
    }
}
