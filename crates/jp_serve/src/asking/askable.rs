//! What a client can be asked for: what it has declared, and nothing else.

use jp_llm::InputRequest;
use jp_tool::Input;
use rmcp::model::{ClientCapabilities, ElicitationCapability};

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Askable {
    questions: bool,
    samples: bool,
    roots: bool,
}

impl Askable {
    pub(crate) fn of(capabilities: Option<&ClientCapabilities>) -> Self {
        let Some(capabilities) = capabilities else {
            return Self::default();
        };
        Self {
            questions: capabilities.elicitation.as_ref().is_some_and(has_forms),
            samples: capabilities.sampling.is_some(),
            roots: capabilities.roots.is_some(),
        }
    }

    /// Tells whether it can show forms.
    pub(crate) const fn questions(self) -> bool {
        self.questions
    }

    const fn allows(self, input: &Input) -> bool {
        match input {
            Input::Question(_) | Input::Form(_) => self.questions,
            Input::Sample(_) => self.samples,
            Input::Roots { .. } => self.roots,
        }
    }

    /// Returns what the client can be asked of all that is wanted, if that is enough.
    ///
    /// # Errors
    ///
    /// What the client would have to declare.
    pub(super) fn allowed<'a>(
        self,
        request: &InputRequest<'a>,
    ) -> Result<Vec<&'a Input>, ClientCapabilities> {
        let (allowed, refused): (Vec<&Input>, Vec<&Input>) =
            request.inputs.iter().partition(|input| self.allows(input));
        if refused.is_empty() || (request.any && !allowed.is_empty()) {
            return Ok(allowed);
        }
        Err(required(&refused))
    }
}

/// A client that names no way to ask can show forms: there was no other way in older revisions.
const fn has_forms(elicitation: &ElicitationCapability) -> bool {
    elicitation.form.is_some() || elicitation.url.is_none()
}

fn required(refused: &[&Input]) -> ClientCapabilities {
    let mut required = ClientCapabilities::default();
    for input in refused {
        match input {
            Input::Question(_) | Input::Form(_) => {
                required.elicitation = Some(ElicitationCapability::default());
            }
            Input::Sample(_) => required.sampling = Some(Default::default()),
            Input::Roots { .. } => required.roots = Some(Default::default()),
        }
    }
    required
}

#[cfg(test)]
mod tests {
    use jp_tool::Sample;
    use serde_json::{Value, json};

    use super::*;

    fn asked(capabilities: Value, any: bool) -> Result<usize, Value> {
        let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap();
        let inputs = [
            Input::Form(jp_tool::Form::default()),
            Input::Sample(Sample::default()),
        ];
        let request = InputRequest {
            call: "c",
            tool: "t",
            inputs: &[&inputs[0], &inputs[1]],
            any,
        };
        let allowed = Askable::of(Some(&capabilities)).allowed(&request);
        allowed
            .map(|inputs| inputs.len())
            .map_err(|missing| serde_json::to_value(missing).unwrap())
    }

    #[test]
    fn a_client_is_asked_for_what_it_has_declared() {
        let both = json!({"elicitation": {}, "sampling": {}});
        let sampling = json!({"sampling": {}});
        let form = json!({"elicitation": {"form": {}}, "sampling": {}});
        let url = json!({"elicitation": {"url": {}}, "sampling": {}});
        for (capabilities, any, expected) in [
            (&both, false, Ok(2)),
            (&form, false, Ok(2)),
            (&url, false, Err(json!({"elicitation": {}}))),
            (&sampling, false, Err(json!({"elicitation": {}}))),
            (&sampling, true, Ok(1)),
            (&json!({}), true, Err(both.clone())),
        ] {
            assert_eq!(asked(capabilities.clone(), any), expected, "{capabilities}");
        }
    }
}
