//! Small worlds of paths and hosts for property tests, with plain second opinions about both.
//!
//! The worlds are small so that rules often meet. A second opinion works on text and lists alone:
//! it must not share code with what it judges.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use proptest::{collection::vec, option, prelude::*, sample::select};

use crate::{
    Access, Ambient, Brokered, BrokeredName, Capabilities, Ceilings, FileRule, Files, GuestPath,
    HostPattern, Net,
};

/// Makes a path that is known to be good.
pub(crate) fn path(text: &str) -> GuestPath {
    GuestPath::new(text).unwrap()
}

/// Makes a host pattern that is known to be good.
pub(crate) fn host(text: &str) -> HostPattern {
    text.parse().unwrap()
}

/// Lists every text of up to `depth` parts, outermost part first.
fn words(parts: &[&str], depth: usize) -> Vec<Vec<String>> {
    let mut all = Vec::from([Vec::new()]);
    let mut last = all.clone();
    for _ in 0..depth {
        last = last
            .iter()
            .flat_map(|word: &Vec<String>| {
                parts.iter().map(move |part| {
                    let mut longer = word.clone();
                    longer.push(part.to_string());
                    longer
                })
            })
            .collect();
        all.extend(last.clone());
    }
    all
}

/// Lists every path worth asking about: one part more than any rule has, some of it unnamed.
pub(crate) fn all_paths() -> Vec<GuestPath> {
    let words = words(&["a", "b", "a-b", "other"], 3);
    words
        .iter()
        .map(|w| path(&format!("/{}", w.join("/"))))
        .collect()
}

fn any_rule() -> impl Strategy<Value = FileRule> {
    let parts = vec(select(Vec::from(["a", "b", "a-b"])), 0..3);
    let access = select(Vec::from([Access::Read, Access::ReadWrite]));
    (parts, access).prop_map(|(parts, access)| FileRule {
        path: path(&format!("/{}", parts.join("/"))),
        access,
    })
}

/// Makes lists of file rules, redundant ones included.
pub(crate) fn any_rules() -> impl Strategy<Value = Vec<FileRule>> {
    vec(any_rule(), 0..5)
}

/// Makes sets of file rules.
pub(crate) fn any_files() -> impl Strategy<Value = Files> {
    any_rules().prop_map(Files::new)
}

/// Gives a second opinion on what rules allow at a path.
pub(crate) fn expected_access(rules: &[FileRule], at: &GuestPath) -> Option<Access> {
    let parts = |path: &GuestPath| -> Vec<String> {
        let parts = path.as_str().split('/').filter(|part| !part.is_empty());
        parts.map(ToString::to_string).collect()
    };
    let covers = |rule: &&FileRule| parts(at).starts_with(&parts(&rule.path));
    rules.iter().filter(covers).map(|rule| rule.access).max()
}

/// Lists every host and port worth asking about.
pub(crate) fn all_addresses() -> Vec<(String, u16)> {
    let mut names: Vec<String> = words(&["x", "y", "other"], 3)
        .iter()
        .filter(|word| !word.is_empty())
        .map(|word| word.join("."))
        .collect();
    names.extend(["xx.y", "yx", "x.yx"].map(ToString::to_string));
    let ports = [80, 443, 9];
    names
        .iter()
        .flat_map(|name| ports.map(|port| (name.clone(), port)))
        .collect()
}

fn any_host() -> impl Strategy<Value = HostPattern> {
    let labels = vec(select(Vec::from(["x", "y"])), 1..3);
    let port = option::of(select(Vec::from([80_u16, 443])));
    (any::<bool>(), labels, port).prop_map(|(wild, labels, port)| {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let wild = if wild { "*." } else { "" };
        host(&format!("{wild}{}{port}", labels.join(".")))
    })
}

/// Makes networks, among them empty and redundant sets.
pub(crate) fn any_net() -> impl Strategy<Value = Net> {
    prop_oneof![
        1 => Just(Net::None),
        1 => Just(Net::Any),
        6 => vec(any_host(), 0..5).prop_map(|hosts| Net::Hosts(hosts.into_iter().collect())),
    ]
}

