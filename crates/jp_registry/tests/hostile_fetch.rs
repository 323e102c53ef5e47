//! Fetching from registries that cannot be trusted, over real connections on loopback.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "fetch/dir.rs"]
mod dir;
mod kit;
#[path = "fetch/oci.rs"]
mod oci;
#[path = "fetch/resume.rs"]
mod resume;
#[path = "fetch/store.rs"]
mod store;

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use jp_registry::{
    ArtifactRef, Digest, FetchError, Get, Got, OciSource, Owner, Source, StaticSource, Transport,
};

use kit::{Plain, Shop, Web, answer};

const BYTES: &[u8] = b"a small artifact";

/// A shop that sells `ocr` 1.0.0.
fn shop() -> Shop {
    let shop = Shop::new();
    shop.publish("1.0.0", BYTES);
    shop
}

fn source(web: &Web) -> StaticSource {
    StaticSource::at_url(&web.url("/"), Arc::new(Plain)).unwrap()
}

#[test]
fn another_artifact_of_the_same_size_is_refused_and_nothing_stays() {
    let shop = shop();
    let web = Web::new(|_| answer("200 OK", b"a shady artifact"));
    let found = shop.fetch_from(&web.url("/"));
    assert!(
        matches!(found, Err(FetchError::WrongDigest { .. })),
        "{found:?}"
    );
    assert!(shop.stored().is_empty(), "{:?}", shop.stored());
}

#[test]
fn an_artifact_of_another_size_is_refused_and_nothing_stays() {
    let shop = shop();
    let long = Web::new(|_| answer("200 OK", b"a small artifact and more"));
    let found = shop.fetch_from(&long.url("/"));
    assert!(
        matches!(found, Err(FetchError::TooLarge { max: 16, .. })),
        "{found:?}"
    );
    assert!(shop.stored().is_empty());
    // Shorter, and complete by its own account: that may still become right.
    let short = Web::new(|_| answer("200 OK", b"a small"));
    let found = shop.fetch_from(&short.url("/"));
    assert!(
        matches!(
            found,
            Err(FetchError::Truncated {
                expected: 16,
                found: 7,
                ..
            })
        ),
        "{found:?}"
    );
}

#[test]
fn an_endless_artifact_is_cut_off_at_its_size() {
    let shop = shop();
    let web = Web::raw(|_, mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[0; 4096]).is_ok() {}
    });
    let found = shop.fetch_from(&web.url("/"));
    assert!(
        matches!(found, Err(FetchError::TooLarge { max: 16, .. })),
        "{found:?}"
    );
    assert!(shop.stored().is_empty());
}

#[test]
fn a_manifest_of_100_mb_is_cut_off_with_an_error_that_names_the_cap() {
    for announced in [true, false] {
        let web = Web::raw(move |_, mut stream| {
            let length = if announced {
                "Content-Length: 100000000\r\n"
            } else {
                ""
            };
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n{length}\r\n");
            for _ in 0..25_000 {
                if stream.write_all(&[b' '; 4000]).is_err() {
                    return;
                }
            }
        });
        let found = source(&web).manifest(&"ocr".parse().unwrap(), None);
        let error = found.unwrap_err();
        assert!(matches!(error, FetchError::TooLarge { max: 1_048_576, .. }));
        let text = error.to_string();
        assert!(
            text.contains("1048576") && text.contains("ocr.json"),
            "{text}"
        );
    }
}

#[test]
fn each_document_has_its_cap() {
    let web = Web::raw(|_, mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b' '; 65_536]).is_ok() {}
    });
    let source = source(&web);
    let caps = [
        source.about().map(drop),
        source.index().map(drop),
        source.revocations().map(drop),
        source.rotations().map(drop),
        source.model(&"m".parse().unwrap()).map(drop),
    ];
    let caps = caps.map(|found| match found {
        Err(FetchError::TooLarge { max, .. }) => max,
        found => panic!("{found:?}"),
    });
    let mib = 1024 * 1024;
    assert_eq!(caps, [65_536, 16 * mib, 4 * mib, 4 * mib, mib]);
}

#[test]
fn a_document_of_exactly_its_cap_is_read_and_no_byte_more() {
    let cap = 4 * 1024 * 1024;
    for (size, read) in [(cap, true), (cap + 1, false)] {
        let web = Web::new(move |_| {
            let body = vec![b' '; size];
            [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &body].concat()
        });
        let found = source(&web).rotations();
        assert_eq!(found.is_ok_and(|bytes| bytes.is_some()), read);
    }
}

/// Finds nothing, and remembers what may be left for another origin.
#[derive(Default)]
struct Watching(Mutex<Vec<bool>>);

impl Transport for Watching {
    fn get(&self, get: &Get<'_>, _: &mut dyn Write) -> Result<Got, FetchError> {
        self.0.lock().unwrap().push(get.same_origin);
        Ok(Got {
            status: 404,
            ..Got::default()
        })
    }
}

