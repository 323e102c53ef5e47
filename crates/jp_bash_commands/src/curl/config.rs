//! What the options of one call say, with the files they name already read.

use std::time::Duration;

use jp_bash_system::{PIECE, Stop, System};

use super::Failure;
use super::files;
use super::form::{self, Part};
use super::options::{Found, URL};
use super::url;

/// How many lines of a file of headers are read between two asks.
const LINES: usize = 512;

/// Where a body goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    File(Vec<u8>),
    /// `-O`: the last part of the address.
    RemoteName,
}

/// The settings of a call.
#[derive(Default)]
pub(super) struct Config {
    pub(super) urls: Vec<Vec<u8>>,
    pub(super) targets: Vec<Target>,
    pub(super) method: Option<String>,
    pub(super) head: bool,
    pub(super) get: bool,
    pub(super) data: Option<Vec<u8>>,
    pub(super) upload: Option<(Vec<u8>, Vec<u8>)>,
    pub(super) content_type: Option<String>,
    pub(super) query: Vec<String>,
    pub(super) headers: Vec<Vec<u8>>,
    pub(super) json: bool,
    pub(super) user: Option<Vec<u8>>,
    pub(super) bearer: Option<Vec<u8>>,
    pub(super) agent: Option<Vec<u8>>,
    pub(super) referer: Option<Vec<u8>>,
    pub(super) cookie: Vec<u8>,
    pub(super) cookie_files: Vec<Vec<u8>>,
    pub(super) jar: Option<Vec<u8>>,
    pub(super) include: bool,
    pub(super) dump_header: Option<Vec<u8>>,
    pub(super) silent: bool,
    pub(super) show_error: bool,
    pub(super) fail: bool,
    pub(super) fail_with_body: bool,
    pub(super) fail_early: bool,
    pub(super) follow: bool,
    pub(super) trusted: bool,
    pub(super) max_redirects: Option<u64>,
    /// Statuses after which a POST stays one.
    pub(super) keep_post: Vec<u16>,
    pub(super) write_out: Option<Vec<u8>>,
    pub(super) verbose: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) retries: u64,
    pub(super) retry_delay: Option<Duration>,
    pub(super) retry_all: bool,
    pub(super) retry_refused: bool,
    /// No retry starts once so much time has passed.
    pub(super) retry_time: Option<Duration>,
    /// Cookies without an end are not read from files.
    pub(super) junk_session: bool,
    /// The scheme of an address without one is `https`.
    pub(super) https: bool,
    pub(super) max_size: Option<u64>,
    pub(super) output_dir: Option<Vec<u8>>,
    pub(super) create_dirs: bool,
    pub(super) no_clobber: bool,
    pub(super) remove_on_error: bool,
    pub(super) path_as_is: bool,
    pub(super) globoff: bool,
    pub(super) range: Option<String>,
    pub(super) etag_save: Option<Vec<u8>>,
    pub(super) all_remote: bool,
}

type Checked<T> = Result<Result<T, Failure>, Stop>;

macro_rules! check {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(failure) => return Ok(Err(failure)),
        }
    };
}

