//! Tests with a transport that answers from a list.

use jp_bash_system::{HttpError, HttpResponse};

use super::run;
use crate::fixture::{Fixture, Ran};

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Result<HttpResponse, HttpError> {
    Ok(HttpResponse {
        status,
        reason: if status == 200 {
            "OK".to_owned()
        } else {
            "Other".to_owned()
        },
        headers: headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
            .collect(),
        body: body.as_bytes().to_vec(),
    })
}

fn with(answers: Vec<Result<HttpResponse, HttpError>>) -> Fixture {
    let mut fixture = Fixture::default()
        .stdin(b"from stdin")
        .file("data.txt", b"line 1\nline 2\n");
    fixture.answers = answers.into();
    fixture
}

fn curl(fixture: &mut Fixture, words: &str) -> Ran {
    let mut all = vec!["curl"];
    all.extend(words.split(' ').filter(|word| !word.is_empty()));
    fixture.run(run, &all)
}

fn header<'a>(fixture: &'a Fixture, request: usize, name: &str) -> Option<&'a str> {
    fixture.requests[request]
        .headers
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| std::str::from_utf8(value).unwrap())
}

#[test]
fn without_a_grant_the_message_names_it_unless_silent() {
    let mut fixture = with(vec![]);
    let ran = curl(&mut fixture, "-s http://example.com/x");
    assert_eq!((ran.status, ran.stderr.as_str()), (Ok(7), ""));
    let ran = curl(&mut fixture, "-sS http://example.com/x");
    assert_eq!(ran.status, Ok(7));
    assert_eq!(
        ran.stderr,
        "curl: (7) no network grant for http://example.com/x\n"
    );
}

#[test]
fn a_plain_request_prints_the_body() {
    let mut fixture = with(vec![answer(200, &[], "hello")]);
    let ran = curl(&mut fixture, "example.com");
    assert_eq!((ran.stdout.as_str(), ran.status), ("hello", Ok(0)));
    let request = &fixture.requests[0];
    assert_eq!(
        (request.method.as_str(), request.url.as_str()),
        ("GET", "http://example.com/")
    );
    assert_eq!(header(&fixture, 0, "User-Agent"), Some("curl/7.88.1"));
}

#[test]
fn bodies_are_built_as_the_options_say() {
    for (words, method, kind, body) in [
        (
            "-d a=1 -d b=2 h",
            "POST",
            Some("application/x-www-form-urlencoded"),
            "a=1&b=2",
        ),
        (
            "-d @data.txt h",
            "POST",
            Some("application/x-www-form-urlencoded"),
            "line 1line 2",
        ),
        (
            "--data-binary @data.txt h",
            "POST",
            Some("application/x-www-form-urlencoded"),
            "line 1\nline 2\n",
        ),
        (
            "--data-raw @x h",
            "POST",
            Some("application/x-www-form-urlencoded"),
            "@x",
        ),
        (
            "--data-urlencode a=b/c h",
            "POST",
            Some("application/x-www-form-urlencoded"),
            "a=b%2Fc",
        ),
        (
            "--json {\"a\":1} h",
            "POST",
            Some("application/json"),
            "{\"a\":1}",
        ),
        ("-T data.txt h/up", "PUT", None, "line 1\nline 2\n"),
        ("-X DELETE h", "DELETE", None, ""),
        (
            "-XPATCH -dx h",
            "PATCH",
            Some("application/x-www-form-urlencoded"),
            "x",
        ),
        (
            "-d @- h",
            "POST",
            Some("application/x-www-form-urlencoded"),
            "from stdin",
        ),
        ("-I h", "HEAD", None, ""),
    ] {
        let mut fixture = with(vec![answer(200, &[], "")]);
        let ran = curl(&mut fixture, words);
        assert_eq!(ran.status, Ok(0), "{words} {}", ran.stderr);
        let request = &fixture.requests[0];
        assert_eq!(request.method, method, "{words}");
        assert_eq!(String::from_utf8_lossy(&request.body), body, "{words}");
        assert_eq!(header(&fixture, 0, "Content-Type"), kind, "{words}");
    }
    let mut fixture = with(vec![answer(200, &[], "")]);
    curl(&mut fixture, "-G -d a=1 --data-urlencode q=x&y h/p?z");
    assert_eq!(fixture.requests[0].url, "http://h/p?z&a=1&q=x%26y");
}

#[test]
fn a_form_is_multipart_and_its_names_cannot_break_out() {
    let mut fixture = with(vec![answer(200, &[], "")]);
    fixture.run(
        run,
        &[
            "curl",
            "-F",
            "a\"\r\nX: y=1",
            "-F",
            "f=@data.txt;type=text/csv",
            "h",
        ],
    );
    let body = String::from_utf8_lossy(&fixture.requests[0].body).into_owned();
    let kind = header(&fixture, 0, "Content-Type").unwrap();
    assert!(kind.starts_with("multipart/form-data; boundary=------------------------07"));
    assert!(
        body.contains("name=\"a%22%0D%0AX: y\"\r\n\r\n1\r\n"),
        "{body}"
    );
    assert!(
        body.contains(
            "name=\"f\"; filename=\"data.txt\"\r\nContent-Type: text/csv\r\n\r\nline 1\n"
        ),
        "{body}"
    );
}

