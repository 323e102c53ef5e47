//! What clients are told about where to get tokens: RFC 9728, and the header of an answer that refuses.

use axum::http::HeaderValue;
use jp_config::OAuthConfig;
use serde_json::{Value, json};

/// Where the metadata of a server is whose address has no path.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Returns the metadata of the server as a protected resource.
pub(crate) fn document(config: &OAuthConfig) -> Value {
    let issuers = config.issuers.values();
    let servers: Vec<&str> = issuers.clone().map(|one| one.issuer.as_str()).collect();
    let mut scopes: Vec<&str> = issuers.filter_map(|one| one.scope.as_deref()).collect();
    scopes.sort_unstable();
    scopes.dedup();
    let mut document = json!({
        "resource": config.resource.as_str(),
        "authorization_servers": servers,
        "bearer_methods_supported": ["header"],
        "resource_name": "jp",
    });
    if !scopes.is_empty() {
        document["scopes_supported"] = json!(scopes);
    }
    document
}

/// Returns the address of the metadata: the well-known path stands between host and path of the resource.
pub(crate) fn address(config: &OAuthConfig) -> String {
    let resource = config.resource.as_str();
    let start = resource.find("://").map_or(0, |at| at + 3);
    let end = resource.get(start..).and_then(|rest| rest.find(['/', '?']));
    let (origin, rest) = resource.split_at(end.map_or(resource.len(), |at| start + at));
    let rest = if rest == "/" { "" } else { rest };
    format!("{origin}{WELL_KNOWN}{rest}")
}

/// Returns the header that says how to get in: with a token, which the metadata says where to get, and
/// what is wrong with the one that came.
pub(crate) fn challenge(
    config: Option<&OAuthConfig>,
    error: Option<&str>,
    scope: Option<&str>,
) -> HeaderValue {
    let mut parts = Vec::new();
    if let Some(config) = config {
        parts.push(format!("resource_metadata=\"{}\"", address(config)));
    }
    parts.extend(error.map(|error| format!("error=\"{error}\"")));
    // Scopes of the configuration may hold what a quoted string may not.
    let plain = |scope: &&str| {
        scope
            .bytes()
            .all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
    };
    parts.extend(
        scope
            .filter(plain)
            .map(|scope| format!("scope=\"{scope}\"")),
    );
    let text = match parts.is_empty() {
        true => "Bearer".to_owned(),
        false => format!("Bearer {}", parts.join(", ")),
    };
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("Bearer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(resource: &str) -> OAuthConfig {
        let value = json!({"resource": resource, "issuers": {"corp": {
            "issuer": "https://login.example.com", "jwks": "/keys.json", "scope": "mcp"}}});
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn the_metadata_is_where_clients_look_for_it() {
        for (resource, expected) in [
            (
                "https://jp.example.com",
                "https://jp.example.com/.well-known/oauth-protected-resource",
            ),
            (
                "https://jp.example.com/",
                "https://jp.example.com/.well-known/oauth-protected-resource",
            ),
            (
                "https://jp.example.com/mcp",
                "https://jp.example.com/.well-known/oauth-protected-resource/mcp",
            ),
        ] {
            assert_eq!(address(&config(resource)), expected);
        }
    }

    #[test]
    fn a_challenge_names_the_metadata_and_what_is_wrong() {
        assert_eq!(challenge(None, None, None), "Bearer");
        let config = config("https://jp.example.com/mcp");
        let header = challenge(Some(&config), Some("insufficient_scope"), Some("mcp"));
        assert_eq!(
            header,
            "Bearer resource_metadata=\"https://jp.example.com/.well-known/oauth-protected-resource/mcp\", \
             error=\"insufficient_scope\", scope=\"mcp\""
        );
        assert_eq!(challenge(None, None, Some("a\"b")), "Bearer");
    }
}
