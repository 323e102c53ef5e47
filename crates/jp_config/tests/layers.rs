//! Which file, variable or assignment wins, and who is held to have said what.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test they help"
)]

use std::{fs, path::Path};

use jp_config::{
    ConfigError, Layer, Loaded, Sources, load,
    tool::{ParametersStyle, RunMode},
};

/// A machine with a user's directory and a workspace.
struct World(tempfile::TempDir);

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [("user/keep", ""), ("ws/deep/er/keep", "")]
            .iter()
            .chain(files)
        {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn sources(&self) -> Sources {
        Sources {
            user_config_dir: Some(self.path().join("user")),
            workspace_root: Some(self.path().join("ws")),
            cwd: self.path().join("ws/deep/er"),
            ..Sources::default()
        }
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        load(&self.sources())
    }

    fn load_with(&self, env: &[(&str, &str)], cfg: &[&str]) -> Result<Loaded, ConfigError> {
        let pair = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        load(&Sources {
            env: env.iter().map(pair).collect(),
            assignments: cfg.iter().map(ToString::to_string).collect(),
            ..self.sources()
        })
    }

    fn error(&self) -> String {
        let text = self.load().unwrap_err().to_string();
        text.replace(&self.path().display().to_string(), "~")
    }
}

fn summary(loaded: &Loaded) -> &str {
    loaded.config.conversation.tools.tools["x"]
        .summary
        .as_deref()
        .unwrap()
}

const TOOL: &str = "[conversation.tools.x]\nsource = 'local'\nsummary = ";

#[test]
fn the_nearer_layer_wins_and_says_only_what_it_says() {
    let all = [
        (
            "user/config.toml",
            format!("{TOOL}'user'\ndescription = 'kept'"),
        ),
        ("ws/.jp/config.toml", format!("{TOOL}'workspace'")),
        ("ws/.jp.toml", format!("{TOOL}'root'")),
        ("ws/deep/.jp.toml", format!("{TOOL}'deep'")),
        ("ws/deep/er/.jp.toml", format!("{TOOL}'deeper'")),
    ];
    let winners = ["user", "workspace", "root", "deep", "deeper"];
    for (count, winner) in winners.iter().enumerate() {
        let files: Vec<_> = all[..=count]
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        let loaded = World::new(&files).load().unwrap();
        assert_eq!(summary(&loaded), *winner);
        assert_eq!(loaded.files.len(), count + 1);
        let tool = &loaded.config.conversation.tools.tools["x"];
        assert_eq!(tool.description.as_deref(), Some("kept"));
    }
    let files: Vec<_> = all
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    let world = World::new(&files);
    let env = [
        ("JP_CFG_CONVERSATION_TOOLS_X_SUMMARY", "environment"),
        ("JP_OTHER", "x"),
    ];
    assert_eq!(summary(&world.load_with(&env, &[]).unwrap()), "environment");
    let cfg = [
        "conversation.tools.x.summary=one",
        "conversation.tools.x.summary=two",
    ];
    assert_eq!(summary(&world.load_with(&env, &cfg).unwrap()), "two");
}

#[test]
fn a_file_above_the_workspace_or_beside_the_way_is_not_read() {
    let world = World::new(&[(".jp.toml", "nonsense"), ("ws/other/.jp.toml", "nonsense")]);
    assert!(world.load().unwrap().files.is_empty());
}

#[test]
fn config_d_is_read_before_unless_extends_says_otherwise() {
    let part = format!("{TOOL}'part'\nexamples = 'e'");
    let main = format!("{TOOL}'main'");
    let files = [
        ("ws/.jp/config.d/a/part.toml", part.as_str()),
        ("ws/.jp/config.toml", &main),
    ];
    let loaded = World::new(&files).load().unwrap();
    assert_eq!(summary(&loaded), "main");
    assert_eq!(
        loaded.config.conversation.tools.tools["x"]
            .examples
            .as_deref(),
        Some("e")
    );

    let main =
        format!("extends = [{{ path = 'config.d/**/*', strategy = 'after' }}]\n{TOOL}'main'");
    let files = [
        ("ws/.jp/config.d/a/part.toml", part.as_str()),
        ("ws/.jp/config.toml", &main),
    ];
    assert_eq!(summary(&World::new(&files).load().unwrap()), "part");

    let main = format!("extends = []\n{TOOL}'main'");
    let files = [
        ("ws/.jp/config.d/a/part.toml", part.as_str()),
        ("ws/.jp/config.toml", &main),
    ];
    let loaded = World::new(&files).load().unwrap();
    assert_eq!(loaded.config.conversation.tools.tools["x"].examples, None);
}

