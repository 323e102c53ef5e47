//! Addresses: only what `curl` needs to say where a request goes and whether that is the same place.

use jp_bash_system::{PIECE, Stop, System};

/// The longest address, as in libcurl.
const LONGEST: usize = 8_000_000;

/// An address that was taken apart. Everything in it is printable ASCII.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    /// `http` or `https`.
    pub(super) scheme: String,
    /// Lower case; an IPv6 address keeps its brackets.
    pub(super) host: String,
    pub(super) port: Option<u16>,
    /// With its slash.
    pub(super) path: String,
    pub(super) query: Option<String>,
    /// `user:password` as written before the `@`, decoded.
    pub(super) user: Option<Vec<u8>>,
}

/// Why an address is no good.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadUrl {
    Malformed,
    /// The scheme is not ours.
    Scheme(String),
}

impl Url {
    /// Takes an address apart; without a scheme it is `http`.
    pub(super) fn parse(text: &[u8]) -> Result<Self, BadUrl> {
        if text.len() > LONGEST {
            return Err(BadUrl::Malformed);
        }
        // A control character could smuggle a header, a space a second word of the request line.
        if text.is_empty()
            || text
                .iter()
                .any(|byte| *byte <= b' ' || *byte == 0x7f || *byte == b'\\')
        {
            return Err(BadUrl::Malformed);
        }
        let mut plain = String::with_capacity(text.len());
        for byte in text {
            push_plain_or_code(&mut plain, *byte, byte.is_ascii());
        }
        let text = plain;
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest))
                if scheme
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)) =>
            {
                (scheme.to_ascii_lowercase(), rest)
            }
            Some(_) => return Err(BadUrl::Malformed),
            None => match text.split_once(':') {
                Some((scheme @ ("file" | "data" | "javascript" | "mailto"), _)) => {
                    return Err(BadUrl::Scheme(scheme.to_owned()));
                }
                _ => ("http".to_owned(), text.as_str()),
            },
        };
        if scheme != "http" && scheme != "https" {
            return Err(BadUrl::Scheme(scheme));
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        // Whatever stands before the last `@` is a name, never a host.
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(decode(user)), place),
            None => (None, authority),
        };
        let (host, port) = place_of(place).ok_or(BadUrl::Malformed)?;
        let (path, query) = match tail.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (tail, None),
        };
        let path = if path.is_empty() {
            "/".to_owned()
        } else {
            path.to_owned()
        };
        Ok(Self {
            scheme,
            host,
            port,
            path,
            query,
            user,
        })
    }

    /// Follows a `Location`.
    pub(super) fn join(&self, location: &[u8]) -> Result<Self, BadUrl> {
        let text = String::from_utf8_lossy(location);
        let text = text.trim().replace(' ', "%20");
        if let Some(rest) = text.strip_prefix("//") {
            return Self::parse(format!("{}://{rest}", self.scheme).as_bytes());
        }
        let before_slash = text.split(['/', '?', '#']).next().unwrap_or_default();
        if before_slash.contains(':') {
            return Self::parse(text.as_bytes());
        }
        let base = format!("{}://{}", self.scheme, self.authority());
        let joined = if text.starts_with('/') {
            format!("{base}{text}")
        } else if text.starts_with('?') {
            format!("{base}{}{text}", self.path)
        } else {
            let directory = self
                .path
                .rsplit_once('/')
                .map_or("", |(directory, _)| directory);
            format!("{base}{directory}/{text}")
        };
        let mut url = Self::parse(joined.as_bytes())?;
        url.squash();
        Ok(url)
    }

    /// Removes `.` and `..` from the path.
    pub(super) fn squash(&mut self) {
        let mut parts: Vec<&str> = Vec::new();
        let mut pieces = self.path.split('/').skip(1).peekable();
        while let Some(piece) = pieces.next() {
            let last = pieces.peek().is_none();
            match piece {
                "." | ".." => {
                    if piece == ".." {
                        parts.pop();
                    }
                    if last {
                        parts.push("");
                    }
                }
                _ => parts.push(piece),
            }
        }
        self.path = format!("/{}", parts.join("/"));
    }

    /// Returns host and port as a `Host` header has them.
    pub(super) fn authority(&self) -> String {
        match self.port {
            Some(port) if port != self.default_port() => format!("{}:{port}", self.host),
            _ => self.host.clone(),
        }
    }

    fn default_port(&self) -> u16 {
        if self.scheme == "https" { 443 } else { 80 }
    }

    /// Returns the port that is meant.
    pub(super) fn port(&self) -> u16 {
        self.port.unwrap_or_else(|| self.default_port())
    }

    /// Tells whether secrets for one may be sent to the other.
    pub(super) fn same_place(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port() == other.port()
    }

    /// Returns path and query.
    pub(super) fn target(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }

    /// Returns the whole address, without a user.
    pub(super) fn text(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority(), self.target())
    }

    /// Adds to the query.
    pub(super) fn add_query(&mut self, more: &str) {
        self.query = Some(match self.query.take() {
            Some(query) if !query.is_empty() => format!("{query}&{more}"),
            _ => more.to_owned(),
        });
    }

    /// Returns the last part of the path.
    pub(super) fn file_name(&self) -> Option<&str> {
        self.path.rsplit('/').next().filter(|name| !name.is_empty())
    }
}

