//! What does not fit together in the entry of a server.

use jp_policy::{EnvName, HostPattern, Net};

use super::{McpProviderConfig, McpTransport, OauthGrant};
use crate::{
    conversation::tool::NetGrant,
    stage::is_default,
    validate::{GUEST_ONLY, guest_only, outside},
};

/// A key below the server's entry, and what is wrong with it.
type Wrong = (&'static [&'static str], String);

impl McpProviderConfig {
    /// Says what keeps this entry from being a server.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        let wrong = |key: &'static [&'static str], message: &str| Err((key, message.to_string()));
        match (&self.command, &self.url, self.kind) {
            (Some(_), Some(_), _) => {
                wrong(&["url"], "a server has a `command` or a `url`, not both")
            }
            (None, None, _) => wrong(&[], "a server needs a `command` or a `url`"),
            (Some(_), None, Some(McpTransport::Http)) => wrong(
                &["type"],
                "a server of type `http` has a `url`, not a `command`",
            ),
            (None, Some(_), Some(McpTransport::Stdio)) => wrong(
                &["type"],
                "a server of type `stdio` has a `command`, not a `url`",
            ),
            (Some(command), None, _) => self.check_program(command),
            (None, Some(url), _) => self.check_url(url),
        }
    }

    fn check_program(&self, command: &str) -> Result<(), Wrong> {
        let wrong = |key: &'static [&'static str], message: &str| Err((key, message.to_string()));
        if command.is_empty() {
            return wrong(&["command"], "is empty");
        }
        if !self.headers.is_empty() {
            return wrong(&["headers"], "only a server with a `url` is sent headers");
        }
        if self.oauth.is_some() {
            return wrong(&["oauth"], "only a server with a `url` can be logged in to");
        }
        let variable = |name: &str| name.parse::<EnvName>().is_ok();
        let mut environment = self.environment.iter();
        if environment.any(|(name, value)| !variable(name) || value.contains('\0')) {
            let message = "expected names of letters, digits and `_`, and values without NUL";
            return wrong(&["environment"], message);
        }
        let net = self
            .grant
            .net
            .as_ref()
            .map(NetGrant::net)
            .unwrap_or_default();
        if matches!(net, Net::Hosts(_)) {
            let message =
                "expected `true` or `false`: a program gets all of the network or none of it";
            return wrong(&["grant", "net"], message);
        }
        if let Some(grant) = outside(&self.grant) {
            let rule = grant.rule();
            let message =
                format!("`{rule}` is not in `/workspace`, and nothing else can be granted");
            return Err((&["grant", "files"], message));
        }
        self.check_calls()
    }

    fn check_url(&self, url: &str) -> Result<(), Wrong> {
        let wrong = |key: &'static [&'static str], message: &str| Err((key, message.to_string()));
        if host_of(url).is_none() {
            let message = "expected `https://HOST[:PORT]/…` or `http://…` with the host in lower case \
                           and without a user";
            return wrong(&["url"], message);
        }
        let program_only: [(&[&str], bool); 7] = [
            (&["grant", "paths"], self.grant.paths.is_empty()),
            (&["environment"], self.environment.is_empty()),
            (&["arguments"], is_default(&self.arguments)),
            (&["variables"], is_default(&self.variables)),
            (&["checksum"], is_default(&self.checksum)),
            (&["grant", "workspace"], is_default(&self.grant.workspace)),
            (&["grant", "files"], is_default(&self.grant.files)),
        ];
        if let Some((key, _)) = program_only.into_iter().find(|(_, absent)| !absent) {
            return wrong(key, "only a server with a `command` has this");
        }
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        for (name, value) in &self.headers {
            if name.is_empty() || !name.bytes().all(token) || value.chars().any(char::is_control) {
                return wrong(
                    &["headers"],
                    "a header has a name of letters, digits and dashes, and a value on one line",
                );
            }
        }
        self.check_oauth()?;
        self.check_calls()
    }

    fn check_oauth(&self) -> Result<(), Wrong> {
        let wrong = |key: &'static [&'static str], message: &str| Err((key, message.to_string()));
        let Some(oauth) = &self.oauth else {
            return Ok(());
        };
        if oauth.client_id.is_none() && oauth.client_secret.is_some() {
            return wrong(&["oauth", "client_secret"], "belongs to a `client_id`");
        }
        let is_alone = oauth.grant == OauthGrant::ClientCredentials;
        if is_alone && (oauth.client_id.is_none() || oauth.client_secret.is_none()) {
            let message = "`client_credentials` needs a `client_id` and a `client_secret`";
            return wrong(&["oauth", "grant"], message);
        }
        if oauth.client_id.is_none() && oauth.issuer.is_some() {
            return wrong(&["oauth", "issuer"], "belongs to a `client_id`");
        }
        let url = oauth.client_metadata_url.as_deref();
        let has_path = |url: &str| {
            let rest = url
                .strip_prefix("https://")
                .and_then(|rest| rest.split_once('/'));
            rest.is_some_and(|(_, path)| !path.is_empty())
        };
        if url.is_some_and(|url| host_of(url).is_none() || !has_path(url)) {
            let message = "expected an `https://` URL with a path";
            return wrong(&["oauth", "client_metadata_url"], message);
        }
        let fits = |scope: &String| {
            let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
            !scope.is_empty() && scope.bytes().all(plain)
        };
        if !oauth.scopes.iter().all(fits) {
            return wrong(
                &["oauth", "scopes"],
                "expected words without spaces and quotes",
            );
        }
        Ok(())
    }

    fn check_calls(&self) -> Result<(), Wrong> {
        match guest_only(&self.grant) {
            Some("env") => return Err((&["grant", "env"], GUEST_ONLY.to_string())),
            Some(_) => return Err((&["grant", "selected"], GUEST_ONLY.to_string())),
            None => {}
        }
        match &self.grant.calls {
            Some(_) => Err((
                &["grant", "calls"],
                "a server cannot make capability calls".to_string(),
            )),
            None => Ok(()),
        }
    }
}

/// Returns the host and port of a URL, if it is one that a server can have.
pub(crate) fn host_of(url: &str) -> Option<HostPattern> {
    let (scheme, rest) = url.split_once("://")?;
    let default_port = match scheme {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    if url
        .chars()
        .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
    {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    if authority.contains(['@', '*']) {
        return None;
    }
    let with_port = match authority.rsplit_once(':') {
        Some((_, port)) => {
            port.parse::<u16>().ok()?;
            authority.to_string()
        }
        None => format!("{authority}:{default_port}"),
    };
    with_port.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_url_is_exact() {
        for (url, host) in [
            ("https://api.example.com/mcp/", Some("api.example.com:443")),
            ("http://127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("https://example.com?x", Some("example.com:443")),
            ("https://user@example.com/", None),
            ("https://*.example.com/", None),
            ("https://EXAMPLE.com/", None),
            ("https://example.com:99999/", None),
            ("ftp://example.com/", None),
            ("https:///x", None),
            ("example.com", None),
            ("https://example.com\\@evil.com/", None),
        ] {
            let found = host_of(url).map(|host| host.to_string());
            assert_eq!(found.as_deref(), host, "{url}");
        }
    }
}
