//! What `http.request` sends, and how it tells what came back.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use jp_broker::{HttpServer, HttpServers};
use jp_tool::GivenBlobs;
use proptest::prelude::*;
use serde_json::json;

use crate::desk::{Desk, OK, Site, body};

fn desk(site: &Site) -> Desk {
    Desk::new(&["http.request"], &[&site.grant()])
}

fn server(site: &Site, path: &str) -> HttpServer {
    HttpServer {
        name: "api".to_owned(),
        url: site.url(path),
        headers: vec![("X-Api-Key".to_owned(), "0123456789".to_owned())],
    }
}

#[test]
fn a_response_is_told_in_full() {
    let site = Site::saying(
        "HTTP/1.1 404 Gone Fishing\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 9\r\n\r\n{\"a\":[1]}",
    );
    let found = desk(&site).request(json!({"method": "get", "url": site.url("/x?y")}));
    let expected = json!({
        "status": "ok",
        "server": null,
        "http_status": 404,
        "headers": {"connection": "close", "x-a": "1, 2", "content-length": "9"},
        "text": "{\"a\":[1]}",
        "json": {"a": [1]},
        "encoding": "utf-8",
    });
    assert_eq!(found.unwrap(), expected);
    assert!(site.seen()[0].starts_with("GET /x?y HTTP/1.1\r\n"));
}

#[test]
fn an_endpoint_is_joined_to_its_server_and_gets_its_headers() {
    let site = Site::saying(OK);
    let mut desk = desk(&site);
    desk.services.http_servers = HttpServers::new(vec![server(&site, "/v1/")]).unwrap();
    for (arguments, line) in [
        (
            json!({"method": "GET", "endpoint": "/users"}),
            "GET /v1/users ",
        ),
        (
            json!({"method": "GET", "endpoint": "users?a=b", "query": {"c": "d e&", "n": 1, "l": ["x", true]}}),
            "GET /v1/users?a=b&c=d+e%26&n=1&l=x&l=true ",
        ),
        (json!({"method": "GET", "server": "api"}), "GET /v1 "),
        (
            json!({"method": "GET", "endpoint": site.url("/other")}),
            "GET /other ",
        ),
        (
            json!({"method": "GET", "endpoint": "//evil.example/x"}),
            "GET /v1/evil.example/x ",
        ),
        (
            json!({"method": "GET", "endpoint": "@evil.example"}),
            "GET /v1/@evil.example ",
        ),
    ] {
        let found = desk.request(arguments.clone()).unwrap();
        assert_eq!(found["server"], "api", "{arguments}");
        let sent = site.seen().pop().unwrap();
        assert!(
            sent.starts_with(line) && sent.contains("X-Api-Key: 0123456789"),
            "{sent}"
        );
    }
}

#[test]
fn a_server_is_found_by_name_or_because_it_is_the_only_one() {
    let site = Site::saying(OK);
    let mut desk = desk(&site);
    let relative = json!({"method": "GET", "endpoint": "x"});
    let (code, message) = desk.refusal(relative.clone());
    assert_eq!(code, "unavailable");
    assert!(message.contains("broker.http"), "{message}");

    let mut second = server(&site, "/");
    second.name = "second".to_owned();
    desk.services.http_servers = HttpServers::new(vec![server(&site, "/v1"), second]).unwrap();
    let (code, message) = desk.refusal(relative);
    assert_eq!(code, "invalid_args");
    assert!(message.contains("`server`") && message.contains("api, second"));
    let unknown = json!({"method": "GET", "server": "third", "endpoint": "x"});
    assert_eq!(desk.refusal(unknown).0, "not_found");
    let named = json!({"method": "GET", "server": "second", "endpoint": "x"});
    assert_eq!(desk.request(named).unwrap()["server"], "second");
}

#[test]
fn lists_of_servers_that_cannot_be_meant_are_refused() {
    let site = Site::saying(OK);
    let twice = vec![server(&site, "/"), server(&site, "/")];
    assert!(HttpServers::new(twice).is_err());
    for url in [
        "api.example",
        "ftp://a.example",
        "https://u:p@a.example",
        "https://a.example/?q",
    ] {
        let bad = HttpServer {
            url: url.to_owned(),
            ..server(&site, "/")
        };
        assert!(HttpServers::new(vec![bad]).is_err(), "{url}");
    }
    let shown = format!("{:?}", server(&site, "/"));
    assert!(
        shown.contains("X-Api-Key") && !shown.contains("0123456789"),
        "{shown}"
    );
}

