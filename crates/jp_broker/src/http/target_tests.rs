//! URLs as strangers write them.

use super::*;

fn check(url: &str) -> String {
    match Target::parse(url) {
        Ok(target) => format!(
            "{} {} {}",
            target.authority(),
            target.host_header(),
            target.path
        ),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_url_becomes_authority_host_header_and_path() {
    for (url, expected) in [
        ("http://a.example", "a.example:80 a.example /"),
        (
            "HTTPS://A.Example/x?y=1#z",
            "a.example:443 a.example /x?y=1",
        ),
        (
            "http://a.example:8080?q",
            "a.example:8080 a.example:8080 /?q",
        ),
        ("https://a.example:80/", "a.example:80 a.example:80 /"),
        (
            "http://[2606:4700::1]:81/",
            "[2606:4700::1]:81 [2606:4700::1]:81 /",
        ),
        (
            "http://bücher.example/ü",
            "xn--bcher-kva.example:80 xn--bcher-kva.example /%C3%BC",
        ),
    ] {
        assert_eq!(check(url), expected, "{url}");
    }
}

#[test]
fn every_spelling_of_an_address_is_that_address() {
    for url in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0X7F.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://127.0.0.1./",
        "http://127%2e0.0.1/",
        "http://１２７.0.0.1/",
        "http://127。0。0。1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
    ] {
        assert_eq!(check(url), "127.0.0.1:80 127.0.0.1 /", "{url}");
    }
}

#[test]
fn only_plain_http_urls_are_taken() {
    for url in [
        "",
        "a.example",
        "//a.example/",
        "http:a.example",
        "http:/a.example",
        "http:///a.example",
        "http://",
        "http://?",
        "http://:80/",
        "ftp://a.example/",
        "file:///etc/passwd",
        "gopher://a.example/",
        "javascript://a.example/",
        "http://user@a.example/",
        "http://user:secret@a.example/",
        "http://@a.example/",
        "http://a.example@b.example/",
        "http://a.example:0/",
        "http://a.example:65536/",
        "http://a.example:8o/",
        "http://a.example./",
        "http://a.example\\@b.example/",
        "http:\\\\a.example/",
        "http://a.example/\r\nX: y",
        "http://a.example/ HTTP/1.1",
        "http://a.exa\tmple/",
        " http://a.example/",
        "http://a.example/\u{a0}",
        "http://a.example\0.b.example/",
        "http://a.example%00/",
        "http://a%0d%0a.example/",
        "http://256.1.1.1/",
        "http://1.2.3.4.5/",
        "http://0x100000000/",
        "http://[::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[::1/",
    ] {
        let result = Target::parse(url);
        assert!(
            matches!(result, Err(HttpError::Invalid { .. })),
            "{url}: {result:?}"
        );
    }
    let long = format!("http://a.example/{}", "x".repeat(MAX_URL));
    assert!(Target::parse(&long).is_err());
}

#[test]
fn a_password_in_a_url_is_not_repeated_in_the_error() {
    for url in [
        "http://user:hunter2@a.example/",
        "http://u:hunter2@a b/",
        "http:u:hunter2@a/",
    ] {
        let text = check(url);
        assert!(
            text.starts_with("invalid request") && !text.contains("hunter2"),
            "{text}"
        );
    }
}

#[test]
fn a_redirect_is_seen_from_the_requested_url() {
    let from = "https://a.example/x/y?z";
    for (location, expected) in [
        ("w", "https://a.example/x/w"),
        ("/w#part", "https://a.example/w"),
        ("../../../w", "https://a.example/w"),
        ("?q", "https://a.example/x/y?q"),
        ("//b.example", "https://b.example/"),
        ("http://2130706433:9/", "http://127.0.0.1:9/"),
    ] {
        let found = redirect_target(from, location.as_bytes());
        assert_eq!(found.as_deref(), Ok(expected), "{location}");
    }
    for location in [
        "file:///etc/passwd",
        "http://u:p@b.example/",
        "a b",
        "\r\nX: y",
        "\\\\b.example",
    ] {
        assert!(
            redirect_target(from, location.as_bytes()).is_err(),
            "{location}"
        );
    }
    assert!(redirect_target(from, b"/\xff").is_err());
}

proptest::proptest! {
    #[test]
    fn no_text_panics_and_what_is_taken_fits_a_request_line(text in "(http://|https://)?\\PC{0,40}") {
        if let Ok(target) = Target::parse(&text) {
            proptest::prop_assert!(target.path.starts_with('/'));
            proptest::prop_assert!(target.path.bytes().all(|byte| byte.is_ascii_graphic()));
            proptest::prop_assert!(target.host_header().bytes().all(|byte| byte.is_ascii_graphic()));
        }
        let _ = redirect_target("http://a.example/b", text.as_bytes());
    }
}
