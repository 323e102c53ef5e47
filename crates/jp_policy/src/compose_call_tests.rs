//! Chosen files and conditions widen nothing: the grant stays within host, app and tool.

use alloc::{format, string::ToString, vec::Vec};

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::{
    tests::{allowing, any_policy, any_request, narrowed, widened},
    *,
};
use crate::{
    Ambient, Condition, Net,
    testing::{any_capabilities, is_pointwise_within, path},
};

const ARGUMENTS: [&str; 3] = ["/a", "/b", "/a/0"];

fn any_requirement() -> impl Strategy<Value = Requirement> {
    let when = option::of(select(Vec::from(ARGUMENTS)));
    (any_capabilities(), when).prop_map(|(needs, when)| Requirement {
        text: needs.to_string(),
        needs,
        when: when.map(|argument| Condition::new(argument).unwrap()),
    })
}

fn any_chosen() -> impl Strategy<Value = Vec<Chosen>> {
    let access = select(Vec::from([Access::Read, Access::ReadWrite]));
    let one = (select(Vec::from(ARGUMENTS)), access);
    let one = one.prop_map(|(argument, access)| Chosen {
        argument: argument.to_string(),
        access,
    });
    vec(one, 0..3)
}

/// Narrows everything a tool asks for to what both allow, and keeps it out of the root directory,
/// so that a grant is likely.
fn likely(host: &Policy, app: &Policy, tool: &Request, more: Vec<Requirement>) -> Request {
    let both = host.capabilities.intersect(&app.capabilities);
    let mut tool = narrowed(host, app, tool);
    tool.conditional = more;
    for requirement in &mut tool.conditional {
        requirement.needs = requirement.needs.intersect(&both);
    }
    let needs = tool.conditional.iter_mut().map(|more| &mut more.needs);
    for set in needs.chain([&mut tool.capabilities]) {
        let rules = set.files.rules().iter().cloned();
        set.files = Files::new(rules.filter(|rule| rule.path.as_str() != "/"));
    }
    tool
}

/// Takes the chosen files out of a grant, and returns them.
fn taken_apart(grant: &Grant) -> (Capabilities, Vec<FileRule>) {
    let mut capabilities = grant.capabilities().clone();
    let rules = capabilities.files.rules().iter().cloned();
    let (chosen, own): (Vec<_>, Vec<_>) =
        rules.partition(|rule: &FileRule| rule.path.is_within(&path("/in")));
    capabilities.files = Files::new(own);
    (capabilities, chosen)
}

fn selecting(access: Access) -> Capabilities {
    Capabilities {
        selected: Some(access),
        ..Capabilities::default()
    }
}

fn chosen(argument: &str, access: Access) -> Chosen {
    let argument = argument.to_string();
    Chosen { argument, access }
}

fn reading_source() -> Request {
    Request {
        conditional: Vec::from(["fs.user-selected (when source is a file path)"
            .parse()
            .unwrap()]),
        ..Request::default()
    }
}

#[test]
fn a_chosen_file_is_granted_for_this_call_alone() {
    let wide = allowing(selecting(Access::ReadWrite));
    let tool = reading_source();
    let files = [chosen("/source", Access::Read)];
    let grant = compose_call(&wide, &wide, &tool, &files).unwrap();
    assert_eq!(
        grant.capabilities().to_string(),
        "fs=/in/0:read selected=read net=none"
    );
    let without = compose_call(&wide, &wide, &tool, &[]).unwrap();
    assert_eq!(without.capabilities().to_string(), "fs=none net=none");
}

