//! One transfer after the other: requests, redirects, retries, and where the answers go.

mod deliver;

use std::time::Duration;

use deliver::{deliver, head_of, verbose};

use jp_bash_system::io::complain;
use jp_bash_system::{HttpError, HttpRequest, HttpResponse, PIECE, Stop, System, failed};

use super::config::{Config, Target};
use super::cookies::Jar;
use super::url::{BadUrl, Url};
use super::{Failure, files, write_out};

/// How often a redirect is followed unless `--max-redirs` says otherwise.
const MAX_REDIRECTS: u64 = 50;
/// The most bytes of an answer that are kept.
const MAX_BODY: u64 = 64 << 20;
/// The longest pause between two tries.
const MAX_PAUSE: u64 = 600;

/// What `-w` can tell about a transfer.
#[derive(Default)]
pub(super) struct Report {
    pub(super) url: String,
    pub(super) effective: String,
    pub(super) method: String,
    pub(super) status: u16,
    pub(super) redirects: u64,
    pub(super) redirect_url: String,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) header_bytes: usize,
    pub(super) uploaded: usize,
    pub(super) downloaded: usize,
    pub(super) time: Duration,
    pub(super) file: String,
    pub(super) failure: Option<Failure>,
}

/// Runs all transfers; the status is the last one's.
pub(super) fn all(sys: &mut dyn System, config: Config) -> Result<i32, Stop> {
    let mut jar = Jar::default();
    let mut status = 0;
    for (at, address) in config.urls.iter().enumerate() {
        sys.turns(1)?;
        let began = sys.since_start();
        let mut report = Report {
            url: String::from_utf8_lossy(address).into_owned(),
            ..Report::default()
        };
        let target = match config.targets.get(at) {
            Some(target) => Some(target.clone()),
            None => config.all_remote.then_some(Target::RemoteName),
        };
        let result = one(
            sys,
            &config,
            &mut jar,
            address,
            target.as_ref(),
            &mut report,
        )?;
        report.time = sys.since_start().saturating_sub(began);
        status = 0;
        if let Err(failure) = result {
            status = failure.code;
            if !config.silent || config.show_error {
                let message = format!("({}) {}", failure.code, failure.message);
                complain(sys, b"curl", message.as_bytes())?;
            }
            report.failure = Some(failure);
        }
        if let Some(format) = &config.write_out {
            write_out::print(sys, format, &report)?;
        }
        if status != 0 && config.fail_early {
            break;
        }
    }
    if let Some(path) = &config.jar {
        // A jar that cannot be written is a warning to curl, no failure.
        let _ = files::write(sys, path, jar.save().as_bytes())?;
    }
    Ok(status)
}

fn bad_url(bad: &BadUrl) -> Failure {
    match bad {
        BadUrl::Malformed => Failure::new(3, "URL using bad/illegal format or missing URL"),
        BadUrl::Scheme(scheme) => Failure::new(
            1,
            &format!("Protocol \"{scheme}\" not supported or disabled in libcurl"),
        ),
    }
}

type Checked<T> = Result<Result<T, Failure>, Stop>;

