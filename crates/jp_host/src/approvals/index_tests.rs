//! What a call finds of what is remembered: nothing that is not about it, and a no before a yes.

use serde_json::{Map, Value, json};

use super::*;

const PLACE: Place<'static> = Place {
    workspace: "/w",
    configuration: Some("c"),
    run: "r",
};

fn arguments() -> Map<String, Value> {
    json!({"path": "src/a"}).as_object().unwrap().clone()
}

/// A decision that covers the call of every test.
fn grant(effect: Effect) -> Grant {
    Grant {
        id: "0".repeat(32).parse().unwrap(),
        effect,
        tool: "t".to_owned(),
        principal: Some("ann".to_owned()),
        workspace: Some("/w".to_owned()),
        configuration: Some("c".to_owned()),
        run: Some("r".to_owned()),
        arguments: Arguments::Exact(jp_llm::arguments_digest(&arguments(), &[])),
        shown: Some([1; 32]),
        access: None,
        about: String::new(),
        author: "ann".to_owned(),
        created: 1,
        expires: Some(100),
    }
}

fn known(grants: Vec<Grant>) -> Known {
    let index = Index::of(Snapshot {
        generation: 1,
        grants,
        tickets: Vec::new(),
    });
    let arguments = arguments();
    index.known(&About::new("t", "ann", &arguments, [1; 32], 99), PLACE)
}

fn is_allowed(grant: Grant) -> bool {
    matches!(known(vec![grant]), Known::Allowed { .. })
}

#[test]
fn a_decision_is_about_its_own_calls() {
    let allow = || grant(Effect::Allow);
    assert!(is_allowed(allow()));
    let pattern = |fits: &str| {
        let pattern = json!({"fits": {"path": fits}, "rest": {}}).to_string();
        Grant {
            arguments: Arguments::Pattern(pattern),
            ..allow()
        }
    };
    assert!(is_allowed(pattern("src/*")));
    assert!(is_allowed(Grant {
        principal: None,
        workspace: None,
        configuration: None,
        run: None,
        arguments: Arguments::Any,
        shown: None,
        expires: None,
        ..allow()
    }));
    let other = || Some("other".to_owned());
    for wrong in [
        Grant {
            tool: "u".to_owned(),
            ..allow()
        },
        Grant {
            principal: other(),
            ..allow()
        },
        Grant {
            workspace: other(),
            ..allow()
        },
        Grant {
            configuration: other(),
            ..allow()
        },
        Grant {
            run: other(),
            ..allow()
        },
        Grant {
            shown: Some([2; 32]),
            ..allow()
        },
        Grant {
            arguments: Arguments::Exact([3; 32]),
            ..allow()
        },
        Grant {
            expires: Some(99),
            ..allow()
        },
        Grant {
            effect: Effect::Access,
            ..allow()
        },
        Grant {
            arguments: Arguments::Pattern("rubbish".to_owned()),
            ..allow()
        },
        pattern("lib/*"),
    ] {
        let shown = format!("{wrong:?}");
        assert!(!is_allowed(wrong), "{shown}");
    }
}

#[test]
fn a_no_counts_before_a_yes_and_what_cannot_be_read_is_a_no_to_all() {
    let never = || grant(Effect::Never);
    for never in [
        never(),
        Grant {
            principal: None,
            arguments: Arguments::Any,
            ..never()
        },
        Grant {
            arguments: Arguments::Pattern("rubbish".to_owned()),
            ..never()
        },
    ] {
        let found = known(vec![grant(Effect::Allow), never]);
        assert!(matches!(found, Known::Never { .. }), "{found:?}");
    }
    let elsewhere = Grant {
        workspace: Some("/v".to_owned()),
        ..never()
    };
    let found = known(vec![grant(Effect::Allow), elsewhere]);
    assert!(matches!(found, Known::Allowed { .. }), "{found:?}");
}

#[test]
fn a_permission_for_one_call_is_found_for_that_call_alone() {
    let arguments = arguments();
    let digest = jp_llm::arguments_digest(&arguments, &[]);
    let index = Index::of(Snapshot {
        generation: 1,
        grants: Vec::new(),
        tickets: vec![("ann".to_owned(), "t".to_owned(), digest)],
    });
    let known = |tool, principal, arguments: &Map<String, Value>| {
        index.known(&About::new(tool, principal, arguments, [1; 32], 1), PLACE)
    };
    assert_eq!(known("t", "ann", &arguments), Known::Ticket);
    assert_eq!(known("t", "bob", &arguments), Known::Nothing);
    assert_eq!(known("u", "ann", &arguments), Known::Nothing);
    assert_eq!(known("t", "ann", &Map::new()), Known::Nothing);
}