#[test]
fn headers_replace_remove_and_never_split() {
    let mut fixture = with(vec![answer(200, &[], "")]);
    fixture.run(
        run,
        &[
            "curl", "-H", "Accept:", "-H", "X-A: b", "-H", "X-E;", "-A", "me", "h",
        ],
    );
    assert_eq!(header(&fixture, 0, "Accept"), None);
    assert_eq!(header(&fixture, 0, "X-A"), Some("b"));
    assert_eq!(header(&fixture, 0, "X-E"), Some(""));
    assert_eq!(header(&fixture, 0, "User-Agent"), Some("me"));
    for words in [
        &["curl", "-H", "X: a\r\nY: b", "h"][..],
        &["curl", "-A", "a\nb", "h"],
        &["curl", "-b", "a=b\r\nc", "h"],
        &["curl", "-X", "GET / HTTP/1.1\r\nX:", "h"],
        &["curl", "-H", "a b: c", "h"],
    ] {
        let mut fixture = with(vec![answer(200, &[], "")]);
        let ran = fixture.run(run, words);
        assert_eq!(ran.status, Ok(43), "{words:?}");
        assert!(fixture.requests.is_empty());
    }
}

#[test]
fn redirects_are_asked_for_hop_by_hop_and_secrets_stay_at_home() {
    let mut fixture = with(vec![
        answer(302, &[("Location", "/b")], "gone"),
        answer(302, &[("Location", "https://other.org/c")], ""),
        answer(200, &[], "done"),
    ]);
    let ran = fixture.run(
        run,
        &[
            "curl",
            "-L",
            "-u",
            "me:pw",
            "-H",
            "Cookie: k=v",
            "-d",
            "x",
            "http://h.org/a",
            "-w",
            "%{num_redirects} %{url_effective} %{http_code}\\n",
        ],
    );
    assert_eq!(ran.stdout, "done2 https://other.org/c 200\n");
    let urls: Vec<&str> = fixture
        .requests
        .iter()
        .map(|request| request.url.as_str())
        .collect();
    assert_eq!(
        urls,
        ["http://h.org/a", "http://h.org/b", "https://other.org/c"]
    );
    assert_eq!(header(&fixture, 0, "Authorization"), Some("Basic bWU6cHc="));
    assert_eq!(header(&fixture, 1, "Authorization"), Some("Basic bWU6cHc="));
    assert_eq!(header(&fixture, 2, "Authorization"), None);
    assert_eq!(header(&fixture, 2, "Cookie"), None);
    assert_eq!(fixture.requests[1].method, "GET");
    assert!(fixture.requests[1].body.is_empty());
}

#[test]
fn redirects_end() {
    let mut fixture = with(
        (0..60)
            .map(|_| answer(302, &[("Location", "/")], ""))
            .collect(),
    );
    let ran = curl(&mut fixture, "-L h");
    assert_eq!(ran.status, Ok(47));
    assert_eq!(ran.stderr, "curl: (47) Maximum (50) redirects followed\n");
    let mut fixture = with(vec![answer(302, &[("Location", "file:///etc/passwd")], "")]);
    assert_eq!(curl(&mut fixture, "-L h").status, Ok(1));
    let mut fixture = with(vec![
        answer(307, &[("Location", "/b")], ""),
        answer(200, &[], ""),
    ]);
    curl(&mut fixture, "-L -d x h");
    assert_eq!(
        (
            fixture.requests[1].method.as_str(),
            fixture.requests[1].body.as_slice()
        ),
        ("POST", &b"x"[..])
    );
}

#[test]
fn failures_have_curl_s_numbers() {
    for (words, result, status, stderr) in [
        (
            "-f h",
            answer(404, &[], "no"),
            22,
            "curl: (22) The requested URL returned error: 404\n",
        ),
        ("-sf h", answer(404, &[], "no"), 22, ""),
        (
            "-sSf h",
            answer(404, &[], "no"),
            22,
            "curl: (22) The requested URL returned error: 404\n",
        ),
        (
            "h",
            Err(HttpError::Resolve("h".into())),
            6,
            "curl: (6) Could not resolve host: h\n",
        ),
        (
            "h",
            Err(HttpError::Timeout),
            28,
            "curl: (28) Operation timed out\n",
        ),
        (
            "h",
            Err(HttpError::TooLarge(1)),
            63,
            "curl: (63) Maximum file size exceeded\n",
        ),
        (
            "http://a:b:c/",
            answer(200, &[], ""),
            3,
            "curl: (3) URL using bad/illegal format or missing URL\n",
        ),
        (
            "file:///etc/passwd",
            answer(200, &[], ""),
            1,
            "curl: (1) Protocol \"file\" not supported or disabled in libcurl\n",
        ),
        (
            "-d @none h",
            answer(200, &[], ""),
            26,
            "curl: (26) Failed to open/read local data from file/application: none\n",
        ),
    ] {
        let mut fixture = with(vec![result]);
        let ran = curl(&mut fixture, words);
        assert_eq!(
            (ran.status, ran.stderr.as_str()),
            (Ok(status), stderr),
            "{words}"
        );
    }
    let mut fixture = with(vec![answer(500, &[], "body")]);
    let ran = curl(&mut fixture, "-s --fail-with-body h");
    assert_eq!((ran.status, ran.stdout.as_str()), (Ok(22), "body"));
}

