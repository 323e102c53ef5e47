//! The two stages of a configuration: one layer of it, and all of it.
//!
//! The same structs serve both, so that a key is written down once. They differ in one point: in a
//! layer a required value may be absent, because another layer can have it.

use core::fmt::Debug;

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// A value that can be required.
pub trait Field: Debug + Clone + PartialEq + Serialize + DeserializeOwned + JsonSchema {}

impl<T: Debug + Clone + PartialEq + Serialize + DeserializeOwned + JsonSchema> Field for T {}

/// Says whether required values must be there.
pub trait Stage: Debug + Clone + PartialEq {
    /// A required value at this stage.
    type Required<T: Field>: Field;
}

/// All layers together: required values are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complete;

/// One layer: every value may be absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loose;

impl Stage for Complete {
    type Required<T: Field> = T;
}

impl Stage for Loose {
    type Required<T: Field> = Option<T>;
}

/// Returns whether a value is the default, which is not written out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