fn one(
    sys: &mut dyn System,
    config: &Config,
    jar: &mut Jar,
    address: &[u8],
    target: Option<&Target>,
    report: &mut Report,
) -> Checked<()> {
    if !config.globoff && address.iter().any(|byte| b"{}".contains(byte)) {
        return Ok(Err(Failure::new(
            3,
            "URL globbing is not supported: use -g",
        )));
    }
    let address = match memchr::memmem::find(address, b"://") {
        None if config.https => [b"https://", address].concat(),
        _ => address.to_vec(),
    };
    let mut url = match Url::parse(&address) {
        Ok(url) => url,
        Err(bad) => return Ok(Err(bad_url(&bad))),
    };
    if !config.path_as_is {
        url.squash();
    }
    for query in &config.query {
        url.add_query(query);
    }
    if config.get
        && let Some(data) = &config.data
    {
        url.add_query(&String::from_utf8_lossy(data));
    }
    if let Some((path, _)) = &config.upload
        && url.path.ends_with('/')
        && path != b"-"
    {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        url.path.push_str(&super::url::encode(sys, name)?);
    }
    // Bytes that a form or a file put into the address are held to the same rules as the rest of it.
    url = match Url::parse(url.text().as_bytes()) {
        Ok(checked) => Url {
            user: url.user,
            ..checked
        },
        Err(bad) => return Ok(Err(bad_url(&bad))),
    };
    for path in &config.cookie_files {
        if let Ok(text) = files::read(sys, path)? {
            let now = sys.now().secs;
            jar.load(&text, &url, now);
            if config.junk_session {
                jar.forget_sessions();
            }
        }
    }
    let mut hops = Hops::new(config, url);
    let (response, heads) = match hops.run(sys, jar, report)? {
        Ok(answer) => answer,
        Err(failure) => return Ok(Err(failure)),
    };
    deliver(sys, config, target, &hops.url, &response, &heads, report)
}

/// A request on its way through redirects.
struct Hops<'c> {
    config: &'c Config,
    first: Url,
    url: Url,
    method: String,
    body: Vec<u8>,
    /// The body was dropped by a redirect.
    bodiless: bool,
}

impl<'c> Hops<'c> {
    fn new(config: &'c Config, url: Url) -> Self {
        let data = config.data.as_ref().filter(|_| !config.get);
        let method = match (&config.method, config.head, &config.upload, data) {
            (Some(method), ..) => method.clone(),
            (None, true, ..) => "HEAD".to_owned(),
            (None, _, Some(_), _) => "PUT".to_owned(),
            (None, _, _, Some(_)) => "POST".to_owned(),
            _ => "GET".to_owned(),
        };
        let body = match (&config.upload, data) {
            (Some((_, content)), _) => content.clone(),
            (None, Some(data)) => data.clone(),
            _ => Vec::new(),
        };
        let bodiless = config.upload.is_none() && data.is_none();
        Self {
            config,
            first: url.clone(),
            url,
            method,
            body,
            bodiless,
        }
    }

    /// Makes requests until the answer is no redirect that is to be followed.
    fn run(
        &mut self,
        sys: &mut dyn System,
        jar: &mut Jar,
        report: &mut Report,
    ) -> Checked<(HttpResponse, Vec<u8>)> {
        let most = self.config.max_redirects.unwrap_or(MAX_REDIRECTS);
        let mut heads = Vec::new();
        loop {
            sys.turns(1)?;
            let response = match self.request(sys, jar)? {
                Ok(response) => response,
                Err(failure) => {
                    report.effective = self.url.text();
                    return Ok(Err(failure));
                }
            };
            let head = head_of(&response);
            if self.config.verbose {
                verbose(sys, "< ", &head)?;
            }
            let now = sys.now().secs;
            for (name, value) in &response.headers {
                if name.eq_ignore_ascii_case("set-cookie") {
                    jar.receive(value, &self.url, now);
                }
            }
            report.status = response.status;
            report.method.clone_from(&self.method);
            report.effective = self.url.text();
            report.headers.clone_from(&response.headers);
            report.header_bytes += head.len();
            report.uploaded = self.body.len();
            heads.extend_from_slice(&head);
            let location =
                header(&response, "location").filter(|_| (300..400).contains(&response.status));
            let Some(location) = location else {
                return Ok(Ok((response, heads)));
            };
            let next = match self.url.join(location) {
                Ok(next) => next,
                Err(bad) if self.config.follow => return Ok(Err(bad_url(&bad))),
                Err(_) => return Ok(Ok((response, heads))),
            };
            if !self.config.follow {
                report.redirect_url = next.text();
                return Ok(Ok((response, heads)));
            }
            if report.redirects >= most {
                let message = format!("Maximum ({most}) redirects followed");
                return Ok(Err(Failure::new(47, &message)));
            }
            report.redirects += 1;
            self.change_method(response.status);
            self.url = next;
        }
    }

