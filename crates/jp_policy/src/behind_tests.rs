//! Tests of what stands behind capabilities, over all of them and all forms.

use alloc::{string::ToString, vec::Vec};
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::{Access, Ambient, Brokered, Files, Net, testing};

/// How many of the forms are Wasm; the last is a command.
const WASM: usize = FORMS.len() - 1;

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

/// Every kind of capability, and which forms it can be given to: component, the same
/// with HTTP, module, caller, the same with HTTP, command.
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
        (Capabilities::default(), "yyyyyy"),
        (nothing(), "yyyyyy"),
        (path("/workspace"), "yynyyy"),
        (path("/workspace/out"), "yynyyy"),
        (path("/tmp"), "yyyyyy"),
        (path("/tmp/x"), "yyyyyy"),
        (path("/app-data"), "yynyyn"),
        (path("/models/m"), "yynyyn"),
        (path("/subjects"), "yynyyn"),
        (path("/data"), "nnnnnn"),
        (path("/user"), "nnnnnn"),
        (path("/user/secrets"), "nnnnnn"),
        (path("/"), "nnnnnn"),
        (selected, "yynyyn"),
        (net(hosts(), &[]), "nynnyn"),
        (net(hosts(), &["clock.now_unix", "secrets.get.x"]), "nnnnyn"),
        (net(hosts(), &["http.request"]), "nnyyyn"),
        (net(hosts(), &["*"]), "nnyyyn"),
        (net(Net::Any, &[]), "nynnyy"),
        (net(Net::Any, &["llm.generate"]), "nnyyyn"),
        (subprocess, "nnnnny"),
        (calls(&["clock.now_unix"]), "nnyyyn"),
        (calls(&["mcp.*"]), "nnyyyn"),
        (env, "yynyyn"),
    ]);
    let user = USER_PATHS.map(|name| (path(&format!("/user/{name}")), "yynyyn"));
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
        let some = given.chars().take(WASM).any(|given| given == 'y');
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
    assert_eq!(row(ambient), [Behind::Given; 6]);
    assert_eq!(
        kinds.len(),
        10,
        "all but what is there without asking: {kinds:?}"
    );
}

#[test]
fn what_a_form_never_gets_is_listed_from_the_table() {
    assert_eq!(
        Form::Component { requests: false }.never(),
        ["a network of its own", "commands", "calls to jp"]
    );
    assert_eq!(
        Form::Component { requests: true }.never(),
        ["commands", "calls to jp"]
    );
    assert_eq!(
        Form::Caller { requests: false }.never(),
        ["a network of its own", "commands"]
    );
    assert_eq!(Form::Caller { requests: true }.never(), ["commands"]);
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
    // Whether a Wasm file makes requests itself, its bytes tell.
    assert_eq!(unbacked(Form::Wasm, &net, &anything), None);
    let found = unbacked(Form::Module, &net, &anything).unwrap();
    assert_eq!(
        found.to_string(),
        "it asks for net to api.example.com, which a module without imports cannot be given"
    );
    assert!(found.instead().contains("`http.request`"));
    let found = unbacked(Form::Component { requests: false }, &net, &anything).unwrap();
    assert!(found.instead().contains("`wasi:http/outgoing-handler`"));
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
    assert!(request.unbacked(Form::Module, &anything).is_some());
    let call = requirement("http.request when /source is a file");
    request.conditional.push(call);
    assert_eq!(request.unbacked(Form::Module, &anything), None);
    request.conditional.pop();
    request.capabilities = calls(&["http.request"]);
    assert_eq!(request.unbacked(Form::Module, &anything), None);
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
