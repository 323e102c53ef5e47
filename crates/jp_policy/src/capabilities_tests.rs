//! The laws of intersection, and the exact texts that denials and audit records show.

use alloc::string::ToString;

use proptest::prelude::*;

use super::*;
use crate::testing::{any_capabilities, host, is_pointwise_within, path};

fn files(text: &str, access: Access) -> Capability {
    Capability::Files(FileRule {
        path: path(text),
        access,
    })
}

#[test]
fn each_capability_has_its_name_and_its_setting() {
    let cases = [
        (
            files("/data", Access::Read),
            "fs.read of /data",
            r#"files = ["/data:read"]"#,
        ),
        (
            files("/data", Access::ReadWrite),
            "fs.write of /data",
            r#"files = ["/data:read-write"]"#,
        ),
        (
            files("/", Access::Read),
            "fs.read of /",
            r#"files = ["/:read"]"#,
        ),
        (
            Capability::Net("a.b:80".into()),
            "net to a.b:80",
            r#"net = ["a.b:80"]"#,
        ),
        (
            Capability::Net("*.b".into()),
            "net to *.b",
            r#"net = ["*.b"]"#,
        ),
        (Capability::Net("*".into()), "net to any host", "net = true"),
        (
            Capability::Subprocess,
            "tool.exec.subprocess",
            "subprocess = true",
        ),
    ];
    for (capability, name, setting) in cases {
        assert_eq!(capability.to_string(), name);
        assert_eq!(capability.setting(), setting);
    }
}

#[test]
fn a_path_cannot_add_rules_to_the_suggested_setting() {
    let hostile = files("/x:read\", \"/:read-write", Access::Read);
    assert_eq!(
        hostile.setting(),
        r#"files = ["/x:read\", \"/:read-write:read"]"#
    );
    let hostile = files("/x\\\n\u{1b}[2J\u{202e}\u{e0001}ä'", Access::Read);
    let shown = r"/x\\\u000A\u001B[2J\u202E\U000E0001ä'";
    assert_eq!(
        hostile.setting(),
        alloc::format!("files = [\"{shown}:read\"]")
    );
    assert_eq!(hostile.to_string(), alloc::format!("fs.read of {shown}"));
}

#[test]
fn the_first_missing_thing_is_named_from_the_most_to_the_least_powerful() {
    let none = Capabilities::default();
    let mut wanted = Capabilities::default().with_files(path("/data"), Access::ReadWrite);
    assert_eq!(
        none.missing(&wanted),
        Some(files("/data", Access::ReadWrite))
    );
    wanted.net = Net::hosts([host("a.example")]);
    assert_eq!(
        none.missing(&wanted),
        Some(Capability::Net("a.example".into()))
    );
    wanted.subprocess = true;
    assert_eq!(none.missing(&wanted), Some(Capability::Subprocess));
    assert_eq!(wanted.missing(&wanted), None);
    let read = Capabilities::default().with_files(path("/data"), Access::Read);
    assert_eq!(read.missing(&wanted.clone()), Some(Capability::Subprocess));
}

#[test]
fn the_audit_form_names_everything_granted() {
    let mut all = Capabilities::default();
    assert_eq!(all.to_string(), "fs=none net=none");
    all = all
        .with_files(path("/workspace"), Access::Read)
        .with_files(path("/tmp"), Access::ReadWrite);
    assert_eq!(
        all.to_string(),
        "fs=/tmp:read-write,/workspace:read net=none"
    );
    all.net = Net::hosts([host("b.example:80"), host("*.a.example")]);
    all.subprocess = true;
    let shown = "fs=/tmp:read-write,/workspace:read net=*.a.example,b.example:80 subprocess";
    assert_eq!(all.to_string(), shown);
}

#[test]
fn a_path_cannot_pass_for_another_field_of_the_audit_form() {
    let all = Capabilities::default()
        .with_files(path("/a:read net=none"), Access::ReadWrite)
        .with_files(path("/b,/c\""), Access::Read);
    let shown = r#"fs="/a:read net=none:read-write","/b,/c\":read" net=none"#;
    assert_eq!(all.to_string(), shown);
}