    fn change_method(&mut self, status: u16) {
        let post = self.method == "POST" && !self.config.keep_post.contains(&status);
        let drop_body = match status {
            301 | 302 => post,
            303 => self.method != "HEAD" && !self.config.keep_post.contains(&303),
            _ => false,
        };
        if drop_body {
            if self.config.method.is_none() {
                "GET".clone_into(&mut self.method);
            }
            self.body.clear();
            self.bodiless = true;
        }
    }

    /// Makes one request, again where that may help.
    fn request(&self, sys: &mut dyn System, jar: &Jar) -> Checked<HttpResponse> {
        let began = sys.since_start();
        let mut left = self.config.retries;
        let mut pause = 1;
        loop {
            sys.turns(1)?;
            let request = match self.build(sys, jar)? {
                Ok(request) => request,
                Err(failure) => return Ok(Err(failure)),
            };
            if self.config.verbose {
                verbose(sys, "> ", &self.request_head(&request))?;
            }
            let answer = sys.http(request)?;
            let (transient, why) = match &answer {
                Ok(response) => (
                    matches!(response.status, 408 | 429 | 500 | 502 | 503 | 504)
                        || (self.config.retry_all && self.config.fail && response.status >= 400),
                    "HTTP error",
                ),
                Err(HttpError::Timeout) => (true, "timeout"),
                Err(HttpError::Denied(_) | HttpError::TooLarge(_)) => (false, ""),
                Err(HttpError::Connect(_)) if self.config.retry_refused => (true, "connection"),
                Err(_) => (self.config.retry_all, "connection"),
            };
            let passed = sys.since_start().saturating_sub(began);
            let late = self.config.retry_time.is_some_and(|most| passed >= most);
            if !transient || left == 0 || late {
                return Ok(answer.map_err(|error| self.failure(error)));
            }
            let wait = match (self.config.retry_delay, &answer) {
                (Some(delay), _) => delay,
                (None, Ok(response)) => Duration::from_secs(retry_after(response).unwrap_or(pause)),
                (None, Err(_)) => Duration::from_secs(pause),
            };
            if !self.config.silent {
                let message = format!(
                    "Warning: Problem : {why}. Will retry in {} seconds. {left} retries left.",
                    wait.as_secs()
                );
                let _ = failed(sys.write(2, format!("{message}\n").as_bytes()))?;
            }
            let _ = failed(sys.sleep(wait))?;
            pause = (pause * 2).min(MAX_PAUSE);
            left -= 1;
        }
    }

    fn failure(&self, error: HttpError) -> Failure {
        let (host, port) = (&self.url.host, self.url.port());
        match error {
            HttpError::Denied(message) => Failure::new(7, &message),
            HttpError::Resolve(_) => Failure::new(6, &format!("Could not resolve host: {host}")),
            HttpError::Connect(why) => Failure::new(
                7,
                &format!("Failed to connect to {host} port {port}: {why}"),
            ),
            HttpError::Timeout => Failure::new(28, "Operation timed out"),
            HttpError::TooLarge(_) => Failure::new(63, "Maximum file size exceeded"),
            HttpError::Other(why) => Failure::new(56, &why),
        }
    }

    /// Tells whether secrets may go along: only to where they were meant for.
    fn trusted(&self) -> bool {
        self.config.trusted || self.url.same_place(&self.first)
    }

