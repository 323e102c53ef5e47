//! Tests of what stands behind capabilities, over all of them and all forms.

use alloc::{string::ToString, vec::Vec};
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::{Access, Ambient, Brokered, Files, Net, testing};

const WASM: [Form; 3] = [Form::Component, Form::Caller, Form::Module];

fn anything(_: &BrokeredName) -> bool {
    true
}

fn nothing() -> Capabilities {
    Capabilities {
        ambient: Ambient::NONE,
        ..Capabilities::default()
    }
}

fn path(path: &str) -> Capabilities {
    let path = GuestPath::new(path).unwrap();
    nothing().with_files(path, Access::ReadWrite)
}

fn calls(names: &[&str]) -> Capabilities {
    Capabilities {
        brokered: Brokered::new(names.iter().map(|name| name.parse().unwrap())),
        ..nothing()
    }
}

fn net(net: Net, names: &[&str]) -> Capabilities {
    Capabilities {
        net,
        ..calls(names)
    }
}

/// Every kind of capability, and which forms it can be given to: component, caller, module, command.
fn all() -> Vec<(Capabilities, &'static str)> {
    let hosts = || Net::hosts(["api.example.com".parse().unwrap()]);
    let selected = Capabilities {
        selected: Some(Access::Read),
        ..nothing()
    };
    let subprocess = Capabilities {
        subprocess: true,
        ..nothing()
    };
    let env = Capabilities {
        env: ["LANG".parse().unwrap()].into(),
        ..nothing()
    };
    let mut all = Vec::from([
        (Capabilities::default(), "yyyy"),
        (nothing(), "yyyy"),
        (path("/workspace"), "yyny"),
        (path("/workspace/out"), "yyny"),
        (path("/tmp"), "yyyy"),
        (path("/tmp/x"), "yyyy"),
        (path("/app-data"), "yynn"),
        (path("/models/m"), "yynn"),
        (path("/subjects"), "yynn"),
        (path("/data"), "nnnn"),
        (path("/user"), "nnnn"),
        (path("/user/secrets"), "nnnn"),
        (path("/"), "nnnn"),
        (selected, "yynn"),
        (net(hosts(), &[]), "nnnn"),
        (net(hosts(), &["clock.now_unix", "secrets.get.x"]), "nnnn"),
        (net(hosts(), &["http.request"]), "nyyn"),
        (net(hosts(), &["*"]), "nyyn"),
        (net(Net::Any, &[]), "nnny"),
        (net(Net::Any, &["llm.generate"]), "nyyn"),
        (subprocess, "nnny"),
        (calls(&["clock.now_unix"]), "nyyn"),
        (calls(&["mcp.*"]), "nyyn"),
        (env, "yynn"),
    ]);
    let user = USER_PATHS.map(|name| (path(&format!("/user/{name}")), "yynn"));
    all.extend(user);
    all
}

#[test]
fn every_capability_has_something_behind_it_or_is_refused_for_each_form() {
    for (wanted, given) in all() {
        for (form, is_given) in FORMS.into_iter().zip(given.chars()) {
            let found = unbacked(form, &wanted, &anything);
            assert_eq!(
                found.is_none(),
                is_given == 'y',
                "{wanted} of {form:?}: {found:?}"
            );
        }
        // Of a Wasm file whose kind is not known yet, only what no kind could have is refused.
        let found = unbacked(Form::Wasm, &wanted, &anything);
        let some = given.chars().take(WASM.len()).any(|given| given == 'y');
        assert_eq!(found.is_none(), some, "{wanted}: {found:?}");
        assert!(found.is_none_or(|found| found.form == Form::Wasm));
    }
}

#[test]
fn the_list_of_all_has_every_kind_of_capability() {
    let kinds: BTreeSet<_> = all()
        .iter()
        .flat_map(|(wanted, _)| wanted.each())
        .map(|capability| format!("{:?}", Kind::of(&capability)))
        .collect();
    let ambient = Kind::of(&Capability::Ambient("clocks"));
    assert_eq!(row(ambient), [Behind::Given; 4]);
    assert_eq!(
        kinds.len(),
        10,
        "all but what is there without asking: {kinds:?}"
    );
}

#[test]
fn what_a_form_never_gets_is_listed_from_the_table() {
    assert_eq!(
        Form::Component.never(),
        ["a network of its own", "commands", "calls to jp"]
    );
    assert_eq!(Form::Caller.never(), ["a network of its own", "commands"]);
    assert_eq!(
        Form::Module.never(),
        [
            "files",
            "chosen files",
            "a network of its own",
            "commands",
            "variables"
        ]
    );
    assert_eq!(
        Form::Command.never(),
        ["chosen files", "calls to jp", "variables"]
    );
}

#[test]
fn what_is_refused_is_named_with_what_would_work_instead() {
    let net = net(Net::hosts(["api.example.com".parse().unwrap()]), &[]);
    let found = unbacked(Form::Wasm, &net, &anything).unwrap();
    assert_eq!(
        found.to_string(),
        "it asks for net to api.example.com, which a Wasm tool cannot be given"
    );
    assert!(found.instead().contains("`http.request`"));
    let found = unbacked(Form::Command, &net, &anything).unwrap();
    assert!(found.instead().contains("`net = true`"));
    let subprocess = Capabilities {
        subprocess: true,
        ..nothing()
    };
    let found = unbacked(Form::Wasm, &subprocess, &anything).unwrap();
    assert!(found.to_string().contains("tool.exec.subprocess"));
    assert!(found.instead().contains("`command = "));
    let known = |name: &BrokeredName| name.as_str() == "clock.now_unix";
    assert_eq!(
        unbacked(Form::Wasm, &calls(&["clock.now_unix"]), &known),
        None
    );
    let found = unbacked(Form::Wasm, &calls(&["clock.now"]), &known).unwrap();
    assert_eq!(
        found.to_string(),
        "it asks for clock.now, which jp does not offer"
    );
}

#[test]
fn what_is_needed_under_a_condition_is_looked_at_too() {
    let requirement = |text: &str| text.parse::<crate::Requirement>().unwrap();
    let when = "net:api.example.com when /source is a file";
    let mut request = Request {
        conditional: Vec::from([requirement(when)]),
        ..Request::default()
    };
    assert!(request.unbacked(Form::Wasm, &anything).is_some());
    let call = requirement("http.request when /source is a file");
    request.conditional.push(call);
    assert_eq!(request.unbacked(Form::Wasm, &anything), None);
    request.conditional.pop();
    request.capabilities = calls(&["http.request"]);
    assert_eq!(request.unbacked(Form::Wasm, &anything), None);
}

proptest! {
    #[test]
    fn a_part_of_what_can_be_given_can_be_given_but_for_the_call_that_reaches(
        wanted in testing::any_capabilities(),
    ) {
        for form in FORMS {
            if unbacked(form, &wanted, &anything).is_some() {
                continue;
            }
            for capability in wanted.each() {
                let is_net = matches!(capability, Capability::Net(_));
                prop_assert!(is_net || form.behind(Kind::of(&capability)) != Behind::Nothing);
            }
            let fewer = Capabilities { files: Files::default(), net: Net::None, ..wanted.clone() };
            prop_assert_eq!(unbacked(form, &fewer, &anything), None);
        }
    }
}
