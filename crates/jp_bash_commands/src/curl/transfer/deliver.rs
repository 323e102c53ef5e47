//! Where an answer goes: standard output, files, and the trace of `-v`.

use jp_bash_system::{Follow, HttpResponse, Stop, System, failed};

use super::{Checked, Report, header};
use crate::curl::config::{Config, Target};
use crate::curl::url::Url;
use crate::curl::{Failure, files};

pub(super) fn head_of(response: &HttpResponse) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} {}\r\n", response.status, response.reason).into_bytes();
    for (name, value) in &response.headers {
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}

pub(super) fn verbose(sys: &mut dyn System, mark: &str, head: &[u8]) -> Result<(), Stop> {
    let mut out = Vec::new();
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        out.extend_from_slice(mark.as_bytes());
        out.extend_from_slice(line);
    }
    failed(sys.write(2, &out)).map(|_| ())
}

/// Writes the answer to where it goes.
pub(super) fn deliver(
    sys: &mut dyn System,
    config: &Config,
    target: Option<&Target>,
    url: &Url,
    response: &HttpResponse,
    heads: &[u8],
    report: &mut Report,
) -> Checked<()> {
    let bad = response.status >= 400;
    if let Some(path) = &config.dump_header
        && let Err(failure) = files::write(sys, path, heads)?
    {
        return Ok(Err(failure));
    }
    let refused = Failure::new(
        22,
        &format!("The requested URL returned error: {}", response.status),
    );
    if bad && config.fail {
        return Ok(Err(refused));
    }
    sys.reserve(response.body.len() as u64)?;
    let mut out = Vec::new();
    if config.include || config.head {
        out.extend_from_slice(heads);
    }
    if !config.head {
        out.extend_from_slice(&response.body);
        report.downloaded = response.body.len();
    }
    let path = match place(sys, config, target, url)? {
        Ok(path) => path,
        Err(failure) => return Ok(Err(failure)),
    };
    if path != b"-" {
        report.file = String::from_utf8_lossy(&path).into_owned();
    }
    let written = files::write(sys, &path, &out)?;
    sys.release(response.body.len() as u64);
    if let Err(failure) = written {
        return Ok(Err(failure));
    }
    if let (Some(path), Some(tag)) = (&config.etag_save, header(response, "etag")) {
        let _ = files::write(sys, path, &[tag, b"\n"].concat())?;
    }
    if bad && config.fail_with_body {
        if config.remove_on_error && path != b"-" {
            let _ = failed(sys.unlink(&path))?;
        }
        return Ok(Err(refused));
    }
    Ok(Ok(()))
}

pub(super) fn place(
    sys: &mut dyn System,
    config: &Config,
    target: Option<&Target>,
    url: &Url,
) -> Checked<Vec<u8>> {
    let name = match target {
        None => return Ok(Ok(b"-".to_vec())),
        Some(Target::File(path)) => path.clone(),
        Some(Target::RemoteName) => match url.file_name() {
            // The server's `..` or `%2f` must not choose another directory.
            Some(name) if name != ".." && name != "." => name.as_bytes().to_vec(),
            _ => return Ok(Err(Failure::new(23, "Remote file name has no length!"))),
        },
    };
    if name == b"-" {
        return Ok(Ok(name));
    }
    let mut path = match &config.output_dir {
        Some(directory) if !name.starts_with(b"/") => [&directory[..], b"/", &name[..]].concat(),
        _ => name,
    };
    if config.create_dirs {
        files::create_dirs(sys, &path)?;
    }
    if config.no_clobber {
        let base = path.clone();
        let mut number = 0;
        while failed(sys.stat(&path, Follow::Yes))?.is_ok() {
            number += 1;
            if number > 100 {
                return Ok(Err(Failure::new(
                    23,
                    "Failure writing output to destination",
                )));
            }
            path = [&base[..], format!(".{number}").as_bytes()].concat();
        }
    }
    Ok(Ok(path))
}
