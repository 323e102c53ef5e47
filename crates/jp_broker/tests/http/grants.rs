//! Which hosts a client reaches.

use std::sync::{Arc, atomic::Ordering};

use crate::server::{Names, Server, ask, client, denied, get, options};
use jp_broker::http::{Client, HttpError, redirect_target};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

#[test]
fn a_granted_host_is_reached() {
    let server = Server::answering(OK);
    let response = ask(&server).unwrap();
    assert_eq!(
        (response.status, response.body.as_slice()),
        (200, b"hi".as_slice())
    );
}

#[test]
fn a_host_that_is_not_granted_is_neither_looked_up_nor_reached() {
    let server = Server::answering(OK);
    let names = Names::answering(&["127.0.0.1"]);
    let grants = ["a.example", "*.b.example", "c.example:443"];
    let client = Client::with_resolver(options(&grants), names.clone()).unwrap();
    for (url, host) in [
        ("http://other.example/", "other.example:80"),
        ("https://other.example/", "other.example:443"),
        ("http://sub.a.example/", "sub.a.example:80"),
        ("http://evilb.example/", "evilb.example:80"),
        ("http://b.example/", "b.example:80"),
        (
            "http://a.example.evil.example/",
            "a.example.evil.example:80",
        ),
        ("http://c.example/", "c.example:80"),
        ("https://c.example:8443/", "c.example:8443"),
        ("http://C.EXAMPLE:444/", "c.example:444"),
    ] {
        let setting = format!("net = [\"{host}\"]");
        assert_eq!(client.request(&get(url)), denied(host, &setting), "{url}");
    }
    assert_eq!(names.asked.load(Ordering::SeqCst), 0);

    let found = client.request(&get(&server.url()));
    let setting = format!("net = [\"{}\"]", server.grant());
    assert_eq!(found, denied(&server.grant(), &setting));
    assert!(server.had_no_request());
}

#[test]
fn without_a_grant_nothing_is_reached() {
    let server = Server::answering(OK);
    let client = client(&[]);
    assert!(matches!(
        client.request(&get(&server.url())),
        Err(HttpError::Denied { .. })
    ));
    let six = client.request(&get("http://[2606:4700:4700::1111]/"));
    assert_eq!(six, denied("[2606:4700:4700::1111]:80", "net = true"));
}

#[test]
fn another_port_of_a_granted_address_is_denied() {
    let (granted, other) = (Server::answering(OK), Server::answering(OK));
    let client = client(&[&granted.grant()]);
    assert!(client.request(&get(&granted.url())).is_ok());
    let setting = format!("net = [\"{}\"]", other.grant());
    assert_eq!(
        client.request(&get(&other.url())),
        denied(&other.grant(), &setting)
    );
}

#[test]
fn a_redirect_is_returned_and_its_target_is_checked_like_any_host() {
    let forbidden = Server::answering(OK);
    let location = format!("Location: //127.0.0.1:{}/x\r\n", forbidden.port);
    let server = Server::answering(format!(
        "HTTP/1.1 302 Found\r\n{location}Set-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"
    ));
    let client = client(&[&server.grant()]);
    let response = client.request(&get(&server.url())).unwrap();
    assert_eq!(response.status, 302);
    assert!(forbidden.had_no_request());

    let next = redirect_target(&server.url(), response.header("location").unwrap()).unwrap();
    let found = client.request(&get(&next));
    let setting = format!("net = [\"{}\"]", forbidden.grant());
    assert_eq!(found, denied(&forbidden.grant(), &setting));

    // No cookie comes back.
    server.request();
    client.request(&get(&server.url())).unwrap();
    assert!(!server.request().to_lowercase().contains("cookie"));
}

#[test]
fn the_next_address_is_tried_when_one_does_not_answer() {
    let server = Server::answering_on("127.0.0.3", OK);
    // Nobody listens at that port of the first address.
    let names = Names::answering(&["127.0.0.2 127.0.0.3"]);
    let hosts = ["a.example", "127.0.0.2", "127.0.0.3"];
    let client = Client::with_resolver(options(&hosts), names).unwrap();
    let request = get(&format!("http://a.example:{}/", server.port));
    assert_eq!(client.request(&request).unwrap().status, 200);
}

#[test]
fn a_name_without_address_and_a_closed_port_have_their_own_errors() {
    let nowhere = Client::with_resolver(options(&["a.example"]), Names::answering(&[])).unwrap();
    let found = nowhere.request(&get("http://a.example/"));
    assert!(matches!(found, Err(HttpError::Resolve { .. })), "{found:?}");
    let empty = Client::with_resolver(options(&["a.example"]), Names::answering(&[""])).unwrap();
    let found = empty.request(&get("http://a.example/"));
    assert!(matches!(found, Err(HttpError::Resolve { .. })), "{found:?}");

    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let found = client(&["127.0.0.1"]).request(&get(&format!("http://127.0.0.1:{port}/")));
    assert!(matches!(found, Err(HttpError::Connect { .. })), "{found:?}");
}

#[test]
fn proxies_of_the_environment_are_ignored() {
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ] {
        again.env(name, "http://127.0.0.1:1");
    }
    let output = again
        .args(["--exact", "grants::a_granted_host_is_reached"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

#[test]
fn one_client_serves_many_threads() {
    let server = Server::answering(OK);
    let client = Arc::new(client(&[&server.grant()]));
    let url = server.url();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| assert_eq!(client.request(&get(&url)).unwrap().status, 200));
        }
    });
}
