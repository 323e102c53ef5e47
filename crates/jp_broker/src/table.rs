//! The one table of all capabilities.

use std::{collections::BTreeSet, sync::Arc};

use jp_policy::Brokered;

use crate::{Capability, clock, generate, kv, log, mcp, request, search, secrets, stt};

/// Returns all capabilities, by family.
#[must_use]
pub fn table() -> Vec<Arc<dyn Capability>> {
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
        .map(|known| *known.spec())
        .filter(|spec| is_called(spec.name))
        .filter_map(|spec| spec.owner)
        .collect()
}

/// Returns the page of the documentation that lists all capabilities.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(REFERENCE_HEAD);
    for known in table() {
        let spec = known.spec();
        let scope = spec
            .scope
            .map_or(String::new(), |field| format!(".<{field}>"));
        let owner = spec
            .owner
            .map_or(String::new(), |tool| format!(" `{tool}`"));
        page.push_str(&format!(
            "| `{}` | {} | {} | `{}` |{owner} | `{}{scope}` |\n",
            spec.name,
            spec.summary,
            in_code(spec.arguments),
            spec.result,
            spec.name,
        ));
    }
    page
}

const REFERENCE_HEAD: &str = "\
# All capabilities

Made from the code by `JP_UPDATE=1 cargo test -p jp_broker --test docs`. `*` marks arguments that must be there. Whoever
calls a capability that works on another tool's data needs what that tool is granted, too.

| capability | what it does | arguments | result | data of | what to grant (`grant.calls`) |
|---|---|---|---|---|---|
";

fn in_code(text: &str) -> String {
    if text.is_empty() {
        return "none".to_owned();
    }
    // A bar would end the table's cell, in code too.
    format!("`{}`", text.replace('|', "\\|"))
}