/// Makes the settings.
pub(super) fn read(sys: &mut dyn System, found: Found) -> Checked<Config> {
    let mut config = Config::default();
    let mut parts: Vec<Part> = Vec::new();
    for (id, value) in found {
        match id {
            'd' | 'y' | 'r' | 'U' | 'j' => check!(add_data(sys, &mut config, id, &value)?),
            'q' => {
                let text = check!(encoded(sys, &value)?);
                config
                    .query
                    .push(String::from_utf8_lossy(&text).into_owned());
            }
            'F' | 'g' => parts.push(Part {
                text: value,
                literal: id == 'g',
            }),
            'H' => check!(add_header(sys, &mut config, &value)?),
            'T' => {
                let content = check!(files::read(sys, &value)?);
                config.upload = Some((value, content));
            }
            '!' => {
                if let Ok(tag) = files::read(sys, &value)? {
                    let tag = tag.trim_ascii().to_vec();
                    let tag = if tag.is_empty() {
                        b"\"\"".to_vec()
                    } else {
                        tag
                    };
                    config.headers.push([b"If-None-Match: ", &tag[..]].concat());
                }
            }
            'w' => {
                config.write_out = Some(match value.strip_prefix(b"@") {
                    Some(path) => check!(files::read(sys, path)?),
                    None => value,
                });
            }
            _ => check!(plain(&mut config, id, value)),
        }
    }
    if !parts.is_empty() {
        if config.data.is_some() {
            let message = "You can only select one HTTP request method! Both -d and -F were used";
            return Ok(Err(Failure::new(2, message)));
        }
        let (body, kind) = check!(form::body(sys, &parts)?);
        config.data = Some(body);
        config.content_type = Some(kind);
    }
    if config.urls.is_empty() {
        return Ok(Err(Failure::new(2, "(2) no URL specified")));
    }
    Ok(Ok(config))
}

/// Options that read no file.
fn plain(config: &mut Config, id: char, value: Vec<u8>) -> Result<(), Failure> {
    match id {
        URL => config.urls.push(value),
        'o' => config.targets.push(Target::File(value)),
        'O' => config.targets.push(Target::RemoteName),
        'p' => config.all_remote = true,
        'X' => config.method = Some(token(&value)?),
        'I' => config.head = true,
        'G' => config.get = true,
        'u' => config.user = Some(value),
        'B' => config.bearer = Some(clean(value)?),
        'A' => config.agent = Some(clean(value)?),
        'e' => config.referer = Some(clean(value)?),
        'b' if value.contains(&b'=') => {
            if !config.cookie.is_empty() {
                config.cookie.extend_from_slice(b"; ");
            }
            config.cookie.extend(clean(value)?);
        }
        'b' => config.cookie_files.push(value),
        'c' => config.jar = Some(value),
        'i' => config.include = true,
        'P' => config.dump_header = Some(value),
        's' => config.silent = true,
        'S' => config.show_error = true,
        'f' => config.fail = true,
        'W' => config.fail_with_body = true,
        'E' => config.fail_early = true,
        'L' => config.follow = true,
        'l' => {
            config.follow = true;
            config.trusted = true;
        }
        'M' => {
            let number = number(&value, "--max-redirs")?;
            config.max_redirects = Some(u64::try_from(number).unwrap_or(u64::MAX));
        }
        '4' => config.keep_post.push(301),
        '5' => config.keep_post.push(302),
        '6' => config.keep_post.push(303),
        'v' => config.verbose = true,
        'm' => config.timeout = seconds(&value, "--max-time")?,
        'R' => config.retries = u64::try_from(number(&value, "--retry")?).unwrap_or(0),
        'D' => config.retry_delay = seconds(&value, "--retry-delay")?,
        't' => config.retry_time = seconds(&value, "--retry-max-time")?,
        'k' => config.retry_refused = true,
        'Z' => config.junk_session = true,
        'a' => config.retry_all = true,
        'z' => {
            config.max_size = Some(u64::try_from(number(&value, "--max-filesize")?).unwrap_or(0))
        }
        'Q' => config.output_dir = Some(value),
        'K' => config.create_dirs = true,
        'N' => config.no_clobber = true,
        'x' => config.remove_on_error = true,
        'J' => config.path_as_is = true,
        '0' => config.globoff = true,
        'n' => config.range = Some(String::from_utf8_lossy(&clean(value)?).into_owned()),
        '@' => config.etag_save = Some(value),
        '%' if value != b"http" && value != b"https" => {
            return Err(Failure::new(2, "--proto-default: unsupported protocol"));
        }
        '%' => config.https = value == b"https",
        // Those left change nothing here: progress meters, buffering, `.curlrc`.
        _ => {}
    }
    Ok(())
}

