//! What people get as text and programs as JSON.

use crate::{kit::Sandbox, terminal::Terminal};

#[test]
fn people_get_tables_and_sentences_and_programs_json() {
    let sandbox = Sandbox::new("");
    let list = ["tool", "run", "todo", "action=list"];
    let seen = Terminal::start(&sandbox, &list).exits(0);
    assert!(seen.contains("No items.") && !seen.contains('{'), "{seen}");
    let create = ["tool", "run", "todo", "action=create", "title=buy milk"];
    let seen = Terminal::start(&sandbox, &create).exits(0);
    assert!(
        seen.contains("buy milk") && !seen.contains("estimate") && !seen.contains('{'),
        "{seen}"
    );
    let seen = Terminal::start(&sandbox, &list).exits(0);
    assert!(
        seen.contains("TITLE") && seen.contains("buy milk") && !seen.contains("75"),
        "{seen}"
    );
    let piped = sandbox.jp(&list).exits(0).json();
    assert_eq!(
        piped["capability_result"]["result"]["items"][0]["title"],
        "buy milk"
    );
    let json = Terminal::start(&sandbox, &[&list[..], &["--json"]].concat()).exits(0);
    assert!(json.contains("\"outcome\""), "{json}");
}

#[test]
fn a_wrong_argument_is_named_first_and_the_schema_is_asked_for() {
    let sandbox = Sandbox::new("");
    let wrong = ["tool", "run", "todo", "actoin=list"];
    let ran = sandbox.jp(&wrong).exits(2);
    assert!(!ran.stderr.contains("schema of the arguments"), "{ran:?}");
    ran.warns("unknown argument `actoin`; did you mean `action`?")
        .warns("missing argument `action`");
    let verbose = sandbox.jp(&[&wrong[..], &["-v"]].concat()).exits(2);
    verbose.warns("The schema of the arguments");
}

#[test]
fn a_tool_fits_a_screen_unless_everything_is_asked_for() {
    let sandbox = Sandbox::new("");
    let brief = Terminal::start(&sandbox, &["tool", "show", "todo"]).exits(0);
    assert!(
        brief.lines().count() <= 30,
        "{}: {brief}",
        brief.lines().count()
    );
    assert!(
        brief.contains("arguments    action") && brief.contains("jp tool show -v todo"),
        "{brief}"
    );
    let all = Terminal::start(&sandbox, &["tool", "show", "-v", "todo"]).exits(0);
    assert!(all.contains("\"enum\""), "{all}");
    sandbox
        .jp(&["tool", "show", "todo"])
        .exits(0)
        .says("\"enum\"");
}

#[test]
fn lists_are_sorted_and_name_what_has_nothing_behind_it() {
    let sandbox = Sandbox::new(
        "[conversation.tools.zeta]\nsource = \"builtin.todo\"\n[conversation.tools.alpha]\nsource = \"builtin.todo\"\n",
    );
    let listed = sandbox.jp(&["tool", "list"]).exits(0);
    let names: Vec<&str> = listed
        .stdout
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(
        names.is_sorted() && names.first() == Some(&"alpha"),
        "{names:?}"
    );
    let line = |listed: &crate::kit::Ran| {
        let mut lines = listed.stdout.lines();
        lines
            .find(|line| line.starts_with("search_internet"))
            .unwrap()
            .to_owned()
    };
    let before = line(&listed);
    assert!(
        before.contains("not set up") && before.contains("needs `broker.search`"),
        "{before}"
    );
    sandbox.write(
        "home/.config/jp/config.toml",
        "[broker.search]\nprovider = \"searxng\"\nurl = \"https://search.example.com\"\n",
    );
    let after = line(&sandbox.jp(&["tool", "list"]).exits(0));
    assert!(!after.contains("not set up"), "{after}");
    sandbox
        .call(&["tood"])
        .exits(127)
        .warns("did you mean `todo`?");
    sandbox
        .call(&["nothing-like-it"])
        .exits(127)
        .warns("jp tool list");
}