#[test]
fn only_reading_files_of_this_machine_is_read_only_and_local() {
    let read = Capabilities::default().with_files(path("/data"), Access::Read);
    let with = |net: Net, subprocess| Capabilities {
        net,
        subprocess,
        ..read.clone()
    };
    let write = read.clone().with_files(path("/out"), Access::ReadWrite);
    let scratch = read.clone().with_files(path("/tmp"), Access::ReadWrite);
    let beside = read.clone().with_files(path("/tmp2"), Access::ReadWrite);
    let selected = |access| Capabilities {
        selected: Some(access),
        ..read.clone()
    };
    let env = Capabilities {
        env: ["LANG".parse().unwrap()].into(),
        ..read.clone()
    };
    let brokered = |name: &str| Capabilities {
        brokered: crate::Brokered::new(name.parse()),
        ..Capabilities::default()
    };
    let cases = [
        (Capabilities::default(), true),
        (read.clone(), true),
        (with(Net::Hosts([].into()), false), true),
        (write, false),
        (scratch, true),
        (beside, false),
        (selected(Access::Read), true),
        (selected(Access::ReadWrite), false),
        (env, false),
        (with(Net::Any, false), false),
        (with(Net::hosts([host("x")]), false), false),
        (with(Net::None, true), false),
        (brokered("kv.sqlite.todo.create"), true),
        (brokered("mcp.call"), false),
        (brokered("secrets.get.x"), false),
        (brokered("*"), false),
    ];
    for (capabilities, expected) in cases {
        assert_eq!(
            capabilities.is_read_only_and_local(),
            expected,
            "{capabilities}"
        );
    }
}

proptest! {
    #[test]
    fn intersection_is_commutative(a in any_capabilities(), b in any_capabilities()) {
        prop_assert_eq!(a.intersect(&b), b.intersect(&a));
    }

    #[test]
    fn intersection_is_associative(
        a in any_capabilities(), b in any_capabilities(), c in any_capabilities(),
    ) {
        prop_assert_eq!(a.intersect(&b).intersect(&c), a.intersect(&b.intersect(&c)));
    }

    #[test]
    fn intersection_with_itself_changes_nothing(a in any_capabilities()) {
        let same = a.intersect(&a);
        prop_assert!(is_pointwise_within(&a, &same) && is_pointwise_within(&same, &a));
        prop_assert_eq!(same.intersect(&same), same);
    }

    #[test]
    fn intersection_lies_within_both(a in any_capabilities(), b in any_capabilities()) {
        let both = a.intersect(&b);
        prop_assert!(is_pointwise_within(&both, &a) && is_pointwise_within(&both, &b));
        prop_assert_eq!(a.missing(&both), None);
    }

    #[test]
    fn nothing_is_missing_exactly_when_everything_is_allowed(
        a in any_capabilities(), b in any_capabilities(),
    ) {
        prop_assert_eq!(a.missing(&b).is_none(), is_pointwise_within(&b, &a));
    }

    #[test]
    fn adding_files_only_adds(a in any_capabilities()) {
        let more = a.clone().with_files(path("/a"), Access::ReadWrite);
        prop_assert!(is_pointwise_within(&a, &more));
        prop_assert_eq!(more.files.access(&path("/a/b")), Some(Access::ReadWrite));
    }
}

#[test]
fn a_declaration_is_read_back_as_the_capability() {
    let app_data = crate::FileRule {
        path: path("/app-data"),
        access: Access::Read,
    };
    let music = crate::FileRule {
        path: path("/user/music"),
        access: Access::ReadWrite,
    };
    for (capability, line) in [
        (Capability::Files(app_data), "fs.app-data = \"read\""),
        (
            Capability::Files(music),
            "fs.user-paths.music = \"read-write\"",
        ),
        (
            Capability::Selected(Access::Read),
            "fs.user-selected = \"read\"",
        ),
        (Capability::Subprocess, "\"tool.exec.subprocess\" = true"),
        (
            Capability::Brokered("mcp.*".parse().unwrap()),
            "\"tools.mcp\" = true",
        ),
        (
            Capability::Brokered("log.emit".parse().unwrap()),
            "calls = [\"log.emit\"]",
        ),
        (Capability::Net("*".into()), "net = true"),
        (Capability::Ambient("clocks"), "clocks = true"),
    ] {
        assert_eq!(capability.declaration(), line);
    }
}
