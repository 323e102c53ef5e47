//! Three ways of writing mean one thing, and no text makes reading panic.

use alloc::string::ToString;

use proptest::prelude::*;

use super::*;
use crate::Ambient;

fn read(json: &str) -> Result<Requirement, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn the_three_ways_of_writing_mean_the_same() {
    let ways = [
        r#"{"capability": "fs.user-selected", "access": "read", "when": "/source"}"#,
        r#"{"capability": "fs.user-selected", "when": "source"}"#,
        r#""fs.user-selected:read when /source is a file""#,
        r#""fs.user-selected when source is a file""#,
        r#""fs.user-selected (when source is a file path)""#,
    ];
    for way in ways {
        let requirement = read(way).unwrap();
        assert_eq!(
            requirement.text,
            "fs.user-selected:read when /source is a file"
        );
        assert_eq!(requirement.needs.selected, Some(Access::Read));
        let when = requirement.when.unwrap();
        assert_eq!(
            (when.argument.as_str(), when.top_level().as_str()),
            ("/source", "source")
        );
    }
}

#[test]
fn every_known_name_asks_for_one_thing_and_nothing_else() {
    for (text, expected) in [
        (
            "fs.user-selected:read-write",
            "fs=none selected=read-write net=none",
        ),
        ("fs.app-data", "fs=/app-data:read net=none"),
        (
            "fs.user-paths.music:read-write",
            "fs=/user/music:read-write net=none",
        ),
        ("net", "fs=none net=*"),
        ("net:*.example.com:443", "fs=none net=*.example.com:443"),
        ("env:LANG", "fs=none net=none env=LANG"),
        ("tool.exec.subprocess", "fs=none net=none subprocess"),
        ("tools.mcp", "fs=none net=none calls=mcp.*"),
        (
            "kv.sqlite.todo.list",
            "fs=none net=none calls=kv.sqlite.todo.list",
        ),
    ] {
        let needs = text.parse::<Requirement>().unwrap().needs;
        assert_eq!(
            needs.to_string(),
            alloc::format!("{expected} no-clocks no-random no-stdio")
        );
    }
    for (text, ambient) in [
        (
            "clocks",
            Ambient {
                clocks: true,
                ..Ambient::NONE
            },
        ),
        (
            "random",
            Ambient {
                random: true,
                ..Ambient::NONE
            },
        ),
        (
            "stdio",
            Ambient {
                stdio: true,
                ..Ambient::NONE
            },
        ),
    ] {
        assert_eq!(text.parse::<Requirement>().unwrap().needs.ambient, ambient);
    }
}

#[test]
fn what_nobody_knows_is_refused_with_the_nearest() {
    for (json, expected) in [
        (
            r#""fs.user-selceted""#,
            "unknown capability `fs.user-selceted`; did you mean `fs.user-selected`?",
        ),
        (r#""clock""#, "did you mean `clocks`?"),
        (
            r#""fs.user-paths.document""#,
            "did you mean `fs.user-paths.documents`?",
        ),
        (r#""tools.mpc""#, "did you mean `tools.mcp`?"),
        (r#""everything""#, "known are fs.user-selected, fs.app-data"),
        (r#""fs""#, "unknown capability `fs`"),
        (
            r#""process""#,
            "`process` is never granted; a tool that must run commands asks for tool.exec.subprocess",
        ),
        (
            r#""fs.app-data:write""#,
            "invalid value `write` for `fs.app-data`: write `:read`, `:read-write` or nothing",
        ),
        (
            r#""env""#,
            "invalid value `nothing` for `env`: write `env:LANG`",
        ),
        (r#""net:a b""#, "write `net:api.example.com`"),
        (
            r#""clocks:fast""#,
            "invalid value `fast` for `clocks`: write it alone",
        ),
        (
            r#"{"capability": "net", "access": "read"}"#,
            "only `fs.` capabilities have one",
        ),
        (
            r#"{"capability": "fs.app-data:read", "access": "read"}"#,
            "write the access once",
        ),
        (
            r#"{"capability": "fs.app-data", "access": false}"#,
            r#"write "read" or "read-write""#,
        ),
        (
            r#"{"capability": "net", "if": "/x"}"#,
            "unknown field `if`, expected one of",
        ),
        (
            r#""net when it rains""#,
            "invalid condition `it rains`: write `when /source is a file`",
        ),
        (r#""net when /a b is a file""#, "invalid condition `/a b`"),
        (r#""net when  is a file""#, "invalid condition"),
        ("7", "expected a text such as"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(expected), "{json}: {error}");
    }
    let long = "a.".repeat(10_000);
    assert_eq!(long.parse::<Requirement>(), Err(RequirementError::TooLong));
}

#[test]
fn a_condition_holds_for_the_argument_and_its_parts_only() {
    let when = Condition::new("/sources").unwrap();
    assert!(when.holds_for("/sources") && when.holds_for("/sources/0"));
    assert!(!when.holds_for("/source") && !when.holds_for("/sources2") && !when.holds_for(""));
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic_and_what_is_read_is_written_the_same(
        text in prop_oneof![
            "\\PC{0,60}",
            "(fs\\.user-selected|net|env|fs\\.app-data|a\\.b)(:[a-zA-Z.*-]{0,8})?( \\(?when [/a-z~01]{0,6} is a file( path)?\\)?)?",
        ],
    ) {
        if let Ok(requirement) = text.parse::<Requirement>() {
            let again: Requirement = requirement.to_string().parse().unwrap();
            prop_assert_eq!(&again, &requirement);
            let json = serde_json::to_string(&requirement).unwrap();
            prop_assert_eq!(read(&json).unwrap(), requirement);
        }
    }
}
