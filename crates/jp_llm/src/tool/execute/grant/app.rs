//! The workspace's opinion: what its tools may use, by how far the user trusts it, and for tools of
//! its tooling also by what it allows them itself.

use std::{borrow::Cow, sync::LazyLock};

use jp_policy::{
    Access, Brokered, Capabilities, Capability, Ceilings, FileRule, Files, GuestPath, Net, Policy,
};

use crate::ToolDefinition;

/// What a workspace may use that the user trusts: whatever the user's policy allows.
static TRUSTED: LazyLock<Policy> = LazyLock::new(|| {
    let Policy {
        capabilities,
        ceilings,
    } = policy(&[("/", Access::ReadWrite)]);
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

/// What an untrusted workspace may use: only itself.
static UNTRUSTED: LazyLock<Policy> = LazyLock::new(|| {
    let mut policy = policy(&[
        ("/workspace", Access::ReadWrite),
        ("/subjects", Access::Read),
        ("/tmp", Access::ReadWrite),
        // Nobody else's, and nothing that a tool could change.
        ("/app-data", Access::ReadWrite),
        ("/models", Access::Read),
    ]);
    policy.capabilities.brokered = names(&["clock.*", "log.*"]);
    policy.capabilities.selected = Some(Access::ReadWrite);
    policy
});

fn names(texts: &[&str]) -> Brokered {
    Brokered::new(texts.iter().filter_map(|text| text.parse().ok()))
}

fn policy(paths: &[(&str, Access)]) -> Policy {
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

/// Returns what a tool may use in this workspace.
pub(in crate::tool::execute) fn of(
    tool: &ToolDefinition,
    user: &Policy,
    trusted: bool,
) -> Cow<'static, Policy> {
    let mut policy = if trusted {
        Cow::Borrowed(&*TRUSTED)
    } else {
        Cow::Borrowed(&*UNTRUSTED)
    };
    // Variables have no pattern for all of them.
    if trusted && !user.capabilities.env.is_empty() {
        policy.to_mut().capabilities.env = user.capabilities.env.clone();
    }
    if let Some(app) = &tool.app {
        let both = app.intersect(&policy.capabilities);
        policy.to_mut().capabilities = both;
    }
    policy
}

/// Tells whether it is the workspace's own word that keeps a capability from its tools.
pub(super) fn lacks(app: &Capabilities, capability: &Capability) -> bool {
    app.missing(&Capabilities::only(capability)).is_some()
}