#[test]
fn json_bodies_are_called_json_unless_the_guest_says_otherwise() {
    let site = Site::saying(OK);
    let desk = desk(&site);
    for (more, kind, sent_body) in [
        (
            json!({"json": {"a": 1}}),
            Some("application/json"),
            "{\"a\":1}",
        ),
        (
            json!({"body": " [1] "}),
            Some("application/json"),
            "\r\n\r\n [1] ",
        ),
        (json!({"body": "plain"}), None, "plain"),
        (
            json!({"body": "{}", "headers": {"content-type": "text/x"}}),
            Some("text/x"),
            "{}",
        ),
    ] {
        let mut arguments = json!({"method": "POST", "url": site.url("/")});
        for (field, value) in more.as_object().unwrap() {
            arguments[field] = value.clone();
        }
        desk.request(arguments).unwrap();
        let sent = site.seen().pop().unwrap();
        let found = sent.to_lowercase();
        let line = |kind: &str| found.contains(&format!("content-type: {kind}\r\n"));
        assert!(kind.map_or(!found.contains("content-type"), line), "{sent}");
        assert!(sent.ends_with(sent_body), "{sent}");
    }
}

#[test]
fn a_request_says_who_asks_unless_the_guest_does() {
    let site = Site::saying(OK);
    let desk = desk(&site);
    let mut arguments = json!({"method": "GET", "url": site.url("/")});
    desk.request(arguments.clone()).unwrap();
    assert!(site.seen()[0].contains("\r\nUser-Agent: jp/"));
    arguments["headers"] = json!({"user-agent": "mine"});
    desk.request(arguments).unwrap();
    let sent = site.seen().pop().unwrap();
    assert!(
        sent.contains("User-Agent: mine\r\n") && !sent.contains("jp/"),
        "{sent}"
    );
}

#[test]
fn arguments_that_do_not_fit_name_their_field() {
    let site = Site::saying(OK);
    let desk = desk(&site);
    let url = site.url("/");
    for (arguments, field) in [
        (json!({"url": url}), "method"),
        (json!({"method": 1, "url": url}), "method"),
        (
            json!({"method": "GET", "url": url, "verify": false}),
            "verify",
        ),
        (json!({"method": "GET", "url": "nonsense"}), "`url`"),
        (
            json!({"method": "GET", "url": url, "headers": {"a": 1}}),
            "headers.a",
        ),
        (
            json!({"method": "GET", "url": url, "headers": {"a": "b", "A": "c"}}),
            "headers.A",
        ),
        (
            json!({"method": "GET", "url": url, "query": {"a": {}}}),
            "query.a",
        ),
        (
            json!({"method": "GET", "url": url, "body": "a", "json": {}}),
            "json",
        ),
        (
            json!({"method": "GET", "url": url, "timeout_seconds": 0}),
            "timeout_seconds",
        ),
        (
            json!({"method": "GET", "url": url, "timeout_seconds": -1}),
            "timeout_seconds",
        ),
        (
            json!({"method": "GET", "url": url, "timeout_seconds": 1e300}),
            "timeout_seconds",
        ),
        (
            json!({"method": "GET", "url": url, "timeout_seconds": 301}),
            "at most 300",
        ),
    ] {
        let (code, message) = desk.refusal(arguments.clone());
        assert_eq!(code, "invalid_args", "{arguments}");
        assert!(message.contains(field), "{arguments}: {message}");
    }
    assert!(site.seen().is_empty());
}

#[test]
fn a_body_that_is_no_text_comes_as_base64_and_says_so() {
    let site = Site::saying(body("image/png", [0xff, 0xfe, 0x00]));
    let found = desk(&site).request(json!({"method": "GET", "url": site.url("/")}));
    let found = found.unwrap();
    assert_eq!(found["encoding"], "base64");
    assert_eq!(found["text"], "//4A");
    assert_eq!(found["json"], json!(null));
}

