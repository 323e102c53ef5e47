//! A small cookie jar: the Netscape file format, `Set-Cookie`, and which cookies go where.

use super::url::Url;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cookie {
    domain: String,
    /// Also for hosts below the domain.
    wide: bool,
    path: String,
    secure: bool,
    /// 0 for the session.
    expires: i64,
    name: String,
    value: String,
}

/// Cookies that are held.
#[derive(Debug, Default)]
pub(super) struct Jar {
    cookies: Vec<Cookie>,
}

/// A jar does not grow without end.
const MOST: usize = 1000;

impl Jar {
    /// Reads a file: Netscape lines, or `Set-Cookie:` headers that have no host of their own.
    pub(super) fn load(&mut self, text: &[u8], url: &Url, now: i64) {
        for line in String::from_utf8_lossy(text).lines() {
            let line = line.strip_prefix("#HttpOnly_").unwrap_or(line);
            if let Some(header) = line.strip_prefix("Set-Cookie:") {
                self.receive(header.as_bytes(), url, now);
                continue;
            }
            let parts: Vec<&str> = line.split('\t').collect();
            let [domain, wide, path, secure, expires, name, value] = parts.as_slice() else {
                continue;
            };
            if line.starts_with('#') {
                continue;
            }
            self.put(Cookie {
                domain: domain.trim_start_matches('.').to_ascii_lowercase(),
                wide: *wide == "TRUE",
                path: (*path).to_owned(),
                secure: *secure == "TRUE",
                expires: expires.parse().unwrap_or(0),
                name: (*name).to_owned(),
                value: (*value).to_owned(),
            });
        }
    }

    /// Drops the cookies that last as long as a session: those without an end.
    pub(super) fn forget_sessions(&mut self) {
        self.cookies.retain(|cookie| cookie.expires != 0);
    }

    /// Takes what a `Set-Cookie` header says, if the host may say it.
    pub(super) fn receive(&mut self, header: &[u8], url: &Url, now: i64) {
        let text = String::from_utf8_lossy(header).into_owned();
        let mut parts = text.split(';');
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
            return;
        };
        let directory = url.path.rsplit_once('/').map_or("/", |(before, _)| before);
        let mut cookie = Cookie {
            domain: url.host.clone(),
            wide: false,
            path: if directory.is_empty() {
                "/".to_owned()
            } else {
                directory.to_owned()
            },
            secure: false,
            expires: 0,
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" => {
                    let domain = value.trim_start_matches('.').to_ascii_lowercase();
                    // A host speaks for its own domain only, and never for a whole top level.
                    if !below(&url.host, &domain) || !domain.contains('.') {
                        if domain != url.host {
                            return;
                        }
                    } else {
                        cookie.wide = true;
                    }
                    cookie.domain = domain;
                }
                "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
                "secure" => cookie.secure = true,
                "max-age" => {
                    let age: i64 = value.parse().unwrap_or(0);
                    cookie.expires = if age <= 0 { 1 } else { now.saturating_add(age) };
                }
                _ => {}
            }
        }
        if cookie.secure && url.scheme != "https" {
            return;
        }
        self.put(cookie);
        self.cookies
            .retain(|cookie| cookie.expires == 0 || cookie.expires > now);
    }

    fn put(&mut self, cookie: Cookie) {
        self.cookies.retain(|known| {
            known.name != cookie.name || known.domain != cookie.domain || known.path != cookie.path
        });
        if self.cookies.len() < MOST && clean(&cookie.name) && clean(&cookie.value) {
            self.cookies.push(cookie);
        }
    }

    /// Returns the cookies for a request, as a header has them.
    pub(super) fn header(&self, url: &Url) -> Option<String> {
        let fitting: Vec<String> = self
            .cookies
            .iter()
            .filter(|cookie| {
                let host =
                    url.host == cookie.domain || (cookie.wide && below(&url.host, &cookie.domain));
                let base = cookie.path.trim_end_matches('/');
                let path = url
                    .path
                    .strip_prefix(base)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
                host && path && (!cookie.secure || url.scheme == "https")
            })
            .map(|cookie| format!("{}={}", cookie.name, cookie.value))
            .collect();
        (!fitting.is_empty()).then(|| fitting.join("; "))
    }

    /// Returns the file's text.
    pub(super) fn save(&self) -> String {
        let mut out = "# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n# This file was generated by libcurl! Edit at your own risk.\n\n".to_owned();
        for cookie in &self.cookies {
            let flag = |yes| if yes { "TRUE" } else { "FALSE" };
            let dot = if cookie.wide { "." } else { "" };
            out.push_str(&format!(
                "{dot}{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                cookie.domain,
                flag(cookie.wide),
                cookie.path,
                flag(cookie.secure),
                cookie.expires,
                cookie.name,
                cookie.value
            ));
        }
        out
    }
}

fn below(host: &str, domain: &str) -> bool {
    host == domain
        || host
            .strip_suffix(domain)
            .is_some_and(|rest| rest.ends_with('.'))
}

fn clean(text: &str) -> bool {
    !text.bytes().any(|byte| byte < 0x20 || byte == 0x7f)
}
