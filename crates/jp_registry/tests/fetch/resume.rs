//! Downloads that end early and go on: with servers that help, that do not, and that lie.

use std::{
    fs,
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use jp_registry::{Digest, FetchError};

use crate::{
    BYTES,
    kit::{Asked, Shop, Web, answer},
    shop,
};

fn part(asked: &Asked, bytes: &[u8]) -> Vec<u8> {
    let (from, all) = (asked.from(), bytes.len());
    let head = format!("206 Part\r\nContent-Range: bytes {from}-{}/{all}", all - 1);
    answer(&head, &bytes[from..])
}

/// Hangs up after 7 bytes the first time, then does as told.
fn interrupted(then: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Web {
    let turn = AtomicUsize::new(0);
    Web::raw(move |asked, mut stream| {
        let bytes = match turn.fetch_add(1, Ordering::SeqCst) {
            0 => b"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\na small".to_vec(),
            _ => then(asked),
        };
        let _ = stream.write_all(&bytes);
    })
}

fn starts(web: &Web) -> Vec<usize> {
    web.seen().iter().map(Asked::from).collect()
}

fn partial() -> String {
    format!("partial/{}", Digest::of(BYTES))
}

/// Fetches twice: the first time it ends early and leaves a part.
fn twice(shop: &Shop, web: &Web) -> Result<Vec<u8>, FetchError> {
    let first = shop.fetch_from(&web.url("/"));
    assert!(first.unwrap_err().is_unreachable());
    assert_eq!(shop.stored(), [partial()]);
    let second = shop.fetch_from(&web.url("/"))?;
    Ok(second.bytes().unwrap())
}

#[test]
fn a_download_goes_on_where_it_ended() {
    let (shop, web) = (shop(), interrupted(|asked| part(asked, BYTES)));
    assert_eq!(twice(&shop, &web).unwrap(), BYTES);
    assert_eq!(starts(&web), [0, 7]);
    assert_eq!(shop.stored().len(), 1);
}

#[test]
fn a_server_that_ignores_ranges_is_asked_for_the_whole() {
    for status in ["200 OK", "416 No"] {
        let shop = shop();
        let web = interrupted(move |asked| match asked.from() {
            0 => answer("200 OK", BYTES),
            _ => answer(status, BYTES),
        });
        assert_eq!(twice(&shop, &web).unwrap(), BYTES);
        assert_eq!(starts(&web), [0, 7, 0]);
    }
}

#[test]
fn a_server_that_sends_another_part_is_refused_and_the_next_attempt_starts_anew() {
    let shop = shop();
    let web = interrupted(|asked| match asked.from() {
        0 => answer("200 OK", BYTES),
        _ => answer("206 Part\r\nContent-Range: bytes 3-15/16", &BYTES[3..]),
    });
    let error = twice(&shop, &web).unwrap_err().to_string();
    assert!(error.contains("another part"), "{error}");
    assert!(shop.stored().is_empty());
    assert!(shop.fetch_from(&web.url("/")).is_ok());
    assert_eq!(starts(&web), [0, 7, 0]);
}

#[test]
fn a_part_that_lies_about_its_bytes_is_found_out_and_all_starts_anew() {
    let shop = shop();
    let web = interrupted(|asked| match asked.from() {
        0 => answer("200 OK", BYTES),
        _ => part(asked, b"xxxxxxxxxxxxxxxx"),
    });
    assert_eq!(twice(&shop, &web).unwrap(), BYTES);
    assert_eq!(starts(&web), [0, 7, 0]);

    let shop = crate::shop();
    let web = interrupted(|asked| match asked.from() {
        0 => answer("200 OK", b"a shady artifact"),
        _ => part(asked, b"xxxxxxxxxxxxxxxx"),
    });
    let found = twice(&shop, &web);
    assert!(
        matches!(found, Err(FetchError::WrongDigest { .. })),
        "{found:?}"
    );
    assert!(shop.stored().is_empty());
}

#[test]
fn a_part_that_is_longer_than_the_rest_is_refused_and_nothing_stays() {
    let shop = shop();
    let web = interrupted(|asked| {
        let more = [BYTES, b"more"].concat();
        part(asked, &more)
    });
    let found = twice(&shop, &web);
    assert!(
        matches!(found, Err(FetchError::TooLarge { max: 16, .. })),
        "{found:?}"
    );
    assert!(shop.stored().is_empty());
}

#[test]
fn what_a_crash_left_is_not_trusted() {
    for left in [
        b"garbage".as_slice(),
        b"longer than the artifact is",
        b"a shady artifact",
        b"",
    ] {
        let shop = shop();
        shop.store();
        fs::write(shop.store_dir().join(partial()), left).unwrap();
        let web = Web::new(|asked| match asked.from() {
            0 => answer("200 OK", BYTES),
            _ => part(asked, BYTES),
        });
        let found = shop.fetch_from(&web.url("/")).unwrap();
        assert_eq!(found.bytes().unwrap(), BYTES, "{left:?}");
        assert_eq!(shop.stored().len(), 1);
    }
    // All of it is there already: nobody is asked.
    let shop = shop();
    shop.store();
    fs::write(shop.store_dir().join(partial()), BYTES).unwrap();
    let web = Arc::new(Web::new(|_| answer("500 No", b"")));
    assert!(shop.fetch_from(&web.url("/")).is_ok());
    assert!(web.seen().is_empty());
}
