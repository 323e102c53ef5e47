//! The known name that looks most like an unknown one.

use alloc::vec::Vec;

/// Longer texts resemble nothing; comparing them would only cost time.
const MAX_NAME: usize = 64;

/// Returns the known name that takes the fewest changes, if few are enough.
#[must_use]
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if text.len() > MAX_NAME {
        return None;
    }
    let reach = usize::max(2, text.len() / 3);
    let near = known
        .into_iter()
        .map(|name| (distance(text.as_bytes(), name.as_bytes()), name));
    let near = near.filter(|(distance, _)| *distance <= reach);
    near.min().map(|(_, name)| name)
}

/// Counts the letters to change, add or leave out (Levenshtein).
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, mine) in a.iter().enumerate() {
        let mut above_left = at;
        let mut left = at + 1;
        let mut next = Vec::with_capacity(row.len());
        next.push(left);
        for (theirs, above) in b.iter().zip(row.iter().skip(1)) {
            let changed = above_left + usize::from(mine != theirs);
            left = changed.min(above + 1).min(left + 1);
            next.push(left);
            above_left = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_strangers_are_not() {
        let known = ["clocks", "random", "fs.user-selected", "fs.app-data"];
        for (text, expected) in [
            ("clock", Some("clocks")),
            ("fs.user-selceted", Some("fs.user-selected")),
            ("fs.user_selected", Some("fs.user-selected")),
            ("appdata", None),
            ("zzzzzz", None),
            ("", None),
        ] {
            assert_eq!(nearest(text, known), expected, "{text}");
        }
        assert_eq!(nearest(&"clocks".repeat(100), known), None);
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (a, b, expected) in [
            ("", "", 0),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), expected);
            assert_eq!(distance(b.as_bytes(), a.as_bytes()), expected);
        }
    }
}
