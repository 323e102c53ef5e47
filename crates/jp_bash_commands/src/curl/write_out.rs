//! `-w`: a format with `%{variables}`, printed after each transfer.

use jp_bash_system::{Stop, System, failed};

use super::transfer::Report;

/// Prints the format.
pub(super) fn print(sys: &mut dyn System, format: &[u8], report: &Report) -> Result<(), Stop> {
    let mut fd = 1;
    let mut out = Vec::new();
    let mut rest = format;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match (byte, tail.first()) {
            (b'%', Some(b'%')) => {
                out.push(b'%');
                rest = tail.get(1..).unwrap_or_default();
            }
            (b'%', Some(b'{')) => {
                let Some(end) = memchr::memchr(b'}', tail) else {
                    out.push(b'%');
                    continue;
                };
                let name =
                    String::from_utf8_lossy(tail.get(1..end).unwrap_or_default()).into_owned();
                rest = tail.get(end + 1..).unwrap_or_default();
                match name.as_str() {
                    "stdout" | "stderr" => {
                        failed(sys.write(fd, &out))?.ok();
                        out.clear();
                        fd = if name == "stdout" { 1 } else { 2 };
                    }
                    "onerror" if report.failure.is_none() => break,
                    _ => out.extend(variable(&name, report)),
                }
            }
            (b'%', _) if tail.starts_with(b"header{") => {
                let end = memchr::memchr(b'}', tail).unwrap_or(tail.len());
                let name =
                    String::from_utf8_lossy(tail.get(7..end).unwrap_or_default()).into_owned();
                rest = tail.get(end + 1..).unwrap_or_default();
                out.extend(header(report, &name));
            }
            (b'\\', Some(kind)) => {
                rest = tail.get(1..).unwrap_or_default();
                match kind {
                    b'n' => out.push(b'\n'),
                    b'r' => out.push(b'\r'),
                    b't' => out.push(b'\t'),
                    other => out.extend_from_slice(&[b'\\', *other]),
                }
            }
            _ => out.push(byte),
        }
    }
    failed(sys.write(fd, &out)).map(|_| ())
}

fn header(report: &Report, name: &str) -> Vec<u8> {
    report
        .headers
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.clone())
        .unwrap_or_default()
}

fn variable(name: &str, report: &Report) -> Vec<u8> {
    let seconds = |time: std::time::Duration| format!("{:.6}", time.as_secs_f64());
    let text = match name {
        "http_code" | "response_code" => format!("{:03}", report.status),
        "url" => report.url.clone(),
        "url_effective" => report.effective.clone(),
        "method" => report.method.clone(),
        "scheme" => report
            .effective
            .split(':')
            .next()
            .unwrap_or_default()
            .to_uppercase(),
        "content_type" => return header(report, "content-type"),
        "redirect_url" => report.redirect_url.clone(),
        "num_redirects" => report.redirects.to_string(),
        "num_headers" => report.headers.len().to_string(),
        "num_connects" => "1".to_owned(),
        "size_download" => report.downloaded.to_string(),
        "size_upload" => report.uploaded.to_string(),
        "size_header" => report.header_bytes.to_string(),
        "size_request" => "0".to_owned(),
        "speed_download" | "speed_upload" => "0".to_owned(),
        "http_version" => "1.1".to_owned(),
        "http_connect" => "000".to_owned(),
        "filename_effective" => report.file.clone(),
        "exitcode" => report
            .failure
            .as_ref()
            .map_or(0, |failure| failure.code)
            .to_string(),
        "errormsg" => report
            .failure
            .as_ref()
            .map(|failure| failure.message.clone())
            .unwrap_or_default(),
        "time_total" | "time_starttransfer" | "time_pretransfer" | "time_connect"
        | "time_appconnect" | "time_namelookup" | "time_redirect" => seconds(report.time),
        "remote_ip" | "remote_port" | "local_ip" | "local_port" | "onerror" | "referer" => {
            String::new()
        }
        "ssl_verify_result" | "proxy_ssl_verify_result" => "0".to_owned(),
        _ => String::new(),
    };
    text.into_bytes()
}
