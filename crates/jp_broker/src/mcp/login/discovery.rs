//! Who makes the logins of a server, as the server says (RFC 9728) and the authorization server about
//! itself (RFC 8414). Each document counts only for the address it was asked for at.

use jp_mcp::Challenge;
use serde::Deserialize;
use url::Url;

use super::{
    By,
    error::{LoginError, line},
    web::Web,
};

/// What the metadata of a protected resource is called in messages.
const RESOURCE: &str = "the metadata of the server";

/// What the metadata of an authorization server is called.
const ISSUER: &str = "the metadata of the authorization server";

/// Where the metadata of a protected resource lies, before its path.
const RESOURCE_PATH: &str = "/.well-known/oauth-protected-resource";

#[derive(Debug, Deserialize)]
struct ResourceDocument {
    resource: Option<String>,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// What an authorization server says of itself.
#[derive(Debug, Deserialize)]
pub(super) struct Issuer {
    pub(super) issuer: String,
    #[serde(default)]
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) registration_endpoint: Option<String>,
    #[serde(default)]
    pub(super) scopes_supported: Vec<String>,
    pub(super) response_types_supported: Option<Vec<String>>,
    pub(super) code_challenge_methods_supported: Option<Vec<String>>,
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) client_id_metadata_document_supported: bool,
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

/// Who makes the logins of a server, and for what.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) issuer: Issuer,
    /// What a login is for, exactly as the server spells it.
    pub(super) resource: String,
    /// What the server says a login may allow.
    pub(super) scopes: Vec<String>,
}

/// Finds out who makes the logins of a server.
pub(super) fn find(
    web: &Web<'_>,
    server: &str,
    challenge: Option<&Challenge>,
    by: By,
) -> Result<Found, LoginError> {
    let url = Url::parse(server).map_err(|_| LoginError::NoMetadata)?;
    let (resource, document) = resource(web, &url, challenge)?;
    let Some(named) = document.authorization_servers.first() else {
        return Err(broken(RESOURCE, "it names no authorization server"));
    };
    let issuer = issuer(web, named, by)?;
    let scopes = jp_mcp::scopes(&document.scopes_supported.join(" "));
    Ok(Found {
        issuer,
        resource,
        scopes,
    })
}

fn resource(
    web: &Web<'_>,
    server: &Url,
    challenge: Option<&Challenge>,
) -> Result<(String, ResourceDocument), LoginError> {
    let named = challenge.and_then(|challenge| challenge.resource_metadata.as_deref());
    let places: Vec<String> = match named {
        Some(named) => {
            let place = server.join(named);
            let place = place.map_err(|_| broken(RESOURCE, "its address is not a URL"))?;
            vec![place.to_string()]
        }
        None => {
            let at = |path: String| with_path(server, &path);
            let own = at(format!("{RESOURCE_PATH}{}", path_of(server)));
            let root = at(RESOURCE_PATH.to_owned());
            match own == root {
                true => vec![root],
                false => vec![own, root],
            }
        }
    };
    for place in places {
        let Some(document) = web.get::<ResourceDocument>(RESOURCE, &place)? else {
            continue;
        };
        let Some(resource) = document.resource.clone() else {
            return Err(broken(RESOURCE, "it does not say which resource it is for"));
        };
        if !is_of(server, &resource) {
            let problem = format!("it is for `{}`, not for this server", line(&resource));
            return Err(broken(RESOURCE, &problem));
        }
        return Ok((resource, document));
    }
    Err(LoginError::NoMetadata)
}

/// Tells whether a resource is a server, or what the server is a part of.
fn is_of(server: &Url, resource: &str) -> bool {
    let Ok(resource) = Url::parse(resource) else {
        return false;
    };
    let same_origin = resource.origin() == server.origin() && resource.origin().is_tuple();
    let (whole, part) = (path_of(&resource), path_of(server));
    let rest = part.strip_prefix(whole);
    same_origin
        && resource.fragment().is_none()
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn issuer(web: &Web<'_>, named: &str, by: By) -> Result<Issuer, LoginError> {
    let url = Url::parse(named);
    let url = url.map_err(|_| broken(RESOURCE, "its authorization server is not a URL"))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(broken(
            RESOURCE,
            "its authorization server is not an issuer",
        ));
    }
    let path = path_of(&url);
    let mut places = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{path}/.well-known/openid-configuration"));
    }
    for place in places {
        if let Some(issuer) = web.get::<Issuer>(ISSUER, &with_path(&url, &place))? {
            return checked(issuer, named, by);
        }
    }
    Err(broken(ISSUER, "there is none"))
}

