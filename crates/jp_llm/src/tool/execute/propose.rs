//! A denial as a proposal: what the user's policy withholds, in a form that a person can grant this one
//! tool. Whoever called can pass it on; it grants nothing.

use jp_policy::{Ambient, Capabilities, Denied, Grant, Policy, compose_call};

use super::{Pass, grant::app};
use crate::{
    Denial, ToolError,
    tool::{Cause, Refused},
};

/// As many things can be missing at once.
const MOST: usize = 32;

/// What is missing, and what the call would get with it.
struct Wanting {
    missing: Capabilities,
    lines: Vec<String>,
    grant: Grant,
}

impl Pass<'_> {
    /// Puts a denial before a person, where its caller has one and the user alone could allow it.
    pub(super) async fn propose(&self, error: ToolError) -> ToolError {
        let by_host = matches!(
            error.cause(),
            Cause::Refused(Refused::Denied {
                denied: Denied::ByHost { .. },
                ..
            })
        );
        if !by_host || !self.call.action.is_run() {
            return error;
        }
        let Some(wanting) = self.wanting() else {
            return error;
        };
        let about = self.about(self.shown(&wanting.grant));
        let denial = Denial {
            about: &about,
            definition: self.definition(),
            source: self.source(),
            missing: &wanting.missing,
            lines: &wanting.lines,
            grant: &wanting.grant,
        };
        let proposal = self.host.caller().approver.denied(&denial).await;
        error.map_cause(|cause| match cause {
            Cause::Refused(Refused::Denied {
                denied, untrusted, ..
            }) => Cause::Refused(Refused::Denied {
                denied,
                untrusted,
                proposal,
            }),
            other => other,
        })
    }

    /// Finds all that the user's policy withholds from this call; nothing if granting that would not help.
    fn wanting(&self) -> Option<Wanting> {
        let trusted = self.is_trusted();
        let policy = self.policy();
        let request = self.request();
        let chosen = self.chosen(&request);
        let mut missing = Capabilities {
            ambient: Ambient::NONE,
            ..Capabilities::default()
        };
        let mut lines = Vec::new();
        for _ in 0..MOST {
            let widened = Policy {
                capabilities: policy.capabilities.union(&missing),
                ceilings: policy.ceilings,
            };
            let app = app::of(self.tool, &widened, trusted);
            match compose_call(&widened, &app, &request, &chosen) {
                Ok(grant) => {
                    return Some(Wanting {
                        missing,
                        lines,
                        grant,
                    });
                }
                Err(Denied::ByHost { capability }) => {
                    missing = missing.union(&capability.alone());
                    lines.push(capability.setting());
                }
                Err(_) => return None,
            }
        }
        None
    }
}
