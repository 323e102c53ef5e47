//! Scrubbing of what arrives in pieces: a value is found wherever the pieces are cut.
//!
//! Only the start of what may become a value is held back, so that a text that ends in anything else
//! is passed on whole at once.

use std::sync::Arc;

use super::{Scrubber, scrub::Patterns};

/// Replaces the values of secrets in bytes that pass by.
pub(crate) struct Passing(Vec<Stage>);

/// One set of patterns, and the end of what it was given that is not decided yet.
struct Stage {
    patterns: Arc<Patterns>,
    held: Vec<u8>,
}

impl Passing {
    /// Starts with nothing held back.
    pub(crate) fn new(scrubber: &Scrubber) -> Self {
        let stage = |patterns: &Arc<Patterns>| Stage {
            patterns: Arc::clone(patterns),
            held: Vec::new(),
        };
        Self(scrubber.sets().iter().map(stage).collect())
    }

    /// Takes the next bytes, and returns those that are decided.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = bytes.to_vec();
        for stage in &mut self.0 {
            passed = stage.push(&passed);
        }
        passed
    }

    /// Returns what was held back; nothing more comes.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let mut passed = Vec::new();
        for stage in &mut self.0 {
            stage.held.extend(passed);
            let held = std::mem::take(&mut stage.held);
            passed = stage.patterns.replace(&held).unwrap_or(held);
        }
        passed
    }
}

impl Stage {
    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let text = self.held.as_slice();
        let (mut passed, mut done) = (Vec::with_capacity(text.len()), 0);
        let mut open = self.patterns.open_end(text);
        for found in self.patterns.find(text) {
            // What starts in the open end may yet be part of something longer. What starts before
            // cannot: the open end would start there too.
            if found.start >= open {
                break;
            }
            passed.extend_from_slice(text.get(done..found.start).unwrap_or_default());
            passed.extend_from_slice(found.name.as_bytes());
            done = found.end;
            if done > open {
                let rest = text.get(done..).unwrap_or_default();
                open = done.saturating_add(self.patterns.open_end(rest));
            }
        }
        passed.extend_from_slice(text.get(done..open).unwrap_or_default());
        self.held.drain(..open);
        passed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passed(scrubber: &Scrubber, pieces: &[&[u8]]) -> Vec<u8> {
        let mut passing = Passing::new(scrubber);
        let mut out: Vec<u8> = pieces
            .iter()
            .flat_map(|piece| passing.push(piece))
            .collect();
        out.extend(passing.finish());
        out
    }

    #[test]
    fn a_value_that_comes_in_pieces_is_found() {
        let scrubber = Scrubber::new([("pat", b"s3cret-value".as_slice())]).unwrap();
        let pieces: [&[u8]; 4] = [b"a s3c", b"ret-", b"value b s3cret", b"-va"];
        assert_eq!(passed(&scrubber, &pieces), b"a [secret:pat] b s3cret-va");
    }

    #[test]
    fn what_cannot_become_a_value_is_passed_on_at_once() {
        let scrubber = Scrubber::new([("pat", b"s3cret-value".as_slice())]).unwrap();
        let mut passing = Passing::new(&scrubber);
        assert_eq!(passing.push(b"data: {}\n\n"), b"data: {}\n\n");
        assert_eq!(passing.push(b"data: s3cret-v"), b"data: ");
        assert_eq!(passing.push(b"\n\n"), b"s3cret-v\n\n");
        assert!(passing.finish().is_empty());
        assert_eq!(
            Passing::new(&Scrubber::default()).push(b"s3cret-v"),
            b"s3cret-v"
        );
    }

    proptest! {
        #[test]
        fn any_split_gives_what_the_whole_gives(
            words in prop::collection::vec(
                prop::sample::select(vec!["aaaaaaaab", "aaaaaaaa", "abababab", "aaaabbbb", "a", "b", "ab", "x"]), 0..20),
            cuts in prop::collection::vec(0..200_usize, 0..12),
        ) {
            let known = [("one", b"aaaaaaaab".as_slice()), ("two", b"abababab"), ("three", b"aaaabbbb"), ("four", b"aaaaaaaa")];
            let scrubber = Scrubber::new(known).unwrap();
            let more = Scrubber::new([("five", b"[secret:one]x".as_slice())]).unwrap();
            let scrubber = scrubber.and(&more);
            let text = words.concat().into_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
            let whole = scrubber.scrub_bytes(&text).into_owned();
            prop_assert_eq!(&passed(&scrubber, &pieces), &whole);
            let single: Vec<_> = text.chunks(1).collect();
            prop_assert_eq!(&passed(&scrubber, &single), &whole);
        }
    }
}