#[test]
fn a_condition_that_holds_is_denied_with_the_missing_line() {
    let (none, wide) = (Policy::default(), allowing(selecting(Access::Read)));
    let (tool, files) = (reading_source(), [chosen("/source", Access::Read)]);
    let denied = compose_call(&none, &wide, &tool, &files).unwrap_err();
    let line = Some(r#"selected = "read""#.to_string());
    let text = "it needs fs.user-selected for reading, which your policy does not allow";
    assert_eq!(
        (denied.to_string().as_str(), denied.setting()),
        (text, line.clone())
    );
    let denied = compose_call(&wide, &none, &tool, &files).unwrap_err();
    let text = "it needs fs.user-selected for reading, which this workspace may not use";
    assert_eq!(
        (denied.to_string().as_str(), denied.setting()),
        (text, line)
    );
    assert!(compose_call(&none, &none, &tool, &[]).is_ok());
}

#[test]
fn a_file_is_denied_to_a_tool_that_does_not_ask_for_it() {
    let wide = allowing(selecting(Access::ReadWrite));
    let tool = reading_source();
    for (file, access) in [
        (chosen("/other", Access::Read), "reading"),
        (chosen("/source", Access::ReadWrite), "writing"),
    ] {
        let denied = compose_call(&wide, &wide, &tool, core::slice::from_ref(&file)).unwrap_err();
        let text = format!(
            "a file was chosen for `{}`, and the tool does not ask for fs.user-selected for {access}",
            file.argument
        );
        assert_eq!((denied.to_string(), denied.setting()), (text, None));
    }
}

#[test]
fn a_rule_of_the_tools_own_cannot_make_a_chosen_file_writable() {
    for place in ["/", "/in", "/in/0", "/in/0/x.pdf"] {
        let wide = selecting(Access::Read).with_files(path("/"), Access::ReadWrite);
        let wide = allowing(wide);
        let mut tool = reading_source();
        tool.capabilities = tool.capabilities.with_files(path(place), Access::ReadWrite);
        let files = [chosen("/source", Access::Read)];
        let denied = compose_call(&wide, &wide, &tool, &files).unwrap_err();
        assert_eq!(
            denied.to_string(),
            "its files cover /in/0, which is kept for chosen files"
        );
    }
}

#[test]
fn installing_refuses_what_is_always_missing_and_reports_what_may_be() {
    let none = Policy::default();
    let mut tool = reading_source();
    let unsatisfied = could_be_satisfied(&none, &none, &tool).unwrap();
    let [only] = unsatisfied.as_slice() else {
        panic!("{unsatisfied:?}")
    };
    assert_eq!(
        only.requirement.text,
        "fs.user-selected:read when /source is a file"
    );
    assert_eq!(
        only.denied.setting().as_deref(),
        Some(r#"selected = "read""#)
    );
    let wide = allowing(selecting(Access::Read));
    assert_eq!(could_be_satisfied(&wide, &wide, &tool), Ok(Vec::new()));
    tool.capabilities.net = Net::Any;
    let denied = could_be_satisfied(&wide, &wide, &tool).unwrap_err();
    assert_eq!(denied.setting().as_deref(), Some("net = true"));
    // Without a condition a requirement is needed by every call, wherever it is listed.
    tool.capabilities.net = Net::None;
    tool.conditional.extend("net:a.example".parse());
    assert!(could_be_satisfied(&wide, &wide, &tool).is_err());
    assert!(compose(&wide, &wide, &tool).is_err());
}

proptest! {
    #[test]
    fn with_conditions_and_files_a_grant_never_exceeds_any_of_the_three(
        host in any_policy(), app in any_policy(), tool in any_request(),
        more in vec(any_requirement(), 0..3), files in any_chosen(), narrow: bool,
    ) {
        let tool = if narrow {
            likely(&host, &app, &tool, more)
        } else {
            Request { conditional: more, ..tool }
        };
        if let Ok(grant) = compose_call(&host, &app, &tool, &files) {
            let active = tool.conditional.iter().filter(|more| more.when.as_ref().is_none_or(|when| {
                files.iter().any(|file| file.argument == when.argument
                    || file.argument.starts_with(&format!("{}/", when.argument)))
            }));
            let asked = active.fold(allowing(tool.capabilities.clone()), |sum, more| {
                widened(&sum, &allowing(more.needs.clone()))
            });
            let (own, given) = taken_apart(&grant);
            for side in [&host.capabilities, &app.capabilities, &asked.capabilities] {
                prop_assert!(is_pointwise_within(&own, side));
                for rule in &given {
                    prop_assert!(Some(rule.access) <= side.selected);
                }
            }
            prop_assert_eq!(given.len(), files.len());
            for (number, file) in files.iter().enumerate() {
                let at = path(&format!("/in/{number}"));
                prop_assert_eq!(grant.capabilities().files.access(&at), Some(file.access));
            }
        }
    }

    #[test]
    fn what_installing_lets_pass_is_never_denied_by_host_or_app(
        host in any_policy(), app in any_policy(), tool in any_request(),
        more in vec(any_requirement(), 0..3), files in any_chosen(),
    ) {
        let tool = likely(&host, &app, &tool, more);
        if could_be_satisfied(&host, &app, &tool) == Ok(Vec::new()) {
            let composed = compose_call(&host, &app, &tool, &files);
            let by_others = matches!(composed, Err(Denied::ByHost { .. } | Denied::ByApp { .. }));
            prop_assert!(!by_others, "{:?}", composed);
        }
    }

    #[test]
    fn adding_a_tool_with_conditions_never_widens_an_app(
        host in any_policy(), app in any_policy(),
        tools in vec((any_request(), vec(any_requirement(), 0..2), any_chosen()), 0..3),
    ) {
        let nothing = allowing(Capabilities { ambient: Ambient::NONE, ..Capabilities::default() });
        let together = tools.into_iter().fold(nothing, |sum, (tool, more, files)| {
            let tool = likely(&host, &app, &tool, more);
            match compose_call(&host, &app, &tool, &files) {
                Ok(grant) => widened(&sum, &allowing(taken_apart(&grant).0)),
                Err(_) => sum,
            }
        });
        prop_assert!(is_pointwise_within(&together.capabilities, &app.capabilities));
    }
}
