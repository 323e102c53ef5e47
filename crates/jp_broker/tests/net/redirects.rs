//! Redirects: what is followed, and what goes along.

use jp_broker::{HttpServer, HttpServers};
use serde_json::json;

use crate::desk::{Desk, OK, Site};

fn post(url: String) -> serde_json::Value {
    json!({
        "method": "POST", "url": url, "body": "data",
        "headers": {"Authorization": "mine", "Accept": "text/x", "X-Own": "1", "Content-Type": "text/y", "Content-Length": "4"},
    })
}

#[test]
fn a_redirect_is_followed_and_the_answer_says_where_to() {
    let goal = Site::saying(OK);
    let start = Site::redirecting(302, goal.url("/b?c"));
    let desk = Desk::new(&["http.request"], &[&goal.grant(), &start.grant()]);
    let found = desk.request(post(start.url("/a"))).unwrap();
    assert_eq!(found["text"], "hi");
    assert_eq!(found["url"], goal.url("/b?c"));
}

#[test]
fn another_origin_gets_no_credentials_and_nothing_of_the_guests_own_making() {
    for status in [301, 302, 303, 307, 308] {
        let goal = Site::saying(OK);
        let start = Site::redirecting(status, goal.url("/"));
        let desk = Desk::new(&["http.request"], &[&goal.grant(), &start.grant()]);
        desk.request(post(start.url("/"))).unwrap();
        assert!(start.seen()[0].contains("Authorization: mine\r\n"));
        let sent = goal.seen().pop().unwrap();
        assert!(
            !sent.contains("Authorization") && !sent.contains("X-Own"),
            "{sent}"
        );
        assert!(sent.contains("Accept: text/x\r\n"), "{sent}");
        let kept = sent.starts_with("POST ") && sent.ends_with("\r\n\r\ndata");
        assert_eq!(kept, status > 303, "{status}: {sent}");
        assert_eq!(sent.contains("Content-Type: text/y"), status > 303);
    }
}

#[test]
fn what_is_configured_for_a_server_stays_with_it() {
    let goal = Site::saying(OK);
    let start = Site::redirecting(307, goal.url("/"));
    let mut desk = Desk::new(&["http.request"], &[&goal.grant(), &start.grant()]);
    desk.services.http_servers = HttpServers::new(vec![HttpServer {
        name: "api".to_owned(),
        url: start.url("/"),
        headers: vec![
            ("User-Agent".to_owned(), "licensed to us".to_owned()),
            ("X-Key".to_owned(), "0123456789".to_owned()),
        ],
    }])
    .unwrap();
    desk.request(json!({"method": "GET", "endpoint": "x"}))
        .unwrap();
    assert!(start.seen()[0].contains("licensed to us"));
    let sent = goal.seen().pop().unwrap();
    assert!(
        !sent.contains("licensed") && !sent.contains("X-Key"),
        "{sent}"
    );
}

#[test]
fn the_same_origin_gets_them_again() {
    let site = Site::new(|request| match request.contains(" /b ") {
        true => OK.into(),
        false => b"HTTP/1.1 307 Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n".to_vec(),
    });
    let desk = Desk::new(&["http.request"], &[&site.grant()]);
    desk.request(post(site.url("/a"))).unwrap();
    let sent = site.seen().pop().unwrap();
    assert!(sent.contains("Authorization: mine") && sent.contains("X-Own: 1"));
}

#[test]
fn what_was_dropped_does_not_come_back_on_the_way_home() {
    let home = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let back = std::sync::Arc::clone(&home);
    let away = Site::new(move |_| {
        let home = back.lock().unwrap().clone();
        format!("HTTP/1.1 307 Back\r\nLocation: {home}\r\nContent-Length: 0\r\n\r\n").into()
    });
    let to = away.url("/");
    let start = Site::new(move |request| match request.contains(" /home ") {
        true => OK.into(),
        false => format!("HTTP/1.1 307 Away\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into(),
    });
    *home.lock().unwrap() = start.url("/home");
    let desk = Desk::new(&["http.request"], &[&start.grant(), &away.grant()]);
    desk.request(post(start.url("/"))).unwrap();
    let sent = start.seen().pop().unwrap();
    assert!(
        sent.contains(" /home ") && !sent.contains("Authorization"),
        "{sent}"
    );
}

#[test]
fn five_redirects_are_followed_and_no_more() {
    let site = Site::new(|request| {
        let path = request.split(' ').nth(1).unwrap();
        let left: u32 = path.trim_start_matches('/').parse().unwrap();
        match left {
            0 => OK.into(),
            _ => format!(
                "HTTP/1.1 302 On\r\nLocation: /{}\r\nContent-Length: 0\r\n\r\n",
                left - 1
            )
            .into(),
        }
    });
    let desk = Desk::new(&["http.request"], &[&site.grant()]);
    let ask =
        |left: u32| desk.request(json!({"method": "GET", "url": site.url(&format!("/{left}"))}));
    assert_eq!(ask(5).unwrap()["http_status"], 200);
    let error = ask(6).unwrap_err();
    assert_eq!(error.code.as_str(), "upstream");
    assert!(error.message.contains("more than 5"));
}

#[test]
fn all_hops_share_the_time_of_one_request() {
    let site = Site::new(|_| {
        let (_keep, never) = std::sync::mpsc::channel::<()>();
        let _ = never.recv_timeout(std::time::Duration::from_millis(150));
        b"HTTP/1.1 302 On\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".to_vec()
    });
    let desk = Desk::new(&["http.request"], &[&site.grant()]);
    let hurry = json!({"method": "GET", "url": site.url("/"), "timeout_seconds": 0.4});
    assert_eq!(desk.refusal(hurry).0, "timeout");
}

#[test]
fn a_redirect_to_no_url_is_an_error_and_one_without_place_an_answer() {
    for location in [
        "http://",
        "ftp://a.example/",
        "http://u:p@127.0.0.1/",
        "a b",
    ] {
        let site = Site::redirecting(302, location);
        let desk = Desk::new(&["http.request"], &[&site.grant()]);
        let (code, _) = desk.refusal(json!({"method": "GET", "url": site.url("/")}));
        assert_eq!(code, "upstream", "{location}");
    }
    let site = Site::saying("HTTP/1.1 302 Where\r\nContent-Length: 0\r\n\r\n");
    let desk = Desk::new(&["http.request"], &[&site.grant()]);
    let found = desk.request(json!({"method": "GET", "url": site.url("/")}));
    assert_eq!(found.unwrap()["http_status"], 302);
}
