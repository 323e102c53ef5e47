//! An entry of `subjects`, `learned` or `disabled`: an exact slug or a glob, and whom it names.

use crate::{pattern::Pattern, scan::Subject, slug::printable};

/// An entry that names subjects: by exact slug and, if it is one, as a glob.
#[derive(Debug)]
pub(crate) struct Selector<'a> {
    text: &'a str,
    glob: Option<Pattern>,
    malformed: bool,
}

impl<'a> Selector<'a> {
    /// Reads an entry. One that is not a valid glob only ever means the slug that is spelt like it.
    pub(crate) fn new(text: &'a str) -> Self {
        let parsed = Pattern::parse(text);
        let malformed = parsed.is_err();
        let glob = parsed.ok().filter(|_| text.contains(['*', '?', '[']));
        Self {
            text,
            glob,
            malformed,
        }
    }

    /// The entry as it was written.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Returns whether the entry is a well-formed glob.
    pub(crate) fn is_glob(&self) -> bool {
        self.glob.is_some()
    }

    /// Returns whether the entry looks like a glob but is none.
    pub(crate) fn is_malformed(&self) -> bool {
        self.malformed
    }

    /// Returns whether the entry is this slug, as it is or as listings show it.
    pub(crate) fn is_exactly(&self, slug: &str) -> bool {
        self.text == slug || self.text == printable(slug)
    }

    /// Returns whether the glob matches this slug.
    pub(crate) fn globs(&self, slug: &str) -> bool {
        self.glob.as_ref().is_some_and(|glob| glob.matches(slug))
    }

    /// Returns whether the entry names this slug in any way. For exclusion, where hidden ones count.
    pub(crate) fn covers(&self, slug: &str) -> bool {
        self.is_exactly(slug) || self.globs(slug)
    }

    /// Returns whether the entry selects this subject: globs never find hidden ones.
    pub(crate) fn selects(&self, subject: &Subject) -> bool {
        self.is_exactly(&subject.slug) || (!subject.hidden && self.globs(&subject.slug))
    }
}
