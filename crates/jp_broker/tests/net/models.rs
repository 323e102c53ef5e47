//! Models that write texts, against endpoints that speak their protocol.

use std::time::Duration;

use jp_broker::{Endpoint, GenerateOptions, TokenField};
use serde_json::{Value, json};

use crate::desk::{Desk, Site, body};

const KEY: &str = "sk-0123456789abcdef";

pub(crate) fn answering(json: &Value) -> Site {
    Site::saying(body("application/json", json.to_string()))
}

/// Makes a desk whose tool may call `name` and reach the site, which has a key.
pub(crate) fn desk(site: &Site, name: &str) -> Desk {
    let audience = site.url("/v1");
    Desk::new(&[name], &[&site.grant()]).with_secret("model_key", KEY, &[&audience])
}

pub(crate) fn endpoint(site: &Site) -> Endpoint {
    Endpoint::new(site.url("/v1/")).with_key("model_key".parse().unwrap())
}

fn model(site: &Site) -> GenerateOptions {
    GenerateOptions {
        endpoint: endpoint(site),
        model: "small".to_owned(),
        models: vec!["large".to_owned()],
        max_tokens: 100,
        token_field: TokenField::MaxTokens,
    }
}

fn chat(text: &str, finish: &str) -> Value {
    json!({"model": "small-1", "choices": [{"message": {"content": text}, "finish_reason": finish}]})
}

pub(crate) fn sent_body(site: &Site) -> Value {
    let sent = site.seen().pop().unwrap();
    serde_json::from_str(sent.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn a_prompt_is_answered_by_the_configured_model() {
    for name in ["llm.generate", "coding.generate"] {
        let site = answering(&chat("fn main() {}", "stop"));
        let mut desk = desk(&site, name);
        match name {
            "llm.generate" => desk.services.llm = Some(model(&site)),
            _ => desk.services.coding = Some(model(&site)),
        }
        let found = desk.call(
            name,
            json!({"prompt": "write", "system_prompt": "be brief"}),
        );
        let expected = json!({
            "status": "ok", "response": "fn main() {}", "model": "small-1",
            "finish_reason": "stop", "truncated": false,
        });
        assert_eq!(found.unwrap(), expected);
        let expected = json!({
            "model": "small",
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "write"},
            ],
            "max_tokens": 100,
        });
        assert_eq!(sent_body(&site), expected);
        let sent = site.seen().pop().unwrap();
        assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
        assert!(sent.contains(&format!("Authorization: Bearer {KEY}\r\n")));
    }
}

#[test]
fn an_answer_that_was_cut_short_says_so() {
    let site = answering(&chat("half of", "length"));
    let mut desk = desk(&site, "llm.generate");
    desk.services.llm = Some(GenerateOptions {
        token_field: TokenField::MaxCompletionTokens,
        ..model(&site)
    });
    let found = desk.call("llm.generate", json!({"prompt": "p", "model": "large"}));
    assert_eq!(found.unwrap()["truncated"], true);
    let sent = sent_body(&site);
    assert_eq!(sent["max_completion_tokens"], 100);
    assert_eq!(
        (&sent["model"], &sent["max_tokens"]),
        (&json!("large"), &json!(null))
    );
}

#[test]
fn a_model_that_is_not_configured_is_refused() {
    let site = answering(&chat("x", "stop"));
    let mut desk = desk(&site, "llm.generate");
    desk.services.llm = Some(model(&site));
    let found = desk.call("llm.generate", json!({"prompt": "p", "model": "dearest"}));
    assert_eq!(found.unwrap_err().code.as_str(), "forbidden");
    let found = desk.call("llm.generate", json!({"prompt": " "}));
    assert_eq!(found.unwrap_err().code.as_str(), "invalid_args");
    assert!(site.seen().is_empty());
}

#[test]
fn an_endpoint_needs_the_tools_own_network_grant() {
    let site = answering(&chat("x", "stop"));
    let mut desk = desk(&site, "llm.generate");
    desk.services.llm = Some(model(&site));
    desk.grant = crate::desk::grant(&["llm.generate"], crate::desk::hosts(&["a.example"]));
    let error = desk
        .call("llm.generate", json!({"prompt": "p"}))
        .unwrap_err();
    assert_eq!(error.code.as_str(), "forbidden");
    assert!(
        error
            .message
            .contains(&format!("net = [\"{}\"]", site.grant()))
    );
    // Every host does not mean this machine.
    desk.grant = crate::desk::grant(&["llm.generate"], jp_policy::Net::Any);
    let error = desk
        .call("llm.generate", json!({"prompt": "p"}))
        .unwrap_err();
    assert_eq!(error.code.as_str(), "forbidden");
    assert!(site.seen().is_empty());
}

