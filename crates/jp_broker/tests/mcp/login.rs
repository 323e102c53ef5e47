//! Logins: what is asked for, what is believed, and where a token goes.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};

use jp_broker::{
    FileVault, Secret, SecretStore, SecretValue, VaultPaths,
    mcp::{
        Begun, By, HttpServer, LoggedIn, LoginError, LoginOptions, McpError, McpExchange, Means,
        Reach, Server, Servers,
    },
};
use jp_policy::Net;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use url::{Url, form_urlencoded};

use crate::{
    kit::Ask,
    site::{Manner, Site},
};

/// A user with secrets of their own.
struct User {
    store: Arc<SecretStore>,
    exchange: Arc<McpExchange>,
    _dir: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let vault = FileVault::new(VaultPaths {
            secrets: dir.path().join("a/secrets"),
            key: dir.path().join("b/key"),
        });
        let store = Arc::new(SecretStore::new(Arc::new(vault.unwrap())));
        let theirs = Arc::clone(&store);
        let secrets = move |name: &str, url: &str| {
            let secret = theirs.find(&name.parse().ok()?).ok()??;
            let place = jp_broker::http::locate(url).ok()?;
            let value = String::from_utf8(secret.value.expose().to_vec()).ok()?;
            secret.is_meant_for(&place).then_some(value)
        };
        let exchange = McpExchange::new(Arc::new(secrets)).with_logins(Arc::clone(&store));
        Self {
            store,
            exchange: Arc::new(exchange),
            _dir: dir,
        }
    }

    fn pool(&self, sites: &[(&str, &Site)]) -> Servers {
        let server = |(id, site): &(&str, &Site)| Server {
            id: (*id).to_owned(),
            reach: Reach::Url(server(site)),
            startup: None,
        };
        let means = Means {
            http: Some(Arc::clone(&self.exchange) as Arc<_>),
            ..Means::default()
        };
        Servers::new(sites.iter().map(server), means)
    }

    async fn begin(&self, site: &Site, options: LoginOptions) -> Result<Begun, LoginError> {
        self.exchange.begin_login(&server(site), options).await
    }

    async fn log_in(&self, site: &Site) -> LoggedIn {
        let begun = self.begin(site, LoginOptions::default()).await.unwrap();
        finish(begun, &[]).await.unwrap()
    }

    /// Returns all that lies in the vault, by name.
    fn kept(&self) -> Vec<String> {
        let listed = self.store.list().unwrap();
        listed.iter().map(|info| info.name.to_string()).collect()
    }
}

fn server(site: &Site) -> HttpServer {
    HttpServer {
        url: site.url(),
        headers: Vec::new(),
        net: Net::hosts([site.host().parse().unwrap()]),
    }
}

/// Returns what the page of a login was asked.
fn query(begun: &Begun) -> Vec<(String, String)> {
    let url = Url::parse(begun.url()).unwrap();
    url.query_pairs().into_owned().collect()
}

fn value<'a>(query: &'a [(String, String)], name: &str) -> &'a str {
    let mut named = query.iter().filter(|(key, _)| key == name);
    let found = named.next().map_or("", |(_, value)| value);
    assert!(named.next().is_none(), "{name} stands there twice");
    found
}

/// Comes back from the page of a login, with these things said otherwise.
async fn finish(begun: Begun, changes: &[(&str, &str)]) -> Result<LoggedIn, LoginError> {
    let asked = query(&begun);
    let redirect = value(&asked, "redirect_uri").to_owned();
    let mut said = vec![
        ("code".to_owned(), "the-code".to_owned()),
        ("state".to_owned(), value(&asked, "state").to_owned()),
        ("iss".to_owned(), begun.issuer().to_owned()),
    ];
    for (name, value) in changes {
        said.retain(|(known, _)| known != name);
        if !value.is_empty() {
            said.push(((*name).to_owned(), (*value).to_owned()));
        }
    }
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(&said);
    let path = format!("{redirect}?{}", form.finish());
    let browser = tokio::task::spawn_blocking(move || visit(&path));
    let never = CancellationToken::new();
    let done = begun.finish(&never).await;
    browser.await.unwrap();
    done
}

