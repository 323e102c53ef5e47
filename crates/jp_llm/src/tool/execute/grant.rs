//! Step 3 of the pipeline: what the user, the workspace and the tool have in common.

pub(super) mod app;
mod why;

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use jp_audit::Decision;
use jp_config::Layer;
use jp_policy::{
    Access, Ambient, Brokered, Capabilities, Capability, Chosen, Denied, FileRule, Files, Grant,
    Net, Policy, Request, Requirement, compose, compose_call,
};

pub use self::why::{Said, Side, Weighed, Why};

use super::Pass;
use crate::{
    Digest, ToolError,
    places::in_workspace,
    tool::{Misconfigured, Others, Refused},
};

/// As many grants of a tool are kept. Callers have few policies between them.
const MAX_KNOWN: usize = 16;

/// A grant that was composed before, with what it was composed of.
struct Composed {
    policy: Arc<Policy>,
    trusted: bool,
    app: Cow<'static, Policy>,
    granted: Granted,
}

/// The grants of a tool that were composed before.
#[derive(Default)]
pub(in crate::tool) struct KnownGrants(RwLock<Vec<Arc<Composed>>>);

impl KnownGrants {
    fn get(&self, policy: &Arc<Policy>, trusted: bool) -> Option<Arc<Composed>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let is_same = |theirs: &Arc<Policy>| Arc::ptr_eq(theirs, policy) || theirs == policy;
        let mut known = known.iter();
        let known = known.find(|known| known.trusted == trusted && is_same(&known.policy));
        known.map(Arc::clone)
    }

    #[cfg(test)]
    pub(in crate::tool) fn len(&self) -> usize {
        self.0.read().unwrap().len()
    }

    fn keep(&self, composed: Composed) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MAX_KNOWN {
            known.remove(0);
        }
        known.push(Arc::new(composed));
    }
}

/// A grant, and the words the audit record has for it.
#[derive(Clone)]
pub(crate) struct Granted {
    pub(crate) grant: Arc<Grant>,
    pub(crate) words: Arc<str>,
    /// What the tools may do on whose data this one works.
    pub(crate) others: Arc<Others>,
    /// The digest of what the tool is, and of what is shown of it with this grant.
    pub(super) shown: Arc<OnceLock<(Digest, Digest)>>,
}

