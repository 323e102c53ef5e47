//! A transport over plain sockets to this machine, with the rules that every transport has.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use jp_registry::{FetchError, Get, Got, Transport};
use url::Url;

/// Speaks HTTP without TLS, and follows redirects within an origin.
pub(crate) struct Plain;

impl Transport for Plain {
    fn get(&self, get: &Get<'_>, sink: &mut dyn Write) -> Result<Got, FetchError> {
        let mut url = Url::parse(get.url).unwrap();
        for _ in 0..5 {
            let (got, reader) = ask(&url, get)?;
            let location = got.header("location").filter(|_| got.status / 100 == 3);
            let Some(location) = location else {
                return take(got, reader, get, sink);
            };
            let next = url.join(location).unwrap();
            if next.origin() != url.origin() && (get.same_origin || next.scheme() != "https") {
                return Err(FetchError::Redirected {
                    from: get.url.to_owned(),
                    reason: next.origin().ascii_serialization(),
                });
            }
            url = next;
        }
        Err(FetchError::Redirected {
            from: get.url.to_owned(),
            reason: "again and again".to_owned(),
        })
    }
}

type Reader = BufReader<TcpStream>;

fn ask(url: &Url, get: &Get<'_>) -> Result<(Got, Reader), FetchError> {
    let failed = |error: std::io::Error| FetchError::Unreachable {
        from: get.url.to_owned(),
        reason: error.to_string(),
    };
    assert_eq!(url.scheme(), "http", "this transport has no TLS");
    let host = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(80));
    let mut stream = TcpStream::connect(&host).map_err(failed)?;
    let patience = Some(Duration::from_secs(20));
    stream.set_read_timeout(patience).map_err(failed)?;
    let query = url.query().map(|query| format!("?{query}"));
    let mut head = format!(
        "GET {}{} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n",
        url.path(),
        query.unwrap_or_default()
    );
    for (name, value) in get.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if get.from > 0 {
        head.push_str(&format!("Range: bytes={}-\r\n", get.from));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).map_err(failed)?;
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).map_err(failed)? == 0 {
            return Err(failed(std::io::ErrorKind::UnexpectedEof.into()));
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
    let header = |line: &String| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), value.trim().to_owned()))
    };
    let got = Got {
        status,
        written: 0,
        headers: lines.iter().skip(1).filter_map(header).collect(),
    };
    Ok((got, reader))
}

/// Takes the body if it is what was asked for.
fn take(
    mut got: Got,
    mut reader: Reader,
    get: &Get<'_>,
    sink: &mut dyn Write,
) -> Result<Got, FetchError> {
    match got.status {
        200 if get.from == 0 => {}
        206 => {
            let begins = got
                .header("content-range")
                .and_then(|range| range.strip_prefix("bytes "))
                .and_then(|range| range.split('-').next()?.parse().ok());
            if begins != Some(get.from) || get.from == 0 {
                return Err(FetchError::Invalid {
                    what: get.url.to_owned(),
                    reason: "another part than the one that was asked for".to_owned(),
                });
            }
        }
        _ => return Ok(got),
    }
    let length: Option<u64> = got
        .header("content-length")
        .map(|text| text.parse().unwrap());
    let too_large = || FetchError::TooLarge {
        what: get.url.to_owned(),
        max: get.max,
    };
    if length.is_some_and(|length| length > get.max) {
        return Err(too_large());
    }
    let mut block = [0; 16 * 1024];
    loop {
        let count = reader.read(&mut block).unwrap_or(0);
        got.written += count as u64;
        if count == 0 {
            break;
        }
        if got.written > get.max {
            return Err(too_large());
        }
        sink.write_all(&block[..count])
            .map_err(|source| FetchError::Io {
                action: "keep what arrived".to_owned(),
                source,
            })?;
    }
    match length.is_some_and(|length| length != got.written) {
        true => Err(FetchError::Unreachable {
            from: get.url.to_owned(),
            reason: "it hung up in the middle".to_owned(),
        }),
        false => Ok(got),
    }
}