    fn build(&self, sys: &mut dyn System, jar: &Jar) -> Checked<HttpRequest> {
        let config = self.config;
        let mut headers = Headers::default();
        let credentials = config.user.clone().or_else(|| self.first.user.clone());
        if self.trusted() {
            if let Some(user) = &credentials {
                let user = if user.contains(&b':') {
                    user.clone()
                } else {
                    [&user[..], b":"].concat()
                };
                headers.set("Authorization", [b"Basic ", &base64(&user)[..]].concat());
            } else if let Some(token) = &config.bearer {
                headers.set("Authorization", [b"Bearer ", &token[..]].concat());
            }
        }
        if let Some(range) = &config.range {
            headers.set("Range", format!("bytes={range}").into_bytes());
        }
        let agent = config
            .agent
            .clone()
            .unwrap_or_else(|| b"curl/7.88.1".to_vec());
        if !agent.is_empty() {
            headers.set("User-Agent", agent);
        }
        headers.set(
            "Accept",
            if config.json {
                b"application/json".to_vec()
            } else {
                b"*/*".to_vec()
            },
        );
        if let Some(referer) = &config.referer {
            headers.set("Referer", referer.clone());
        }
        let jar_cookies = jar
            .header(&self.url)
            .map(String::into_bytes)
            .unwrap_or_default();
        let own = if self.trusted() {
            config.cookie.clone()
        } else {
            Vec::new()
        };
        let cookies = [jar_cookies, own]
            .into_iter()
            .filter(|cookies| !cookies.is_empty())
            .collect::<Vec<_>>()
            .join(&b"; "[..]);
        if !cookies.is_empty() {
            headers.set("Cookie", cookies);
        }
        if !self.bodiless && config.upload.is_none() {
            let kind = match (&config.content_type, config.json) {
                (Some(kind), _) => kind.clone(),
                (None, true) => "application/json".to_owned(),
                (None, false) => "application/x-www-form-urlencoded".to_owned(),
            };
            headers.set("Content-Type", kind.into_bytes());
        }
        for line in &config.headers {
            sys.work_bytes(usize::min(headers.0.len(), PIECE))?;
            if let Err(failure) = headers.line(line, self.trusted()) {
                return Ok(Err(failure));
            }
        }
        Ok(Ok(HttpRequest {
            method: self.method.clone(),
            url: self.url.text(),
            headers: headers.0,
            body: self.body.clone(),
            timeout: config.timeout,
            max_body: config.max_size.unwrap_or(MAX_BODY).min(MAX_BODY),
        }))
    }

    fn request_head(&self, request: &HttpRequest) -> Vec<u8> {
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: {}\r\n",
            request.method,
            self.url.target(),
            self.url.authority()
        )
        .into_bytes();
        for (name, value) in &request.headers {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}

#[derive(Default)]
struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    fn set(&mut self, name: &str, value: Vec<u8>) {
        self.0
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.0.push((name.to_owned(), value));
    }

    /// Takes a line of `-H`: `Name: value`, `Name:` to remove one, `Name;` for an empty one.
    fn line(&mut self, line: &[u8], trusted: bool) -> Result<(), Failure> {
        let at = line.iter().position(|byte| matches!(byte, b':' | b';'));
        let Some(at) = at else { return Ok(()) };
        let (name, rest) = line.split_at(at);
        let name = String::from_utf8_lossy(name.trim_ascii()).into_owned();
        if name.is_empty()
            || !name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
        {
            return Err(Failure::new(43, "A header has a bad name"));
        }
        let secret =
            name.eq_ignore_ascii_case("authorization") || name.eq_ignore_ascii_case("cookie");
        if secret && !trusted {
            return Ok(());
        }
        let value = rest.get(1..).unwrap_or_default().trim_ascii();
        let empty = rest.first() == Some(&b';');
        if value.is_empty() && !empty {
            self.0
                .retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        } else {
            let default = [
                "user-agent",
                "accept",
                "content-type",
                "authorization",
                "referer",
                "cookie",
                "range",
            ]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&name));
            if default {
                self.0
                    .retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
            }
            self.0.push((name, value.to_vec()));
        }
        Ok(())
    }
}

fn base64(text: &[u8]) -> Vec<u8> {
    crate::jq::base64(text)
}

fn header<'r>(response: &'r HttpResponse, name: &str) -> Option<&'r [u8]> {
    response
        .headers
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_slice())
}

fn retry_after(response: &HttpResponse) -> Option<u64> {
    let text = std::str::from_utf8(header(response, "retry-after")?).ok()?;
    text.trim()
        .parse()
        .ok()
        .map(|secs: u64| secs.min(MAX_PAUSE))
}
