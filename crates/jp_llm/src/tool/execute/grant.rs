//! Step 3 of the pipeline: what the user, the workspace and the tool have in common.

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
};

use jp_audit::Decision;
use jp_config::Layer;
use jp_policy::{
    Access, Brokered, Capabilities, Ceilings, FileRule, Files, Grant, GuestPath, Net, Policy,
    Request, compose,
};

use super::Pass;
use crate::{ToolError, tool::Others};

/// A grant that was composed before, with what it was composed of.
pub(crate) struct Composed {
    policy: Policy,
    trusted: bool,
    granted: Granted,
}

/// A grant, and the words the audit record has for it.
#[derive(Clone)]
pub(crate) struct Granted {
    pub(crate) grant: Arc<Grant>,
    pub(crate) words: Arc<str>,
    /// What the tools may do on whose data this one works.
    pub(crate) others: Arc<Others>,
}

/// What a workspace may use that the user trusts: whatever the user's policy allows.
static TRUSTED: LazyLock<Policy> = LazyLock::new(|| {
    let Policy {
        capabilities,
        ceilings,
    } = app(&[("/", Access::ReadWrite)]);
    let capabilities = Capabilities {
        net: Net::Any,
        subprocess: true,
        brokered: names(&["*", "secrets.*"]),
        selected: Some(Access::ReadWrite),
        ..capabilities
    };
    Policy {
        capabilities,
        ceilings,
    }
});

/// What a workspace may use that nobody has looked at: only itself.
static UNTRUSTED: LazyLock<Policy> = LazyLock::new(|| {
    let mut policy = app(&[
        ("/workspace", Access::ReadWrite),
        ("/subjects", Access::Read),
        ("/tmp", Access::ReadWrite),
    ]);
    policy.capabilities.brokered = names(&["clock.*", "log.*"]);
    policy.capabilities.selected = Some(Access::ReadWrite);
    policy
});

fn names(texts: &[&str]) -> Brokered {
    Brokered::new(texts.iter().filter_map(|text| text.parse().ok()))
}

fn app(paths: &[(&str, Access)]) -> Policy {
    let rules = paths.iter().filter_map(|(path, access)| {
        Some(FileRule {
            path: GuestPath::new(path).ok()?,
            access: *access,
        })
    });
    let capabilities = Capabilities {
        files: Files::new(rules),
        ..Capabilities::default()
    };
    Policy {
        capabilities,
        ceilings: Ceilings::default(),
    }
}

impl Pass<'_> {
    /// Step 3: what the user, the workspace and the tool have in common.
    ///
    /// The three opinions seldom change, so the first grant is kept and given again while they are
    /// the same.
    pub(super) fn compose(&mut self) -> Result<Granted, ToolError> {
        let (tool, trusted) = (self.tool, self.is_trusted());
        let is_run = self.call.action.is_run();
        if let Some(known) = tool.composed.get()
            && is_run
            && known.trusted == trusted
            && known.policy == self.host.policy
        {
            return Ok(known.granted.clone());
        }
        let app = if trusted { &*TRUSTED } else { &*UNTRUSTED };
        let composed = compose(&self.host.policy, app, &self.request());
        let grant = composed.map_err(|denied| {
            self.decision = Decision::Denied;
            ToolError::Denied {
                tool: self.tool.name.clone(),
                denied,
                untrusted: !trusted,
            }
        })?;
        let words = grant.capabilities().to_string().into();
        let others = tool.others.iter().filter_map(|(name, request)| {
            let grant = compose(&self.host.policy, app, request).ok()?;
            Some((name.clone(), Arc::new(grant)))
        });
        let granted = Granted {
            grant: Arc::new(grant),
            words,
            others: Arc::new(others.collect()),
        };
        if is_run {
            // Somebody else may have been quicker, with other opinions; then this one is not kept.
            let _ = tool.composed.set(Composed {
                policy: self.host.policy.clone(),
                trusted,
                granted: granted.clone(),
            });
        }
        Ok(granted)
    }

    /// Whether a person has seen what this tool is: the user defined it, or trusts the workspace.
    pub(super) fn is_trusted(&self) -> bool {
        self.tool.defined_by == Layer::User || self.host.trust.is_trusted()
    }

    /// What the call asks for. To show its arguments a tool needs to change nothing and reach
    /// nobody, and nobody is asked before; so it cannot.
    fn request(&self) -> Cow<'_, Request> {
        let request = &self.tool.request;
        if self.call.action.is_run() {
            return Cow::Borrowed(request);
        }
        let readable = request
            .capabilities
            .files
            .rules()
            .iter()
            .map(|rule| FileRule {
                path: rule.path.clone(),
                access: Access::Read,
            });
        Cow::Owned(Request {
            capabilities: Capabilities {
                files: Files::new(readable),
                net: Net::None,
                subprocess: request.capabilities.subprocess,
                brokered: Brokered::default(),
                selected: request.capabilities.selected.min(Some(Access::Read)),
                env: request.capabilities.env.clone(),
                ambient: request.capabilities.ambient,
            },
            ..request.clone()
        })
    }
}
