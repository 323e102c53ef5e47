//! What a capability answers: JSON that is written once, where the answer is made, and only passed on
//! after that.

use serde::Serialize;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use crate::CallError;

/// The answer to a capability call, as JSON.
#[derive(Debug, Clone)]
pub struct Answer(Box<RawValue>);

impl Answer {
    /// Writes an answer down.
    ///
    /// # Errors
    ///
    /// [`crate::Code::Internal`] for what JSON cannot say, such as a map whose keys are not text.
    pub fn of<T: Serialize + ?Sized>(answer: &T) -> Result<Self, CallError> {
        let written = to_raw_value(answer);
        written
            .map(Self)
            .map_err(|error| CallError::internal(error.to_string()))
    }

    /// Returns it as JSON.
    #[must_use]
    pub fn into_json(self) -> Box<RawValue> {
        self.0
    }

    /// Reads it back, for a caller that wants to look into it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        // It was written by us, so it can be read.
        serde_json::from_str(self.0.get()).unwrap_or_default()
    }
}

/// The word that most answers begin with.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// It was done.
    Ok,
}
