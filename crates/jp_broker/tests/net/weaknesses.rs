//! What the original got wrong, and this does not.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jp_broker::Endpoint;
use jp_broker::{
    Broker, Caller, GenerateOptions, HttpServer, HttpServers, SearxNg, Services, TokenField,
    TranscribeOptions,
};
use jp_policy::Net;
use serde_json::{Value, json};

use crate::desk::{Desk, OK, Site, grant, hosts};

#[test]
fn a8_1_a_scoped_grant_opens_its_own_secret_and_a_bare_one_none() {
    let ask = |calls: &[&str], name: &str| {
        let desk = Desk::new(calls, &[])
            .with_secret("pat", "value of pat", &[])
            .with_secret("other", "value of other", &[]);
        let found = desk.call("secrets.get", json!({"name": name}));
        found.map_or_else(
            |error| error.code.as_str().to_owned(),
            |found| found["found"].to_string(),
        )
    };
    assert_eq!(ask(&["secrets.get.pat"], "pat"), "true");
    assert_eq!(ask(&["secrets.get.pat"], "other"), "forbidden");
    assert_eq!(ask(&["secrets.get"], "pat"), "forbidden");
    assert_eq!(ask(&["secrets.get.*"], "other"), "true");
    assert_eq!(ask(&["secrets.get.*"], "absent"), "false");
    for crooked in ["*", "", "a.b", "PAT", "pat ", "pat\n", "../pat"] {
        assert_eq!(
            ask(&["secrets.get.*"], crooked),
            "invalid_args",
            "{crooked:?}"
        );
    }
}

#[test]
fn a8_2_no_value_of_a_secret_is_a_result() {
    let desk = Desk::new(&["secrets.get.*"], &[])
        .with_secret("pat", "value of pat", &[])
        .with_secret("jp-db-key", "value of a key", &[]);
    let found = desk.call("secrets.get", json!({"name": "pat"})).unwrap();
    assert!(!found.to_string().contains("value"), "{found}");
    let own = desk.call("secrets.get", json!({"name": "jp-db-key"}));
    let own = own.unwrap_err().to_json().to_string();
    assert!(
        own.contains("forbidden") && !own.contains("value of"),
        "{own}"
    );
}

#[test]
fn a8_7_a_request_needs_its_host_and_credentials_keep_to_their_origin() {
    let (site, other) = (
        Site::saying("HTTP/1.1 200 OK\r\nSet-Cookie: session=1\r\nSet-Cookie: b\r\n\r\nhi"),
        Site::saying(OK),
    );
    let (first, second) = (site.grant(), other.grant());
    let mut desk = Desk::new(&["http.request"], &[&first, &second]);
    desk.services.http_servers = HttpServers::new(vec![HttpServer {
        name: "only".to_owned(),
        url: site.url("/"),
        headers: vec![("X-Api-Key".to_owned(), "credential".to_owned())],
    }])
    .unwrap();
    let ask = |url: String| desk.request(json!({"method": "GET", "url": url}));
    let found = ask(site.url("/")).unwrap();
    assert_eq!(found["headers"]["set-cookie"], "[redacted], [redacted]");
    assert!(site.seen()[0].contains("credential"));
    ask(other.url("/")).unwrap();
    assert!(!other.seen()[0].contains("credential"));

    let forbidden = |net: Net, url: &str| {
        let mut desk = Desk::new(&[], &[]);
        desk.grant = grant(&["http.request"], net);
        desk.refusal(json!({"method": "GET", "url": url})).0
    };
    assert_eq!(forbidden(Net::None, &site.url("/")), "forbidden");
    assert_eq!(forbidden(Net::Any, &site.url("/")), "forbidden");
    assert_eq!(
        forbidden(Net::Any, "http://169.254.169.254/latest/"),
        "forbidden"
    );
    let wildcard = hosts(&["*.example.com"]);
    assert_eq!(forbidden(wildcard, "http://evilexample.com/"), "forbidden");
    let endless = json!({"method": "GET", "url": site.url("/"), "timeout_seconds": 1e9});
    assert_eq!(desk.refusal(endless).0, "invalid_args");
}

