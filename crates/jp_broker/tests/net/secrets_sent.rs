//! Secrets on their way out: to whom they go, and by which way.

use jp_broker::{HttpServer, HttpServers};
use serde_json::json;

use crate::{
    desk::{Desk, OK, Site},
    secrets::{VALUE, authorized, leaks, with_pat},
};

#[test]
fn d43_a_secret_goes_to_its_audience_only() {
    let (site, other) = (Site::saying(OK), Site::saying(OK));
    let grants = [site.grant(), other.grant()];
    let audience = format!("http://{}/api", site.grant());
    let desk = Desk::new(
        &["http.request", "secrets.get.pat"],
        &[&grants[0], &grants[1]],
    )
    .with_secret("pat", VALUE, &[&audience]);
    for url in [
        other.url("/api"),
        site.url("/"),
        site.url("/apiary"),
        site.url("/api/../x"),
        site.url("/api/%2e%2e/x"),
        site.url("/api/..%2fx"),
        format!("https://{}/api", site.grant()),
    ] {
        let (code, message) = desk.refusal(authorized(url.clone()));
        assert_eq!(code, "forbidden", "{url}: {message}");
        assert!(message.contains("not meant for"), "{message}");
    }
    assert!(site.seen().is_empty() && other.seen().is_empty());
    desk.request(authorized(site.url("/api/x?y"))).unwrap();
    assert!(site.seen()[0].contains(&format!("Authorization: Bearer {VALUE}\r\n")));
}

