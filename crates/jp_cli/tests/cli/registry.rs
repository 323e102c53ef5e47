//! Tools of registries as a person meets them: shown, listed, reviewed, refused with what to type.

use std::{
    fs,
    net::TcpListener,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::json;

use crate::{
    kit::{Ran, Sandbox},
    shop::Shop,
    terminal::Terminal,
};

#[test]
fn a_signed_tool_is_shown_with_its_origin_also_when_it_was_revoked() {
    let shop = Shop::open();
    let keys = shop.jp(&["trust", "key", "--json"]).json();
    let key = keys["publishers"][0]["id"].as_str().unwrap();
    let wasm = fs::read(shop.sandbox.path("tool.wasm")).unwrap();
    let sha256 = jp_registry::Digest::of(&wasm).to_string();
    let facts = |ran: Ran| {
        ran.says("version      1.0.0\n")
            .says("registry     main\n")
            .says(&format!("signed by    the key {key}\n"))
            .says(&format!("sha256       {sha256}\n"))
    };
    facts(shop.jp(&["tool", "show", "greet"]))
        .says("status       locked: jp.lock pins it, and this machine verified it on 20")
        .says("runs         unattended: nobody is asked\n");
    let signed = shop.jp(&["tool", "show", "greet", "--json"]).json()["signed"].take();
    assert_eq!(signed["version"], "1.0.0");
    assert_eq!(signed["key"], key);
    assert_eq!(signed["sha256"], *sha256);
    assert_eq!(
        (&signed["registry"], &signed["locked"]),
        (&json!("main"), &json!(true))
    );
    assert_eq!(
        (&signed["deprecated"], &signed["problem"]),
        (&json!(null), &json!(null))
    );
    shop.deprecate("too curt");
    shop.run(&["tool", "outdated"]).exits(1);
    shop.jp(&["tool", "install", "greet"]);
    shop.jp(&["tool", "show", "greet"])
        .says("deprecated   too curt\n");
    shop.revoke();
    shop.run(&["tool", "outdated"]).exits(1);
    facts(shop.run(&["tool", "show", "greet"]).exits(126))
        .says("status       broken: it was revoked: leaks\n")
        .warns("revoked: leaks");
    let shown = shop
        .run(&["tool", "show", "greet", "--json"])
        .exits(126)
        .json();
    assert_eq!(shown["signed"]["version"], "1.0.0");
    assert!(shown["error"].as_str().unwrap().contains("revoked: leaks"));
    shop.run(&["tool", "list"]).exits(0).says("broken");
}

#[test]
fn a_list_says_what_show_says_and_explains_its_words() {
    let shop = Shop::open();
    shop.jp(&["tool", "list"]).says("STATUS").says("locked");
    shop.jp(&["tool", "list", "--help"])
        .says("locked ")
        .says("unattended ")
        .says("broken ");
    shop.jp(&["tool", "show", "greet"])
        .says("status       locked:");
}

#[test]
fn review_install_update_and_show_say_what_a_tool_asks_for_in_one_wording() {
    let shop = Shop::open();
    let config = "[capabilities]\ncalls = [\"log.emit\"]\nfs.user-selected = \"read\"\n";
    shop.sandbox.write("workspace/.jp/config.toml", config);
    shop.publish(
        "1.1.0",
        &json!(["log.emit", "fs.user-selected:read when /source is a file"]),
    );
    let lines = [
        "ask jp for log.emit",
        "read files you choose, when /source is a file",
    ];
    let reviewed = shop.jp(&["tool", "review", "../greet.json"]);
    let refused = shop.run(&["tool", "update", "greet"]).exits(126);
    let updated = shop.jp(&["tool", "update", "greet", "--yes"]);
    let shown = shop.jp(&["tool", "show", "greet"]);
    for line in lines {
        for text in [
            &reviewed.stdout,
            &refused.stderr,
            &updated.stderr,
            &shown.stdout,
        ] {
            assert!(text.contains(line), "no {line} in {text}");
        }
    }
    let reviewed = shop
        .jp(&["tool", "review", "../greet.json", "--json"])
        .json();
    let shown = shop.jp(&["tool", "show", "greet", "--json"]).json();
    assert_eq!(reviewed["asks"], shown["asks"]);
}

#[test]
fn a_file_to_change_is_refused_for_a_tool_that_only_reads() {
    let shop = Shop::open();
    let config = "[capabilities]\nfs.user-selected = \"read\"\n";
    shop.sandbox.write("workspace/.jp/config.toml", config);
    let asks = json!(["fs.user-selected:read when /source is a file"]);
    shop.publish("1.1.0", &asks);
    shop.jp(&["tool", "update", "greet", "--yes"]);
    let run = ["tool", "run", "--yes", "greet", "--file"];
    shop.run(&[&run[..], &["source=notes.txt:rw"]].concat())
        .exits(2)
        .warns("`greet` only reads the files you choose")
        .warns("let it read: `--file source=/");
}

#[test]
fn mistakes_are_answered_with_what_to_type() {
    let shop = Shop::open();
    // The name is taken, and the hint has the tool's own id.
    shop.run(&["tool", "install", "bash=greet"])
        .exits(126)
        .warns("`jp tool install my-bash=greet`");
    shop.sandbox
        .write("publisher.pub", &format!("{}\n", shop.publisher));
    let words = ["registry", "sign", "../greet.json", "--key"];
    shop.run(&[&words[..], &["../publisher.pub"]].concat())
        .exits(2)
        .warns("../publisher.pub holds a public key")
        .warns("`../publisher.key`");
    // A revoked tool without a newer version: there is nothing to update to.
    shop.revoke();
    let ran = shop.run(&["tool", "outdated"]).exits(1).says("none");
    assert!(!ran.stderr.contains("jp tool update"), "{ran:?}");
    ran.warns("`jp tool remove greet`");
}

#[test]
fn the_file_of_a_call_is_found_from_the_shell_s_directory() {
    let sandbox = Sandbox::with_tools();
    sandbox.write("here/only-here.txt", "x\n");
    let jp = |dir: &str, file: &str| {
        let words = [
            "-C",
            "../workspace",
            "tool",
            "run",
            "--yes",
            "read",
            "--file",
            file,
        ];
        let mut command = sandbox.command(&words);
        command.current_dir(sandbox.path(dir));
        Ran::from(command.output().unwrap())
    };
    // Found, and refused for another reason: this argument takes no files.
    jp("here", "path=only-here.txt")
        .exits(2)
        .warns("/in/0/only-here.txt");
    jp("here", "path=notes.txt")
        .exits(2)
        .warns("cannot use notes.txt");
}

#[test]
fn a_registry_that_never_answers_is_waited_for_in_plain_sight() {
    let sandbox = Sandbox::new("");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let config = format!(
        "[registries.main]\nurl = \"http://{address}/\"\nkey = \"ed25519:{}=\"\n",
        "A".repeat(43)
    );
    sandbox.write("home/.config/jp/config.toml", &config);
    let asked = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let accept = || {
            let kept = listener.accept().unwrap();
            asked.fetch_add(1, Ordering::Relaxed);
            kept
        };
        let kept = scope.spawn(accept);
        let mut terminal = Terminal::start(&sandbox, &["tool", "search", "x"]);
        terminal.sees(&format!("waiting for {address}… 1 s"));
        terminal.interrupt();
        let seen = terminal.exits(130);
        let after = seen.rsplit("\r\u{1b}[2K").next().unwrap();
        assert!(!after.contains("waiting"), "{seen:?}");
        drop(kept.join());
    });
    assert_eq!(asked.into_inner(), 1);
}
