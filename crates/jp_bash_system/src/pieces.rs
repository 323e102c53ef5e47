//! A text in pieces of bounded length, so that a loop over it can ask the budget between two.

use crate::budget::PIECE;

/// Cuts a text into pieces of at most [`PIECE`] bytes, never inside a character.
pub fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, later) = rest.split_at_checked(cut(rest)).unwrap_or((rest, &[]));
        rest = later;
        Some(piece)
    })
}

/// Returns where the first piece of a text ends: a character has at most three bytes behind its first.
fn cut(text: &[u8]) -> usize {
    let goes_on = |at: &usize| {
        text.get(*at)
            .is_some_and(|byte| (0x80..0xc0).contains(byte))
    };
    let whole = (PIECE - 3..=PIECE).rev().find(|at| !goes_on(at));
    usize::min(whole.unwrap_or(PIECE), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_where_characters_end() {
        for shift in 0..5 {
            let mut text = vec![b'x'; shift];
            text.extend("\u{1f600}".repeat(PIECE).bytes());
            assert!(pieces(&text).all(|piece| std::str::from_utf8(piece).is_ok()));
            assert_eq!(pieces(&text).collect::<Vec<_>>().concat(), text);
        }
        let broken = vec![0x80; 2 * PIECE + 1];
        assert_eq!(
            pieces(&broken).map(<[u8]>::len).sum::<usize>(),
            broken.len()
        );
        assert_eq!(pieces(b"").count(), 0);
        assert_eq!(pieces(b"ab").collect::<Vec<_>>(), [b"ab"]);
    }
}
