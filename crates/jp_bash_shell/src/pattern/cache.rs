//! Compiled patterns of one run: a loop meets the same few again and again.

use std::cell::RefCell;
use std::hash::Hasher;
use std::rc::Rc;

use jp_bash_system::{Budget, Stop};
use rustc_hash::FxHasher;

use crate::pattern::{Pattern, PatternOptions};

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
    pub(crate) fn get(
        &self,
        text: &[u8],
        options: PatternOptions,
        budget: &Budget,
    ) -> Result<Rc<Pattern>, Stop> {
        if text.len() > LONGEST {
            return Ok(Rc::new(Pattern::counted(text, options, budget)?));
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
            return Ok(Rc::clone(&entry.pattern));
        }
        let pattern = Rc::new(Pattern::new(text, options));
        if let Some(place) = place {
            *place = Some(Entry {
                text: text.into(),
                options,
                pattern: Rc::clone(&pattern),
            });
        }
        Ok(pattern)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use jp_bash_system::Bounds;

    #[test]
    fn the_same_text_with_other_options_is_another_pattern() {
        let cache = Cache::default();
        let plain = PatternOptions::default();
        let extended = PatternOptions {
            extglob: true,
            ..plain
        };
        let budget = Budget::new(
            Bounds::default(),
            Arc::default(),
            Arc::new(|| std::time::Duration::ZERO),
        );
        let get = |options| cache.get(b"@(a|b)", options, &budget).unwrap();
        let first = get(plain);
        assert!(Rc::ptr_eq(&first, &get(plain)));
        assert!(first.plain_text().is_some());
        assert!(get(extended).plain_text().is_none());
    }
}