#[test]
fn config_d_is_read_where_there_is_no_main_file() {
    for side in ["ws/.jp", "user"] {
        let part = format!("{TOOL}'part'");
        let file = format!("{side}/config.d/part.toml");
        let world = World::new(&[(&file, &part)]);
        let loaded = world.load().unwrap();
        assert_eq!(summary(&loaded), "part", "{side}");
        assert_eq!(loaded.files.len(), 1);
        assert_eq!(loaded.workspace_digest.is_some(), side == "ws/.jp");
        let world = World::new(&[(&file, "\nnonsense = 1")]);
        let error = world.error();
        assert!(
            error.starts_with(&format!("~/{file}:2: nonsense")),
            "{error}"
        );
    }
    let policy = "[policy]\nnet = true";
    let world = World::new(&[("user/config.d/policy.toml", policy)]);
    assert!(world.load().unwrap().config.policy.is_some());
    let world = World::new(&[("ws/.jp/config.d/policy.toml", policy)]);
    assert!(
        world
            .error()
            .contains("policy belongs in the user's configuration")
    );
}

#[test]
fn files_of_config_d_win_in_the_order_of_their_paths() {
    let all = [
        ("10-a.toml", "first"),
        ("20-b/x.json", "second"),
        ("20-b/y/z.toml", "third"),
        ("30-c.toml", "last"),
    ];
    for count in 1..=all.len() {
        let texts: Vec<(String, String)> = all[..count]
            .iter()
            // Written in another order than they are read in.
            .rev()
            .map(|(file, said)| {
                let text = match file.ends_with(".json") {
                    true => format!(
                        r#"{{"conversation": {{"tools": {{"x": {{"source": "local", "summary": "{said}"}}}}}}}}"#
                    ),
                    false => format!("{TOOL}'{said}'"),
                };
                (format!("user/config.d/{file}"), text)
            })
            .collect();
        let files: Vec<(&str, &str)> = texts
            .iter()
            .map(|(file, text)| (file.as_str(), text.as_str()))
            .collect();
        let loaded = World::new(&files).load().unwrap();
        assert_eq!(summary(&loaded), all[count - 1].1);
        assert_eq!(loaded.files.len(), count);
    }
}

#[test]
fn hidden_files_and_other_kinds_of_files_in_config_d_are_not_read() {
    let world = World::new(&[
        ("ws/.jp/config.d/.hidden.toml", "nonsense"),
        ("ws/.jp/config.d/.git/x.toml", "nonsense"),
        ("ws/.jp/config.d/README.md", "nonsense"),
        ("ws/.jp/config.d/a.toml.bak", "nonsense"),
        ("ws/.jp/config.d/a.yaml", "nonsense"),
    ]);
    assert!(world.load().unwrap().files.is_empty());
}

#[test]
fn a_file_of_the_command_line_wins_over_the_workspace_and_variables_win_over_it() {
    let world = World::new(&[
        ("ws/deep/er/.jp.toml", &format!("{TOOL}'near'")),
        ("more.toml", &format!("{TOOL}'more'")),
    ]);
    let sources = Sources {
        files: vec![world.path().join("more.toml")],
        ..world.sources()
    };
    assert_eq!(summary(&load(&sources).unwrap()), "more");
    let variable = ("JP_CFG_CONVERSATION_TOOLS_X_SUMMARY", "variable");
    let env = vec![(variable.0.to_owned(), variable.1.to_owned())];
    assert_eq!(
        summary(&load(&Sources { env, ..sources }).unwrap()),
        "variable"
    );
}

#[test]
fn json_files_are_layers_too_and_null_unsets() {
    let json = r#"{"conversation": {"tools": {"x": {"summary": "json", "description": null}}}}"#;
    let main = format!(
        "extends = [{{path = 'x.json', strategy = 'after'}}]\n{TOOL}'a'\ndescription = 'b'"
    );
    let world = World::new(&[("ws/.jp/config.toml", &main), ("ws/.jp/x.json", json)]);
    let loaded = world.load().unwrap();
    assert_eq!(summary(&loaded), "json");
    assert_eq!(
        loaded.config.conversation.tools.tools["x"].description,
        None
    );
}

#[test]
fn a_command_is_replaced_as_a_whole() {
    let low = "[conversation.tools.x]\nsource = 'local'\ncommand = { program = 'a', args = ['b'] }";
    let high = "[conversation.tools.x]\ncommand = { program = 'c' }";
    let loaded = World::new(&[("user/config.toml", low), ("ws/.jp.toml", high)])
        .load()
        .unwrap();
    let command = loaded
        .config
        .conversation
        .tools
        .get("x")
        .unwrap()
        .command()
        .cloned()
        .unwrap();
    assert_eq!((command.program.as_str(), command.args.len()), ("c", 0));
}