#[test]
fn d43_a_secret_does_not_follow_a_redirect_elsewhere() {
    let goal = Site::saying(OK);
    let to = goal.url("/");
    let start = Site::new(move |request| {
        let to = match request.split(' ').nth(1).unwrap() {
            "/out" => to.as_str(),
            "/api/in" => "/api/goal",
            "/api/up" => "/goal",
            _ => return OK.into(),
        };
        format!("HTTP/1.1 307 On\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into()
    });
    let grants = [goal.grant(), start.grant()];
    let audiences = [
        format!("http://{}/api", start.grant()),
        format!("http://{}/out", start.grant()),
    ];
    let desk = Desk::new(
        &["http.request", "secrets.get.pat"],
        &[&grants[0], &grants[1]],
    )
    .with_secret("pat", VALUE, &[&audiences[0], &audiences[1]]);
    // In a header that usually travels, too.
    let with_agent = |path: &str| {
        let mut arguments = authorized(start.url(path));
        arguments["headers"]["User-Agent"] = "{{secret:pat}}".into();
        arguments
    };
    desk.request(with_agent("/out")).unwrap();
    assert!(!leaks(&goal.seen().pop().unwrap()), "another origin");
    desk.request(with_agent("/api/up")).unwrap();
    assert!(!leaks(&start.seen().pop().unwrap()), "another path");
    desk.request(with_agent("/api/in")).unwrap();
    assert!(leaks(&start.seen().pop().unwrap()), "within the audience");
    // Nor when the other place may have it, too: the guest asked for the first.
    let both = [start.url("/out"), goal.url("/")];
    let desk = desk.with_secret("pat", VALUE, &[&both[0], &both[1]]);
    desk.request(with_agent("/out")).unwrap();
    assert!(!leaks(&goal.seen().pop().unwrap()), "another audience");
}

#[test]
fn d44_a_guests_own_authorization_is_replaced_and_not_merged() {
    let site = Site::saying(OK);
    let mut desk = with_pat(&site, &["http.request"]);
    desk.services.http_servers = HttpServers::new(vec![HttpServer {
        name: "api".to_owned(),
        url: site.url("/"),
        headers: vec![(
            "Authorization".to_owned(),
            "Bearer {{secret:pat}}".to_owned(),
        )],
    }])
    .unwrap();
    for name in ["Authorization", "authorization", "AUTHORIZATION"] {
        desk.request(json!({
            "method": "GET", "endpoint": "x", "headers": {name: "Bearer of-the-guest"},
        }))
        .unwrap();
        let sent = site.seen().pop().unwrap();
        assert_eq!(sent.to_lowercase().matches("authorization:").count(), 1);
        assert!(sent.contains(VALUE) && !sent.contains("of-the-guest"));
    }
}

#[test]
fn d46_a_placeholder_outside_a_headers_value_is_refused() {
    let site = Site::echoing();
    let desk = with_pat(&site, &["http.request", "secrets.get.pat"]);
    let url = site.url("/");
    for (arguments, field) in [
        (json!({"url": site.url("/{{secret:pat}}")}), "`url`"),
        (json!({"url": site.url("/?k={{secret:pat}}")}), "`url`"),
        (
            json!({"url": url, "query": {"k": "{{secret:pat}}"}}),
            "`query`",
        ),
        (
            json!({"url": url, "query": {"{{secret:pat}}": "v"}}),
            "`query`",
        ),
        (
            json!({"url": url, "query": {"k": ["{{secret:pat}}"]}}),
            "`query`",
        ),
        (json!({"url": url, "body": "{{secret:pat}}"}), "`body`"),
        (
            json!({"url": url, "json": {"k": ["{{secret:pat}}"]}}),
            "`json`",
        ),
        (json!({"url": url, "json": {"{{secret:pat}}": 1}}), "`json`"),
        (json!({"endpoint": "{{secret:pat}}"}), "`endpoint`"),
        (
            json!({"url": url, "headers": {"{{secret:pat}}": "v"}}),
            "header",
        ),
        (
            json!({"url": url, "headers": {"X": "{{secret:Pat}}"}}),
            "headers.X",
        ),
        (
            json!({"url": url, "headers": {"X": "{{secret:pat"}}),
            "headers.X",
        ),
    ] {
        let mut arguments = arguments;
        arguments["method"] = "POST".into();
        let (code, message) = desk.refusal(arguments.clone());
        assert_eq!(code, "invalid_args", "{arguments}");
        assert!(message.contains(field), "{arguments}: {message}");
    }
    // Not even where they belong, when there are enough of them to fill a memory.
    let many = json!({"method": "GET", "url": url, "headers": {"X": "{{secret:pat}}".repeat(9)}});
    assert_eq!(desk.refusal(many).0, "invalid_args");
    assert!(site.seen().is_empty());
    // An encoded one stands for itself.
    desk.request(json!({"method": "GET", "url": site.url("/%7B%7Bsecret:pat%7D%7D")}))
        .unwrap();
    assert!(!leaks(&site.seen()[0]));
}

#[test]
fn literal_headers_of_a_server_are_scrubbed_and_stay_with_it() {
    let (site, other) = (Site::echoing(), Site::echoing());
    let grants = [site.grant(), other.grant()];
    let mut desk = Desk::new(&["http.request"], &[&grants[0], &grants[1]]);
    desk.services.http_servers = HttpServers::new(vec![HttpServer {
        name: "api".to_owned(),
        url: site.url("/"),
        headers: vec![
            ("Authorization".to_owned(), format!("Bearer {VALUE}")),
            ("X-Api-Version".to_owned(), "2022-11-28".to_owned()),
        ],
    }])
    .unwrap();
    let found = desk.request(json!({"method": "GET", "endpoint": "x"}));
    let text = found.unwrap().to_string();
    assert!(text.contains("2022-11-28"), "no credential: {text}");
    assert!(!leaks(&text) && text.contains("[secret:api]"), "{text}");
    assert!(leaks(&site.seen()[0]));
    for server in [json!(null), json!("api")] {
        let found = desk.request(json!({
            "method": "GET", "server": server, "url": other.url("/"),
        }));
        assert_eq!(found.unwrap()["server"], json!(null));
    }
    assert!(other.seen().iter().all(|sent| !leaks(sent)));
}

#[test]
fn secrets_of_the_host_itself_are_nobodys() {
    let site = Site::saying(OK);
    let desk = Desk::new(&["http.request", "secrets.get.*"], &[&site.grant()]).with_secret(
        "jp-key",
        VALUE,
        &[&site.url("/")],
    );
    let error = desk.call("secrets.get", json!({"name": "jp-key"}));
    assert_eq!(error.unwrap_err().code.as_str(), "forbidden");
    let (code, _) = desk.refusal(json!({
        "method": "GET", "url": site.url("/"), "headers": {"X": "{{secret:jp-key}}"},
    }));
    assert_eq!(code, "forbidden");
}

#[test]
fn a_secret_that_is_not_there_is_told_with_a_command_that_works() {
    let site = Site::saying(OK);
    let mut desk = with_pat(&site, &["http.request", "secrets.get.absent"]);
    let asked = json!({
        "method": "GET", "url": site.url("/"), "headers": {"X": "{{secret:absent}}"},
    });
    let (code, message) = desk.refusal(asked);
    assert_eq!(code, "not_found");
    // The tool chose the address, so it is not recommended as one to send secrets to.
    assert!(
        message.contains("`jp secret set absent --for URL`"),
        "{message}"
    );
    desk.services.http_servers = HttpServers::new(vec![HttpServer {
        name: "api".to_owned(),
        url: site.url("/v1"),
        headers: vec![("X".to_owned(), "{{secret:absent}}".to_owned())],
    }])
    .unwrap();
    let (_, message) = desk.refusal(json!({"method": "GET", "endpoint": "x"}));
    let typed = format!("`jp secret set absent --for {}`", site.url("/v1"));
    assert!(message.contains(&typed), "{message}");
}