#[test]
fn a_missing_file_outside_is_said_to_be_hidden_and_the_lines_work() {
    let sandbox = Sandbox::new("");
    sandbox.write("docs/a.txt", "shown now\n");
    let docs = sandbox
        .path("docs")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    let tool = |grant: &str| {
        format!(
            "[conversation.tools.look]\nsource = \"local\"\ncommand = \"cat {docs}/a.txt\"\n\
             run = \"unattended\"\ngrant.workspace = \"read\"\n{grant}"
        )
    };
    let own = "home/.config/jp/config.toml";
    sandbox.write(own, &tool(""));
    let paths = format!("paths = [{{ path = \"{docs}/a.txt\", access = \"read\" }}]");
    let missed = sandbox
        .call(&["look"])
        .exits(1)
        .warns(&format!("grant.{paths}"));
    missed.warns("the command is confined");
    sandbox.write(own, &tool(&format!("grant.{paths}\n")));
    let denied = sandbox
        .call(&["look"])
        .exits(126)
        .warns("which your policy does not allow");
    denied.warns(&format!(
        "add `{paths}` under `[policy]` in your own configuration"
    ));
    sandbox.write(
        own,
        &format!("{}[policy]\n{paths}\n", tool(&format!("grant.{paths}\n"))),
    );
    sandbox.call(&["look"]).exits(0).says("shown now");
}

#[test]
fn a_link_leads_nowhere_that_the_policy_does_not_show() {
    let sandbox = Sandbox::new("");
    sandbox.write("docs/a.txt", "shown\n");
    std::os::unix::fs::symlink("../secret.txt", sandbox.path("docs/link")).unwrap();
    let docs = sandbox
        .path("docs")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    let config = |path: &str| {
        format!(
            "[policy]\npaths = [{{ path = \"{docs}\" }}]\n[conversation.tools.look]\nsource = \"local\"\n\
             command = \"cat {path}\"\nrun = \"unattended\"\ngrant.paths = [{{ path = \"{path}\" }}]\n"
        )
    };
    let own = "home/.config/jp/config.toml";
    sandbox.write(own, &config(&format!("{docs}/a.txt")));
    sandbox.call(&["look"]).exits(0).says("shown");
    sandbox.write(own, &config(&format!("{docs}/link")));
    let hidden = sandbox.call(&["look"]).exits(1);
    assert!(!hidden.stdout.contains("not for tools"), "{hidden:?}");
}

#[test]
fn bash_and_wasm_read_beside_the_workspace_and_change_nothing() {
    let sandbox = Sandbox::with_tools();
    sandbox.write("docs/a.txt", "beside\n");
    let docs = sandbox
        .path("docs")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    let own = format!(
        "[policy]\npaths = [{{ path = \"{docs}\" }}]\n\
         [conversation.tools.bash]\nsource = \"builtin\"\ngrant.paths = [{{ path = \"{docs}\", access = \"read\" }}]\n"
    );
    sandbox.write("home/.config/jp/config.toml", &own);
    let cat = format!("commands=cat {docs}/a.txt");
    sandbox.call(&["bash", &cat]).exits(0).says("beside");
    let write = format!("commands=echo x > {docs}/b.txt");
    sandbox.call(&["bash", &write]);
    assert!(!sandbox.path("docs/b.txt").exists());
}

#[test]
fn the_policy_shows_nothing_of_jps_own() {
    let sandbox = Sandbox::new("");
    for path in ["~/.config", "~/.config/jp/key", "~/.local/share/jp"] {
        let own = format!("[policy]\npaths = [{{ path = \"{path}\" }}]\n");
        sandbox.write("home/.config/jp/config.toml", &own);
        let ran = sandbox.jp(&["tool", "list"]).exits(2);
        ran.warns("cannot be shown to tools");
    }
}

#[test]
fn an_untrusted_workspace_reads_nothing_beside_itself() {
    let sandbox = Sandbox::new("");
    sandbox.write("docs/a.txt", "beside\n");
    let docs = sandbox
        .path("docs")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    sandbox.write(
        "home/.config/jp/config.toml",
        &format!("[policy]\npaths = [{{ path = \"{docs}\" }}]\n"),
    );
    let asks = format!(
        "[conversation.tools.bash]\nsource = \"builtin\"\ngrant.paths = [{{ path = \"{docs}\" }}]\n"
    );
    sandbox.write("workspace/.jp/config.toml", &asks);
    let cat = format!("commands=cat {docs}/a.txt");
    sandbox
        .call(&["bash", &cat])
        .exits(126)
        .warns("run `jp trust` in it");
    sandbox.jp(&["trust"]).exits(0);
    sandbox.call(&["bash", &cat]).exits(0).says("beside");
}
