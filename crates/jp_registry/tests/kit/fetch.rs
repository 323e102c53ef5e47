//! Fetching into the store of a shop.

use std::{fs, sync::Arc};

use jp_registry::{FetchError, StaticSource, Verified};

use super::{Plain, Shop, no_progress};

impl Shop {
    /// Returns the names of the files in the store, without its directories.
    pub(crate) fn stored(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut waiting = vec![self.temp.path().join("store")];
        while let Some(dir) = waiting.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => waiting.push(entry.path()),
                    false => {
                        let root = self.temp.path().join("store");
                        let path = entry.path();
                        let path = path.strip_prefix(root).unwrap();
                        found.push(path.to_str().unwrap().to_owned());
                    }
                }
            }
        }
        found.sort();
        found
    }

    /// Verifies version 1.0.0 from the directory, and then fetches its artifact from a URL.
    pub(crate) fn fetch_from(&self, url: &str) -> Result<Verified, FetchError> {
        let manifest = self.verified(&self.source(), "1.0.0");
        let source = StaticSource::at_url(url, Arc::new(Plain)).unwrap();
        self.store()
            .artifact(&manifest, &source, &mut no_progress())
    }
}