#[test]
fn extends_in_a_circle_is_an_error() {
    let world = World::new(&[
        ("ws/.jp/config.toml", "extends = ['a.toml']"),
        ("ws/.jp/a.toml", "extends = ['b.toml']"),
        ("ws/.jp/b.toml", "extends = ['config.toml']"),
    ]);
    assert_eq!(
        world.error(),
        "~/ws/.jp/config.toml: `~/ws/.jp/config.toml` extends itself"
    );
}

#[test]
fn a_named_file_that_is_missing_is_an_error_and_an_empty_glob_is_not() {
    let world = World::new(&[("ws/.jp/config.toml", "extends = ['none/*.toml', 'a.toml']")]);
    assert_eq!(world.error(), "~/ws/.jp/a.toml: cannot read: no such file");
}

#[test]
fn two_main_files_are_an_error() {
    let world = World::new(&[("user/config.toml", ""), ("user/config.json", "{}")]);
    assert!(
        world
            .error()
            .contains("config.toml` exists too; keep one of them")
    );
}

#[cfg(unix)]
#[test]
fn a_workspace_file_that_links_out_is_refused() {
    for file in ["config.toml", "config.d/x.toml"] {
        let world = World::new(&[
            ("secret.toml", "password = 'x'"),
            ("ws/.jp/config.d/keep", ""),
        ]);
        if file != "config.toml" {
            fs::write(world.path().join("ws/.jp/config.toml"), "").unwrap();
        }
        let link = world.path().join("ws/.jp").join(file);
        std::os::unix::fs::symlink(world.path().join("secret.toml"), link).unwrap();
        assert_eq!(
            world.error(),
            format!("~/ws/.jp/{file}: leads out of `~/ws` through a link")
        );
    }
}

#[test]
fn the_memory_of_commands_is_a_size_above_zero() {
    let world = World::new(&[("user/config.toml", "[policy]\ncommand_memory = 0")]);
    let expected = "~/user/config.toml:2: policy.command_memory: expected a size above zero";
    assert!(world.error().starts_with(expected), "{}", world.error());
    let world = World::new(&[("user/config.toml", "[policy]\ncommand_memory = '4'")]);
    assert!(
        world.error().contains("a size such as `256MB`"),
        "{}",
        world.error()
    );
    let world = World::new(&[("user/config.toml", "[policy]\ncommand_memory = '4GiB'")]);
    let policy = world.load().unwrap().config.policy.unwrap();
    assert_eq!(policy.command_memory.map(|size| size.0), Some(4 << 30));
}

