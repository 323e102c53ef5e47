//! Scrubbing of what arrives in pieces: a value is found wherever the pieces are cut.
//!
//! Only the start of what may become a value is held back, so that a text that ends in anything else
//! is passed on whole at once.

use std::{cmp::Reverse, sync::Arc};

use super::{
    Scrubber,
    escapes::{self, View},
    forms::MIN_FORM,
    scrub::Patterns,
};

/// Replaces the values of secrets in bytes that pass by.
pub(crate) struct Passing(Vec<Stage>);

/// One set of patterns, and the end of what it was given that is not decided yet.
struct Stage {
    patterns: Arc<Patterns>,
    held: Vec<u8>,
}

/// Where a value stands, however it is escaped, and what stands for it.
struct Span<'a> {
    start: usize,
    end: usize,
    name: &'a str,
}

/// Bytes whose escapes are read at once.
const CHUNK: usize = 64 * 1024;

impl Passing {
    /// Starts with nothing held back.
    pub(crate) fn new(scrubber: &Scrubber) -> Self {
        let stage = |patterns: &Arc<Patterns>| Stage::new(Arc::clone(patterns));
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
            passed = stage.finish(&passed);
        }
        passed
    }
}

/// Replaces values, also those whose letters are escaped; `None` if there are none.
pub(super) fn replace(patterns: &Arc<Patterns>, bytes: &[u8]) -> Option<Vec<u8>> {
    if !escapes::may_escape(bytes) {
        return patterns.replace(bytes);
    }
    let mut stage = Stage::new(Arc::clone(patterns));
    let mut out = Vec::with_capacity(bytes.len());
    for chunk in bytes.chunks(CHUNK) {
        out.extend(stage.push(chunk));
    }
    out.extend(stage.finish(&[]));
    (out != bytes).then_some(out)
}

impl Stage {
    const fn new(patterns: Arc<Patterns>) -> Self {
        Self {
            patterns,
            held: Vec::new(),
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let (passed, decided) = self.pass(true);
        self.held.drain(..decided);
        passed
    }

    fn finish(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let (passed, _) = self.pass(false);
        self.held.clear();
        passed
    }

    /// Returns what is decided of the bytes held, and how many those are.
    fn pass(&self, more: bool) -> (Vec<u8>, usize) {
        let views = View::layers(&self.held, more);
        let open_end = |from: usize| match more {
            true => self.open_end(&views, from),
            false => self.held.len(),
        };
        let between = |from: usize, to: usize| self.held.get(from..to).unwrap_or_default();
        let (mut passed, mut done) = (Vec::with_capacity(self.held.len()), 0);
        let mut open = open_end(0);
        for found in self.find(&views) {
            // What starts in the open end may yet be part of something longer. What starts before
            // cannot: the open end would start there too.
            if found.start >= open {
                break;
            }
            if found.start < done {
                continue;
            }
            passed.extend_from_slice(between(done, found.start));
            passed.extend_from_slice(found.name.as_bytes());
            done = found.end;
            if found.end > open {
                open = open_end(found.end);
            }
        }
        passed.extend_from_slice(between(done, open));
        (passed, open)
    }

    /// Finds values at every layer, from left to right, the longest where several start.
    fn find<'a>(&'a self, views: &'a [View<'_>]) -> Vec<Span<'a>> {
        let mut spans = Vec::new();
        for view in views {
            spans.extend(self.patterns.find(&view.bytes).map(|found| Span {
                start: view.original(found.start),
                end: view.original(found.end),
                name: found.name,
            }));
        }
        spans.retain(|span| span.end - span.start >= MIN_FORM);
        spans.sort_by_key(|span| (span.start, Reverse(span.end)));
        spans
    }

    /// Returns where what may become a value starts, at any layer, behind a place.
    fn open_end(&self, views: &[View<'_>], from: usize) -> usize {
        let open = |view: &View<'_>| {
            let from = view.place_of(from);
            let rest = view.bytes.get(from..).unwrap_or_default();
            view.original(from + self.patterns.open_end(rest))
        };
        let open = views.iter().map(open).min().unwrap_or(0);
        open.max(from)
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

        #[test]
        fn however_letters_are_spelled_and_pieces_cut_no_value_passes(
            value in "[A-Za-z0-9+/\"&%\\u{e4}\\u{1f600}]{8,16}",
            spellings in prop::collection::vec(0..8_u8, 16),
            around in "[a-z%&;\\\\ ]{0,6}",
            cuts in prop::collection::vec(0..300_usize, 0..8),
        ) {
            let scrubber = Scrubber::new([("pat", value.as_bytes())]).unwrap();
            let spelled: String = value.chars().zip(spellings).map(|(letter, way)| spell(letter, way)).collect();
            let text = format!("{around}|{spelled}|{around}").into_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
            let whole = scrubber.scrub_bytes(&text).into_owned();
            prop_assert_eq!(&passed(&scrubber, &pieces), &whole);
            let name = format!("{around}|[secret:pat]|{around}");
            if value.contains(['%', '&']) {
                // Such a value may be read in several ways, which need not begin at the same place.
                prop_assert!(!reads_as(&whole, value.as_bytes()), "{:?}", whole);
                prop_assert!(whole.len() < text.len() && whole.starts_with(around.as_bytes()));
            } else {
                prop_assert_eq!(String::from_utf8_lossy(&whole), name);
            }
        }
    }

    /// Tells whether a value stands in a text at any layer of escapes.
    fn reads_as(text: &[u8], value: &[u8]) -> bool {
        let layers = View::layers(text, false);
        layers
            .iter()
            .any(|view| view.bytes.windows(value.len()).any(|part| part == value))
    }

    /// Writes a letter in one of the ways in which it may come back.
    fn spell(letter: char, way: u8) -> String {
        let units = |before: &str| {
            let units = letter.encode_utf16(&mut [0; 2]).to_vec();
            units
                .iter()
                .map(|unit| format!("{before}u{unit:04X}"))
                .collect()
        };
        let percent = |sign: &str| {
            let bytes = letter.encode_utf8(&mut [0; 4]).as_bytes().to_vec();
            bytes
                .iter()
                .map(|byte| format!("{sign}{byte:02x}"))
                .collect()
        };
        match way {
            0 => units("\\"),
            1 => units("\\\\"),
            2 => percent("%"),
            3 => percent("%25"),
            4 => format!("&#{};", u32::from(letter)),
            5 => format!("&amp;#x{:x};", u32::from(letter)),
            // A sign that escapes begin with is never written as it is where anything is escaped.
            _ if "&%\"".contains(letter) => units("\\"),
            _ => letter.to_string(),
        }
    }
}
