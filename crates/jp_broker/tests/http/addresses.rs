//! Which addresses a granted host may lead to.

use std::sync::atomic::Ordering;

use crate::server::{Names, Server, denied, get, options};
use jp_broker::http::{Client, HttpError, Options};
use jp_policy::Net;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

fn everywhere() -> Options {
    Options {
        net: Net::Any,
        ..options(&[])
    }
}

#[test]
fn a_granted_name_does_not_lead_to_a_private_address() {
    for address in [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "100.64.0.1",
        "192.168.1.1",
    ] {
        for spelling in [address.to_owned(), format!("::ffff:{address}")] {
            let names = Names::answering(&[&spelling]);
            let client = Client::with_resolver(options(&["a.example"]), names).unwrap();
            let host = format!("{address}:80, which a.example resolves to");
            let setting = format!("net = [\"{address}:80\"]");
            assert_eq!(
                client.request(&get("http://a.example/")),
                denied(&host, &setting)
            );
        }
    }
    for address in [
        "0.0.0.0",
        "::",
        "::1",
        "fd00::1",
        "fe80::1",
        "64:ff9b::7f00:1",
        "224.0.0.1",
    ] {
        let client =
            Client::with_resolver(options(&["a.example"]), Names::answering(&[address])).unwrap();
        let found = client.request(&get("http://a.example/"));
        assert!(
            matches!(
                found,
                Err(HttpError::Denied { .. } | HttpError::Refused { .. })
            ),
            "{address}: {found:?}"
        );
    }
}

#[test]
fn one_private_address_among_public_ones_denies_the_host() {
    let names = Names::answering(&["1.1.1.1 2606:4700:4700::1111 127.0.0.1"]);
    let client = Client::with_resolver(options(&["a.example"]), names).unwrap();
    let found = client.request(&get("http://a.example/"));
    assert!(matches!(found, Err(HttpError::Denied { .. })), "{found:?}");
}

#[test]
fn a_grant_of_every_host_does_not_open_this_machine() {
    let server = Server::answering(OK);
    let client = Client::new(everywhere()).unwrap();
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "[::ffff:127.0.0.1]",
    ] {
        let found = client.request(&get(&format!("http://{host}:{}/", server.port)));
        let setting = format!("net = [\"{}\"]", server.grant());
        assert_eq!(found, denied(&server.grant(), &setting), "{host}");
    }
    for host in [
        "localhost",
        "[::1]",
        "0.0.0.0",
        "[::]",
        "[::127.0.0.1]",
        "[fe80::1]",
    ] {
        let found = client.request(&get(&format!("http://{host}:{}/", server.port)));
        assert!(
            matches!(
                found,
                Err(HttpError::Denied { .. } | HttpError::Refused { .. })
            ),
            "{host}: {found:?}"
        );
    }
    assert!(server.had_no_request());
}

#[test]
fn the_private_option_opens_private_addresses_of_granted_hosts_only() {
    let server = Server::answering(OK);
    let with = |hosts: &[&str]| {
        let private = true;
        let options = Options {
            private,
            ..options(hosts)
        };
        Client::with_resolver(options, Names::answering(&["127.0.0.1"])).unwrap()
    };
    let request = get(&format!("http://a.example:{}/", server.port));
    assert_eq!(with(&["a.example"]).request(&request).unwrap().status, 200);
    let found = with(&["b.example"]).request(&request);
    assert!(matches!(found, Err(HttpError::Denied { .. })));

    let never = Options {
        private: true,
        ..everywhere()
    };
    let found = Client::new(never).unwrap().request(&get("http://0.0.0.0/"));
    assert!(matches!(found, Err(HttpError::Refused { .. })), "{found:?}");
}

#[test]
fn the_setting_a_denial_names_is_what_was_missing() {
    let server = Server::answering(OK);
    let request = get(&format!("http://a.example:{}/", server.port));
    let mut grants: Vec<String> = Vec::new();
    for _ in 0..2 {
        let hosts: Vec<&str> = grants.iter().map(String::as_str).collect();
        let client =
            Client::with_resolver(options(&hosts), Names::answering(&["127.0.0.1"])).unwrap();
        let Err(HttpError::Denied { setting, .. }) = client.request(&request) else {
            panic!("granted too early");
        };
        let host = setting
            .strip_prefix("net = [\"")
            .unwrap()
            .strip_suffix("\"]")
            .unwrap();
        grants.push(host.to_owned());
    }
    let hosts: Vec<&str> = grants.iter().map(String::as_str).collect();
    let client = Client::with_resolver(options(&hosts), Names::answering(&["127.0.0.1"])).unwrap();
    assert_eq!(client.request(&request).unwrap().status, 200);
}

#[test]
fn a_name_is_resolved_once_and_the_connection_goes_to_the_checked_address() {
    let checked = Server::answering(OK);
    // The name moves to another address as soon as it was checked; a server waits there.
    let names = Names::answering(&["127.0.0.1", "127.0.0.2"]);
    let hosts = ["a.example", &checked.grant()];
    let client = Client::with_resolver(options(&hosts), names.clone()).unwrap();
    let request = get(&format!("http://a.example:{}/", checked.port));
    assert_eq!(client.request(&request).unwrap().status, 200);
    assert!(
        checked
            .request()
            .contains(&format!("Host: a.example:{}\r\n", checked.port))
    );
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);

    // The next request checks anew.
    let host = format!("127.0.0.2:{}, which a.example resolves to", checked.port);
    let setting = format!("net = [\"127.0.0.2:{}\"]", checked.port);
    assert_eq!(client.request(&request), denied(&host, &setting));
}
