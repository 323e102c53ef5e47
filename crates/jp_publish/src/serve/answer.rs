//! The answer to a request: a file, a part of one, or a status.

use std::{fs::File, ops::Range, os::unix::fs::MetadataExt as _, path::Path, sync::Arc};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use jp_registry::{Digest, open_served};
use tokio::task;

use super::file;

/// Answers one request.
pub(super) async fn answer(
    State(dir): State<Arc<Path>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    // This is nobody's proxy.
    if uri.authority().is_some() {
        return StatusCode::BAD_REQUEST.into_response();
    }
    // As it was sent: a path of a registry needs no escapes, so one with escapes is not one.
    let path = uri.path().strip_prefix('/').unwrap_or_default().to_owned();
    if uri.query().is_some() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let opened = task::spawn_blocking(move || {
        let (file, size) = open_served(&dir, &path)?;
        let tag = tag(&path, &file, size)?;
        Some((path, Opened { file, size }, tag))
    });
    match opened.await {
        Ok(Some((path, opened, tag))) => respond(&path, opened, &tag, &method, &headers),
        // What may not be opened (a link, a FIFO) is as good as not there.
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// A file that was opened, and its size at that moment.
struct Opened {
    file: File,
    size: u64,
}

fn respond(
    path: &str,
    opened: Opened,
    tag: &str,
    method: &Method,
    headers: &HeaderMap,
) -> Response {
    let size = opened.size;
    let always = [
        (header::ETAG, tag.to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    if text(headers, &header::IF_NONE_MATCH).is_some_and(|known| is_among(known, tag)) {
        return (StatusCode::NOT_MODIFIED, always).into_response();
    }
    // A part of another file would be of no use: the whole is sent then.
    let same = text(headers, &header::IF_RANGE).is_none_or(|known| known.trim() == tag);
    let range = text(headers, &header::RANGE).filter(|_| same);
    let (status, range) = match part(range, size) {
        Wanted::Outside => {
            let whole = [(header::CONTENT_RANGE, format!("bytes */{size}"))];
            return (StatusCode::RANGE_NOT_SATISFIABLE, whole).into_response();
        }
        Wanted::Whole => (StatusCode::OK, 0..size),
        Wanted::Part(range) if range == (0..size) => (StatusCode::OK, range),
        Wanted::Part(range) => (StatusCode::PARTIAL_CONTENT, range),
    };
    let mut own = vec![
        (header::CONTENT_TYPE, kind(path).to_owned()),
        (
            header::CONTENT_LENGTH,
            (range.end - range.start).to_string(),
        ),
    ];
    if status == StatusCode::PARTIAL_CONTENT {
        let shown = format!("bytes {}-{}/{size}", range.start, range.end - 1);
        own.push((header::CONTENT_RANGE, shown));
    }
    let body = match *method == Method::HEAD {
        true => Body::empty(),
        false => Body::new(file::Part::of(opened.file, range)),
    };
    let own = axum::response::AppendHeaders(own);
    (status, always, own, body).into_response()
}

fn kind(path: &str) -> &'static str {
    match path {
        path if path.ends_with(".wasm") => "application/wasm",
        path if path.ends_with(".json") || path.ends_with(".sig") => "application/json",
        _ => "application/octet-stream",
    }
}

/// Names what is served. Artifacts are named by their sha256; documents are only ever replaced whole,
/// by a new file, so that a file and its time name them.
fn tag(path: &str, file: &File, size: u64) -> Option<String> {
    let name = path.strip_prefix("artifacts/");
    let name = name.map(|name| name.strip_suffix(".wasm").unwrap_or(name));
    if let Some(sha256) = name.and_then(|name| name.parse::<Digest>().ok()) {
        return Some(format!("\"{sha256}\""));
    }
    let meta = file.metadata().ok()?;
    let inode = meta.ino();
    let (seconds, rest) = (meta.mtime(), meta.mtime_nsec());
    Some(format!("\"{inode:x}-{size:x}-{seconds:x}-{rest:x}\""))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Tells whether a list of entity tags has this one, or is `*`.
fn is_among(known: &str, tag: &str) -> bool {
    let mut known = known.split(',').map(str::trim);
    known.any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

/// What of a file is wanted.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Whole,
    Part(Range<u64>),
    Outside,
}

/// Reads a `Range` of one part; anything else is ignored, as RFC 9110 allows.
fn part(range: Option<&str>, size: u64) -> Wanted {
    let Some((first, last)) = range
        .and_then(|text| text.strip_prefix("bytes="))
        .and_then(|text| text.split_once('-'))
    else {
        return Wanted::Whole;
    };
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u64>().ok()).flatten()
    };
    let range = match (first, last) {
        ("", last) => number(last).map(|count| size.saturating_sub(count)..size),
        (first, "") => number(first).map(|first| first..size),
        (first, last) => number(first)
            .zip(number(last))
            .filter(|(first, last)| first <= last)
            .map(|(first, last)| first..last.saturating_add(1).min(size)),
    };
    match range {
        None => Wanted::Whole,
        Some(range) if range.start >= range.end => Wanted::Outside,
        Some(range) => Wanted::Part(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_one_part_or_ignored() {
        for (text, expected) in [
            ("bytes=0-", Wanted::Part(0..10)),
            ("bytes=3-", Wanted::Part(3..10)),
            ("bytes=3-5", Wanted::Part(3..6)),
            ("bytes=3-99999999999999999999", Wanted::Whole),
            ("bytes=3-18446744073709551615", Wanted::Part(3..10)),
            ("bytes=-4", Wanted::Part(6..10)),
            ("bytes=-99", Wanted::Part(0..10)),
            ("bytes=10-", Wanted::Outside),
            ("bytes=-0", Wanted::Outside),
            ("bytes=5-3", Wanted::Whole),
            ("bytes=1-2,4-5", Wanted::Whole),
            ("bytes=+1-", Wanted::Whole),
            ("lines=1-", Wanted::Whole),
            ("", Wanted::Whole),
        ] {
            assert_eq!(part(Some(text), 10), expected, "{text}");
        }
        assert_eq!(part(None, 10), Wanted::Whole);
        assert_eq!(part(Some("bytes=0-"), 0), Wanted::Outside);
    }
}
