//! Who makes requests, and the server as they have it.

use std::{ops::Deref, sync::Arc};

use jp_llm::{Approver, Caller};
use jp_policy::Policy;
use rmcp::{ErrorData, model::Extensions};

use crate::server::Shared;

/// Who makes a request. Tasks, results, records, states, sessions and rows belong to the name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Principal {
    name: String,
    /// What the user allows them, where that is less than what the user allows at all.
    policy: Option<Arc<Policy>>,
    /// Whether it is the user themself.
    is_user: bool,
}

impl Principal {
    /// Returns the user, who may do what their policy says.
    pub(crate) fn user(name: &str) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            policy: None,
            is_user: true,
        })
    }

    /// Returns somebody else whom the user lets in.
    pub(crate) fn other(name: &str, policy: Option<Arc<Policy>>) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            policy,
            is_user: false,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) const fn is_user(&self) -> bool {
        self.is_user
    }

    pub(crate) const fn policy(&self) -> Option<&Arc<Policy>> {
        self.policy.as_ref()
    }
}

/// The server as one principal has it: whatever is found, kept or done here is theirs.
#[derive(Clone)]
pub(crate) struct Served {
    shared: Arc<Shared>,
    who: Arc<Principal>,
}

impl Deref for Served {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Served {
    pub(crate) const fn new(shared: Arc<Shared>, who: Arc<Principal>) -> Self {
        Self { shared, who }
    }

    /// Returns what all principals share.
    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) const fn who(&self) -> &Arc<Principal> {
        &self.who
    }

    /// Returns the name that tasks, results, records and states belong to.
    pub(crate) fn principal(&self) -> &str {
        self.who.name()
    }

    /// Returns the caller behind every call of this principal, whom nobody can ask anything yet.
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            principal: self.who.name.clone(),
            policy: self.who.policy.as_deref().cloned(),
            approver: Arc::clone(self.terminal()),
            ..Caller::default()
        }
    }

    /// Returns who is asked on the terminal of the server about calls of this principal.
    pub(crate) fn terminal(&self) -> &Arc<dyn Approver> {
        let options = self.options();
        match self.who.is_user {
            true => &options.approver,
            false => &options.others,
        }
    }

    /// Returns the server for one request of a connection or session. What its principal may do can
    /// have changed since that was opened; whose it is cannot.
    pub(crate) fn for_request(&self, extensions: &Extensions) -> Result<Self, ErrorData> {
        let parts = extensions.get::<http::request::Parts>();
        match parts.and_then(|parts| parts.extensions.get::<Arc<Principal>>()) {
            None => Ok(self.clone()),
            Some(who) if who.name == self.who.name => {
                Ok(Self::new(Arc::clone(&self.shared), Arc::clone(who)))
            }
            Some(_) => Err(ErrorData::invalid_request("unknown session", None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_and_others_of_the_same_name_differ() {
        assert_ne!(Principal::user("ada"), Principal::other("ada", None));
        let narrow = Some(Arc::new(Policy::default()));
        assert_ne!(
            Principal::other("ada", None),
            Principal::other("ada", narrow)
        );
    }
}
