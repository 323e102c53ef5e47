//! The one table of all capabilities.

use std::{collections::BTreeSet, sync::Arc};

use jp_policy::{Brokered, BrokeredName};

use crate::{capability::Known, clock, generate, kv, log, mcp, request, search, secrets, stt};

/// Returns all capabilities, by family.
pub(crate) fn table() -> Vec<Arc<dyn Known>> {
    [
        clock::all(),
        generate::all(),
        kv::all(),
        log::all(),
        mcp::all(),
        request::all(),
        search::all(),
        secrets::all(),
        stt::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the tools on whose data one works that may call these.
#[must_use]
pub fn owners(calls: &Brokered) -> BTreeSet<&'static str> {
    if calls.is_none() {
        return BTreeSet::new();
    }
    let is_called = |name: &str| name.parse().is_ok_and(|name| calls.allows(&name));
    table()
        .iter()
        .map(|known| known.spec())
        .filter(|spec| is_called(spec.name))
        .filter_map(|spec| spec.owner)
        .collect()
}

/// What a value of a secret, and not a handle to it, is asked for with.
const REVEAL: &str = "secrets.reveal";

/// Tells whether a name, or a set of names such as `kv.sqlite.*`, stands for anything that is done here.
#[must_use]
pub fn is_known(name: &BrokeredName) -> bool {
    let scoped = |start: &str| {
        let rest = name.as_str().strip_prefix(start);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let covers = |known: &str| known.parse().is_ok_and(|known| name.covers(&known));
    let known = table();
    let mut specs = known.iter().map(|known| known.spec());
    specs.any(|spec| match spec.scope {
        // What is granted of it names its scope: `secrets.get.github_pat`.
        Some(_) => scoped(spec.name) || covers(&format!("{}.x", spec.name)),
        None => covers(spec.name),
    }) || scoped(REVEAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_if_anything_of_it_is_done_here() {
        for (name, known) in [
            ("clock.now_unix", true),
            ("clock.now", false),
            ("clock.*", true),
            ("*", true),
            ("kv.sqlite.todo.*", true),
            ("kv.sqlite.*", true),
            ("kv.postgres.*", false),
            ("secrets.get.github_pat", true),
            ("secrets.get", false),
            ("secrets.get.*", true),
            ("secrets.*", true),
            ("secrets.reveal.github_pat", true),
            ("secrets.set.github_pat", false),
            ("solana.wallet", false),
            ("mcp.*", true),
        ] {
            assert_eq!(is_known(&name.parse().unwrap()), known, "{name}");
        }
        for known in table() {
            let spec = known.spec();
            let scope = spec.scope.map_or("", |_| ".x");
            let name = format!("{}{scope}", spec.name).parse().unwrap();
            assert!(is_known(&name), "{name}");
        }
    }

    #[test]
    fn what_needs_a_net_grant_is_what_reaches_out() {
        let mut says_it = 0;
        for known in table() {
            let spec = known.spec();
            let name: BrokeredName = spec.name.parse().unwrap();
            let says = spec.summary.contains("`net`");
            assert!(!says || name.reaches_out(), "{}", spec.name);
            says_it += usize::from(says);
        }
        assert!(says_it > 0);
    }

    #[test]
    fn every_name_can_be_granted_and_occurs_once() {
        let mut seen = BTreeSet::new();
        for known in table() {
            let name = known.spec().name;
            assert!(name.parse::<BrokeredName>().is_ok(), "{name}");
            assert!(seen.insert(name), "{name} twice");
        }
    }
}
