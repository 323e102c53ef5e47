//! What holds, so that a call finds it in a moment however much is remembered. Whatever is about one call's
//! very arguments is found by their digest; the few patterns of a tool are tried one by one.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use jp_llm::{About, Digest, Known};
use jp_policy::Capabilities;
use jp_store::{Arguments, Effect, Grant, Snapshot};

use super::{access::Access, pattern::Pattern};

/// What holds, as of one state of the store.
#[derive(Default)]
pub(super) struct Index {
    pub(super) generation: u64,
    tools: HashMap<String, Tool>,
}

/// What is remembered about a tool: for one principal, or for all (`""`).
#[derive(Default)]
struct Tool(HashMap<String, Remembered>);

#[derive(Default)]
struct Remembered {
    exact: HashMap<Digest, Vec<Entry>>,
    others: Vec<Entry>,
    tickets: HashSet<Digest>,
}

/// A decision, ready to be looked up.
struct Entry {
    grant: Grant,
    pattern: Option<Pattern>,
    access: Option<Arc<Capabilities>>,
}

/// Where a call is made.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) workspace: &'a str,
    pub(super) configuration: Option<&'a str>,
    pub(super) run: &'a str,
}

impl Index {
    pub(super) fn of(all: Snapshot) -> Self {
        let mut index = Self {
            generation: all.generation,
            tools: HashMap::new(),
        };
        for grant in all.grants {
            index.add(grant);
        }
        for (principal, tool, digest) in all.tickets {
            let remembered = index.remembered(tool, principal);
            remembered.tickets.insert(digest);
        }
        index
    }

    fn remembered(&mut self, tool: String, principal: String) -> &mut Remembered {
        let tool = self.tools.entry(tool).or_default();
        tool.0.entry(principal).or_default()
    }

    fn add(&mut self, grant: Grant) {
        let pattern = match &grant.arguments {
            Arguments::Pattern(text) => match Pattern::read(text) {
                Some(pattern) => Some(pattern),
                // What cannot be read allows nothing, and forbids all.
                None if grant.effect == Effect::Never => None,
                None => return,
            },
            Arguments::Any | Arguments::Exact(_) => None,
        };
        let access = grant.access.as_deref().and_then(Access::read);
        let access = access.map(|access| Arc::new(access.capabilities));
        if grant.effect == Effect::Access && access.is_none() {
            return;
        }
        let exact = match grant.arguments {
            Arguments::Exact(digest) => Some(digest),
            _ => None,
        };
        let (tool, principal) = (
            grant.tool.clone(),
            grant.principal.clone().unwrap_or_default(),
        );
        let entry = Entry {
            grant,
            pattern,
            access,
        };
        let remembered = self.remembered(tool, principal);
        match exact {
            Some(digest) => remembered.exact.entry(digest).or_default().push(entry),
            None => remembered.others.push(entry),
        }
    }

    pub(super) fn concerns(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Returns what the user granted a call beyond their policy.
    pub(super) fn access(&self, about: &About<'_>, place: Place<'_>) -> Option<Arc<Capabilities>> {
        let mut all: Option<Arc<Capabilities>> = None;
        for entry in self.entries(about, place, Effect::Access) {
            let Some(more) = &entry.access else {
                continue;
            };
            all = Some(match all {
                None => Arc::clone(more),
                Some(before) => Arc::new(before.union(more)),
            });
        }
        all
    }

    /// Looks a call up. What is forbidden counts before what is allowed.
    pub(super) fn known(&self, about: &About<'_>, place: Place<'_>) -> Known {
        if let Some(never) = self.entries(about, place, Effect::Never).next() {
            let by = said(&never.grant);
            return Known::Never { by };
        }
        if let Some(allowed) = self.entries(about, place, Effect::Allow).next() {
            let by = said(&allowed.grant);
            return Known::Allowed { by };
        }
        let mut mine = self.buckets(about);
        match mine.any(|remembered| {
            !remembered.tickets.is_empty() && remembered.tickets.contains(&about.digest())
        }) {
            true => Known::Ticket,
            false => Known::Nothing,
        }
    }

    /// Returns what is remembered of a tool for a principal, and for all.
    fn buckets(&self, about: &About<'_>) -> impl Iterator<Item = &Remembered> {
        let tool = self.tools.get(about.tool);
        let mine = tool.and_then(|tool| tool.0.get(about.principal));
        let all = tool.and_then(|tool| tool.0.get(""));
        let all = all.filter(|_| !about.principal.is_empty());
        mine.into_iter().chain(all)
    }

    fn entries(
        &self,
        about: &About<'_>,
        place: Place<'_>,
        effect: Effect,
    ) -> impl Iterator<Item = &Entry> {
        self.buckets(about).flat_map(move |remembered| {
            let exact = match remembered.exact.is_empty() {
                true => None,
                false => remembered.exact.get(&about.digest()),
            };
            let exact = exact.into_iter().flatten();
            let all = exact.chain(&remembered.others);
            all.filter(move |entry| entry.grant.effect == effect && entry.covers(about, place))
        })
    }
}

impl Entry {
    fn covers(&self, about: &About<'_>, place: Place<'_>) -> bool {
        let Self { grant, pattern, .. } = self;
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        grant.expires.is_none_or(|expires| expires > about.now)
            && is(&grant.workspace, Some(place.workspace))
            && is(&grant.configuration, place.configuration)
            && is(&grant.run, Some(place.run))
            && grant.shown.is_none_or(|shown| shown == about.shown)
            && pattern
                .as_ref()
                .is_none_or(|pattern| pattern.fits(about.arguments))
    }
}

/// Says who decided, for the record.
fn said(grant: &Grant) -> String {
    format!("{}, remembered as {}", grant.author, grant.id)
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