#[test]
fn a8_8_a_call_has_the_callers_own_grant_and_never_that_of_a_tool_of_the_same_trade() {
    let site = Site::saying(OK);
    // `http_call` may reach the site; the tool that calls may not.
    let powerful = Arc::new(grant(&["http.request"], hosts(&[&site.grant()])));
    let own = Arc::new(grant(&["http.request"], Net::None));
    let broker = Broker::new(Services::default());
    let arguments = json!({"method": "GET", "url": site.url("/")});
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let ask = |tool: &str, grant: &Arc<_>| {
        let deadline = Instant::now() + Duration::from_secs(30);
        let others = ["http_call", "planner"].map(|name| (name.to_owned(), Arc::clone(&powerful)));
        let caller = Caller {
            others: Arc::new(others.into()),
            ..Caller::new("someone", tool, Arc::clone(grant), deadline)
        };
        runtime.block_on(broker.call(&caller, "http.request", arguments.as_object().unwrap()))
    };
    let error = ask("planner", &own).unwrap_err();
    assert_eq!(error.code.as_str(), "forbidden");
    assert!(error.message.contains("planner"), "{error}");
    assert!(site.seen().is_empty());
    assert!(ask("http_call", &powerful).is_ok());
}

fn endpoint(site: &Site) -> Endpoint {
    Endpoint::new(site.url(""))
}

#[test]
fn a8_14_every_failure_has_one_shape_and_a_known_code() {
    let broken = Site::saying("HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\noops");
    let calls = [
        "http.request",
        "llm.generate",
        "coding.generate",
        "stt.transcribe",
        "search.internet",
        "secrets.get.*",
    ];
    let bare = Desk::new(&calls, &[&broken.grant()]);
    let mut wired = Desk::new(&calls, &[&broken.grant()]);
    let model = GenerateOptions {
        endpoint: endpoint(&broken),
        model: "m".to_owned(),
        models: Vec::new(),
        max_tokens: 10,
        token_field: TokenField::default(),
    };
    wired.services.llm = Some(model.clone());
    wired.services.coding = Some(model);
    wired.services.stt = Some(TranscribeOptions {
        endpoint: endpoint(&broken),
        model: "m".to_owned(),
    });
    wired.services.search = Some(Arc::new(SearxNg {
        endpoint: endpoint(&broken),
    }));
    let good = |name: &str| match name {
        "http.request" => json!({"method": "GET", "endpoint": "x"}),
        "stt.transcribe" => json!({"audio_base64": "AAAA"}),
        "search.internet" => json!({"query": "q"}),
        "secrets.get" => json!({"name": "a"}),
        _ => json!({"prompt": "p"}),
    };
    let stranger = Desk::new(&["clock.now_unix"], &[]);
    for name in [
        "http.request",
        "llm.generate",
        "coding.generate",
        "stt.transcribe",
        "search.internet",
        "secrets.get",
    ] {
        check(&stranger, name, &good(name), "forbidden");
        check(&wired, name, &json!({}), "invalid_args");
        check(&bare, name, &good(name), "unavailable");
        if !["http.request", "secrets.get"].contains(&name) {
            check(&wired, name, &good(name), "upstream");
        }
    }
}

fn check(desk: &Desk, name: &str, arguments: &Value, code: &str) {
    let error = desk.call(name, arguments.clone()).unwrap_err().to_json();
    assert_eq!(error["code"], code, "{name}: {error}");
    assert_eq!(error["status"], "error");
    assert!(error["error"].is_string() && error["retryable"].is_boolean());
    // Nothing that is not set up comes to be by asking again.
    assert!(
        code != "unavailable" || error["retryable"] == false,
        "{error}"
    );
    let fields: Vec<&String> = error.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["status", "code", "error", "retryable"]);
}
