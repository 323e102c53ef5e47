//! Who said what: the place of a key in the files and assignments of a configuration.

use core::cell::OnceCell;

use crate::{
    collect::Found,
    diagnose::Finding,
    document::Index,
    error::{ConfigError, Origin, Place},
    tree,
};

/// Knows where a key was set.
pub(crate) struct Blame<'a> {
    layers: &'a [Found],
    indexes: OnceCell<Vec<Index<'a>>>,
    assigned: &'a [(Vec<String>, Origin)],
}

impl<'a> Blame<'a> {
    /// Takes the files, lowest layer first, and the assignments, last one first.
    pub(crate) const fn new(layers: &'a [Found], assigned: &'a [(Vec<String>, Origin)]) -> Self {
        Self {
            layers,
            indexes: OnceCell::new(),
            assigned,
        }
    }

    /// Makes an error of a finding, at the highest layer that has its key.
    pub(crate) fn error(&self, (path, problem): Finding) -> ConfigError {
        ConfigError {
            place: self.place(&path).map(Box::new),
            key: Some(tree::dotted(&path)),
            problem,
        }
    }

    /// Returns where a key was set last.
    pub(crate) fn place(&self, path: &[String]) -> Option<Place> {
        let covers = |set: &[String]| path.starts_with(set) || set.starts_with(path);
        if let Some((_, origin)) = self.assigned.iter().find(|(set, _)| covers(set)) {
            return Some(Place::of(origin.clone()));
        }
        let indexes = self.indexes.get_or_init(|| {
            let layers = self.layers.iter().rev();
            layers.map(|found| Index::new(&found.document)).collect()
        });
        let layers = self.layers.iter().rev().zip(indexes);
        let mut places = layers.filter_map(|(found, index)| {
            let path = found.original(path);
            index.has(&path).then(|| index.place(&path))
        });
        places.next()
    }
}
