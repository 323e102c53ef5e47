//! What the user's own policy says to a capability.

use std::borrow::Cow;

use jp_config::{Loaded, PolicyConfig};
use jp_policy::{Capabilities, Capability, FileRule};

use super::{Said, covers, key_of};

/// Directories that every call may use as it asks, since they are its own or made for it.
const ALWAYS: [&str; 4] = ["/app-data", "/models", "/subjects", "/tmp"];

const SECTION: &str = "policy";

/// Says what the policy says. `allows` is whether the caller's policy does: it may be less than that of
/// the user.
pub(super) fn said(capability: &Capability, allows: bool, loaded: &Loaded) -> Said {
    let policy = loaded.config.policy.clone().unwrap_or_default();
    let own = policy.to_policy().ok();
    let own_allows = own.is_none_or(|own| {
        let wanted = Capabilities::only(capability);
        own.capabilities.missing(&wanted).is_none()
    });
    if own_allows && !allows {
        return Said {
            allows,
            key: None,
            place: None,
            words: "what you allow this caller".into(),
        };
    }
    let (key, default) = deciding(capability, &policy, allows);
    let Some(key) = key else {
        return Said {
            allows,
            key: None,
            place: None,
            words: default.into(),
        };
    };
    let item = loaded.place_of_item(&[SECTION, key], |item| covers(item, capability));
    let place = item.or_else(|| loaded.place_of(&[SECTION, key]));
    let words: Cow<'static, str> = match (&place, allows) {
        (None, _) => default.into(),
        (Some(_), true) => "your policy allows it".into(),
        (Some(_), false) => "your policy does not allow it".into(),
    };
    Said {
        allows,
        key: Some(format!("{SECTION}.{key}")),
        place,
        words,
    }
}

/// Returns the key that decides, and what holds where nobody has written it.
fn deciding(
    capability: &Capability,
    policy: &PolicyConfig,
    allows: bool,
) -> (Option<&'static str>, &'static str) {
    let key = key_of(capability);
    let default = match capability {
        Capability::Files(rule) => return of_files(rule, policy, allows),
        Capability::Selected(_) => "files you choose: read-write unless set",
        Capability::Net(_) => "no host unless set",
        Capability::Subprocess => "allowed unless set",
        Capability::Brokered(_) => "everything but secrets unless set",
        Capability::Env(_) => "no variable unless set",
        Capability::Ambient(_) => "allowed unless set",
    };
    (Some(key), default)
}

fn of_files(
    rule: &FileRule,
    policy: &PolicyConfig,
    allows: bool,
) -> (Option<&'static str>, &'static str) {
    let is_below = |top: &str| {
        let rest = rule.path.as_str().strip_prefix(top);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if allows && ALWAYS.into_iter().any(is_below) {
        return (None, "always allowed: it is the tool's own, or made for it");
    }
    let workspace = "the workspace: read-write unless set";
    if !is_below("/workspace") {
        return (Some("files"), "no other files unless set");
    }
    // What the policy says of the workspace may be widened for a part of it.
    let suffices = policy
        .workspace
        .is_none_or(|workspace| workspace.access() >= Some(rule.access));
    match allows && !suffices {
        true => (Some("files"), workspace),
        false => (Some("workspace"), workspace),
    }
}