fn checked(issuer: Issuer, named: &str, by: By) -> Result<Issuer, LoginError> {
    // A slash at the end of a bare host is often written in one place and not in the other.
    let bare = |text: &str| {
        let is_root = Url::parse(text).is_ok_and(|url| path_of(&url).is_empty());
        match is_root {
            true => text.trim_end_matches('/').to_owned(),
            false => text.to_owned(),
        }
    };
    if bare(&issuer.issuer) != bare(named) {
        let found = line(&issuer.issuer);
        let problem = format!("it is of the issuer `{found}`, not of `{}`", line(named));
        return Err(broken(ISSUER, &problem));
    }
    if by == By::Itself {
        return Ok(issuer);
    }
    let lists = |list: &Option<Vec<String>>, what: &str| {
        list.as_ref().map(|list| list.iter().any(|one| one == what))
    };
    // Without it, anyone who intercepts a code could use it.
    if lists(&issuer.code_challenge_methods_supported, "S256") != Some(true) {
        let problem =
            "it does not offer PKCE with `S256`, without which a login can be stolen on its way";
        return Err(broken(ISSUER, problem));
    }
    if lists(&issuer.response_types_supported, "code") == Some(false) {
        return Err(broken(ISSUER, "it makes no logins by code"));
    }
    Ok(issuer)
}

fn broken(what: &'static str, problem: &str) -> LoginError {
    let problem = problem.to_owned();
    LoginError::Metadata { what, problem }
}

/// Returns the path of a URL, without a slash at its end.
fn path_of(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

fn with_path(url: &Url, path: &str) -> String {
    let mut url = url.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_the_server_or_what_it_is_a_part_of() {
        let server = Url::parse("https://a.example/x/mcp").unwrap();
        for (resource, is_of_it) in [
            ("https://a.example/x/mcp", true),
            ("https://a.example/x/mcp/", true),
            ("https://a.example/x", true),
            ("https://a.example", true),
            ("https://a.example:443/x/mcp", true),
            ("https://a.example/x/mcp/more", false),
            ("https://a.example/x/mc", false),
            ("https://a.example/y", false),
            ("https://evil.example/x/mcp", false),
            ("http://a.example/x/mcp", false),
            ("https://a.example:8443/x/mcp", false),
            ("https://a.example/x/mcp#f", false),
            ("a", false),
            ("data:x", false),
        ] {
            assert_eq!(is_of(&server, resource), is_of_it, "{resource}");
        }
    }

    fn document(change: &str) -> Result<Issuer, LoginError> {
        let mut json = serde_json::json!({
            "issuer": "https://a.example", "authorization_endpoint": "https://a.example/a",
            "token_endpoint": "https://a.example/t", "code_challenge_methods_supported": ["S256"],
        });
        let change: serde_json::Map<_, _> = serde_json::from_str(change).unwrap();
        json.as_object_mut().unwrap().extend(change);
        checked(
            serde_json::from_value(json).unwrap(),
            "https://a.example/",
            By::Person,
        )
    }

    #[test]
    fn metadata_of_another_issuer_or_without_pkce_is_not_used() {
        assert!(document("{}").is_ok());
        for change in [
            r#"{"issuer": "https://evil.example"}"#,
            r#"{"issuer": "https://a.example/tenant"}"#,
            r#"{"issuer": "https://A.example"}"#,
            r#"{"code_challenge_methods_supported": null}"#,
            r#"{"code_challenge_methods_supported": ["plain"]}"#,
            r#"{"response_types_supported": ["token"]}"#,
        ] {
            assert!(document(change).is_err(), "{change}");
        }
    }
}
