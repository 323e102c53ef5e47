//! What the app allows and what the user does: who can take away what.

use jp_config::{AppConfig, PartialAppConfig};
use jp_policy::{Access, Capability, FileRule, GuestPath};

use crate::{USER, WORKSPACE, load_from, loaded};

fn allowed(files: &[(&str, &str)]) -> String {
    loaded(files).config.app_capabilities().to_string()
}

#[test]
fn an_app_that_says_nothing_has_the_defaults() {
    assert_eq!(allowed(&[]), "fs=/tmp:read-write net=none");
    assert_eq!(
        AppConfig::default().app_capabilities().to_string(),
        "fs=/tmp:read-write net=none"
    );
}

#[test]
fn an_app_is_held_to_what_it_says() {
    let says = "[capabilities]\nnet = ['*.example.com']\nclocks = false\ncalls = ['llm.generate']\n\
                fs.user-selected = 'read'\nfs.user-paths.documents = 'read'\n";
    assert_eq!(
        allowed(&[(WORKSPACE, says)]),
        "fs=/tmp:read-write,/user/documents:read selected=read net=*.example.com calls=llm.generate no-clocks"
    );
    assert_eq!(
        allowed(&[(WORKSPACE, "[capabilities]\nfs = false\n")]),
        "fs=none net=none"
    );
}

#[test]
fn models_of_the_app_can_be_read() {
    let models = format!("models = ['glm-ocr-1.5-q8@sha256:{}']\n", "0a".repeat(32));
    assert_eq!(
        allowed(&[(WORKSPACE, &models)]),
        "fs=/models/glm-ocr-1.5-q8:read,/tmp:read-write net=none"
    );
    let config = loaded(&[(WORKSPACE, &models)]).config;
    assert_eq!(config.models[0].id(), "glm-ocr-1.5-q8");
    assert!(config.models[0].as_str().ends_with("0a0a"));
}

#[test]
fn a_workspace_narrows_what_the_user_says_and_never_widens_it() {
    let user = "[capabilities]\nnet = ['*.example.com']\nfs.user-selected = 'read'\n";
    let wide = "[capabilities]\nnet = true\nfs.user-selected = 'read-write'\n'tool.exec.subprocess' = true\n";
    let narrow = "[capabilities]\nnet = ['api.example.com', 'elsewhere.example']\n";
    let same = "fs=/tmp:read-write selected=read net=*.example.com";
    assert_eq!(allowed(&[(USER, user)]), same);
    assert_eq!(allowed(&[(USER, user), (WORKSPACE, wide)]), same);
    assert_eq!(
        allowed(&[(USER, user), (WORKSPACE, narrow)]),
        "fs=/tmp:read-write net=api.example.com"
    );
    // Nor can a second file of the workspace, or one that says nothing at all.
    let all = [(USER, user), (WORKSPACE, narrow), ("ws/.jp.toml", wide)];
    assert_eq!(allowed(&all), "fs=/tmp:read-write net=api.example.com");
    let null = ("ws/.jp/config.json", r#"{"capabilities": null}"#);
    assert_eq!(allowed(&[(USER, user), null]), same);
    let null = ("ws/.jp/config.json", r#"{"capabilities": {"net": null}}"#);
    assert_eq!(
        allowed(&[(USER, user), null]),
        "fs=/tmp:read-write net=none"
    );
}

#[test]
fn an_assignment_narrows_too() {
    let wide = [(WORKSPACE, "[capabilities]\nnet = true\nenv = ['LANG']\n")];
    let with = |assignment: &str| {
        let loaded = load_from(&wide, &[assignment]).1.unwrap();
        loaded.config.app_capabilities().to_string()
    };
    assert_eq!(
        with(r#"capabilities.net:=["a.example"]"#),
        "fs=/tmp:read-write net=a.example"
    );
    let error = load_from(&wide, &["capabilities.nett=true"]).1.unwrap_err();
    assert!(error.to_string().contains("did you mean `net`"), "{error}");
}

#[test]
fn what_several_layers_say_survives_the_way_to_partial_and_back() {
    let user = (USER, "[capabilities]\nnet = true\n");
    let workspace = (WORKSPACE, "[capabilities]\nnet = ['a.example']\n");
    let config = loaded(&[user, workspace]).config;
    assert_eq!(config.capabilities.as_ref().unwrap().statements().len(), 2);
    let partial = config.to_partial().unwrap();
    assert_eq!(AppConfig::from_partial(partial.clone()).unwrap(), config);
    let mut next = PartialAppConfig::default();
    let delta = next.delta(&partial).unwrap();
    next.apply(&delta).unwrap();
    assert_eq!(next, partial);
}

/// Pastes what a denial tells people to write and asks whether it is allowed then.
#[test]
fn the_lines_that_denials_suggest_work_when_pasted() {
    let path = GuestPath::new("/user/documents").unwrap();
    let access = Access::Read;
    let wanted = [
        (Capability::Files(FileRule { path, access }), ""),
        (Capability::Net("api.example.com".into()), ""),
        (Capability::Subprocess, "subprocess = false"),
        (Capability::Brokered("secrets.get.x".parse().unwrap()), ""),
        (Capability::Selected(Access::Read), "selected = 'none'"),
        (Capability::Selected(Access::ReadWrite), "selected = 'read'"),
        (Capability::Env("LANG".parse().unwrap()), ""),
        (Capability::Ambient("clocks"), "clocks = false"),
        (Capability::Ambient("random"), "random = false"),
        (Capability::Ambient("stdio"), "stdio = false"),
    ];
    for (capability, before) in wanted {
        let policy = |line: &str| {
            let config = loaded(&[(USER, &format!("[policy]\n{line}\n"))]).config;
            config.policy.unwrap().to_policy().unwrap().capabilities
        };
        let setting = capability.setting();
        let after = policy(&setting);
        assert_ne!(policy(before), after.clone(), "{setting}");
        let shown = after.to_string();
        let has = match &capability {
            Capability::Files(rule) => after.files.access(&rule.path) == Some(rule.access),
            Capability::Net(host) => shown.contains(&format!("net={host}")),
            Capability::Subprocess => after.subprocess,
            Capability::Brokered(name) => shown.contains(name.as_str()),
            Capability::Selected(access) => after.selected == Some(*access),
            Capability::Env(name) => after.env.contains(name),
            Capability::Ambient(name) => !shown.contains(&format!("no-{name}")),
        };
        assert!(has, "{setting}: {shown}");
    }
}

#[test]
fn the_host_always_has_data_and_models_for_tools() {
    let config = loaded(&[(USER, "[policy]\nworkspace = 'none'\n")]).config;
    let policy = config.policy.unwrap().to_policy().unwrap();
    let expected = "fs=/app-data:read-write,/models:read,/subjects:read,/tmp:read-write \
                    selected=read-write net=none subprocess calls=*";
    assert_eq!(policy.capabilities.to_string(), expected);
}

#[test]
fn a_wasm_tool_asks_for_chosen_files_and_variables() {
    let text = "[conversation.tools.x]\nsource = 'local'\nwasm = 'x.wasm'\n\
                grant = { workspace = 'none', selected = 'read', env = ['LANG'] }\n";
    let config = loaded(&[(WORKSPACE, text)]).config;
    let request = config.conversation.tools.get("x").unwrap().request();
    let expected = "fs=none selected=read net=none env=LANG";
    assert_eq!(request.capabilities.to_string(), expected);
}