#[test]
fn options_that_have_no_meaning_here_are_refused_by_name() {
    for (words, message) in [
        (
            "-k h",
            "option -k is not supported: the host decides how servers are verified",
        ),
        (
            "-K x h",
            "option -K is not supported: options come from the command line only",
        ),
        (
            "--resolve a:1:b h",
            "option --resolve is not supported: the host makes the connection",
        ),
        (
            "-x p h",
            "option -x is not supported: the host makes the connection",
        ),
        (
            "--compressed h",
            "option --compressed is not supported: bodies are handed over as they come",
        ),
        ("--nope h", "option --nope: is unknown"),
        ("-o", "option -o: requires parameter"),
    ] {
        let mut fixture = with(vec![]);
        let ran = curl(&mut fixture, words);
        assert_eq!(ran.status, Ok(2), "{words}");
        assert!(
            ran.stderr.starts_with(&format!("curl: {message}\n")),
            "{words}: {}",
            ran.stderr
        );
        assert!(fixture.requests.is_empty());
    }
    assert_eq!(curl(&mut with(vec![]), "-s").status, Ok(2));
}

#[test]
fn answers_go_where_they_are_sent() {
    let mut fixture = with(vec![
        answer(200, &[("X-A", "b"), ("ETag", "\"t\"")], "one"),
        answer(200, &[], "two"),
        answer(200, &[], "three"),
    ]);
    let ran = curl(
        &mut fixture,
        "-i -o one.txt http://h/1 -O http://h/d/two.txt http://h/3",
    );
    assert_eq!(ran.stdout, "HTTP/1.1 200 OK\r\n\r\nthree");
    assert_eq!(
        fixture.files[&b"one.txt"[..]],
        b"HTTP/1.1 200 OK\r\nX-A: b\r\nETag: \"t\"\r\n\r\none"
    );
    assert_eq!(
        fixture.files[&b"two.txt"[..]],
        b"HTTP/1.1 200 OK\r\n\r\ntwo"
    );
    assert_eq!(
        curl(&mut with(vec![answer(200, &[], "x")]), "-O http://h/").status,
        Ok(23)
    );
    let mut fixture = with(vec![answer(200, &[("X-A", "b")], "x")]);
    let ran = curl(&mut fixture, "-v h");
    assert!(
        ran.stderr.contains("> GET / HTTP/1.1\r\n> Host: h\r\n"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("< HTTP/1.1 200 OK\r\n< X-A: b\r\n< \r\n")
    );
}

#[test]
fn cookies_are_kept_for_their_own_host() {
    let mut fixture = with(vec![
        answer(
            302,
            &[
                ("Set-Cookie", "s=1; Path=/"),
                ("Set-Cookie", "bad=1; Domain=org"),
                ("Location", "/b"),
            ],
            "",
        ),
        answer(302, &[("Location", "http://other.org/")], ""),
        answer(200, &[], ""),
    ]);
    curl(&mut fixture, "-L -c jar -b none http://h.org/a");
    assert_eq!(header(&fixture, 0, "Cookie"), None);
    assert_eq!(header(&fixture, 1, "Cookie"), Some("s=1"));
    assert_eq!(header(&fixture, 2, "Cookie"), None);
    let jar = String::from_utf8_lossy(&fixture.files[&b"jar"[..]]).into_owned();
    assert!(jar.ends_with("h.org\tFALSE\t/\tFALSE\t0\ts\t1\n"), "{jar}");
    fixture.answers.push_back(answer(200, &[], ""));
    curl(&mut fixture, "-b jar http://h.org/x");
    assert_eq!(header(&fixture, 3, "Cookie"), Some("s=1"));
}

#[test]
fn transient_failures_are_tried_again() {
    let mut fixture = with(vec![
        answer(503, &[], ""),
        Err(HttpError::Timeout),
        answer(200, &[], "ok"),
    ]);
    let ran = curl(&mut fixture, "--retry 3 h");
    assert_eq!(ran.stdout, "ok");
    assert_eq!(fixture.requests.len(), 3);
    assert!(
        ran.stderr
            .contains("Will retry in 1 seconds. 3 retries left."),
        "{}",
        ran.stderr
    );
    let mut fixture = with(vec![]);
    assert_eq!(curl(&mut fixture, "-s --retry 3 h").status, Ok(7));
    assert_eq!(fixture.requests.len(), 1);
}