fn add_data(sys: &mut dyn System, config: &mut Config, id: char, value: &[u8]) -> Checked<()> {
    let more = match (id, value.strip_prefix(b"@")) {
        ('U', _) => check!(encoded(sys, value)?),
        ('d', Some(path)) => {
            let mut text = check!(files::read(sys, path)?);
            remove_line_ends(sys, &mut text)?;
            text
        }
        ('y' | 'j', Some(path)) => check!(files::read(sys, path)?),
        _ => value.to_vec(),
    };
    sys.reserve(more.len() as u64)?;
    if id == 'j' {
        config.json = true;
    }
    match &mut config.data {
        Some(data) => {
            if id != 'j' {
                data.push(b'&');
            }
            data.extend(more);
        }
        None => config.data = Some(more),
    }
    Ok(Ok(()))
}

/// Removes what `--data @file` leaves out.
fn remove_line_ends(sys: &mut dyn System, text: &mut Vec<u8>) -> Result<(), Stop> {
    let mut kept = Vec::with_capacity(text.len());
    for piece in text.chunks(PIECE) {
        sys.work_bytes(piece.len())?;
        kept.extend(
            piece
                .iter()
                .filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)),
        );
    }
    *text = kept;
    Ok(())
}

/// `--data-urlencode`: `content`, `=content`, `name=content`, `@file`, `name@file`.
fn encoded(sys: &mut dyn System, value: &[u8]) -> Checked<Vec<u8>> {
    let at = value.iter().position(|byte| matches!(byte, b'=' | b'@'));
    let Some(at) = at else {
        return Ok(Ok(url::encode(sys, value)?.into_bytes()));
    };
    let (name, rest) = value.split_at(at);
    let content = rest.get(1..).unwrap_or_default();
    let content = if rest.first() == Some(&b'@') {
        check!(files::read(sys, content)?)
    } else {
        content.to_vec()
    };
    let mut out = name.to_vec();
    if !name.is_empty() {
        out.push(b'=');
    }
    let coded = url::encode(sys, &content)?;
    if out.is_empty() {
        return Ok(Ok(coded.into_bytes()));
    }
    sys.reserve(coded.len() as u64)?;
    out.extend(coded.into_bytes());
    Ok(Ok(out))
}

fn add_header(sys: &mut dyn System, config: &mut Config, value: &[u8]) -> Checked<()> {
    let Some(path) = value.strip_prefix(b"@") else {
        config.headers.push(check!(clean(value.to_vec())));
        return Ok(Ok(()));
    };
    let text = check!(files::read(sys, path)?);
    for (count, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if count % LINES == LINES - 1 {
            // Each header is a text of its own.
            sys.reserve(LINES as u64 * 32)?;
            sys.work_bytes(PIECE)?;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.is_empty() {
            config.headers.push(check!(clean(line.to_vec())));
        }
    }
    Ok(Ok(()))
}

/// Refuses what would end a header's line and begin another.
fn clean(value: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
        return Err(Failure::new(43, "A header must not contain a line break"));
    }
    Ok(value)
}

fn token(value: &[u8]) -> Result<String, Failure> {
    let good = !value.is_empty()
        && value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte));
    if !good {
        return Err(Failure::new(43, "A request method must be a single word"));
    }
    Ok(String::from_utf8_lossy(value).into_owned())
}

fn number(value: &[u8], name: &str) -> Result<i64, Failure> {
    std::str::from_utf8(value)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| {
            Failure::new(
                2,
                &format!("option {name}: expected a proper numerical parameter"),
            )
        })
}

/// Reads a time; 0 is no limit.
fn seconds(value: &[u8], name: &str) -> Result<Option<Duration>, Failure> {
    let text = std::str::from_utf8(value).ok();
    let seconds: Option<f64> = text.and_then(|text| text.parse().ok());
    match seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0) {
        Some(0.0) => Ok(None),
        Some(seconds) => Ok(Duration::try_from_secs_f64(seconds).ok()),
        None => Err(Failure::new(
            2,
            &format!("option {name}: expected a proper numerical parameter"),
        )),
    }
}
