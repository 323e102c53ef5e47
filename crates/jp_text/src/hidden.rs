//! The one question about a character: can a person rely on seeing it?

use crate::table::HIDDEN;

/// Returns whether a character is invisible, reorders text, ends a line or drives a terminal.
///
/// That is each one with the property `Default_Ignorable_Code_Point` (joiners, fillers of Hangul, tags,
/// variation selectors, and code points reserved for such), `Bidi_Control` or
/// `Noncharacter_Code_Point`, and the categories `Cc`, `Cf`, `Zl` and `Zp`. Newline and tab are
/// among them; so are the joiner and the selector inside an emoji, since both can carry a message.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    // Nearly every character is one of these.
    if c < '\u{7f}' {
        return c < ' ';
    }
    HIDDEN
        .binary_search_by(|(first, last)| match () {
            () if *last < c => core::cmp::Ordering::Less,
            () if *first > c => core::cmp::Ordering::Greater,
            () => core::cmp::Ordering::Equal,
        })
        .is_ok()
}

/// Returns whether a character selects how the one before it looks: one colours an emoji, a row of
/// them is a message.
#[must_use]
pub const fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Returns whether a character is blank or shown differently by every font, though not [`is_hidden`]:
/// the empty Braille pattern and private use. Texts that are signed may not hold them.
#[must_use]
pub const fn lacks_fixed_shape(c: char) -> bool {
    matches!(c, '\u{2800}' | '\u{e000}'..='\u{f8ff}' | '\u{e1000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use alloc::{string::String, vec::Vec};
    use core::fmt::Write as _;

    use regex_syntax::hir::{Class, HirKind};

    use super::*;

    const PROPERTIES: &str = r"[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\p{Variation_Selector}\p{Cc}\p{Cf}\p{Zl}\p{Zp}]";

    fn unicode_says() -> Vec<(char, char)> {
        let parsed = regex_syntax::parse(PROPERTIES).unwrap();
        let HirKind::Class(Class::Unicode(class)) = parsed.kind() else {
            panic!("{parsed:?}");
        };
        class
            .iter()
            .map(|range| (range.start(), range.end()))
            .collect()
    }

    #[test]
    fn the_table_is_what_unicode_says() {
        let said = unicode_says();
        let mut lines = String::new();
        for (first, last) in &said {
            let (first, last) = (first.escape_unicode(), last.escape_unicode());
            writeln!(lines, "    ('{first}', '{last}'),").unwrap();
        }
        assert_eq!(HIDDEN, said, "table.rs must hold:\n{lines}");
    }

    #[test]
    fn every_character_is_judged_by_the_table() {
        let said = unicode_says();
        for c in '\0'..=char::MAX {
            let hidden = said
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&c));
            assert_eq!(is_hidden(c), hidden, "{}", c.escape_unicode());
        }
    }

    #[test]
    fn what_other_tables_left_out_is_hidden() {
        let left_out = [
            '\u{3164}',
            '\u{115f}',
            '\u{1160}',
            '\u{ffa0}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{e0080}',
            '\u{e0100}',
            '\u{e0fff}',
            '\u{2065}',
            '\u{34f}',
            '\u{17b4}',
            '\u{180f}',
            '\u{1d173}',
            '\u{ffff}',
        ];
        for c in left_out {
            assert!(is_hidden(c), "{}", c.escape_unicode());
        }
        for c in ['a', ' ', 'é', '漢', '🙂', '\u{301}', '\u{fffd}', '\u{e000}'] {
            assert!(!is_hidden(c), "{}", c.escape_unicode());
        }
    }
}
