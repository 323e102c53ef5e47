//! What an executed call answered, part by part, whether its tool spoke in parts or in text.

use std::borrow::Cow;

use jp_tool::{Content, Part};
use serde_json::Value;

use super::{Executed, ExecutionOutcome};
use crate::runtime::Form;

impl Executed {
    /// Returns the parts of the answer. A text alone is one part; without an answer there is none.
    #[must_use]
    pub fn parts(&self) -> Cow<'_, [Part]> {
        let Content { parts, .. } = &self.details.beside.content;
        match &self.result {
            Ok(ExecutionOutcome::Completed { .. }) if !parts.is_empty() => Cow::Borrowed(parts),
            Ok(ExecutionOutcome::Completed { result, .. }) => {
                let (Ok(text) | Err(text)) = result;
                Cow::Owned(vec![Part::from(text.as_str())])
            }
            _ => Cow::Borrowed(&[]),
        }
    }

    /// Returns the result as data, where the tool gave it as such or its contract says that its
    /// text is JSON.
    #[must_use]
    pub fn structured(&self) -> Option<Cow<'_, Value>> {
        let Ok(ExecutionOutcome::Completed { result, .. }) = &self.result else {
            return None;
        };
        if let Some(structured) = &self.details.beside.content.structured {
            return Some(Cow::Borrowed(structured));
        }
        match (self.details.form, result) {
            (Form::Json, Ok(text)) => serde_json::from_str(text).ok().map(Cow::Owned),
            _ => None,
        }
    }
}