/// Gives a second opinion on whether a network allows a host at a port.
pub(crate) fn expected_reach(net: &Net, (name, port): &(String, u16)) -> bool {
    let Net::Hosts(hosts) = net else {
        return *net == Net::Any;
    };
    hosts.iter().any(|pattern| {
        let text = pattern.to_string();
        let (host, at) = text.split_once(':').unwrap_or((&text, ""));
        let named = match host.strip_prefix('*') {
            Some(ending) => name.ends_with(ending),
            None => name == host,
        };
        named && (at.is_empty() || at == port.to_string())
    })
}

/// Makes sets of capabilities.
pub(crate) fn any_capabilities() -> impl Strategy<Value = Capabilities> {
    let access = select(Vec::from([Access::Read, Access::ReadWrite]));
    let names = select(Vec::from(["A", "B", "C"])).prop_map(|name| name.parse().unwrap());
    let ambient = any::<[bool; 3]>().prop_map(|[clocks, random, stdio]| Ambient {
        clocks,
        random,
        stdio,
    });
    let first = (any_files(), any_net(), any::<bool>(), any_brokered());
    let more = (option::of(access), vec(names, 0..3), ambient);
    (first, more).prop_map(
        |((files, net, subprocess, brokered), (selected, env, ambient))| Capabilities {
            files,
            selected,
            net,
            subprocess,
            brokered,
            env: env.into_iter().collect(),
            ambient,
        },
    )
}

/// Lists every brokered name worth asking about.
pub(crate) fn all_names() -> Vec<BrokeredName> {
    let texts = [
        "a.a",
        "a.b",
        "a.c",
        "a.a.a",
        "a.a.b",
        "a.b.a",
        "b.a",
        "b.b",
        "c.c",
        "secrets.get.a",
    ];
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Makes sets of brokered names.
pub(crate) fn any_brokered() -> impl Strategy<Value = Brokered> {
    let texts = [
        "a.a",
        "a.b",
        "a.*",
        "a.a.a",
        "a.a.*",
        "a.b.*",
        "b.*",
        "b.a",
        "*",
        "secrets.*",
    ];
    vec(select(Vec::from(texts)), 0..4)
        .prop_map(|texts| Brokered::new(texts.iter().map(|text| text.parse().unwrap())))
}

/// Tells, path by path and host by host, whether `inner` allows nothing that `outer` does not.
pub(crate) fn is_pointwise_within(inner: &Capabilities, outer: &Capabilities) -> bool {
    let access = |set: &Capabilities, at: &GuestPath| expected_access(set.files.rules(), at);
    let files = all_paths()
        .iter()
        .all(|at| access(inner, at) <= access(outer, at));
    let reach = |set: &Capabilities, at: &(String, u16)| expected_reach(&set.net, at);
    let net = all_addresses()
        .iter()
        .all(|at| reach(inner, at) <= reach(outer, at));
    let calls = |set: &Capabilities, name: &BrokeredName| {
        let (mut names, text) = (set.brokered.names(), name.as_str());
        names.any(|mine| match mine.as_str().split_once('*') {
            Some(("", _)) => !text.starts_with("secrets"),
            Some((start, _)) => text.starts_with(start),
            None => text == mine.as_str(),
        })
    };
    let brokered = all_names()
        .iter()
        .all(|name| calls(inner, name) <= calls(outer, name));
    let env = inner.env.iter().all(|name| outer.env.contains(name));
    let (own, most) = (inner.ambient, outer.ambient);
    let ambient = own.clocks <= most.clocks && own.random <= most.random && own.stdio <= most.stdio;
    let rest = inner.subprocess <= outer.subprocess && inner.selected <= outer.selected;
    files && net && brokered && env && ambient && rest
}

/// Makes ceilings at and below the defaults.
pub(crate) fn any_ceilings() -> impl Strategy<Value = Ceilings> {
    let top = Ceilings::default();
    let bytes = |most| prop_oneof![Just(most), 1..=most];
    let ms = prop_oneof![Just(300_000_u64), 1..=300_000_u64];
    (
        bytes(top.memory_bytes),
        ms,
        bytes(top.fuel),
        bytes(top.output_bytes),
    )
        .prop_map(|(memory_bytes, ms, fuel, output_bytes)| Ceilings {
            memory_bytes,
            time: core::time::Duration::from_millis(ms),
            fuel,
            output_bytes,
        })
}
