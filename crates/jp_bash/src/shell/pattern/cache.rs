//! Compiled patterns of one run: a loop meets the same few again and again.

use std::cell::RefCell;
use std::hash::Hasher;
use std::rc::Rc;

use rustc_hash::FxHasher;

use crate::shell::pattern::{Pattern, PatternOptions};

/// How many patterns are kept, each in the place its text gives it.
const PLACES: usize = 32;

/// Longer patterns are not kept: with so few places and texts so short, what is kept needs no counting.
const LONGEST: usize = 64;

struct Entry {
    text: Box<[u8]>,
    options: PatternOptions,
    pattern: Rc<Pattern>,
}

/// The patterns.
#[derive(Default)]
pub(crate) struct Cache {
    /// Empty until the first pattern.
    places: RefCell<Vec<Option<Entry>>>,
}

impl Cache {
    /// Returns a pattern, compiled if it is new.
    pub(crate) fn get(&self, text: &[u8], options: PatternOptions) -> Rc<Pattern> {
        if text.len() > LONGEST {
            return Rc::new(Pattern::new(text, options));
        }
        let mut hasher = FxHasher::default();
        hasher.write(text);
        let at = usize::try_from(hasher.finish() >> 32).unwrap_or(0) % PLACES;
        let mut places = self.places.borrow_mut();
        if places.is_empty() {
            places.resize_with(PLACES, || None);
        }
        let place = places.get_mut(at);
        if let Some(Some(entry)) = &place
            && *entry.text == *text
            && entry.options == options
        {
            return Rc::clone(&entry.pattern);
        }
        let pattern = Rc::new(Pattern::new(text, options));
        if let Some(place) = place {
            *place = Some(Entry {
                text: text.into(),
                options,
                pattern: Rc::clone(&pattern),
            });
        }
        pattern
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_with_other_options_is_another_pattern() {
        let cache = Cache::default();
        let plain = PatternOptions::default();
        let extended = PatternOptions {
            extglob: true,
            ..plain
        };
        let first = cache.get(b"@(a|b)", plain);
        assert!(Rc::ptr_eq(&first, &cache.get(b"@(a|b)", plain)));
        assert!(first.plain_text().is_some());
        assert!(cache.get(b"@(a|b)", extended).plain_text().is_none());
    }
}
