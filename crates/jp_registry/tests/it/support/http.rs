//! A plain HTTP client: one `GET` per connection, to this machine. It keeps the promises of
//! [`Transport`], and follows no redirect at all.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use jp_registry::{FetchError, Get, Got, Transport};

pub(crate) struct Plain;

impl Transport for Plain {
    fn get(&self, get: &Get<'_>, sink: &mut dyn Write) -> Result<Got, FetchError> {
        let failed = |error: std::io::Error| FetchError::Unreachable {
            from: get.url.to_owned(),
            reason: error.to_string(),
        };
        let rest = get.url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut stream = TcpStream::connect(host).map_err(failed)?;
        let patience = Some(Duration::from_secs(10));
        stream.set_read_timeout(patience).map_err(failed)?;
        let mut head = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        if get.from > 0 {
            head.push_str(&format!("Range: bytes={}-\r\n", get.from));
        }
        stream
            .write_all(format!("{head}\r\n").as_bytes())
            .map_err(failed)?;
        let (status, headers) = read_head(&mut stream).map_err(failed)?;
        let mut got = Got {
            status,
            written: 0,
            headers,
        };
        if (300..400).contains(&status) {
            return Err(FetchError::Redirected {
                from: get.url.to_owned(),
                reason: got.header("location").unwrap_or_default().to_owned(),
            });
        }
        let wanted = if get.from > 0 { 206 } else { 200 };
        if status == wanted {
            copy(get, &mut got, &mut stream, sink)?;
        }
        Ok(got)
    }
}

fn copy(
    get: &Get<'_>,
    got: &mut Got,
    stream: &mut TcpStream,
    sink: &mut dyn Write,
) -> Result<(), FetchError> {
    let what = || get.url.to_owned();
    let length: Option<u64> = got.header("content-length").and_then(|n| n.parse().ok());
    let mut buffer = [0; 16 * 1024];
    while length.is_none_or(|length| got.written < length) {
        let count = stream.read(&mut buffer).unwrap_or(0);
        if count == 0 {
            break;
        }
        got.written += u64::try_from(count).unwrap();
        if got.written > get.max {
            let max = get.max;
            return Err(FetchError::TooLarge { what: what(), max });
        }
        sink.write_all(&buffer[..count])
            .map_err(|source| FetchError::Io {
                action: "write".into(),
                source,
            })?;
    }
    match length.filter(|length| *length != got.written) {
        None => Ok(()),
        Some(expected) => Err(FetchError::Truncated {
            what: what(),
            expected,
            found: got.written,
        }),
    }
}

type Head = (u16, Vec<(String, String)>);

fn read_head(stream: &mut TcpStream) -> std::io::Result<Head> {
    let mut bytes = Vec::new();
    let mut one = [0];
    while !bytes.ends_with(b"\r\n\r\n") && bytes.len() < 64 * 1024 {
        stream.read_exact(&mut one)?;
        bytes.push(one[0]);
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let status = status.and_then(|status| status.parse().ok());
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), value.trim().to_owned()))
    };
    Ok((status.unwrap_or(0), lines.filter_map(header).collect()))
}
