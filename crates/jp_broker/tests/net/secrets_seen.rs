//! Secrets, where a guest or a model could see them: answers, errors, logs, files.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use data_encoding::{BASE64, HEXLOWER};
use jp_broker::{FileVault, Secret, SecretError, SecretStore, Vault, VaultPaths};
use serde_json::json;

use crate::{
    desk::{Desk, Lines, OK, Site, body, secret},
    secrets::{VALUE, authorized, leaks, with_pat},
};

/// Counts how often the secrets are looked at.
struct Counting(FileVault, AtomicUsize);

impl Vault for Counting {
    fn load(&self) -> Result<Arc<Vec<Secret>>, SecretError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.load()
    }

    fn change(
        &self,
        change: &mut dyn FnMut(&mut Vec<Secret>) -> Result<(), SecretError>,
    ) -> Result<(), SecretError> {
        self.0.change(change)
    }
}

fn counting(paths: VaultPaths) -> Arc<Counting> {
    Arc::new(Counting(
        FileVault::new(paths).unwrap(),
        AtomicUsize::new(0),
    ))
}

#[test]
fn d42_an_echo_of_any_kind_gives_nothing_away() {
    let encode = |request: &str| {
        let found = request.lines().find(|line| line.starts_with("Author"));
        let value = found.unwrap().split(' ').next_back().unwrap().to_owned();
        assert_eq!(value, VALUE, "the server gets the real thing");
        let hex = HEXLOWER.encode(value.as_bytes());
        let base64 = BASE64.encode(format!("me:{value}").as_bytes());
        (value, hex, base64)
    };
    let site = Site::new(move |request| {
        let (value, hex, base64) = encode(request);
        let text = json!({"echo": value, "hex": hex, "basic": base64, value.clone(): 1});
        let text = format!("{text}{}", value.replace('/', "\\/"));
        let head = format!(
            "HTTP/1.1 401 Bad {value}\r\nX-Echo: {value}\r\nX-{hex}: 1\r\nSet-Cookie: k={value}\r\nContent-Length: {}\r\n\r\n",
            text.len()
        );
        (head + &text).into_bytes()
    });
    let desk = with_pat(&site, &["http.request", "secrets.get.pat"]);
    let found = desk.request(authorized(site.url("/"))).unwrap();
    let text = found.to_string();
    assert!(!leaks(&text), "{text}");
    assert_eq!(found["headers"]["x-echo"], "[secret:pat]");
    assert_eq!(found["headers"]["set-cookie"], "[redacted]");
    assert!(text.contains("[secret:pat]"));
}

#[test]
fn d42_an_echo_inside_escapes_packing_or_bytes_gives_nothing_away() {
    let escaped: String = VALUE.bytes().map(|b| format!("\\u{b:04x}")).collect();
    let json_site = Site::saying(body("application/json", format!("{{\"a\":\"{escaped}\"}}")));
    let desk = with_pat(&json_site, &["http.request", "secrets.get.pat"]);
    let found = desk.request(authorized(json_site.url("/"))).unwrap();
    assert_eq!(found["json"]["a"], "[secret:pat]");
    assert_eq!(found["text"], "{\"a\":\"[secret:pat]\"}");

    let bytes = [b"\xff\xfe", VALUE.as_bytes(), b"\xff"].concat();
    let binary = Site::saying(body("image/png", bytes));
    let desk = with_pat(&binary, &["http.request", "secrets.get.pat"]);
    let found = desk.request(authorized(binary.url("/"))).unwrap();
    let decoded = BASE64.decode(found["text"].as_str().unwrap().as_bytes());
    assert_eq!(decoded.unwrap(), b"\xff\xfe[secret:pat]\xff");
}

#[test]
fn d42_errors_and_logs_give_nothing_away() {
    let site = Site::new(|request| {
        let line = request.lines().find(|line| line.starts_with("Author"));
        let value = line.unwrap().split(' ').next_back().unwrap();
        format!("HTTP/1.1 302 On\r\nLocation: http://{}.example/\r\n\r\n", {
            HEXLOWER.encode(value.as_bytes())
        })
        .into_bytes()
    });
    let calls = ["http.request", "secrets.get.pat"];
    let mut desk = with_pat(&site, &calls);
    let granted = ["*.example", &site.grant()];
    desk.grant = crate::desk::grant(&calls, crate::desk::hosts(&granted));
    desk.services.web.resolver = crate::server::Names::answering(&["127.0.0.1"]);
    let log = Arc::new(Lines::default());
    desk.services.log = Some(Arc::clone(&log) as Arc<dyn jp_broker::LogSink>);
    let error = desk.request(authorized(site.url("/"))).unwrap_err();
    assert_eq!(error.code.as_str(), "forbidden");
    let text = format!("{error} {error:?} {}", error.to_json());
    assert!(!leaks(&text), "{text}");
    assert!(text.contains("[secret:pat]"), "{text}");
    let log = log.0.lock().unwrap().join("\n");
    assert!(
        log.contains("[secret:pat].example") && !leaks(&log),
        "{log}"
    );
}