#[test]
fn a_key_goes_to_its_audience_only() {
    let site = answering(&chat("x", "stop"));
    let mut desk = desk(&site, "llm.generate");
    let mut elsewhere = model(&site);
    elsewhere.endpoint.base_url = site.url("/v2");
    desk.services.llm = Some(elsewhere);
    let error = desk
        .call("llm.generate", json!({"prompt": "p"}))
        .unwrap_err();
    assert_eq!(error.code.as_str(), "unavailable");
    assert!(error.message.contains("not meant for"), "{error}");
    let mut keyless = model(&site);
    keyless.endpoint.key = Some("absent".parse().unwrap());
    desk.services.llm = Some(keyless);
    let error = desk
        .call("llm.generate", json!({"prompt": "p"}))
        .unwrap_err();
    let typed = format!("`jp secret set absent --for {}`", site.url("/v1/"));
    assert!(error.message.contains(&typed), "{error}");
    assert!(site.seen().is_empty());
}

#[test]
fn upstream_failures_have_their_status_and_a_scrubbed_excerpt() {
    for (status, retryable) in [(401, false), (429, true), (503, true), (302, false)] {
        let text = format!("wrong key {KEY}\u{1b}[31m{}", "x".repeat(5000));
        let site = Site::saying(format!(
            "HTTP/1.1 {status} No\r\nContent-Length: {}\r\nLocation: /x\r\n\r\n{text}",
            text.len()
        ));
        let mut desk = desk(&site, "llm.generate");
        desk.services.llm = Some(model(&site));
        let error = desk
            .call("llm.generate", json!({"prompt": "p"}))
            .unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.retryable),
            ("upstream", retryable)
        );
        assert!(
            error
                .message
                .contains(&format!("answered {status}: wrong key [secret:model_key]"))
        );
        assert!(!error.message.contains('\u{1b}') && error.message.len() < 500);
        assert_eq!(site.seen().len(), 1, "redirects are not followed");
    }
}

#[test]
fn an_excerpt_that_ends_in_a_key_has_no_half_of_it() {
    let text = format!("{}{KEY}", "x".repeat(290));
    let site = Site::saying(format!(
        "HTTP/1.1 500 No\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    ));
    let mut desk = desk(&site, "llm.generate");
    desk.services.llm = Some(model(&site));
    let error = desk.call("llm.generate", json!({"prompt": "p"}));
    assert!(!error.unwrap_err().message.contains("sk-"));
}

#[test]
fn a_key_that_the_model_repeats_is_scrubbed() {
    let site = answering(&chat(&format!("your key is {KEY}"), "stop"));
    let mut desk = desk(&site, "llm.generate");
    desk.services.llm = Some(model(&site));
    let found = desk.call("llm.generate", json!({"prompt": "p"})).unwrap();
    assert_eq!(found["response"], "your key is [secret:model_key]");
}

#[test]
fn answers_of_another_shape_are_upstream_errors() {
    for text in [
        "",
        "not json",
        "{}",
        "[]",
        "{\"choices\":[]}",
        "{\"choices\":[{\"message\":{\"content\":null}}]}",
    ] {
        let site = Site::saying(body("application/json", text));
        let mut desk = desk(&site, "llm.generate");
        desk.services.llm = Some(model(&site));
        let error = desk
            .call("llm.generate", json!({"prompt": "p"}))
            .unwrap_err();
        assert_eq!(error.code.as_str(), "upstream", "{text}");
    }
    let parts = json!({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}, {}]}}]});
    let site = answering(&parts);
    let mut desk = desk(&site, "llm.generate");
    desk.services.llm = Some(model(&site));
    let found = desk.call("llm.generate", json!({"prompt": "p"})).unwrap();
    assert_eq!(found["response"], "ab");
}

#[test]
fn an_endpoint_has_its_own_time() {
    let server = crate::server::Server::raw(|mut stream| {
        crate::server::read_request(&mut stream);
        let _ = std::io::Read::read(&mut stream, &mut [0]);
    });
    let mut desk = Desk::new(&["llm.generate"], &[&server.grant()]);
    let mut endpoint = Endpoint::new(server.url());
    endpoint.timeout = Duration::from_millis(200);
    desk.services.llm = Some(GenerateOptions {
        endpoint,
        model: "m".to_owned(),
        models: Vec::new(),
        max_tokens: 1,
        token_field: TokenField::default(),
    });
    let error = desk
        .call("llm.generate", json!({"prompt": "p"}))
        .unwrap_err();
    assert_eq!(error.code.as_str(), "timeout");
}