#[test]
fn policy_is_read_from_the_user_alone() {
    let policy = "[policy]\nnet = true";
    let world = World::new(&[("user/config.toml", policy)]);
    let policy = world
        .load()
        .unwrap()
        .config
        .policy
        .unwrap()
        .to_policy()
        .unwrap();
    assert_eq!(
        policy.capabilities.to_string(),
        "fs=/app-data:read-write,/models:read,/subjects:read,/tmp:read-write,/workspace:read-write selected=read-write net=* subprocess \
         calls=*"
    );
    for file in ["ws/.jp/config.toml", "ws/.jp.toml", "ws/deep/er/.jp.toml"] {
        let world = World::new(&[(file, "policy.net = true")]);
        let expected = format!("~/{file}:1: policy: policy belongs in the user's configuration");
        assert_eq!(world.error(), expected);
    }
    let world = World::new(&[]);
    for (env, cfg) in [
        (vec![("JP_CFG_POLICY_NET", "true")], vec![]),
        (vec![], vec!["policy.net=true"]),
        (vec![], vec![r#"{"policy": {"net": true}}"#]),
        (vec![], vec!["policy:={\"net\": true}"]),
    ] {
        let error = world.load_with(&env, &cfg).unwrap_err();
        assert_eq!(
            error.problem,
            jp_config::Problem::OutsideUser { section: "policy" },
            "{error}"
        );
    }
}

#[test]
fn who_may_use_a_server_is_read_from_the_user_alone() {
    let own = "[serve]\nhosts = ['jp.example.com']\nlimits.total = 3\n[serve.principals.ci.policy]\nworkspace = 'read'\n\
               [serve.oauth]\nresource = 'https://jp.example.com'\n[serve.oauth.issuers.a]\n\
               issuer = 'https://login.example.com'\njwks = '/keys.json'\n";
    let shown = "[serve.resources.x]\nuri = 'x:1'\ntext = 'x'\n";
    let both = [("user/config.toml", own), ("ws/.jp/config.toml", shown)];
    let serve = World::new(&both).load().unwrap().config.serve;
    assert_eq!(serve.hosts, ["jp.example.com"]);
    assert!(serve.oauth.is_some() && serve.principals.contains_key("ci"));
    assert!(serve.resources.contains_key("x"));
    for section in ["hosts", "limits", "oauth", "principals"] {
        let world = World::new(&[("ws/.jp.toml", &format!("[serve]\n{section} = {{}}"))]);
        let said = world.error();
        let expected = format!("serve.{section} belongs in the user's configuration");
        assert!(said.contains(&expected), "{said}");
        let world = World::new(&[]);
        let set = format!("serve.{section}:={{}}");
        let merged = format!(r#"{{"serve": {{"{section}": {{"x": 1}}}}}}"#);
        for assigned in [
            set.as_str(),
            merged.as_str(),
            "serve:={}",
            r#"{"serve": null}"#,
        ] {
            let error = world.load_with(&[], &[assigned]).unwrap_err();
            let is_theirs = matches!(error.problem, jp_config::Problem::OutsideUser { section }
                if section.starts_with("serve."));
            assert!(is_theirs, "{assigned}: {error}");
        }
    }
}

#[test]
fn tokens_count_only_as_far_as_the_configuration_says() {
    let issuer = "issuer = 'https://login.example.com'\njwks = '/keys.json'\n";
    for (more, expected) in [
        (
            "resource = 'https://x.example'\nissuers = {}",
            "expected at least one issuer",
        ),
        (
            &*format!("resource = 'http://x.example'\n[serve.oauth.issuers.a]\n{issuer}"),
            "expected a URL that starts with `https://`",
        ),
        (
            &*format!(
                "resource = 'https://x.example'\n[serve.oauth.issuers.a]\n{issuer}algorithms = []"
            ),
            "expected at least one algorithm",
        ),
        (
            &*format!(
                "resource = 'https://x.example'\n[serve.oauth.issuers.a]\n{issuer}algorithms = ['HS256']"
            ),
            "HS256",
        ),
        (
            &*format!(
                "resource = 'https://x.example'\n[serve.oauth.issuers.a]\n{issuer}principals = {{ a = 'b c' }}"
            ),
            "invalid name of a principal `b c`",
        ),
        (
            &*format!(
                "resource = 'https://x.example'\n[serve.oauth.issuers.a]\n{issuer}[serve.oauth.issuers.b]\n{issuer}"
            ),
            "the issuer is that of `a` too",
        ),
    ] {
        let world = World::new(&[("user/config.toml", &format!("[serve.oauth]\n{more}"))]);
        let said = world.error();
        assert!(said.contains(expected), "{said}");
    }
    for (text, expected) in [
        ("[serve]\nhosts = ['a b']", "invalid host `a b`"),
        (
            "[serve.limits]\ntotal = 0",
            "expected a whole number from 1 to 100000",
        ),
        (
            "[serve.principals.'a b']",
            "invalid name of a principal `a b`",
        ),
        (
            "[serve.principals.a.policy.limits]\nmemory = '2GB'",
            "serve.principals.a.policy",
        ),
    ] {
        let said = World::new(&[("user/config.toml", text)]).error();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn whose_prompts_are_trusted_is_read_from_the_user_alone() {
    let trusted = "[serve]\ntrust_prompts = ['claude-code']";
    let world = World::new(&[("user/config.toml", trusted)]);
    let config = world.load().unwrap().config;
    assert_eq!(config.serve.trust_prompts, ["claude-code"]);
    for file in ["ws/.jp/config.toml", "ws/.jp.toml", "ws/deep/er/.jp.toml"] {
        let world = World::new(&[(file, "serve.trust_prompts = []")]);
        let error = world.error();
        let expected = format!(
            "~/{file}:1: serve.trust_prompts: serve.trust_prompts belongs in the user's configuration"
        );
        assert_eq!(error, expected);
    }
    let world = World::new(&[]);
    for (env, cfg) in [
        (vec![("JP_CFG_SERVE_TRUST_PROMPTS", "[\"x\"]")], vec![]),
        (vec![], vec!["serve.trust_prompts:=[\"x\"]"]),
        (vec![], vec![r#"{"serve": {"trust_prompts": ["x"]}}"#]),
        (vec![], vec!["serve:={\"trust_prompts\": [\"x\"]}"]),
    ] {
        let error = world.load_with(&env, &cfg).unwrap_err();
        // What replaces the whole of `[serve]` is refused for the first of the user's own keys.
        let is_theirs = matches!(error.problem, jp_config::Problem::OutsideUser { section }
            if section.starts_with("serve."));
        assert!(is_theirs, "{error}");
    }
}

#[test]
fn a_policy_that_asks_for_more_than_there_is_is_an_error() {
    let world = World::new(&[("user/config.toml", "[policy.limits]\nmemory = '2GB'")]);
    assert!(
        world
            .error()
            .starts_with("~/user/config.toml:2: policy.limits.memory: the memory limit")
    );
}

#[test]
fn whatever_the_workspace_touched_counts_as_its_own() {
    let user = "[conversation.tools.a]\nsource = 'local'\nrun = 'unattended'
        [conversation.tools.b]\nsource = 'local'\nrun = 'unattended'
        [conversation.tools.m]\nsource = 'mcp.s'
        [providers.mcp.s]\ncommand = 'good'";
    let world = World::new(&[("user/config.toml", user)]);
    let loaded = world
        .load_with(&[], &["conversation.tools.a.summary=x"])
        .unwrap();
    let by = |loaded: &Loaded| ["a", "b", "m"].map(|tool| loaded.defined_by(tool));
    assert_eq!(by(&loaded), [Layer::User; 3]);
    assert_eq!(loaded.workspace_digest, None);

    let one = (
        "ws/.jp/config.toml",
        "conversation.tools.a.wasm = 'evil.wasm'",
    );
    let loaded = World::new(&[("user/config.toml", user), one])
        .load()
        .unwrap();
    assert_eq!(by(&loaded), [Layer::Workspace, Layer::User, Layer::User]);
    assert!(loaded.workspace_digest.is_some());

    let star = ("ws/.jp.toml", "conversation.tools.'*'.run = 'unattended'");
    let loaded = World::new(&[("user/config.toml", user), star])
        .load()
        .unwrap();
    assert_eq!(by(&loaded), [Layer::Workspace; 3]);

    let server = ("ws/.jp.toml", "providers.mcp.s.command = 'evil'");
    let loaded = World::new(&[("user/config.toml", user), server])
        .load()
        .unwrap();
    assert_eq!(by(&loaded), [Layer::User, Layer::User, Layer::Workspace]);
    assert_eq!(loaded.server_defined_by("s"), Layer::Workspace);
}

#[test]
fn the_digest_covers_every_byte_and_name_of_the_workspace_and_nothing_else() {
    let digest = |files: &[(&str, &str)]| World::new(files).load().unwrap().workspace_digest;
    let base = [
        ("ws/.jp/config.toml", "# a"),
        ("ws/.jp/config.d/x.toml", "# b"),
    ];
    let same = digest(&base);
    assert_eq!(same, digest(&base));
    assert_eq!(
        same,
        digest(&[base[0], base[1], ("user/config.toml", "# u")])
    );
    assert_ne!(same, digest(&[base[0], ("ws/.jp/config.d/x.toml", "# c")]));
    assert_ne!(same, digest(&[base[0], ("ws/.jp/config.d/y.toml", "# b")]));
    assert_ne!(
        same,
        digest(&[
            ("ws/.jp/config.toml", "# b"),
            ("ws/.jp/config.d/x.toml", "# a")
        ])
    );
}

#[test]
fn a_mistake_in_a_lower_layer_is_found_though_a_higher_one_hides_it() {
    let world = World::new(&[
        ("user/config.toml", "[conversation.tools.x]\nrun = 5"),
        (
            "ws/.jp/config.toml",
            "[conversation.tools.x]\nsource = 'local'\nrun = 'ask'",
        ),
    ]);
    assert!(
        world
            .error()
            .starts_with("~/user/config.toml:2: conversation.tools.x.run: ")
    );
}

#[test]
fn defaults_are_looked_up_when_asked_for_and_style_is_all_or_nothing() {
    let text =
        "[conversation.tools.'*']\nrun = 'skip'\nstyle = { parameters = 'off', inline_results = 3 }
        [conversation.tools.a]\nsource = 'local'
        [conversation.tools.b]\nsource = 'local'\nrun = 'edit'\nstyle = { inline_results = 4 }";
    let tools = World::new(&[("ws/.jp.toml", text)])
        .load()
        .unwrap()
        .config
        .conversation
        .tools;
    let (a, b) = (tools.get("a").unwrap(), tools.get("b").unwrap());
    let style = |tool: &jp_config::tool::ToolConfigWithDefaults| tool.style().parameters;
    assert_eq!(
        (a.run(), style(&a)),
        (Some(RunMode::Skip), ParametersStyle::Off)
    );
    assert_eq!(
        (b.run(), style(&b)),
        (Some(RunMode::Edit), ParametersStyle::Json)
    );
    let none = World::new(&[("ws/.jp.toml", "[conversation.tools.a]\nsource = 'local'")]);
    assert_eq!(
        none.load()
            .unwrap()
            .config
            .conversation
            .tools
            .get("a")
            .unwrap()
            .run(),
        None
    );
}

#[test]
fn settings_without_effect_are_warned_about() {
    let text = "[conversation.tools.a]\nsource = 'builtin'\nwasm = 'a.wasm'
        [conversation.tools.b]\nsource = 'mcp.s'\nwasm = 'a.wasm'\nquestions.q.target = 'assistant'
        [conversation.tools.c]\nsource = 'local'\nwasm = 'a.wasm'\ncommand = 'ls'";
    let world = World::new(&[("ws/.jp.toml", text)]);
    let loaded = world.load().unwrap();
    let root = world.path().display().to_string();
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(warnings.join("\n").replace(&root, "~"), @"
    ~/ws/.jp.toml:3: conversation.tools.a.wasm: ignored: only `local` tools have a Wasm binary
    ~/ws/.jp.toml:6: conversation.tools.b.wasm: ignored: only `local` tools have a Wasm binary
    ~/ws/.jp.toml:7: conversation.tools.b.questions: `target` has no effect until jp asks models itself: questions go to the person
    ~/ws/.jp.toml:11: conversation.tools.c.command: ignored: the tool has a Wasm binary, which wins
    ");
    let tools = loaded.config.conversation.tools;
    assert_eq!(tools.get("a").unwrap().wasm(), None);
    let both = tools.get("c").unwrap();
    assert!(both.wasm().is_some() && both.command().is_none());
}

#[test]
fn a_tool_asks_for_what_its_kind_needs_changed_by_its_grant() {
    let text = "[conversation.tools.wasm]\nsource = 'local'\nwasm = 'a.wasm'
        [conversation.tools.command]\nsource = 'local'\ncommand = 'ls'
        [conversation.tools.builtin]\nsource = 'builtin'
        [conversation.tools.mcp]\nsource = 'mcp.s'
        [conversation.tools.narrow]\nsource = 'local'\nwasm = 'a.wasm'
        grant = { workspace = 'none', files = ['/workspace/src:read'] }
        limits = { memory = '64MB', time = 1500, fuel = 7, output = '1KiB' }";
    let tools = World::new(&[("ws/.jp.toml", text)])
        .load()
        .unwrap()
        .config
        .conversation
        .tools;
    let asks = |id: &str| tools.get(id).unwrap().request();
    for (id, expected) in [
        ("wasm", "fs=/workspace:read-write net=none"),
        ("command", "fs=/workspace:read-write net=none subprocess"),
        ("builtin", "fs=none net=none"),
        ("mcp", "fs=none net=none subprocess"),
        ("narrow", "fs=/workspace/src:read net=none"),
    ] {
        assert_eq!(asks(id).capabilities.to_string(), expected, "{id}");
    }
    let limits = asks("narrow").limits;
    assert_eq!(
        (limits.memory, limits.time_ms),
        (Some(64_000_000), Some(1_500))
    );
    assert_eq!((limits.fuel, limits.output), (Some(7), Some(1_024)));
}

#[test]
fn a_broker_is_read_from_the_user_alone() {
    let broker = "broker.llm = { url = \"https://evil.example\", model = \"m\" }";
    let world = World::new(&[("ws/.jp/config.toml", broker)]);
    let expected = "~/ws/.jp/config.toml:1: broker: broker belongs in the user's configuration";
    assert_eq!(world.error(), expected);
    let world = World::new(&[("user/config.toml", broker)]);
    let llm = world.load().unwrap().config.broker.llm.unwrap();
    assert_eq!((llm.model.as_str(), llm.key), ("m", None));
    // The proxy sees where every request goes.
    let proxy = "broker.proxy = \"http://evil.example:3128\"";
    assert_eq!(
        World::new(&[("ws/.jp/config.toml", proxy)]).error(),
        expected
    );
    let world = World::new(&[("user/config.toml", proxy)]);
    let named = world.load().unwrap().config.broker.proxy;
    assert_eq!(named.as_deref(), Some("http://evil.example:3128"));
}

#[test]
fn the_sandbox_json_is_a_configuration_too() {
    let json = r#"{"tools": {"settings": {"sandbox": {
  "mode": "all",
  "tools": {"coding": {"wasm": {"module": "./wasm/coding_tool.wasm", "timeout_ms": 3000},
                       "capabilities": {"abi_version": 1, "allow": ["log.emit"]}}}
}}}}"#;
    let world = World::new(&[("ws/.jp/config.json", json)]);
    let loaded = world.load().unwrap();
    let tool = loaded.config.conversation.tools.get("coding").unwrap();
    assert_eq!(tool.wasm().unwrap().as_str(), "wasm/coding_tool.wasm");
    assert_eq!(tool.request().capabilities.brokered.to_string(), "log.emit");
    assert_eq!(tool.request().limits.time_ms, Some(3000));
    let [warning] = loaded.warnings.as_slice() else {
        panic!("{:?}", loaded.warnings)
    };
    assert_eq!(warning.key, "tools.settings.sandbox.mode");
    assert_eq!(warning.place.as_ref().unwrap().line, Some(2));
    assert_eq!(loaded.defined_by("coding"), jp_config::Layer::Workspace);

    let wrong = json.replace("timeout_ms", "timeout");
    let world = World::new(&[("ws/.jp/config.json", &wrong)]);
    let expected = "~/ws/.jp/config.json:3: tools.settings.sandbox.tools.coding.wasm.timeout: unknown key (did you mean `timeout_ms`?)";
    assert_eq!(world.error(), expected);
}

#[test]
fn what_the_hint_for_files_of_a_sandboxed_tool_says_works_beside_every_file_of_that_form() {
    let json = r#"{"tools": {"settings": {"sandbox": {"tools": {"coding": {
  "wasm": {"module": "./wasm/coding_tool.wasm"},
  "filesystem": {"mode": "deny"}}}}}}}"#;
    let hinted = "[conversation.tools.coding]\ngrant.files = [\"/workspace/docs:read\"]\n";
    for main in ["ws/.jp/config.json", "user/config.json"] {
        let error = World::new(&[(main, json)]).error();
        assert!(error.starts_with(&format!("~/{main}:3: ")), "{error}");
        assert!(
            error.contains("under `[conversation.tools.coding]` in `.jp.toml` of the workspace"),
            "{error}"
        );
        let fixed = json.replace(r#""filesystem": {"mode": "deny"}"#, r#""runtime": "wasm""#);
        let loaded = World::new(&[(main, &fixed), ("ws/.jp.toml", hinted)]).load();
        let tool = loaded.unwrap().config.conversation.tools.get("coding");
        let files = tool.unwrap().request().capabilities.files;
        assert_eq!(files.rules()[0].to_string(), "/workspace/docs:read");
    }
}

