//! Why a tool gets what it gets: what it asks for, one by one, what each layer says to that, and which
//! line of which file says it.
//!
//! The grant itself is composed by [`jp_policy::compose`] alone. What stands here takes the same three
//! opinions apart, so that a person sees which one to change.

mod asked;
mod here;
mod user;

use std::borrow::Cow;

use jp_config::{Loaded, Place};
use jp_policy::{Ambient, Capabilities, Capability, Files};

use super::{Pass, app};
use crate::{
    Call, Host, ToolError,
    tool::{Facts, PreparedTool, execute::Preview},
};

/// Why a tool gets what it gets.
#[derive(Debug)]
pub struct Why {
    /// What it asks for, and what becomes of each. What is there without asking is only among them where
    /// somebody takes it away.
    pub weighed: Vec<Weighed>,
    /// What a call gets, or why it would be denied.
    pub preview: Result<Preview, ToolError>,
}

/// Something that a tool asks for, and what each layer says to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighed {
    /// What it is.
    pub capability: Capability,
    /// The argument, as a JSON pointer, that has to be a chosen file for the tool to need it; `None` for
    /// what it always needs.
    pub when: Option<String>,
    /// Where the tool asks for it.
    pub tool: Said,
    /// What the user's own policy says.
    pub user: Said,
    /// What the workspace says, and how far the user trusts it.
    pub workspace: Said,
}

/// What one layer says to a capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Whether the layer allows it.
    pub allows: bool,
    /// The key that says so: the one that was written, or the one to write.
    pub key: Option<String>,
    /// Where it was written; `None` where nobody wrote it, and a default holds.
    pub place: Option<Place>,
    /// The same in words.
    pub words: Cow<'static, str>,
}

/// One of the three opinions that a grant is composed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What the tool asks for.
    Tool,
    /// What the user allows.
    User,
    /// What the workspace allows, and how far the user trusts it.
    Workspace,
}

impl Why {
    /// Returns what is true of the tool for clients, if a call would be allowed.
    #[must_use]
    pub fn facts(&self) -> Option<Facts> {
        let preview = self.preview.as_ref().ok()?;
        Some(Facts::of(preview.grant.capabilities()))
    }
}

impl Weighed {
    /// Tells whether a call gets it.
    #[must_use]
    pub const fn is_granted(&self) -> bool {
        self.user.allows && self.workspace.allows
    }

    /// Returns whose word decides: of those who withhold it the first that is asked, or else the tool's
    /// own, since it gets nothing that it does not ask for.
    #[must_use]
    pub const fn decided_by(&self) -> Side {
        match (self.user.allows, self.workspace.allows) {
            (false, _) => Side::User,
            (true, false) => Side::Workspace,
            (true, true) => Side::Tool,
        }
    }

    /// Returns what one side says.
    #[must_use]
    pub const fn said_by(&self, side: Side) -> &Said {
        match side {
            Side::Tool => &self.tool,
            Side::User => &self.user,
            Side::Workspace => &self.workspace,
        }
    }
}

impl PreparedTool {
    /// Says why the tool gets what it gets, without a call. `loaded` is the configuration that the tool
    /// and the host were made of.
    #[must_use]
    pub fn why(&self, loaded: &Loaded, host: &Host) -> Why {
        let pass = Pass::new(self, Call::default(), host);
        let app = app::of(self, host.policy(), pass.is_trusted());
        let lacks = |theirs: &Capabilities, one: &Capability| {
            theirs.missing(&Capabilities::only(one)).is_some()
        };
        let weigh = |capability: Capability, when: Option<String>| Weighed {
            tool: asked::said(self, &capability, loaded, host),
            user: user::said(
                &capability,
                !lacks(&host.policy().capabilities, &capability),
                loaded,
            ),
            workspace: here::said(
                &pass,
                &capability,
                !lacks(&app.capabilities, &capability),
                loaded,
            ),
            capability,
            when,
        };
        let always = self.request.capabilities.each().into_iter();
        let mut weighed: Vec<Weighed> = always.map(|one| weigh(one, None)).collect();
        for more in &self.request.conditional {
            let when = more.when.as_ref().map(|when| when.argument.clone());
            let needs = more.needs.each().into_iter();
            weighed.extend(needs.map(|one| weigh(one, when.clone())));
        }
        let usual = usual(self.request.capabilities.ambient).map(|one| weigh(one, None));
        weighed.extend(usual.filter(|weighed| !weighed.is_granted()));
        Why {
            weighed,
            preview: self.preview(host),
        }
    }
}

/// Returns what a tool has without asking.
fn usual(ambient: Ambient) -> impl Iterator<Item = Capability> {
    let withheld: Vec<_> = ambient.withheld().collect();
    let all = Ambient::NONE.withheld();
    all.filter(move |name| !withheld.contains(name))
        .map(Capability::Ambient)
}

/// Returns the key of a list that has a capability, below a `grant` or `[policy]`.
const fn key_of(capability: &Capability) -> &'static str {
    match capability {
        Capability::Files(_) => "files",
        Capability::Selected(_) => "selected",
        Capability::Net(_) => "net",
        Capability::Subprocess => "subprocess",
        Capability::Brokered(_) => "calls",
        Capability::Env(_) => "env",
        Capability::Ambient(name) => name,
    }
}

/// Tells whether an item of such a list allows a capability.
fn covers(item: &str, capability: &Capability) -> bool {
    use jp_config::tool::FileGrant;
    match capability {
        Capability::Files(rule) => {
            let grant = FileGrant::try_from(serde_json::Value::from(item));
            grant.is_ok_and(|grant| {
                let theirs = grant.rule();
                let alone = Files::one(theirs.path.clone(), theirs.access);
                alone.access(&rule.path) >= Some(rule.access)
            })
        }
        Capability::Net(host) => {
            let pattern = item.parse::<jp_policy::HostPattern>();
            let wanted = host.parse::<jp_policy::HostPattern>();
            pattern.is_ok_and(|pattern| wanted.is_ok_and(|wanted| pattern.covers(&wanted)))
        }
        Capability::Brokered(name) => {
            let theirs = item.parse::<jp_policy::BrokeredName>();
            theirs.is_ok_and(|theirs| theirs.covers(name))
        }
        Capability::Env(name) => item == name.as_str(),
        Capability::Selected(_) | Capability::Subprocess | Capability::Ambient(_) => false,
    }
}
