//! Our shell on a machine where time passes only while everything waits, and with a server of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jp_bash::{
    Bash, Bounds, ExecMode, ExecOptions, HttpError, HttpRequest, HttpResponse, Monotonic, Park,
    Transport, WallClock,
};

/// Runs a script in an empty directory; returns what it printed.
pub(crate) fn run(script: &str) -> String {
    let limits = Bounds {
        time: Duration::from_secs(1000),
        ..Bounds::default()
    };
    let (monotonic, wall, park) = clocks();
    let mut bash = Bash::builder()
        .limits(limits)
        .clock(monotonic, wall, park)
        .network(Arc::new(Server::default()))
        .plain_errors()
        .empty_environment()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/tmp/home-x")
        .env("LANG", "C.UTF-8")
        .file("/tmp/case/script", script.as_bytes())
        .cwd("/tmp/case/w")
        .build();
    let options = ExecOptions {
        name: b"../script".to_vec(),
        mode: ExecMode::File,
        ..ExecOptions::default()
    };
    let result = bash.exec_with(script.as_bytes(), &options, None);
    let all = [result.stdout, result.stderr].concat();
    let text = String::from_utf8_lossy(&all).into_owned();
    match result.exit_code {
        0 => text,
        code => format!("{text}(exit {code})\n"),
    }
}

/// Clocks that move by a microsecond when they are read, and by all of it when everybody waits.
fn clocks() -> (Monotonic, WallClock, Park) {
    let nanos = Arc::new(AtomicU64::new(0));
    let (read, wall, park) = (Arc::clone(&nanos), Arc::clone(&nanos), nanos);
    let tick = |clock: &AtomicU64| Duration::from_nanos(clock.fetch_add(1_000, Ordering::Relaxed));
    (
        Arc::new(move || tick(&read)),
        Arc::new(move || {
            let now = tick(&wall);
            let secs = i64::try_from(now.as_secs()).unwrap_or(0);
            (1_700_000_000 + secs, now.subsec_nanos())
        }),
        Arc::new(move |time| {
            let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            park.fetch_add(time, Ordering::Relaxed);
        }),
    )
}

/// Tells in its answer what it was asked; some paths answer otherwise.
#[derive(Default)]
struct Server {
    asked: AtomicU64,
}

impl Transport for Server {
    fn request(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        let before = self.asked.fetch_add(1, Ordering::Relaxed);
        let path = request.url.splitn(4, '/').nth(3).unwrap_or_default();
        let seen = |name: &str| {
            let mut headers = request.headers.iter();
            headers.any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        let (status, headers, fixed): (u16, Vec<(&str, &str)>, _) = match path {
            "down" => return Err(HttpError::Connect("connection refused".to_owned())),
            "down-once" if before == 0 => {
                return Err(HttpError::Connect("connection refused".to_owned()));
            }
            "big" if request.max_body < 1000 => return Err(HttpError::TooLarge(request.max_body)),
            "flaky" if before == 0 => (503, vec![], Some("busy\n")),
            "flaky404" if before == 0 => (404, vec![], Some("gone\n")),
            "status/404" => (404, vec![], Some("gone\n")),
            "status/503" => (503, vec![], Some("busy\n")),
            "redirect/301" => (301, vec![("Location", "/")], Some("moved\n")),
            "redirect/302" => (302, vec![("Location", "/")], Some("moved\n")),
            "redirect/303" => (303, vec![("Location", "/")], Some("moved\n")),
            "other" => (
                302,
                vec![("Location", "http://other.test/")],
                Some("moved\n"),
            ),
            "cookie" => (200, vec![("Set-Cookie", "c=1")], Some("cookie\n")),
            "etag" if seen("if-none-match") => (304, vec![], Some("")),
            "etag" => (200, vec![("ETag", "\"abc\"")], Some("tagged\n")),
            _ => (200, vec![("X-Server", "here")], None),
        };
        let headers = headers
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        Ok(HttpResponse {
            status,
            reason: String::new(),
            headers: headers.collect(),
            body: fixed.map_or_else(|| told(request), |text| text.as_bytes().to_vec()),
        })
    }
}

fn told(request: &HttpRequest) -> Vec<u8> {
    let mut out = format!("{} {}\n", request.method, request.url);
    for (name, value) in &request.headers {
        out.push_str(&format!("{name}: {}\n", String::from_utf8_lossy(value)));
    }
    out.push_str(&format!("timeout {:?}\n\n", request.timeout));
    out.push_str(&String::from_utf8_lossy(&request.body));
    out.push('\n');
    out.into_bytes()
}