#[test]
fn only_artifacts_may_be_at_another_origin() {
    let watching = Arc::new(Watching::default());
    let http = StaticSource::at_url("https://a.example", Arc::clone(&watching) as _).unwrap();
    let oci = OciSource::new("oci://a.example/b", Arc::clone(&watching) as _).unwrap();
    let (id, version) = ("ocr".parse().unwrap(), "1.0.0".parse().unwrap());
    let _ = (http.about(), http.index(), http.revocations());
    let _ = (http.rotations(), http.manifest(&id, None));
    let _ = (oci.manifest(&id, None), oci.model(&"m".parse().unwrap()));
    assert_eq!(*watching.0.lock().unwrap(), [true; 7]);
    let artifact = ArtifactRef {
        owner: Owner::Tool(&id, &version),
        sha256: Digest::of(BYTES),
        size: Some(16),
        url: None,
    };
    let _ = http.artifact(&artifact, 0, &mut Vec::new());
    let _ = oci.artifact(&artifact, 0, &mut Vec::new());
    assert_eq!(watching.0.lock().unwrap()[7..], [false; 2]);
}

#[test]
fn signatures_have_their_cap_too() {
    let web = Web::raw(|asked, mut stream| {
        if asked.path.ends_with(".sig") {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(&[b' '; 65_536]).is_ok() {}
        }
        let _ = stream.write_all(&answer("200 OK", b"{}"));
    });
    let found = source(&web).index();
    assert!(
        matches!(found, Err(FetchError::TooLarge { max: 65_536, .. })),
        "{found:?}"
    );
}

#[test]
fn a_redirect_of_a_document_elsewhere_is_refused() {
    let goal = Web::new(|_| answer("200 OK", b"{}"));
    let to = goal.url("/index.json");
    let web = Web::new(move |_| answer(&format!("302 Found\r\nLocation: {to}"), b""));
    let found = source(&web).index();
    assert!(
        matches!(found, Err(FetchError::Redirected { .. })),
        "{found:?}"
    );
    assert!(goal.seen().is_empty());
}

#[test]
fn a_redirect_of_an_artifact_to_an_open_connection_is_refused() {
    let shop = shop();
    let goal = Web::new(|_| answer("200 OK", BYTES));
    let to = goal.url("/x");
    let web = Web::new(move |_| answer(&format!("307 On\r\nLocation: {to}"), b""));
    let found = shop.fetch_from(&web.url("/"));
    assert!(
        matches!(found, Err(FetchError::Redirected { .. })),
        "{found:?}"
    );
    assert!(goal.seen().is_empty() && shop.stored().is_empty());
}

#[test]
fn an_artifact_elsewhere_must_be_https() {
    let web = Web::new(|_| answer("200 OK", BYTES));
    let source = source(&web);
    let (id, version) = ("ocr".parse().unwrap(), "1.0.0".parse().unwrap());
    let get = |url: &str| {
        let mut bytes = Vec::new();
        let artifact = ArtifactRef {
            owner: Owner::Tool(&id, &version),
            sha256: Digest::of(BYTES),
            size: Some(16),
            url: Some(url),
        };
        let sent = source.artifact(&artifact, 0, &mut bytes);
        sent.map(|_| bytes)
    };
    for url in [
        "http://169.254.169.254/latest",
        "http://127.0.0.1:1/x",
        "file:///etc/passwd",
        "ftp://a.example/x",
        "//other.example/x",
    ] {
        assert!(matches!(get(url), Err(FetchError::Denied { .. })), "{url}");
    }
    assert!(web.seen().is_empty());
    assert_eq!(get("artifacts/x.wasm").unwrap(), BYTES);
    assert_eq!(get(&web.url("/y.wasm")).unwrap(), BYTES);
    let seen: Vec<String> = web.seen().into_iter().map(|asked| asked.path).collect();
    assert_eq!(seen, ["/artifacts/x.wasm", "/y.wasm"]);
}

#[test]
fn a_missing_index_is_an_error_and_a_server_in_trouble_is_not_a_missing_file() {
    let gone = Web::new(|_| answer("404 Not Found", b"a page"));
    assert!(matches!(
        source(&gone).index(),
        Err(FetchError::NotFound { .. })
    ));
    assert_eq!(source(&gone).rotations().unwrap(), None);
    let busy = Web::new(|_| answer("503 Busy", b"a page"));
    let error = source(&busy).rotations().unwrap_err();
    assert!(error.is_unreachable(), "{error}");
}

#[test]
fn the_url_of_a_registry_is_plain() {
    for url in [
        "",
        "x",
        "ftp://a.example/",
        "file:///srv",
        "https://user@a.example/",
        "https://a.example/?q",
        "https://a.example/#f",
    ] {
        assert!(StaticSource::at_url(url, Arc::new(Plain)).is_err(), "{url}");
    }
    let source = StaticSource::at_url("https://a.example/tools", Arc::new(Plain)).unwrap();
    assert_eq!(source.name(), "https://a.example/tools/");
}