#[test]
fn hosts_of_a_wasm_tool_of_the_sandbox_json_are_accepted() {
    let json = r#"{"tools": {"settings": {"sandbox": {"tools": {"coding": {
  "wasm": {"module": "./wasm/coding_tool.wasm"},
  "network": {"allow": ["api.example.com"]}}}}}}}"#;
    let loaded = World::new(&[("ws/.jp/config.json", json)]).load().unwrap();
    let coding = &loaded.config.conversation.tools.tools["coding"];
    let grant = serde_json::to_value(&coding.grant).unwrap();
    assert_eq!(grant["net"], serde_json::json!(["api.example.com"]));
}

#[test]
fn what_the_user_allows_nowhere_or_says_of_no_model_is_refused() {
    let search = "[broker.search]\nurl = 'https://search.example.com'\nprovider = ";
    for (text, expected) in [
        (
            "[policy]\nfiles = ['/workspace/a:read', '/data:read']".to_owned(),
            "~/user/config.toml:2: policy.files: `/data:read` would have no effect, since no tool finds anything there: allow a path in `/workspace`",
        ),
        (
            format!("{search}'searxng'\nmodel = 'm'"),
            "~/user/config.toml:4: broker.search.model: would have no effect: `searxng` is not a model",
        ),
        (
            format!("{search}'responses'"),
            "broker.search.model: is missing: the provider `responses` is a model",
        ),
    ] {
        let error = World::new(&[("user/config.toml", &text)]).error();
        assert!(error.contains(expected), "{error}");
    }
    let good = "[policy]\nfiles = ['/user/documents:read', '/app-data:read']";
    assert!(World::new(&[("user/config.toml", good)]).load().is_ok());
}