#[test]
fn d42_a_handle_is_all_a_guest_gets() {
    let site = Site::saying(OK);
    let desk = with_pat(&site, &["secrets.get.pat"]);
    let found = desk.call("secrets.get", json!({"name": "pat", "user_id": "x"}));
    let expected = json!({"name": "pat", "found": true, "handle": "{{secret:pat}}"});
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn d42_whether_a_secret_exists_cannot_be_told_without_its_grant() {
    let site = Site::saying(OK);
    let mut desk = with_pat(&site, &["http.request", "secrets.get.other"]);
    let vault = counting(desk.paths());
    desk.services.secrets = Some(Arc::new(SecretStore::new(Arc::clone(&vault) as _)));
    let ask = |name: &str| {
        vault.1.store(0, Ordering::SeqCst);
        let got = desk.call("secrets.get", json!({"name": name})).unwrap_err();
        let after_get = vault.1.load(Ordering::SeqCst);
        let sent = desk.request(json!({
            "method": "GET", "url": site.url("/"),
            "headers": {"X": format!("{{{{secret:{name}}}}}")},
        }));
        let sent = sent.unwrap_err();
        let looks = vault.1.load(Ordering::SeqCst);
        let same = |text: String| text.replace(name, "NAME");
        (
            same(got.to_json().to_string()),
            same(sent.to_json().to_string()),
            after_get,
            looks,
        )
    };
    let (there, not_there) = (ask("pat"), ask("absent"));
    assert_eq!(there, not_there);
    assert_eq!(there.2, 0, "the store is not even asked");
    assert!(there.0.contains("forbidden") && there.1.contains("forbidden"));
}

#[test]
fn d45_secrets_show_up_in_no_debug_text_file_or_argument() {
    let site = Site::saying(OK);
    let desk = with_pat(&site, &["http.request", "secrets.get.pat"]);
    let store = desk.services.secrets.as_ref().unwrap();
    let found = store.find(&"pat".parse().unwrap()).unwrap().unwrap();
    let shown = format!(
        "{store:?} {found:?} {:?} {:?} {:?}",
        store.list().unwrap(),
        store.scrubber().unwrap(),
        found.value,
    );
    assert!(!leaks(&shown), "{shown}");
    let sealed = std::fs::read(desk.paths().secrets).unwrap();
    assert!(!leaks(&String::from_utf8_lossy(&sealed)));
    assert!(
        !sealed.windows(3).any(|window| window == b"pat"),
        "nor names"
    );
    // What audit and caches make keys of are arguments, and they hold a handle.
    assert!(!leaks(&authorized(site.url("/")).to_string()));
    // What a log or an audit record is written through.
    let line = format!("sent Bearer {VALUE} to a host");
    let scrubbed = desk.services.scrubber().unwrap().scrub(&line).into_owned();
    assert_eq!(scrubbed, "sent Bearer [secret:pat] to a host");
}

#[test]
fn d45_a_process_can_keep_its_memory_out_of_core_dumps() {
    if std::env::var_os("JP_TEST_DENY_CORE_DUMPS").is_some() {
        jp_broker::secrets::deny_core_dumps().unwrap();
        jp_broker::secrets::deny_core_dumps().unwrap();
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        let line = limits.lines().find(|l| l.starts_with("Max core")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(
            ["0", "1"].contains(&words[4]) && words[4] == words[5],
            "{line}"
        );
        return;
    }
    // A limit cannot be raised again, so a process of its own.
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .env("JP_TEST_DENY_CORE_DUMPS", "1")
        .args([
            "--exact",
            "secrets_seen::d45_a_process_can_keep_its_memory_out_of_core_dumps",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn d47_output_is_scanned_for_values_unless_both_sides_allow_it() {
    let shown = |reveal: bool, calls: &[&str]| {
        let mut kept = secret("pat", VALUE, &[]);
        kept.reveal = reveal;
        let desk = Desk::new(calls, &[])
            .with(kept)
            .with_secret("other", "another value", &[]);
        let brokered = &desk.grant.capabilities().brokered;
        let text = format!("{VALUE} {} another value", BASE64.encode(VALUE.as_bytes()));
        let scrubber = desk.services.scrubber_for(brokered).unwrap();
        scrubber.scrub(&text).into_owned()
    };
    let hidden = "[secret:pat] [secret:pat] [secret:other]";
    assert_eq!(shown(false, &["secrets.get.pat"]), hidden);
    assert_eq!(shown(true, &["secrets.get.pat"]), hidden);
    assert_eq!(shown(false, &["secrets.reveal.pat"]), hidden);
    let both = shown(true, &["secrets.reveal.pat"]);
    assert!(both.starts_with(VALUE) && both.ends_with("[secret:other]"));
}

#[test]
fn a_value_is_revealed_only_if_the_grant_and_the_secret_say_so() {
    let ask = |reveal: bool, calls: &[&str]| {
        let mut kept = secret("pat", VALUE, &[]);
        kept.reveal = reveal;
        let desk = Desk::new(calls, &[]).with(kept);
        desk.call("secrets.get", json!({"name": "pat"})).unwrap()["value"].clone()
    };
    let both = ["secrets.get.pat", "secrets.reveal.pat"];
    assert_eq!(ask(true, &both), VALUE);
    assert_eq!(ask(false, &both), json!(null));
    assert_eq!(ask(true, &["secrets.get.pat"]), json!(null));
    assert_eq!(ask(true, &["secrets.get.*"]), json!(null));
    assert_eq!(ask(true, &["secrets.get.*", "secrets.reveal"]), json!(null));
}

#[test]
fn without_a_readable_store_nothing_goes_out() {
    let site = Site::saying(OK);
    let desk = with_pat(&site, &["http.request", "secrets.get.pat"]);
    std::fs::write(desk.paths().secrets, "nonsense").unwrap();
    let (code, message) = desk.refusal(json!({"method": "GET", "url": site.url("/")}));
    assert_eq!(code, "unavailable");
    assert!(!message.contains("keys"), "no paths for a guest: {message}");
    assert!(site.seen().is_empty());
}