fn visit(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (authority, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(authority).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {authority}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test]
async fn a_login_asks_for_what_the_server_and_the_person_want() {
    let (user, site) = (User::new(), Site::start(Manner::default()));
    let pool = user.pool(&[("a", &site)]);
    let refused = Ask::default().call(&pool, "headers").await.unwrap_err();
    let words = "`jp mcp login a` logs in";
    assert!(refused.to_string().contains(words), "{refused}");
    assert!(user.exchange.wants_login(&server(&site)));

    let options = LoginOptions {
        scopes: vec!["write".to_owned()],
        ..LoginOptions::default()
    };
    let begun = user.begin(&site, options).await.unwrap();
    let asked = query(&begun);
    assert_eq!(value(&asked, "scope"), "read write");
    assert_eq!(value(&asked, "resource"), site.url());
    assert_eq!(value(&asked, "client_id"), "registered");
    assert_eq!(value(&asked, "code_challenge_method"), "S256");
    let challenge = value(&asked, "code_challenge").to_owned();
    let done = finish(begun, &[]).await.unwrap();
    assert_eq!(done.scopes, ["read", "write"]);
    assert!(done.is_renewed);

    let sent = site.at("POST /token")[0].body.clone();
    let sent: Vec<(String, String)> = form_urlencoded::parse(sent.as_bytes())
        .into_owned()
        .collect();
    let verifier = value(&sent, "code_verifier");
    let digest = ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes());
    assert_eq!(
        data_encoding::BASE64URL_NOPAD.encode(digest.as_ref()),
        challenge
    );
    assert_eq!(value(&sent, "resource"), site.url());

    // It is sent, and what echoes it does not show it.
    let called = Ask::default().call(&pool, "headers").await.unwrap().text();
    assert!(
        called.to_lowercase().contains("authorization: bearer "),
        "{called}"
    );
    assert!(!called.contains("s3cret"), "{called}");
    assert_eq!(user.kept().len(), 3, "{:?}", user.kept());
    assert!(user.exchange.logout(&server(&site)).unwrap());
    assert!(user.kept().is_empty());
    assert!(!user.exchange.logout(&server(&site)).unwrap());
}

#[tokio::test]
async fn a_client_that_was_registered_by_hand_is_shown_to_its_issuer_alone() {
    let (user, site) = (User::new(), Site::start(Manner::default()));
    let secret = Secret {
        name: "by_hand".parse().unwrap(),
        value: SecretValue::new(b"hand-made".to_vec()).unwrap(),
        audience: vec![site.origin.parse().unwrap()],
        reveal: false,
        created: 0,
    };
    let options = |issuer: &str| LoginOptions {
        client_id: Some("mine".to_owned()),
        client_secret: Some("by_hand".to_owned()),
        issuer: Some(issuer.to_owned()),
        ..LoginOptions::default()
    };
    let _ = Ask::default()
        .call(&user.pool(&[("a", &site)]), "headers")
        .await;
    let elsewhere = user.begin(&site, options("https://login.example")).await;
    assert!(matches!(elsewhere, Err(LoginError::OtherIssuer { .. })));
    let unset = user.begin(&site, options(&site.origin)).await;
    assert!(matches!(unset, Err(LoginError::NoSecret { .. })));
    user.store.set(&secret).unwrap();
    let begun = user.begin(&site, options(&site.origin)).await.unwrap();
    assert_eq!(value(&query(&begun), "client_id"), "mine");
    finish(begun, &[]).await.unwrap();
    assert!(site.at("POST /register").is_empty());
    let proof = data_encoding::BASE64.encode(b"mine:hand-made");
    let head = site.at("POST /token")[0].head.clone();
    assert!(head.contains(&format!("Basic {proof}")), "{head}");
}

#[tokio::test]
async fn a_client_that_is_described_at_a_url_is_that_url() {
    let manner = Manner {
        issuer: json!({"client_id_metadata_document_supported": true}),
        ..Manner::default()
    };
    let (user, site) = (User::new(), Site::start(manner));
    let options = LoginOptions {
        client_metadata_url: Some("https://jp.example/client.json".to_owned()),
        ..LoginOptions::default()
    };
    let _ = Ask::default()
        .call(&user.pool(&[("a", &site)]), "headers")
        .await;
    let begun = user.begin(&site, options).await.unwrap();
    assert_eq!(
        value(&query(&begun), "client_id"),
        "https://jp.example/client.json"
    );
    assert!(site.at("POST /register").is_empty());
}

#[tokio::test]
async fn e56_a_token_goes_to_the_server_it_was_made_for_and_to_no_other() {
    let (user, one) = (User::new(), Site::start(Manner::default()));
    let greedy = Manner {
        resource: json!({"resource": one.url()}),
        ..Manner::default()
    };
    let other = Site::start(greedy);
    let pool = user.pool(&[("a", &one), ("b", &other)]);
    let _ = Ask::default().call(&pool, "headers").await;
    user.log_in(&one).await;
    Ask::default().call(&pool, "headers").await.unwrap();
    let never = CancellationToken::new();
    let refused = pool.list_tools("b", &never).await.unwrap_err();
    assert!(matches!(refused, McpError::Http { .. }), "{refused}");
    let visits = other.visits.lock().unwrap().clone();
    let has_token = |head: &str| head.to_lowercase().contains("authorization");
    assert!(
        !visits.iter().any(|visit| has_token(&visit.head)),
        "{visits:?}"
    );
    // Nor does a server get a login by saying that it is the other one.
    let lied = user.begin(&other, LoginOptions::default()).await;
    let lied = lied.err().unwrap().to_string();
    assert!(lied.contains("not for this server"), "{lied}");
}

