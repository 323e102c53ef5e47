//! Where what a loaded configuration says was written: which line of which file, or which variable or
//! argument. Kept with the configuration, so that an explanation of a decision can point at it.

use crate::{
    collect::Found,
    document::Index,
    error::{Origin, Place},
    load::{Layer, Loaded},
};

/// The files of a configuration, and what was assigned over them.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Written {
    /// Lowest first.
    pub(crate) layers: Vec<Found>,
    /// The last one first.
    pub(crate) assigned: Vec<(Vec<String>, Origin)>,
}

impl Loaded {
    /// Returns where a key was set last: in the highest layer that has it, or over all files. `None` for
    /// one that nobody set.
    #[must_use]
    pub fn place_of(&self, key: &[&str]) -> Option<Place> {
        let key = owned(key);
        let layers = self.written.layers.iter().rev();
        let mut places = layers.filter_map(|found| place_in(found, &key));
        self.assigned(&key).or_else(|| places.next())
    }

    /// Returns where the first text of a list stands that fits, in the highest layer that has the list.
    #[must_use]
    pub fn place_of_item(&self, key: &[&str], fits: impl Fn(&str) -> bool) -> Option<Place> {
        let key = owned(key);
        if let Some(place) = self.assigned(&key) {
            return Some(place);
        }
        let mut layers = self.written.layers.iter().rev();
        layers.find_map(|found| {
            let index = Index::new(&found.document);
            let mut key = found.original(&key).into_owned();
            index.has(&key).then(|| {
                let item = index.item(&key, &fits)?;
                key.push(item.to_string());
                Some(index.place(&key))
            })
        })?
    }

    /// Returns where each file says something about a key, lowest layer first.
    #[must_use]
    pub fn places_of(&self, key: &[&str]) -> Vec<(Layer, Place)> {
        let key = owned(key);
        let layers = self.written.layers.iter();
        let places = layers.filter_map(|found| Some((found.layer, place_in(found, &key)?)));
        places.collect()
    }

    /// Returns the variable or argument that sets a key over all files.
    fn assigned(&self, key: &[String]) -> Option<Place> {
        let covers = |set: &[String]| key.starts_with(set) || set.starts_with(key);
        let mut assigned = self.written.assigned.iter();
        let (_, origin) = assigned.find(|(set, _)| covers(set))?;
        Some(Place::of(origin.clone()))
    }
}

fn owned(key: &[&str]) -> Vec<String> {
    key.iter().map(|part| (*part).to_owned()).collect()
}

fn place_in(found: &Found, key: &[String]) -> Option<Place> {
    let index = Index::new(&found.document);
    let key = found.original(key);
    index.has(&key).then(|| index.place(&key))
}
