//! Speech and search, against endpoints that speak their protocols.

use std::sync::Arc;

use jp_broker::{Endpoint, Responses, SearchProvider, SearxNg, TranscribeOptions};
use serde_json::{Value, json};

use crate::{
    desk::{Desk, Site},
    models::{answering, desk, endpoint, sent_body},
};

#[test]
fn speech_is_sent_as_a_form_and_comes_back_as_text() {
    let site = answering(&json!({"text": "hello"}));
    let mut desk = desk(&site, "stt.transcribe");
    desk.services.stt = Some(TranscribeOptions {
        endpoint: endpoint(&site),
        model: "whisper-1".to_owned(),
    });
    let found = desk.call(
        "stt.transcribe",
        json!({"audio_base64": "UklG\nRg==", "format": "mp3", "language": "de"}),
    );
    assert_eq!(found.unwrap(), json!({"status": "ok", "text": "hello"}));
    let sent = site.seen().pop().unwrap();
    assert!(sent.starts_with("POST /v1/audio/transcriptions HTTP/1.1\r\n"));
    let boundary = sent.split("boundary=").nth(1).unwrap();
    let boundary = boundary.split("\r\n").next().unwrap();
    let form = sent.split_once("\r\n\r\n").unwrap().1;
    let part = |name: &str, value: &str| {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        )
    };
    let expected = [
        part("model", "whisper-1"),
        part("response_format", "json"),
        part("language", "de"),
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"audio.mp3\"\r\nContent-Type: audio/mpeg\r\n\r\nRIFF\r\n--{boundary}--\r\n"
        ),
    ];
    assert_eq!(form, expected.concat());

    for (arguments, field) in [
        (json!({"audio_base64": "?"}), "audio_base64"),
        (json!({"audio_base64": ""}), "audio_base64"),
        (
            json!({"audio_base64": "AAAA", "format": "a\"\r\n"}),
            "format",
        ),
        (
            json!({"audio_base64": "AAAA", "language": "d\r\n"}),
            "language",
        ),
    ] {
        let error = desk.call("stt.transcribe", arguments).unwrap_err();
        assert_eq!(error.code.as_str(), "invalid_args");
        assert!(error.message.contains(field), "{error}");
    }
}

fn searching(site: &Site, provider: impl SearchProvider + 'static) -> Desk {
    let mut desk = desk(site, "search.internet");
    desk.services.search = Some(Arc::new(provider));
    desk
}

#[test]
fn a_search_engine_answers_with_results_and_their_sources() {
    let result = |n: usize| json!({"title": format!("T{n}"), "url": format!("https://{n}.example"), "content": "about"});
    let results: Vec<Value> = (1..=12).map(result).collect();
    let site = answering(&json!({"results": results}));
    let desk = searching(
        &site,
        SearxNg {
            endpoint: Endpoint::new(site.url("")),
        },
    );
    let found = desk
        .call("search.internet", json!({"query": "a&b c"}))
        .unwrap();
    assert!(site.seen()[0].starts_with("GET /search?q=a%26b+c&format=json HTTP/1.1\r\n"));
    let text = found["result"].as_str().unwrap();
    assert_eq!(found["status"], "success");
    assert!(text.starts_with("T1\nabout\n\nT2\n"), "{text}");
    assert!(
        text.contains("[2 more results left out]\n\n**Sources:**\n1. T1 - https://1.example\n2. ")
    );
    assert!(text.ends_with("10. T10 - https://10.example"));
    assert_eq!(found.get("model_used"), None);

    let empty = answering(&json!({"results": []}));
    let endpoint = Endpoint::new(empty.url(""));
    let found =
        searching(&empty, SearxNg { endpoint }).call("search.internet", json!({"query": "x"}));
    assert_eq!(found.unwrap()["result"], "No results.");
}

#[test]
fn a_model_that_searches_answers_with_its_text_and_citations() {
    let cite = |url: &str| json!({"type": "url_citation", "url": url, "title": "A"});
    let site = answering(&json!({"model": "grok-x", "output": [
        {"type": "web_search_call"},
        {"type": "message", "content": [
            {"type": "output_text", "text": "It is so.", "annotations": [cite("https://a.example"), cite("https://a.example"), {}]},
        ]},
    ]}));
    let provider = Responses {
        endpoint: endpoint(&site),
        model: "grok".to_owned(),
    };
    let desk = searching(&site, provider);
    let found = desk.call("search.internet", json!({"query": "is it"}));
    let expected = json!({
        "status": "success",
        "result": "It is so.\n\n**Sources:**\n1. A - https://a.example",
        "model_used": "grok-x",
    });
    assert_eq!(found.unwrap(), expected);
    let sent = sent_body(&site);
    assert_eq!(sent["input"], json!([{"role": "user", "content": "is it"}]));
    assert!(site.seen()[0].starts_with("POST /v1/responses "));
    for query in [" ", &"x".repeat(4097)] {
        let error = desk.call("search.internet", json!({"query": query}));
        assert_eq!(error.unwrap_err().code.as_str(), "invalid_args");
    }
}