#[tokio::test]
async fn a_token_that_ends_or_is_refused_is_renewed_and_the_call_goes_on() {
    for lasts in [0, 3600] {
        let manner = Manner {
            lasts,
            ..Manner::default()
        };
        let (user, site) = (User::new(), Site::start(manner));
        let pool = user.pool(&[("a", &site)]);
        let _ = Ask::default().call(&pool, "headers").await;
        user.log_in(&site).await;
        if lasts > 0 {
            *site.good.lock().unwrap() = "forgotten".to_owned();
        }
        Ask::default().call(&pool, "headers").await.unwrap();
        let renewed = site.at("POST /token")[1].body.clone();
        assert!(renewed.contains("grant_type=refresh_token"), "{renewed}");
        assert!(
            renewed.contains("refresh_token=refresh-s3cret"),
            "{renewed}"
        );
    }
}

#[tokio::test]
async fn what_comes_back_must_be_the_answer_to_this_login() {
    let (user, site) = (User::new(), Site::start(Manner::default()));
    let _ = Ask::default()
        .call(&user.pool(&[("a", &site)]), "headers")
        .await;
    let slash = format!("{}/", site.origin);
    for (changes, words) in [
        (
            vec![("iss", "https://evil.example")],
            "https://evil.example",
        ),
        (
            vec![("iss", slash.as_str())],
            "and the login was begun with",
        ),
        (vec![("iss", "")], "does not say who it is from"),
        (
            vec![("error", "access_denied"), ("code", "")],
            "access_denied",
        ),
        (vec![("code", "")], "has no code"),
    ] {
        let begun = user.begin(&site, LoginOptions::default()).await.unwrap();
        let error = finish(begun, &changes).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(site.at("POST /token").is_empty() && user.kept().is_empty());
    let begun = user.begin(&site, LoginOptions::default()).await.unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let ended = begun.finish(&cancel).await;
    assert!(matches!(ended, Err(LoginError::Cancelled)));
}

#[tokio::test]
async fn a_login_that_would_not_help_is_not_begun() {
    let manner = Manner {
        refusal: "403 Forbidden",
        ..Manner::default()
    };
    let (user, site) = (User::new(), Site::start(manner));
    let pool = user.pool(&[("a", &site)]);
    let _ = Ask::default().call(&pool, "headers").await;
    user.log_in(&site).await;
    *site.good.lock().unwrap() = "never".to_owned();
    let refused = Ask::default()
        .call(&pool, "headers")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("jp mcp login a --scope \"read\""),
        "{refused}"
    );
    let again = user.begin(&site, LoginOptions::default()).await;
    assert!(matches!(again, Err(LoginError::Useless { .. })));
}

#[tokio::test]
async fn an_authorization_server_outside_the_grant_is_not_reached() {
    let outside = Site::start(Manner::default());
    let manner = Manner {
        resource: json!({"authorization_servers": [outside.origin]}),
        ..Manner::default()
    };
    let (user, site) = (User::new(), Site::start(manner));
    let _ = Ask::default()
        .call(&user.pool(&[("a", &site)]), "headers")
        .await;
    let refused = user.begin(&site, LoginOptions::default()).await;
    let refused = refused.err().unwrap().to_string();
    let words = format!("write `grant.net = [\"{}\"]`", outside.host());
    assert!(refused.contains(&words), "{refused}");
    assert!(outside.visits.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_client_can_log_in_as_itself_and_again_when_its_token_ends() {
    let manner = Manner {
        // Nothing that only logins of people need.
        issuer: json!({"code_challenge_methods_supported": null, "authorization_endpoint": ""}),
        renews: false,
        ..Manner::default()
    };
    let (user, site) = (User::new(), Site::start(manner));
    let pool = user.pool(&[("a", &site)]);
    let _ = Ask::default().call(&pool, "headers").await;
    let secret = Secret {
        name: "by_hand".parse().unwrap(),
        value: SecretValue::new(b"hand-made".to_vec()).unwrap(),
        audience: vec![site.origin.parse().unwrap()],
        reveal: false,
        created: 0,
    };
    user.store.set(&secret).unwrap();
    let options = LoginOptions {
        client_id: Some("mine".to_owned()),
        client_secret: Some("by_hand".to_owned()),
        by: By::Itself,
        ..LoginOptions::default()
    };
    let done = user.exchange.log_in_alone(&server(&site), options).await;
    assert!(done.unwrap().is_renewed);
    Ask::default().call(&pool, "headers").await.unwrap();
    *site.good.lock().unwrap() = "forgotten".to_owned();
    Ask::default().call(&pool, "headers").await.unwrap();
    let asked = site.at("POST /token");
    assert_eq!(asked.len(), 2);
    for one in asked {
        assert!(
            one.body.contains("grant_type=client_credentials"),
            "{}",
            one.body
        );
        assert!(one.body.contains("scope=read"), "{}", one.body);
    }
}
