//! Where the key of the secrets lies, without a keyring to put it in. `cargo xtask interop` has one.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::PathBuf,
    process::Stdio,
};

use serde_json::json;

use crate::kit::{Ran, Sandbox};

const SET: &[&str] = &[
    "secret",
    "set",
    "forge",
    "--for",
    "https://forge.example.com",
];
/// What stands in the key file when the key lies in the keyring.
const LINE: &str = "jp-secrets-key 1 in the keyring: 00112233445566778899aabbccddeeff\n";

fn key(sandbox: &Sandbox) -> PathBuf {
    sandbox.path("home/.config/jp/key/secrets")
}

/// Keeps a secret, and then says that its key lies in the keyring.
fn with_key_in_keyring() -> Sandbox {
    let sandbox = Sandbox::new("");
    sandbox.fed(SET, b"correct-horse").exits(0);
    fs::write(key(&sandbox), LINE).unwrap();
    sandbox
}

fn with(sandbox: &Sandbox, words: &[&str], name: &str, value: &str) -> Ran {
    let mut command = sandbox.command(words);
    command.env(name, value).output().unwrap().into()
}

#[test]
fn the_list_says_where_the_key_is() {
    let sandbox = Sandbox::new("");
    let list = || sandbox.jp(&["secret", "list", "--json"]).exits(0).json();
    assert_eq!(list()["key"], json!(null));
    sandbox.fed(SET, b"correct-horse").exits(0);
    assert_eq!(list()["key"], json!("file"));
    let listed = sandbox.jp(&["secret", "list"]).exits(0);
    listed.warns(&format!("The key is in {}.", key(&sandbox).display()));
}

#[test]
fn the_doctor_sees_a_key_that_is_gone_or_damaged() {
    let sandbox = Sandbox::new("");
    sandbox.fed(SET, b"correct-horse").exits(0);
    let before = sandbox.jp(&["doctor", "--offline"]);
    assert!(!before.stdout.contains("secret set"), "{before:?}");
    fs::write(key(&sandbox), "abc").unwrap();
    for gone in [false, true] {
        if gone {
            fs::remove_file(key(&sandbox)).unwrap();
        }
        let found = sandbox.jp(&["doctor", "--offline"]).exits(1);
        assert!(
            found.stdout.contains("then: jp secret set NAME"),
            "{found:?}"
        );
    }
}

#[test]
fn a_key_in_a_keyring_out_of_reach_is_an_error_with_the_way_out() {
    let sandbox = with_key_in_keyring();
    for words in [&["secret", "list"][..], &["secret", "rm", "forge"]] {
        sandbox
            .jp(words)
            .exits(125)
            .warns("cannot read the key of the secrets from the keyring")
            .warns("there is no session bus")
            .warns("DBUS_SESSION_BUS_ADDRESS");
    }
    sandbox.fed(SET, b"battery-staple").exits(125);
    assert_eq!(fs::read_to_string(key(&sandbox)).unwrap(), LINE);
    let found = sandbox.jp(&["doctor", "--offline", "--json"]).exits(1);
    let document = found.json();
    let finding = document["findings"].as_array().unwrap().iter();
    let mut finding = finding.filter(|one| one["subject"] == "keyring");
    let finding = finding.next().unwrap();
    assert_eq!(finding["severity"], "error");
    let fix = finding["fix"].as_str().unwrap();
    assert!(fix.contains("DBUS_SESSION_BUS_ADDRESS"), "{fix}");
    with(&sandbox, &["secret", "list"], "JP_KEYRING", "off")
        .exits(125)
        .warns("unset JP_KEYRING");
}

#[test]
fn a_key_moves_only_where_there_is_a_place_for_it() {
    let sandbox = Sandbox::new("");
    let to = |place| sandbox.jp(&["secret", "move-key", "--to", place]);
    to("keyring").exits(1).warns("There is no key yet");
    sandbox.fed(SET, b"correct-horse").exits(0);
    let before = fs::read(key(&sandbox)).unwrap();
    to("keyring")
        .exits(125)
        .warns("the key stays in its file: there is no session bus");
    to("file").exits(0).warns("already");
    to("cloud").exits(2);
    assert_eq!(fs::read(key(&sandbox)).unwrap(), before);
    sandbox.jp(&["secret", "list"]).exits(0).says("forge");
}

#[test]
fn a_word_that_jp_keyring_does_not_know_is_an_error() {
    let sandbox = Sandbox::new("");
    for word in ["of", "OFF", "0", "file"] {
        with(&sandbox, &["secret", "list"], "JP_KEYRING", word)
            .exits(2)
            .warns("invalid JP_KEYRING");
    }
    for word in ["", "auto", "off"] {
        with(&sandbox, &["secret", "list"], "JP_KEYRING", word).exits(0);
    }
}

