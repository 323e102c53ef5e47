//! What is printed of errors, what is made of them, and where they came from.

use std::io;

use jp_audit::OutcomeKind;
use jp_policy::Limit;

use super::*;

fn limit(limit: Limit) -> Cause {
    let stop = Stop::LimitReached {
        limit,
        allowed: "50 ms".to_owned(),
        printed: Printed::default(),
    };
    stop.into()
}

/// One cause of each world, and the row of the table that is made of it.
fn rows() -> [(Cause, (ErrorKind, OutcomeKind, u8, McpAnswer)); 8] {
    use ErrorKind as Kind;
    use McpAnswer::{Protocol, Result};
    use OutcomeKind as Log;
    let unknown = Missing::UnknownBuiltin("x".to_owned());
    let unfit = Stop::ResultUnfit {
        path: "/".to_owned(),
        reason: "no".to_owned(),
    };
    [
        (
            unknown.into(),
            (Kind::NotFound, Log::Invalid, 127, Protocol(-32602)),
        ),
        (
            Misconfigured::Disabled.into(),
            (Kind::Configuration, Log::Invalid, 2, Result),
        ),
        (
            Ungrantable::SingleHosts.into(),
            (Kind::Configuration, Log::Denied, 2, Result),
        ),
        (
            Refused::NotApproved.into(),
            (Kind::Denied, Log::Denied, 126, Result),
        ),
        (limit(Limit::Time), (Kind::Time, Log::Limit, 124, Result)),
        (limit(Limit::Fuel), (Kind::Stopped, Log::Limit, 134, Result)),
        (unfit.into(), (Kind::Stopped, Log::Trap, 134, Result)),
        (
            HostError::Panicked.into(),
            (Kind::Host, Log::HostFailure, 125, Protocol(-32603)),
        ),
    ]
}

#[test]
fn what_is_made_of_an_error_follows_from_its_cause() {
    for (cause, (kind, outcome, exit, mcp)) in rows() {
        let error = ToolError::new("t", cause);
        let expected = Verdict {
            kind,
            outcome,
            exit,
            mcp,
        };
        assert_eq!(error.verdict(), expected, "{error}");
        assert_eq!(error.kind(), kind, "{error}");
    }
}

#[test]
fn a_signed_tool_belongs_to_the_world_of_its_problem() {
    let world = |problem| ToolError::signed("t", problem).cause().world();
    assert_eq!(world(SignedProblem::NotLocked), World::Misconfigured);
    let refused = SignedProblem::Changed {
        change: String::new(),
    };
    assert_eq!(world(refused), World::Refused);
    let error = ToolError::signed("t", SignedProblem::NotInstalled);
    assert_eq!(
        error.to_string(),
        "tool `t` cannot be used: `jp.lock` pins it, but it is not installed on this machine"
    );
    assert_eq!(error.hint(), SignedProblem::NotInstalled.hint().as_deref());
}

#[test]
fn the_texts_of_the_contract_stand() {
    let unusable = || Unusable::new(Some("a.wasm"), io::Error::other("bad"));
    let path = || "a.wasm".to_owned();
    let causes: [(Cause, &str); 10] = [
        (
            Missing::NotFound { name: "x".into() }.into(),
            "Tool not found: x",
        ),
        (
            Missing::UnknownBuiltin("x".into()).into(),
            "Unknown builtin tool: x",
        ),
        (Misconfigured::Disabled.into(), "Disabled in configuration"),
        (
            Misconfigured::CommandMissing.into(),
            "Command missing for local tool",
        ),
        (
            Misconfigured::WasmCompilation(unusable()).into(),
            "Failed to compile Wasm component: a.wasm: bad",
        ),
        (
            Misconfigured::WasmInstantiation(unusable()).into(),
            "Failed to instantiate Wasm component: a.wasm: bad",
        ),
        (
            Misconfigured::WasmNotFound { path: path() }.into(),
            "Wasm binary not found: a.wasm",
        ),
        (
            Stop::WasmTrap("it gave up".into()).into(),
            "Wasm tool trapped: it gave up",
        ),
        (
            Cause::spawn("sh", io::Error::other("bad")),
            "Failed to spawn command: sh: bad",
        ),
        (
            Misconfigured::Template(crate::runtime::TemplateError::Set).into(),
            "Template error: `set` is not available in a command",
        ),
    ];
    for (cause, text) in causes {
        assert_eq!(ToolError::new("t", cause).to_string(), text);
    }
}

#[test]
fn the_error_it_came_from_is_kept() {
    let io = || io::Error::new(io::ErrorKind::PermissionDenied, "no");
    let file = Misconfigured::WasmCompilation(Unusable::new(None, io()));
    let host = HostError::Use {
        path: "/x".into(),
        source: io(),
    };
    for cause in [file.into(), Cause::spawn("sh", io()), host.into()] {
        let error = ToolError::new("t", cause);
        let mut source = error.source();
        while let Some(next) = source.and_then(Error::source) {
            source = Some(next);
        }
        let last = source.and_then(|error| error.downcast_ref::<io::Error>());
        let kind = last.map(io::Error::kind);
        assert_eq!(kind, Some(io::ErrorKind::PermissionDenied), "{error:?}");
    }
}

#[test]
fn an_error_is_one_word_wide() {
    assert_eq!(size_of::<ToolError>(), size_of::<usize>());
}