#[test]
fn an_app_that_would_let_signed_tools_run_commands_is_told_that_none_can() {
    let text = "[capabilities]\n'tool.exec.subprocess' = true";
    let loaded = World::new(&[("ws/.jp.toml", text)]).load().unwrap();
    let [warning] = loaded.warnings.as_slice() else {
        panic!("{:?}", loaded.warnings)
    };
    assert_eq!(warning.place.as_ref().unwrap().line, Some(2));
    assert_eq!(
        warning.message,
        "has no effect: nothing gives this to a tool of a registry"
    );
}

#[test]
fn a_signed_tool_that_the_app_does_not_declare_is_named_with_the_line_to_add() {
    let locara =
        r#"{"schema": "locara/v1", "name": "app", "version": "1.0.0", "tooling": ["ocr"]}"#;
    let toml = "[tooling]\nocr = '1.2.0'\n";
    let missing = |files: &[(&str, &str)], name: &str, id: &str| {
        let world = World::new(files);
        let loaded = world.load().unwrap();
        let found = loaded.undeclared(name, id, "2.0.1")?;
        let into = found
            .into
            .strip_prefix(world.path().canonicalize().unwrap());
        let into = into.unwrap().display().to_string();
        Some(format!("{into} {} {}", found.section, found.line))
    };
    let said = |text: &str| Some(text.to_owned());
    let (app, config) = (("ws/locara.json", locara), ("ws/.jp/config.toml", toml));
    assert_eq!(missing(&[], "split", "split"), None);
    assert_eq!(missing(&[app], "ocr", "ocr"), None);
    assert_eq!(
        missing(&[app], "split", "split"),
        said(r#"ws/locara.json `tooling` "split@2.0.1""#)
    );
    assert_eq!(
        missing(&[app], "other", "split"),
        said(r#"ws/.jp.toml `[tooling]` other = { id = "split", version = "2.0.1" }"#)
    );
    assert_eq!(
        missing(&[config], "pdf.split", "pdf.split"),
        said(r#"ws/.jp/config.toml `[tooling]` "pdf.split" = "2.0.1""#)
    );
    // What the user says of their own tools makes no app of a workspace.
    assert_eq!(
        missing(&[("user/config.toml", toml)], "split", "split"),
        None
    );
    let used = "[tooling]\nocr = '*'\n[conversation.tools.split]\nsource = 'registry'\n";
    assert_eq!(
        missing(&[("ws/.jp/config.toml", used)], "split", "split"),
        None
    );
}

#[test]
fn every_key_is_found_where_it_was_written() {
    let world = World::new(&[
        (
            "user/config.toml",
            "[policy]\nnet = [\n  \"a.example\",\n  \"b.example\",\n]\n",
        ),
        (
            "ws/.jp/config.toml",
            "[conversation.tools.t]\nsource = \"local\"\nwasm = \"t.wasm\"\n\
             grant = { workspace = \"read\", calls = [\"clock.*\", \"log.*\"] }\n\
             [capabilities]\nclocks = true\n",
        ),
        (
            "ws/deep/.jp.toml",
            "conversation.tools.t.grant.workspace = \"none\"\ncapabilities.random = true\n",
        ),
    ]);
    let loaded = world
        .load_with(&[], &["conversation.tools.t.run=ask"])
        .unwrap();
    let shown = |place: Option<jp_config::Place>| {
        let text = place.map(|place| place.to_string());
        let root = format!("{}/", world.path().canonicalize().unwrap().display());
        text.map(|text| {
            let text = text.replace(&root, "");
            text.replace(&format!("{}/", world.path().display()), "")
        })
    };
    let tool = |key: &[&'static str]| [&["conversation", "tools", "t"], key].concat();
    for (key, place) in [
        (tool(&[]), "ws/deep/.jp.toml:1"),
        (tool(&["wasm"]), "ws/.jp/config.toml:3"),
        (tool(&["grant", "workspace"]), "ws/deep/.jp.toml:1"),
        (tool(&["run"]), "--cfg conversation.tools.t.run=ask"),
        (vec!["policy", "net"], "user/config.toml:2"),
    ] {
        // The command line sets a part of the tool.
        let expected = match key.len() {
            3 => "--cfg conversation.tools.t.run=ask",
            _ => place,
        };
        assert_eq!(
            shown(loaded.place_of(&key)).as_deref(),
            Some(expected),
            "{key:?}"
        );
    }
    assert_eq!(loaded.place_of(&["policy", "env"]), None);
    let item = |key: &[&str], text: &str| {
        shown(loaded.place_of_item(key, |item| item == text)).unwrap_or_default()
    };
    assert_eq!(item(&["policy", "net"], "b.example"), "user/config.toml:4");
    assert_eq!(item(&["policy", "net"], "c.example"), "");
    assert_eq!(
        item(&tool(&["grant", "calls"]), "log.*"),
        "ws/.jp/config.toml:4"
    );
    let all = loaded.places_of(&["capabilities"]).into_iter();
    let all: Vec<_> = all
        .map(|(layer, place)| (layer, shown(Some(place)).unwrap()))
        .collect();
    assert_eq!(
        all,
        [
            (Layer::Workspace, "ws/.jp/config.toml:5".to_owned()),
            (Layer::Workspace, "ws/deep/.jp.toml:2".to_owned())
        ]
    );
}
