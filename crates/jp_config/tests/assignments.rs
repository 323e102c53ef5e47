//! Assignments, the environment, deltas, and changing a file in place.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test they help"
)]

use std::fs;

use jp_config::{PartialAppConfig, Sources, load, set};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn start() -> PartialAppConfig {
    let tree = json!({
        "conversation": { "tools": {
            "x": { "source": "local", "command": "ls -l", "run": "ask", "options": { "a": { "b": 1 } } },
            "git.log": { "source": "builtin" },
        } },
        "kb": { "topic": { "t": { "subjects": "t", "learned": ["a", "b"] } } },
    });
    PartialAppConfig::from_value(tree).unwrap()
}

/// Applies assignments and shows what changed, or the error.
fn check(assignments: &[&str]) -> String {
    let mut config = start();
    for text in assignments {
        if let Err(error) = config.assign(text) {
            return error.to_string();
        }
    }
    match start().delta(&config) {
        Some(delta) => delta.as_value().to_string(),
        None => "nothing".to_string(),
    }
}

#[test]
fn text_becomes_what_the_key_can_hold() {
    insta::assert_snapshot!(check(&["conversation.tools.x.enable=false"]), @r#"{"conversation":{"tools":{"x":{"enable":false}}}}"#);
    insta::assert_snapshot!(check(&["conversation.tools.x.summary=true, yes"]), @r#"{"conversation":{"tools":{"x":{"summary":"true, yes"}}}}"#);
    insta::assert_snapshot!(check(&["conversation.tools.x.limits.fuel=7"]), @r#"{"conversation":{"tools":{"x":{"limits":{"fuel":7}}}}}"#);
    insta::assert_snapshot!(check(&["conversation.tools.x.style.inline_results=7"]), @r#"{"conversation":{"tools":{"x":{"style":{"inline_results":7}}}}}"#);
    insta::assert_snapshot!(check(&["kb.topic.t.learned=c, d"]), @r#"{"kb":{"topic":{"t":{"learned":["c","d"]}}}}"#);
    insta::assert_snapshot!(check(&["conversation.tools.x.parameters.p.type=string,null"]), @r#"{"conversation":{"tools":{"x":{"parameters":{"p":{"type":["string","null"]}}}}}}"#);
    insta::assert_snapshot!(check(&["conversation.tools.x.options.n=5"]), @r#"{"conversation":{"tools":{"x":{"options":{"n":"5"}}}}}"#);
    insta::assert_snapshot!(check(&["conversation.tools.x.wasm=a/b.wasm"]), @r#"{"conversation":{"tools":{"x":{"wasm":"a/b.wasm"}}}}"#);
    insta::assert_snapshot!(check(&[r#"conversation.tools."git.log".run=skip"#]), @r#"{"conversation":{"tools":{"git.log":{"run":"skip"}}}}"#);
    insta::assert_snapshot!(check(&["conversation.tools.'*'.run=skip"]), @r#"{"conversation":{"tools":{"*":{"run":"skip"}}}}"#);
}

#[test]
fn json_sets_merges_and_unsets() {
    insta::assert_snapshot!(check(&["conversation.tools.x.options.n:=5"]), @r#"{"conversation":{"tools":{"x":{"options":{"n":5}}}}}"#);
    insta::assert_snapshot!(check(&["conversation.tools.x.run:=null"]), @r#"{"conversation":{"tools":{"x":{"run":null}}}}"#);
    insta::assert_snapshot!(check(&[r#"conversation.tools.x:={"run": "skip", "command": null}"#]), @r#"{"conversation":{"tools":{"x":{"run":"skip","command":null}}}}"#);
    insta::assert_snapshot!(check(&[r#"conversation.tools.x.options.a:+={"c": 2}"#]), @r#"{"conversation":{"tools":{"x":{"options":{"a":{"c":2}}}}}}"#);
    insta::assert_snapshot!(check(&[r#"{"kb": {"topic": {"t": {"title": "T", "learned": null}}}}"#]), @r#"{"kb":{"topic":{"t":{"title":"T","learned":null}}}}"#);
    insta::assert_snapshot!(check(&[r#"conversation.tools.x.command:={"program": "a"}"#]), @r#"{"conversation":{"tools":{"x":{"command":{"program":"a"}}}}}"#);
    insta::assert_snapshot!(check(&["conversation.tools.x.wasm=a", "conversation.tools.x.wasm:=null"]), @"nothing");
}

#[test]
fn plus_adds_to_lists_and_texts() {
    insta::assert_snapshot!(check(&["kb.topic.t.learned+=c,d"]), @r#"{"kb":{"topic":{"t":{"learned":["a","b","c","d"]}}}}"#);
    insta::assert_snapshot!(check(&["kb.topic.t.learned:+=[\"c\"]"]), @r#"{"kb":{"topic":{"t":{"learned":["a","b","c"]}}}}"#);
    insta::assert_snapshot!(check(&["kb.topic.t.disabled+=c"]), @r#"{"kb":{"topic":{"t":{"disabled":["c"]}}}}"#);
    insta::assert_snapshot!(check(&["kb.topic.t.subjects+=/u"]), @r#"{"kb":{"topic":{"t":{"subjects":"t/u"}}}}"#);
    insta::assert_snapshot!(check(&["kb.topic.t+=u"]), @"--cfg kb.topic.t+=u: kb.topic.t: type error: cannot add this to the value that is there");
}

#[test]
fn items_of_lists_have_numbers() {
    insta::assert_snapshot!(check(&["kb.topic.t.learned.1=c"]), @r#"{"kb":{"topic":{"t":{"learned":["a","c"]}}}}"#);
    insta::assert_snapshot!(check(&["kb.topic.t.learned.2=c"]), @r#"{"kb":{"topic":{"t":{"learned":["a","b","c"]}}}}"#);
    insta::assert_snapshot!(check(&["kb.topic.t.learned.0:=null"]), @r#"{"kb":{"topic":{"t":{"learned":["b"]}}}}"#);
    insta::assert_snapshot!(check(&["kb.topic.t.learned.4=c"]), @"--cfg kb.topic.t.learned.4=c: kb.topic.t.learned.4: type error: no such item in the list");
}

#[test]
fn mistakes_name_the_key_and_the_nearest_one() {
    insta::assert_snapshot!(check(&["conversation.tools.x.comand=ls"]), @"--cfg conversation.tools.x.comand=ls: conversation.tools.x.comand: unknown key (did you mean `command`?)");
    insta::assert_snapshot!(check(&["conversation.tools.x.comand:=null"]), @"--cfg conversation.tools.x.comand:=null: conversation.tools.x.comand: unknown key (did you mean `command`?)");
    insta::assert_snapshot!(check(&["conversation.tools.x.enable=maybe"]), @"--cfg conversation.tools.x.enable=maybe: conversation.tools.x.enable: expected `true`, `false`, `on`, `off`, `explicit` or `always`, found `maybe`");
    insta::assert_snapshot!(check(&["conversation.tools.x.wasm=../a"]), @"--cfg conversation.tools.x.wasm=../a: conversation.tools.x.wasm: invalid path `../a`: `..` could lead out of the workspace");
    insta::assert_snapshot!(check(&["conversation.tools.x.options:=[1"]), @"--cfg conversation.tools.x.options:=[1: conversation.tools.x.options: invalid JSON: EOF while parsing a list at line 1 column 2");
    insta::assert_snapshot!(check(&["nonsense"]), @"--cfg nonsense: expected `key=value`, `key:=json`, `key+=value`, `key:+=json` or a JSON object");
    insta::assert_snapshot!(check(&["a..b=1"]), @"--cfg a..b=1: expected `key=value`, `key:=json`, `key+=value`, `key:+=json` or a JSON object");
}

/// Loads a workspace with two tools and one variable; shows the tools or the error.
fn check_env(name: &str, value: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let text =
        "conversation.tools.my_tool.source = 'local'\nconversation.tools.my.source = 'local'";
    fs::write(dir.path().join(".jp.toml"), text).unwrap();
    let loaded = load(&Sources {
        workspace_root: Some(dir.path().to_path_buf()),
        cwd: dir.path().to_path_buf(),
        env: vec![(name.to_string(), value.to_string())],
        ..Sources::default()
    });
    match loaded {
        Ok(loaded) => {
            loaded.config.to_partial().unwrap().as_value()["conversation"]["tools"].to_string()
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn variables_find_ids_with_underscores() {
    insta::assert_snapshot!(check_env("JP_CFG_CONVERSATION_TOOLS_MY_TOOL_RUN", "skip"), @r#"{"my_tool":{"source":"local","run":"skip"},"my":{"source":"local"}}"#);
    insta::assert_snapshot!(check_env("JP_CFG_CONVERSATION_TOOLS_MY_STYLE_INLINE_RESULTS", ":3"), @r#"{"my_tool":{"source":"local"},"my":{"source":"local","style":{"inline_results":3}}}"#);
    insta::assert_snapshot!(check_env("JP_CFG_CONVERSATION_TOOLS_MY_SUMMARY", r"\:a"), @r#"{"my_tool":{"source":"local"},"my":{"source":"local","summary":":a"}}"#);
    insta::assert_snapshot!(check_env("JP_CFG_CONVERSATION_TOOLS_OTHER_TOOL_SOURCE", "builtin"), @r#"{"my_tool":{"source":"local"},"my":{"source":"local"},"other_tool":{"source":"builtin"}}"#);
    insta::assert_snapshot!(check_env("JP_CFG_CONVERSATION_TOOLS_MY_OPTIONS_SOME_KEY", "v"), @"JP_CFG_CONVERSATION_TOOLS_MY_OPTIONS_SOME_KEY: conversation.tools.my.options: would have no effect: only a command is handed options, and `bash` its `session`");
    insta::assert_snapshot!(check_env("JP_CFG_CONVERSATON_TOOLS", "v"), @"JP_CFG_CONVERSATON_TOOLS: JP_CFG_CONVERSATON_TOOLS: unknown key (did you mean `conversation`?)");
    insta::assert_snapshot!(check_env("JP_CFG_CONVERSATION_TOOLS_MY_RUN", "never"), @"JP_CFG_CONVERSATION_TOOLS_MY_RUN: conversation.tools.my.run: unknown variant `never`, expected one of `ask`, `unattended`, `edit`, `skip`");
}

#[test]
fn an_existing_id_beats_a_key_of_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join(".jp.toml"),
        "kb.topic.a_title.subjects = 'a'",
    )
    .unwrap();
    let loaded = load(&Sources {
        workspace_root: Some(dir.path().to_path_buf()),
        cwd: dir.path().to_path_buf(),
        env: vec![(
            "JP_CFG_KB_TOPIC_A_TITLE".into(),
            r#":{"title": "T"}"#.into(),
        )],
        ..Sources::default()
    });
    let topics = loaded.unwrap().config.kb.topics;
    assert_eq!(topics["a_title"].title.as_deref(), Some("T"));
    assert_eq!(topics.len(), 1);
}

#[test]
fn set_keeps_comments_order_and_mode() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    let text = "# top\n[conversation.tools.x] # the tool\nsource = \"local\"\nrun = \"ask\" # careful\n\n# end\n";
    fs::write(&file, text).unwrap();
    set(&file, "conversation.tools.x.run=skip").unwrap();
    set(
        &file,
        "conversation.tools.x.options.deep:={\"a\": [1, 2.5]}",
    )
    .unwrap();
    set(&file, "kb.topic.t.subjects=.jp/kb").unwrap();
    set(&file, "kb.topic.t.learned+=a,b").unwrap();
    set(&file, "kb.topic.t.learned.0=c").unwrap();
    insta::assert_snapshot!(fs::read_to_string(&file).unwrap(), @r#"
    # top
    [conversation.tools.x] # the tool
    source = "local"
    run = "skip" # careful

    [conversation.tools.x.options]
    deep = { a = [1, 2.5] }

    [kb.topic.t]
    subjects = ".jp/kb"
    learned = ["c", "b"]

    # end
    "#);
    set(&file, "conversation.tools.x.options:=null").unwrap();
    set(&file, "kb:=null").unwrap();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        text.replace("\"ask\"", "\"skip\"")
    );
    let names: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["config.toml"]);
}

#[test]
fn set_makes_a_file_and_leaves_a_bad_one_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    set(&file, "policy.net=true").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "[policy]\nnet = true\n");
    assert!(set(&file, "policy.nett=true").is_err());
    assert!(set(&file, "policy.subprocess=maybe").is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "[policy]\nnet = true\n");
    fs::write(&file, "polcy = 1").unwrap();
    assert!(
        set(&file, "policy.net=true")
            .unwrap_err()
            .to_string()
            .contains("polcy: unknown key")
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "polcy = 1");
}

#[test]
fn of_many_assignments_at_once_none_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    let start = std::sync::Barrier::new(20);
    std::thread::scope(|scope| {
        for n in 0..20 {
            let (file, start) = (&file, &start);
            scope.spawn(move || {
                start.wait();
                set(file, &format!("kb.topic.t{n}.subjects=.jp/kb")).unwrap();
            });
        }
    });
    let text = fs::read_to_string(&file).unwrap();
    let kept = (0..20).filter(|n| text.contains(&format!("[kb.topic.t{n}]\n")));
    assert_eq!(kept.count(), 20, "{text}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn set_through_a_link_keeps_the_link_and_the_mode() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real.toml"), dir.path().join("config.toml"));
    fs::write(&real, "").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    set(&link, "policy.net=true").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("net = true"));
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

fn free() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
        prop::collection::vec(prop_oneof![Just(Value::Null), Just(json!(1))], 0..3)
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop::collection::hash_map("[a-c]", inner, 0..3)
            .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>()))
    })
}

fn config() -> impl Strategy<Value = PartialAppConfig> {
    let command = prop_oneof![
        Just(json!("ls -l")),
        Just(json!({ "program": "a" })),
        Just(json!({ "program": "a", "args": ["b"], "shell": true })),
    ];
    let tool = (
        prop::option::of(Just(json!("local"))),
        prop::option::of(command),
        prop::option::of(prop::collection::hash_map("[a-c]", free(), 0..3)),
        prop::option::of(free()),
        prop::option::of(0u32..3),
    );
    let tool = tool.prop_map(|(source, command, options, answer, lines)| {
        let mut tool = Map::new();
        let options = options.map(|options| Value::Object(options.into_iter().collect()));
        let question = answer.map(|answer| json!({ "q": { "answer": answer } }));
        let style = lines.map(|lines| json!({ "inline_results": lines, "parameters": "off" }));
        for (key, value) in [
            ("source", source),
            ("command", command),
            ("options", options),
            ("questions", question),
            ("style", style),
        ] {
            tool.extend(value.map(|value| (key.to_string(), value)));
        }
        Value::Object(tool)
    });
    prop::collection::hash_map("[xyz]", tool, 0..3).prop_map(|tools| {
        let tools: Map<String, Value> = tools.into_iter().collect();
        PartialAppConfig::from_value(json!({ "conversation": { "tools": tools } })).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_delta_leads_from_one_configuration_to_the_other(before in config(), after in config()) {
        match before.delta(&after) {
            None => prop_assert_eq!(before, after),
            Some(delta) => {
                let stored = serde_json::to_string(&delta).unwrap();
                let mut changed = before.clone();
                changed.apply(&serde_json::from_str(&stored).unwrap()).unwrap();
                prop_assert_eq!(changed, after);
            }
        }
    }

    #[test]
    fn the_higher_layer_wins_and_repeats_change_nothing(a in config(), b in config(), c in config()) {
        let merged = |low: &PartialAppConfig, high: &PartialAppConfig| {
            let mut low = low.clone();
            low.merge(high.clone());
            low
        };
        prop_assert_eq!(merged(&merged(&a, &b), &b), merged(&a, &b));
        prop_assert_eq!(merged(&a, &PartialAppConfig::default()), a.clone());
        let left = merged(&merged(&a, &b), &c);
        for (id, tool) in c.as_value()["conversation"]["tools"].as_object().unwrap() {
            for key in ["source", "command"] {
                if let Some(value) = tool.get(key) {
                    prop_assert_eq!(&left.as_value()["conversation"]["tools"][id][key], value);
                }
            }
        }
    }
}
