//! Which layers say something of a key, and where.

use serde_json::{Map, Value};

use crate::{
    assign::Assignment,
    collect::Collector,
    document::Index,
    env,
    error::{ConfigError, Origin, Place},
    load::{Layer, Sources},
    tree,
};

/// What one layer says of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// Where.
    pub place: Place,
    /// Whose layer it is.
    pub layer: Layer,
    /// What it says; nothing where it takes the key back.
    pub value: Option<Value>,
}

/// Returns what the layers say of a key or of keys below it, lowest layer first: the last one wins, where
/// one wins.
///
/// # Errors
///
/// When a file, variable or assignment cannot be read.
pub fn origins(sources: &Sources, key: &[String]) -> Result<Vec<Said>, ConfigError> {
    let layers = Collector::default().collect(sources)?;
    let mut said = Vec::new();
    for found in &layers {
        let index = Index::new(&found.document);
        let original = found.original(key);
        // A file of another format says what our key says under another one.
        if let Some(value) = tree::get(&found.tree, key).filter(|_| index.has(&original)) {
            said.push(Said {
                place: index.place(&original),
                layer: found.layer,
                value: Some(value.clone()).filter(|value| !value.is_null()),
            });
        }
    }
    let empty = Value::Object(Map::new());
    let variables = env::ours(&sources.env).into_iter().map(|(name, value)| {
        let origin = Origin::Environment(name.to_string());
        (origin, env::assignment(name, value, &empty))
    });
    let mut assigned: Vec<_> = variables.collect();
    assigned.extend(sources.assignments.iter().map(|text| {
        let origin = Origin::Assignment(text.clone());
        (origin, Assignment::parse(text))
    }));
    for (origin, assignment) in assigned {
        let assignment = assignment?;
        let covers = |set: &Vec<String>| key.starts_with(set) || set.starts_with(key);
        if assignment.paths().iter().any(covers) {
            let mut tree = Value::Object(Map::new());
            assignment.apply(&mut tree)?;
            said.push(Said {
                place: Place::of(origin),
                layer: Layer::User,
                value: tree::get(&tree, key).cloned(),
            });
        }
    }
    Ok(said)
}