#[test]
fn the_bus_is_where_the_session_says_and_off_means_nobody_is_asked() {
    let sandbox = Sandbox::new("");
    let listen = |name: &str| {
        let path = sandbox.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        listener
    };
    let (named, usual) = (listen("named.socket"), listen("run/bus"));
    let asked = |listener: &UnixListener| listener.accept().is_ok();
    let set = |home: &str, more: &[(&str, &str)]| {
        let mut command = sandbox.command(SET);
        command
            .env("HOME", sandbox.path(home))
            .env("XDG_RUNTIME_DIR", sandbox.path("run"))
            .envs(more.iter().copied())
            .stdin(Stdio::from(
                fs::File::open(sandbox.path("secret.txt")).unwrap(),
            ));
        Ran::from(command.output().unwrap()).exits(0);
        let key = sandbox.path(home).join(".config/jp/key/secrets");
        assert_eq!(fs::metadata(&key).unwrap().len(), 32);
        assert_eq!(
            fs::metadata(&key).unwrap().permissions().mode() & 0o777,
            0o600
        );
    };
    set("off", &[("JP_KEYRING", "off")]);
    assert!(!asked(&named) && !asked(&usual));
    set("usual", &[]);
    assert!(!asked(&named) && asked(&usual));
    let address = format!("unix:path={}", sandbox.path("named.socket").display());
    set("named", &[("DBUS_SESSION_BUS_ADDRESS", &address)]);
    assert!(asked(&named) && !asked(&usual));
}

#[test]
fn the_fix_for_a_damaged_key_names_both_files() {
    let sandbox = Sandbox::new("");
    let sealed = sandbox.path("home/.local/share/jp/secrets/sealed");
    sandbox.fed(SET, b"correct-horse").exits(0);
    for damaged in ["abc".to_owned(), "x".repeat(32)] {
        fs::write(key(&sandbox), damaged).unwrap();
        sandbox
            .jp(&["secret", "list"])
            .exits(125)
            .warns("from a backup")
            .warns(&sealed.display().to_string())
            .warns(&key(&sandbox).display().to_string())
            .warns("move both");
    }
}

#[test]
fn a_key_that_is_not_a_file_is_refused_at_once_by_its_kind() {
    let sandbox = Sandbox::new("");
    let key = key(&sandbox);
    sandbox.fed(SET, b"correct-horse").exits(0);
    let refused = |kind: &str| {
        let text = format!("{} is {kind}", key.display());
        for words in [&["secret", "list"][..], &["secret", "rm", "forge"]] {
            sandbox.jp(words).exits(125).warns(&text);
        }
        let found = sandbox.jp(&["doctor", "--offline"]).exits(1);
        found.says(&text);
    };
    fs::rename(&key, sandbox.path("elsewhere")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &key,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    refused("a FIFO");
    fs::remove_file(&key).unwrap();
    std::os::unix::fs::symlink(sandbox.path("elsewhere"), &key).unwrap();
    refused("a symbolic link");
    fs::remove_file(&key).unwrap();
    fs::create_dir(&key).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o700)).unwrap();
    refused("a directory");
}

#[test]
fn a_missing_value_is_reported_as_such() {
    let sandbox = Sandbox::new("");
    for (input, words) in [
        (&b""[..], "missing value"),
        (b"\n", "missing value"),
        (b"        \n", "only white space"),
        (b" short   \n", "without the white space around it"),
    ] {
        sandbox.fed(SET, input).exits(2).warns(words);
    }
}

#[test]
fn a_value_on_the_command_line_is_not_repeated() {
    let sandbox = Sandbox::new("");
    for words in [
        &["secret", "set", "forge", "hunter2hunter2"][..],
        &["--for", "https://forge.example.com"],
    ]
    .iter()
    .scan(Vec::new(), |all, more| {
        all.extend_from_slice(more);
        Some(all.clone())
    }) {
        let said = sandbox.fed(&words, b"correct-horse").exits(2);
        assert!(!said.stderr.contains("hunter2"), "{said:#?}");
        if words.len() > 4 {
            said.warns("standard input");
        }
    }
    assert_eq!(sandbox.jp(&["secret", "list"]).exits(0).stdout, "");
}

#[test]
fn the_fix_for_secrets_loses_nothing() {
    let sandbox = Sandbox::new("");
    sandbox.fed(SET, b"correct-horse").exits(0);
    let sealed = sandbox.path("home/.local/share/jp/secrets/sealed");
    let kept = fs::read(&sealed).unwrap();
    fs::write(key(&sandbox), "abc").unwrap();
    for old in ["old", "old-2"] {
        let found = sandbox
            .jp(&["doctor", "--offline", "--json"])
            .exits(1)
            .json();
        let findings = found["findings"].as_array().unwrap();
        let finding = findings.iter().find(|one| one["subject"] == "secrets");
        let fix = finding.unwrap()["fix"].as_str().unwrap();
        let (fix, rest) = fix.split_once(", then: ").unwrap();
        assert_eq!(rest, "jp secret set NAME --for URL");
        let done = std::process::Command::new("sh").args(["-c", fix]).status();
        assert!(done.unwrap().success(), "{fix}");
        assert_eq!(fs::read(sealed.with_extension(old)).unwrap(), kept);
        assert_eq!(fs::read(key(&sandbox).with_extension(old)).unwrap(), b"abc");
        sandbox.fed(SET, b"correct-horse").exits(0);
        fs::write(&sealed, &kept).unwrap();
        fs::write(key(&sandbox), "abc").unwrap();
    }
}