impl Pass<'_> {
    /// Step 3: what the user, the workspace and the tool have in common.
    ///
    /// The three opinions seldom change, so a grant is kept and given again while they are the same.
    /// What files were chosen is different for every call, so such a grant is never kept.
    pub(super) fn compose(&mut self) -> Result<Granted, ToolError> {
        let (tool, trusted) = (self.tool, self.is_trusted());
        let keeps = self.call.action.is_run() && self.files.is_empty();
        let policy = self.policy();
        let known = tool.grants.get(&policy, trusted);
        if let Some(known) = known.as_ref().filter(|_| keeps) {
            return Ok(known.granted.clone());
        }
        if !self.files.is_empty() && !tool.runtime.takes_files() {
            return Err(ToolError::new(&*tool.name, Misconfigured::TakesNoFiles));
        }
        let app = match &known {
            Some(known) => Cow::Borrowed(&*known.app),
            None => app::of(tool, &policy, trusted),
        };
        let request = self.request();
        let chosen = self.chosen(&request);
        let composed = compose_call(&policy, &app, &request, &chosen);
        let grant = composed.map_err(|denied| self.denied(denied, trusted))?;
        let words = self.words(&grant);
        let others = tool.others.iter().filter_map(|(name, request)| {
            let grant = compose(&policy, &app, request).ok()?;
            Some((name.clone(), Arc::new(grant)))
        });
        let granted = Granted {
            grant: Arc::new(grant),
            words,
            others: Arc::new(others.collect()),
            shown: Arc::default(),
        };
        if keeps {
            tool.grants.keep(Composed {
                policy,
                trusted,
                app: Cow::Owned(app.into_owned()),
                granted: granted.clone(),
            });
        }
        Ok(granted)
    }

    /// Returns what the user allows this call: their policy, and what they granted this tool besides.
    pub(super) fn policy(&self) -> Arc<Policy> {
        let policy = self.host.shared_policy();
        let Some(more) = self.access() else {
            return Arc::clone(policy);
        };
        Arc::new(Policy {
            capabilities: policy.capabilities.union(&more),
            ceilings: policy.ceilings,
        })
    }

    fn denied(&mut self, denied: Denied, trusted: bool) -> ToolError {
        self.decision = Decision::Denied;
        // Trust does not help where the workspace itself allows its tools less.
        let by_tooling = match (&denied, &self.tool.app) {
            (Denied::ByApp { capability }, Some(app)) => app::lacks(app, capability),
            _ => false,
        };
        if let (Denied::ByApp { .. }, Err(path)) = (&denied, self.pin())
            && !by_tooling
        {
            let path = path.to_owned();
            return ToolError::new(&*self.tool.name, Refused::WasmUnseen { path })
                .with_hint("look at it, then run `jp trust` in the workspace again");
        }
        if let Denied::ByHost {
            capability: Capability::Files(rule),
        } = &denied
            && self.host.is_no_workspace()
            && in_workspace(rule).is_some()
        {
            let root = self.host.root().to_owned();
            return ToolError::new(&*self.tool.name, Refused::NoWorkspace { root })
                .with_hint("`jp init DIR` makes a workspace in another directory; work there");
        }
        let untrusted = !trusted && !by_tooling;
        let hint = match denied {
            Denied::ByApp { .. } if untrusted => {
                Some("if you know what this workspace does, run `jp trust` in it".to_owned())
            }
            // What their own policy withholds no line of the user's would give.
            Denied::ByHost { .. } if self.host.caller().policy.is_some() => {
                let who = jp_text::short_line(&self.host.caller().principal, 80);
                denied.setting().map(|line| {
                    format!(
                        "`{line}` is missing in the policy of `{who}`, which came with their token or stands \
                         under `[serve.principals.{who}.policy]`, or in your own"
                    )
                })
            }
            _ => denied.fix(),
        };
        ToolError::new(
            &*self.tool.name,
            Refused::Denied {
                denied,
                untrusted,
                proposal: None,
            },
        )
        .with_hint_of(hint)
    }

    /// The files of the call as the policy speaks of them. A tool gets no more of a file than it asks
    /// for, even if the person would allow it.
    pub(super) fn chosen(&self, request: &Request) -> Vec<Chosen> {
        let asked = request.conditional.iter().map(|more| more.needs.selected);
        let most = asked.fold(request.capabilities.selected, Ord::max);
        let chosen = self.files.iter().map(|placed| Chosen {
            argument: placed.argument.clone(),
            access: placed.file.access.min(most.unwrap_or(placed.file.access)),
        });
        chosen.collect()
    }

    /// The words of the audit record. Where a chosen file lies is the user's own: the record has the
    /// guest's path, and a hash with the log's key, to compare by those who know path and log.
    fn words(&self, grant: &Grant) -> Arc<str> {
        let mut words = grant.capabilities().to_string();
        if let Some(log) = self.host.audit() {
            for placed in &self.files {
                let path = placed.file.path.as_os_str().as_encoded_bytes();
                let hash = log.hash_arguments(path);
                words.push_str(&format!(" chosen={}#{hash}", placed.place));
            }
        }
        words.into()
    }

    /// Whether a person has seen what this tool is: the user defined it, or trusts the workspace and
    /// the tool's Wasm file was there then. Otherwise anybody could put any file in its place.
    pub(super) fn is_trusted(&self) -> bool {
        self.tool.defined_by == Layer::User || self.host.trust().is_trusted() && self.pin().is_ok()
    }

    /// What the call asks for. To show its arguments a tool needs to change nothing and reach
    /// nobody, and nobody is asked before; so it cannot.
    pub(super) fn request(&self) -> Cow<'_, Request> {
        let request = &self.tool.request;
        if self.call.action.is_run() {
            return Cow::Borrowed(request);
        }
        let readable = request.capabilities.files.rules().iter();
        let readable = readable.map(|rule| FileRule {
            path: rule.path.clone(),
            access: Access::Read,
        });
        let selected = |wanted: &Capabilities| wanted.selected.min(Some(Access::Read));
        let conditional = request.conditional.iter().map(|more| Requirement {
            needs: Capabilities {
                selected: selected(&more.needs),
                ambient: Ambient::NONE,
                ..Capabilities::default()
            },
            ..more.clone()
        });
        Cow::Owned(Request {
            capabilities: Capabilities {
                files: Files::new(readable),
                net: Net::None,
                subprocess: request.capabilities.subprocess,
                brokered: Brokered::default(),
                selected: selected(&request.capabilities),
                env: request.capabilities.env.clone(),
                ambient: request.capabilities.ambient,
            },
            conditional: conditional.collect(),
            ..request.clone()
        })
    }
}
