//! What is written is what is meant, and what means nothing is refused with the way to write it.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::*;

fn meaning(json: &str) -> Result<String, String> {
    let declared: Declared = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let capabilities = declared.capabilities();
    capabilities
        .map(|capabilities| capabilities.to_string())
        .map_err(|error| error.to_string())
}

#[test]
fn what_is_written_is_what_is_meant() {
    for (json, expected) in [
        ("{}", "fs=/tmp:read-write net=none"),
        (
            r#"{"fs": {"scope": "$TOOL_TEMP"}, "stdio": "read-write"}"#,
            "fs=/tmp:read-write net=none",
        ),
        (r#"{"fs": false, "net": false}"#, "fs=none net=none"),
        (
            r#"{"fs": {"user-selected": "read", "app-data": "read-write",
                "user-paths": {"documents": "read", "music": false}}}"#,
            "fs=/app-data:read-write,/tmp:read-write,/user/documents:read selected=read net=none",
        ),
        (r#"{"net": true}"#, "fs=/tmp:read-write net=*"),
        (
            r#"{"net": ["a.example", "*.b.example:443"]}"#,
            "fs=/tmp:read-write net=*.b.example:443,a.example",
        ),
        (r#"{"net": []}"#, "fs=/tmp:read-write net=none"),
        (
            r#"{"net": {"allowed_hosts": ["a.example"], "allowed_ports": [80, 443]}}"#,
            "fs=/tmp:read-write net=a.example:80,a.example:443",
        ),
        (
            r#"{"net": {"allowed_hosts": ["a.example"]}}"#,
            "fs=/tmp:read-write net=a.example",
        ),
        (
            r#"{"clocks": false, "random": false, "stdio": "none", "process": false, "env": false}"#,
            "fs=/tmp:read-write net=none no-clocks no-random no-stdio",
        ),
        (
            r#"{"env": ["LANG"], "tool.exec.subprocess": true, "tools.mcp": true, "calls": ["log.emit"]}"#,
            "fs=/tmp:read-write net=none subprocess calls=log.emit,mcp.* env=LANG",
        ),
    ] {
        assert_eq!(meaning(json).as_deref(), Ok(expected), "{json}");
    }
}

#[test]
fn what_means_nothing_names_the_key_and_what_to_write() {
    for (json, expected) in [
        (
            r#"{"process": true}"#,
            r#"`process`: it is never granted; a tool that must run commands asks for "tool.exec.subprocess": true"#,
        ),
        (
            r#"{"fs": true}"#,
            r#"`fs`: `true` says neither which files nor what for; write {"user-selected": "read"} or {"app-data": "read-write"}"#,
        ),
        (
            r#"{"fs": {"scope": "/"}}"#,
            r#"`fs.scope`: unknown scope `/`; write "$TOOL_TEMP""#,
        ),
        (
            r#"{"fs": {"user-paths": {"secrets": "read"}}}"#,
            "`fs.user-paths`: unknown directory `secrets`; write one of desktop, documents",
        ),
        (
            r#"{"net": ["https://a.example"]}"#,
            "`net`: invalid host `https://a.example`",
        ),
        (
            r#"{"net": {"allowed_hosts": ["a:80"], "allowed_ports": [443]}}"#,
            "`net`: cannot combine `a:80` with port 443; write hosts without ports",
        ),
        (
            r#"{"net": {"allowed_hosts": ["a"], "allowed_ports": [0]}}"#,
            "`net`: cannot combine `a` with port 0",
        ),
        (
            r#"{"net": "a.example"}"#,
            "expected false, true, a list of hosts, or",
        ),
        (
            r#"{"net": {"allowed_ports": [1]}}"#,
            "missing field `allowed_hosts`",
        ),
        (r#"{"env": true}"#, r#"write their names, such as ["LANG"]"#),
        (
            r#"{"env": ["A B"]}"#,
            "`env`: invalid name `A B`; a variable is written with",
        ),
        (
            r#"{"calls": ["Nope"]}"#,
            "`calls`: invalid name `Nope`; a brokered capability is",
        ),
        (
            r#"{"fs": {"app-data": "write"}}"#,
            r#"invalid value: string "write", expected "read", "read-write" or false"#,
        ),
        (
            r#"{"fs": {"app-data": true}}"#,
            r#"expected "read", "read-write" or false"#,
        ),
        (
            r#"{"stdio": "read"}"#,
            r#"expected "read-write", "none", true or false"#,
        ),
        (
            r#"{"device.microphone": true}"#,
            "unknown field `device.microphone`, expected one of `net`",
        ),
    ] {
        let error = meaning(json).unwrap_err();
        assert!(error.contains(expected), "{json}: {error}");
    }
}

#[test]
fn more_hosts_than_anybody_reads_are_refused_before_they_are_made() {
    let hosts: Vec<String> = (0..600)
        .map(|n| alloc::format!("\"h{n}.example\""))
        .collect();
    let ports: Vec<String> = (1..600).map(|n| n.to_string()).collect();
    let json = alloc::format!(
        r#"{{"net": {{"allowed_hosts": [{}], "allowed_ports": [{}]}}}}"#,
        hosts.join(","),
        ports.join(",")
    );
    let error = meaning(&json).unwrap_err();
    assert_eq!(
        error,
        "`net`: too many hosts and ports (359400); at most 1024 are allowed"
    );
}

fn any_access() -> impl Strategy<Value = DeclaredAccess> {
    let all = [None, Some(Access::Read), Some(Access::ReadWrite)];
    select(Vec::from(all)).prop_map(DeclaredAccess)
}

fn any_net() -> impl Strategy<Value = DeclaredNet> {
    let hosts = || vec("[a-c*.:]{0,5}", 0..3);
    let table = (hosts(), option::of(vec(any::<u16>(), 0..3)));
    prop_oneof![
        any::<bool>().prop_map(DeclaredNet::All),
        hosts().prop_map(DeclaredNet::Hosts),
        table.prop_map(
            |(allowed_hosts, allowed_ports)| DeclaredNet::Table(DeclaredHosts {
                allowed_hosts,
                allowed_ports
            })
        ),
    ]
}

fn any_fs() -> impl Strategy<Value = DeclaredFs> {
    let names = select(Vec::from(["documents", "music", "other"])).prop_map(ToString::to_string);
    let paths = vec((names, any_access()), 0..3).prop_map(BTreeMap::from_iter);
    let scope = option::of(select(Vec::from(["$TOOL_TEMP", "/"])).prop_map(ToString::to_string));
    let one = || option::of(any_access());
    let table = (scope, one(), one(), paths);
    prop_oneof![
        1 => any::<bool>().prop_map(DeclaredFs::All),
        4 => table.prop_map(|(scope, user_selected, app_data, user_paths)| {
            DeclaredFs::Table(DeclaredFiles { scope, user_selected, app_data, user_paths })
        }),
    ]
}

fn any_declared() -> impl Strategy<Value = Declared> {
    let env = prop_oneof![
        any::<bool>().prop_map(DeclaredEnv::All),
        vec("[A-C_0 ]{0,3}", 0..3).prop_map(DeclaredEnv::Names),
    ];
    let switch = || option::of(any::<bool>());
    let switches = (switch(), switch(), switch(), switch(), switch());
    let stdio = option::of(any::<bool>().prop_map(DeclaredStdio));
    let calls = option::of(vec("[a-b.*]{0,4}", 0..3));
    let rest = (
        option::of(any_net()),
        option::of(any_fs()),
        option::of(env),
        stdio,
        calls,
    );
    (switches, rest).prop_map(
        |((clocks, random, process, subprocess, mcp), (net, fs, env, stdio, calls))| Declared {
            net,
            fs,
            clocks,
            random,
            env,
            process,
            stdio,
            subprocess,
            mcp,
            calls,
        },
    )
}

proptest! {
    #[test]
    fn a_declaration_survives_being_written_and_read(declared in any_declared()) {
        let json = serde_json::to_string(&declared).unwrap();
        let again: Declared = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(again.capabilities(), declared.capabilities());
        prop_assert_eq!(again, declared);
    }

    #[test]
    fn no_text_makes_reading_panic(text in "\\PC{0,80}", json in "[\\[\\]{}\",:a-z0-9 .]{0,80}") {
        for text in [text, json] {
            if let Ok(declared) = serde_json::from_str::<Declared>(&text) {
                let _ = declared.capabilities();
            }
        }
    }
}
