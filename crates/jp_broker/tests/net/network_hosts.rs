//! The network part of the security checklist, as a tool meets it: which hosts are reached.

use std::sync::{Arc, atomic::Ordering};

use jp_broker::{UnnamedHosts, http::Resolve};
use jp_policy::Net;

use crate::{
    desk::{Desk, Lines, OK, Site, body, desk, get, grant},
    server::Names,
};

/// Makes every name resolve to these answers in turn.
fn resolving(mut desk: Desk, answers: &[&str]) -> (Desk, Arc<Names>) {
    let names = Names::answering(answers);
    desk.services.web.resolver = Arc::clone(&names) as Arc<dyn Resolve>;
    (desk, names)
}

#[test]
fn c29_a_redirect_from_a_granted_to_another_host_is_refused() {
    let goal = Site::saying(OK);
    let start = Site::redirecting(302, goal.url("/"));
    let (code, message) = desk(&[&start.grant()]).refusal(get(start.url("/")));
    assert_eq!(code, "forbidden");
    let setting = format!("net = [\"{}\"]", goal.grant());
    assert!(message.contains(&setting), "{message}");
    assert!(goal.seen().is_empty());

    let metadata = Site::redirecting(307, "http://169.254.169.254/latest/meta-data/");
    let mut open = desk(&[]);
    open.grant = grant(&["http.request"], Net::Any);
    let (code, _) = open.refusal(get(metadata.url("/")));
    assert_eq!(code, "forbidden", "any host does not mean this machine");
}

#[test]
fn c30_a_granted_name_that_leads_to_a_private_address_is_refused() {
    let site = Site::saying(OK);
    let url = format!("http://a.example:{}/", site.server.port);
    for address in [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "fd00::1",
        "::ffff:127.0.0.1",
        "0.0.0.0",
        "::1",
        "1.1.1.1 127.0.0.1",
    ] {
        let (desk, _) = resolving(desk(&["a.example"]), &[address]);
        assert_eq!(desk.refusal(get(&*url)).0, "forbidden", "{address}");
    }
    assert!(site.seen().is_empty());
}

#[test]
fn c31_the_checked_address_is_the_one_that_is_reached() {
    let site = Site::new(|request| match request.contains(" /again ") {
        false => OK.into(),
        true => b"HTTP/1.1 302 On\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".to_vec(),
    });
    let port = site.server.port;
    let allowed = ["a.example", &site.grant()];
    // The second answer would be the attack: a lookup at connect time would follow it.
    let (rebinding, names) = resolving(desk(&allowed), &["127.0.0.1", "10.0.0.1"]);
    let url = format!("http://a.example:{port}");
    assert_eq!(rebinding.request(get(&*url)).unwrap()["text"], "hi");
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
    // Each hop of a redirect is looked up and checked again.
    let (rebinding, _) = resolving(desk(&allowed), &["127.0.0.1", "10.0.0.1"]);
    assert_eq!(rebinding.refusal(get(url + "/again")).0, "forbidden");
}

#[test]
fn c32_no_spelling_of_a_host_gets_around_the_grant() {
    let site = Site::saying(OK);
    let port = site.server.port;
    let (desk, names) = resolving(desk(&["a.example"]), &["127.0.0.1"]);
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "a.example@127.0.0.1",
        "user:pw@a.example",
        "a.example.",
        "\u{430}.example",
        "a\u{3002}example.evil",
        "A.EXAMPLE.evil",
        "127.0.0.1\\@a.example",
        "127.0.0.1#@a.example",
        "127.0.0.1%2f@a.example",
        " a.example",
    ] {
        let (code, message) = desk.refusal(get(format!("http://{host}:{port}/")));
        assert!(
            code == "forbidden" || code == "invalid_args",
            "{host}: {code} {message}"
        );
    }
    assert_eq!(names.asked.load(Ordering::SeqCst), 0, "nothing looked up");
    assert!(site.seen().is_empty());
    // The one spelling of a granted host is found from any case.
    let upper = format!("HTTP://A.EXAMPLE:{port}/");
    let (code, message) = desk.refusal(get(upper));
    assert!(
        code == "forbidden" && message.contains("resolves to"),
        "{message}"
    );
}

#[test]
fn c33_another_port_of_a_granted_host_is_refused() {
    let (granted, other) = (Site::saying(OK), Site::saying(OK));
    let desk = desk(&[&granted.grant()]);
    assert_eq!(desk.refusal(get(other.url("/"))).0, "forbidden");
    assert!(desk.request(get(granted.url("/"))).is_ok());
    assert!(other.seen().is_empty());
}

#[test]
fn c39_names_that_nobody_spelled_out_are_logged_and_can_be_denied() {
    let site = Site::saying(OK);
    let port = site.server.port;
    let allowed = ["*.a.example", "b.example", &site.grant()];
    let (mut desk, names) = resolving(desk(&allowed), &["127.0.0.1"]);
    let log = Arc::new(Lines::default());
    desk.services.log = Some(Arc::clone(&log) as Arc<dyn jp_broker::LogSink>);
    let secretive = format!("http://c2VjcmV0.a.example:{port}/");
    let named = format!("http://b.example:{port}/");
    for url in [&secretive, &named] {
        assert!(desk.request(get(&**url)).is_ok());
    }
    let (code, _) = desk.refusal(get("http://c.example/"));
    assert_eq!(
        code, "forbidden",
        "what is not granted is no line in the log"
    );
    let lines = log.0.lock().unwrap().clone();
    let expected = format!(
        "someone probe info net: c2vjcmv0.a.example:{port}, which the grant does not spell out"
    );
    assert_eq!(lines, [expected]);

    desk.services.web.unnamed_hosts = UnnamedHosts::Denied;
    let before = names.asked.load(Ordering::SeqCst);
    let (code, message) = desk.refusal(get(secretive));
    assert_eq!(code, "forbidden");
    assert!(message.contains("net = ["), "{message}");
    assert_eq!(names.asked.load(Ordering::SeqCst), before, "not looked up");
    assert!(desk.request(get(named)).is_ok());
}

/// A resolver that is out of order.
struct Down;

impl Resolve for Down {
    fn resolve(&self, _host: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
        Err(std::io::Error::other("out of order"))
    }
}

#[test]
fn c41_when_the_way_out_is_down_nothing_goes_around_it() {
    let site = Site::saying(body("text/plain", "reached"));
    let mut desk = desk(&["localhost", &site.grant()]);
    desk.services.web.resolver = Arc::new(Down);
    // The system's own resolver would find this name.
    let (code, message) = desk.refusal(get(format!("http://localhost:{}/", site.server.port)));
    assert_eq!(code, "upstream");
    assert!(message.contains("out of order"), "{message}");
    assert!(site.seen().is_empty());
    // A root that cannot be read does not mean fewer checks.
    desk.services.web.extra_roots = vec![b"no certificate".to_vec()];
    assert_eq!(desk.refusal(get(site.url("/"))).0, "upstream");
    assert!(site.seen().is_empty());
}