fn place_of(place: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = if let Some(rest) = place.strip_prefix('[') {
        let (address, after) = rest.split_once(']')?;
        if address.is_empty()
            || !address
                .bytes()
                .all(|b| b.is_ascii_hexdigit() || b":.".contains(&b))
        {
            return None;
        }
        (
            format!("[{address}]"),
            after
                .strip_prefix(':')
                .or_else(|| after.is_empty().then_some("")),
        )
    } else {
        match place.split_once(':') {
            Some((host, port)) => (host.to_owned(), Some(port)),
            None => (place.to_owned(), Some("")),
        }
    };
    let port = port?;
    let plain = host.starts_with('[')
        || (!host.is_empty()
            && host
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)));
    if !plain {
        return None;
    }
    let port = if port.is_empty() {
        None
    } else {
        Some(
            port.bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| port.parse().ok())??,
        )
    };
    Some((host.to_ascii_lowercase(), port))
}

/// Decodes `%41`.
pub(super) fn decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = (*byte == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .filter(|hex| hex.iter().all(u8::is_ascii_hexdigit))
            .and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match code {
            Some(code) => {
                out.push(code);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    out
}

/// Encodes everything but letters, digits and `-._~`.
pub(super) fn encode(sys: &mut dyn System, text: &[u8]) -> Result<String, Stop> {
    let mut out = String::with_capacity(text.len());
    for piece in text.chunks(PIECE) {
        sys.work_bytes(piece.len())?;
        for byte in piece {
            let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
            push_plain_or_code(&mut out, *byte, plain);
        }
    }
    Ok(out)
}

/// Adds a byte as it is, or as `%41`.
fn push_plain_or_code(out: &mut String, byte: u8, plain: bool) {
    if plain {
        out.push(char::from(byte));
        return;
    }
    let digit = |half: u8| match half {
        0..=9 => char::from(b'0' + half),
        _ => char::from(b'A' + half - 10),
    };
    out.push('%');
    out.push(digit(byte >> 4));
    out.push(digit(byte & 15));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, shown) in [
            ("example.com", "http://example.com/"),
            ("HTTPS://Example.com:443/a?b#c", "https://example.com/a?b"),
            ("http://u:p@h:8080/x", "http://h:8080/x"),
            ("http://evil.com@good.com/", "http://good.com/"),
            ("http://good.com?@evil.com/", "http://good.com/?@evil.com/"),
            ("http://[::1]:80/", "http://[::1]/"),
            ("localhost:8080/x", "http://localhost:8080/x"),
        ] {
            assert_eq!(
                Url::parse(text.as_bytes()).map(|url| url.text()),
                Ok(shown.to_owned()),
                "{text}"
            );
        }
        for bad in [
            "",
            "http://",
            "http://a b/",
            "http://a\r\nX: y/",
            "http://a\\@b/",
            "http://a:99999/",
            "http://a:x/",
            "http:///x",
            "http://é/",
        ] {
            assert_eq!(
                Url::parse(bad.as_bytes()),
                Err(BadUrl::Malformed),
                "{bad:?}"
            );
        }
        for other in [
            "file:///etc/passwd",
            "ftp://x/",
            "gopher://x",
            "file:/etc/passwd",
        ] {
            assert!(
                matches!(Url::parse(other.as_bytes()), Err(BadUrl::Scheme(_))),
                "{other}"
            );
        }
    }

    #[test]
    fn locations_are_followed() {
        let base = Url::parse(b"http://h:81/a/b?c").unwrap();
        for (location, shown) in [
            ("d", "http://h:81/a/d"),
            ("/d", "http://h:81/d"),
            ("../d", "http://h:81/d"),
            ("?x", "http://h:81/a/b?x"),
            ("//o/p", "http://o/p"),
            ("https://o/p q", "https://o/p%20q"),
        ] {
            assert_eq!(
                base.join(location.as_bytes()).map(|url| url.text()),
                Ok(shown.to_owned()),
                "{location}"
            );
        }
    }
}