#[test]
fn bytes_go_by_a_name_to_those_who_can_take_them_so() {
    let site = Site::saying(body("image/png", [0xff, 0xfe, 0x00]));
    let given = Arc::new(GivenBlobs::new(5));
    let mut desk = desk(&site);
    desk.given = Some(Arc::clone(&given));
    let get = json!({"method": "GET", "url": site.url("/")});
    let found = desk.request(get.clone()).unwrap();
    assert_eq!(found["encoding"], "blob");
    let name = found["text"].as_str().unwrap();
    assert_eq!(given.take(name).unwrap().as_bytes(), [0xff, 0xfe, 0x00]);
    // What it holds counts until it lets go.
    let found = desk.request(get.clone()).unwrap();
    let held = given.take(found["text"].as_str().unwrap());
    assert_eq!(desk.refusal(get.clone()).0, "output_limit");
    drop(held);
    assert!(desk.request(get).is_ok());
}

#[test]
fn a_call_ends_with_the_tools_time_and_when_it_is_cancelled_or_dropped() {
    let (sender, hung_up) = std::sync::mpsc::channel();
    let arrivals = Arc::new(AtomicUsize::new(0));
    let arrived = Arc::clone(&arrivals);
    let server = crate::server::Server::raw(move |mut stream| {
        crate::server::read_request(&mut stream);
        arrived.fetch_add(1, Ordering::SeqCst);
        let _ = std::io::Read::read(&mut stream, &mut [0]);
        let _ = sender.send(());
    });
    // On a busy machine a call may be late before the server has seen it: then it gets more time.
    let late = |attempt: &dyn Fn(Duration)| {
        let (before, mut time) = (arrivals.load(Ordering::SeqCst), Duration::from_millis(200));
        while arrivals.load(Ordering::SeqCst) == before {
            attempt(time);
            time *= 2;
        }
    };
    let arguments = json!({"method": "GET", "url": server.url()});
    let gone = || hung_up.recv_timeout(Duration::from_secs(300)).unwrap();

    late(&|time| {
        let mut desk = Desk::new(&["http.request"], &[&server.grant()]);
        desk.time = time;
        assert_eq!(desk.refusal(arguments.clone()).0, "timeout");
    });
    gone();

    let mut desk = Desk::new(&["http.request"], &[&server.grant()]);
    desk.time = Duration::from_secs(3600);
    late(&|time| {
        let seconds = time.as_secs_f64();
        let own = json!({"method": "GET", "url": server.url(), "timeout_seconds": seconds});
        assert_eq!(desk.refusal(own).0, "timeout");
    });
    gone();

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    late(&|time| {
        let dropped = runtime.block_on(async {
            let call = desk.call_async("http.request", &arguments);
            tokio::time::timeout(time, call).await
        });
        assert!(dropped.is_err());
    });
    gone();

    desk.cancel.cancel();
    assert_eq!(desk.refusal(arguments).0, "timeout");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_arguments_make_it_panic_or_reach_anything(
        method in "[A-Za-z]{0,5}|\\PC{0,5}",
        url in "(http://|https://)?(127.0.0.1|a.example)?[:/?#@.%a-z0-9]{0,9}|\\PC{0,20}",
        header in "(Host|X|\\{\\{secret:a\\}\\})?\\PC{0,9}",
        value in "(\\{\\{secret:[a*]?(\\}\\})?)?\\PC{0,9}",
        seconds in any::<f64>(),
        endpoint in proptest::option::of("\\PC{0,9}"),
    ) {
        let mut desk = Desk::new(&["http.request", "secrets.get.*"], &[]);
        desk.services.http_servers = HttpServers::new(vec![HttpServer {
            name: "api".to_owned(),
            url: "http://127.0.0.1:1/v1".to_owned(),
            headers: Vec::new(),
        }]).unwrap();
        let (code, message) = desk.refusal(json!({
            "method": method, "url": endpoint.is_none().then_some(url), "endpoint": endpoint,
            "headers": {header: value.clone()}, "query": {value.clone(): value},
            "timeout_seconds": (seconds.abs() < 300.0).then_some(seconds),
        }));
        let known = ["forbidden", "invalid_args", "unavailable", "not_found"];
        prop_assert!(known.contains(&code), "{}: {}", code, message);
    }
}
