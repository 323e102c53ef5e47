//! Tokens of authorization servers: real signatures, and every way in which a token can be wrong.

use data_encoding::BASE64URL_NOPAD;
use ring::{
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    },
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};

use crate::{
    kit::User,
    site::{Answer, Site},
};

const RSA: &[u8] = include_bytes!("keys/rsa.pk8");
const ISSUER: &str = "https://login.example.com";
const RESOURCE: &str = "https://jp.example.com/mcp";

/// An authorization server, as far as its keys go.
struct Issuer {
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    random: SystemRandom,
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64URL_NOPAD.encode(bytes.as_ref())
}

impl Issuer {
    fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let ec = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self {
            rsa: RsaKeyPair::from_pkcs8(RSA).unwrap(),
            ec: EcdsaKeyPair::from_pkcs8(algorithm, ec.as_ref(), &random).unwrap(),
            random,
        }
    }

    fn modulus(&self) -> Vec<u8> {
        PublicKeyComponents::<Vec<u8>>::from(self.rsa.public()).n
    }

    /// Returns the document with its public keys, and with one that is no public key.
    fn jwks(&self) -> Value {
        let exponent = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public()).e;
        let point = self.ec.public_key().as_ref();
        json!({"keys": [
            {"kty": "RSA", "kid": "r1", "use": "sig", "alg": "RS256",
                "n": base64(self.modulus()), "e": base64(exponent)},
            {"kty": "EC", "kid": "e1", "crv": "P-256",
                "x": base64(&point[1..33]), "y": base64(&point[33..65])},
            {"kty": "oct", "kid": "s1", "k": base64("a secret that everybody can read")},
        ]})
    }

    /// Signs whatever header and claims say.
    fn sign(&self, header: &Value, claims: &Value) -> String {
        let text = format!(
            "{}.{}",
            base64(header.to_string()),
            base64(claims.to_string())
        );
        let signature = match header["alg"].as_str() {
            Some("ES256") => {
                let signed = self.ec.sign(&self.random, text.as_bytes());
                signed.unwrap().as_ref().to_vec()
            }
            Some("HS256") => {
                // The trick: the public key, which everybody knows, as a shared secret.
                let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &self.modulus());
                ring::hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
            }
            Some("none") => Vec::new(),
            _ => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                let with = &RSA_PKCS1_SHA256;
                self.rsa
                    .sign(with, &self.random, text.as_bytes(), &mut signature)
                    .unwrap();
                signature
            }
        };
        format!("{text}.{}", base64(signature))
    }

    fn token(&self, changes: Value) -> String {
        self.sign(&rs256(), &claims(changes))
    }
}

fn rs256() -> Value {
    json!({"alg": "RS256", "kid": "r1", "typ": "at+jwt"})
}

fn now() -> i64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

/// Claims of a good token, with changes; `null` takes a claim out.
fn claims(changes: Value) -> Value {
    let mut claims = json!({"iss": ISSUER, "aud": RESOURCE, "sub": "00u1", "scope": "openid mcp",
        "exp": now() + 600, "nbf": now() - 5});
    for (key, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(key)),
            value => claims[key] = value.clone(),
        }
    }
    claims
}

/// A site that takes tokens of an issuer whose keys are at a place.
async fn site(place: &str, more: &str) -> Site {
    of(User::new(), place, more).await
}

async fn of(user: User, place: &str, more: &str) -> Site {
    let mine = user.places().config_dir().unwrap().to_owned();
    std::fs::create_dir_all(&mine).unwrap();
    let config = format!(
        "[serve.oauth]\nresource = '{RESOURCE}'\n[serve.oauth.issuers.corp]\nissuer = '{ISSUER}'\n\
         jwks = '{place}'\n{more}\n[serve.oauth.issuers.corp.principals]\n00u1 = 'ann'\n00u2 = 'ben'\n\
         [serve.principals.ben.policy]\nworkspace = 'read'\n"
    );
    std::fs::write(mine.join("config.toml"), config).unwrap();
    Site::start(user).await
}

/// A site with the keys of an issuer in a file.
async fn with_file(issuer: &Issuer, more: &str) -> Site {
    let user = User::new();
    user.write("keys.json", issuer.jwks().to_string());
    let path = user.root.join("keys.json");
    of(user, path.to_str().unwrap(), more).await
}

async fn list(site: &Site, token: &str) -> Answer {
    site.try_ask(token, "tools/list", json!({})).await
}

#[tokio::test]
async fn tokens_signed_with_rsa_and_with_ecdsa_let_their_principal_in() {
    let issuer = Issuer::new();
    let site = with_file(&issuer, "").await;
    let rsa = issuer.token(json!({}));
    let es256 = json!({"alg": "ES256", "kid": "e1"});
    let audiences = json!({"aud": ["https://other.example.com", RESOURCE]});
    let ec = issuer.sign(&es256, &claims(audiences));
    for token in [&rsa, &ec] {
        let answer = site.call(token, "bash", json!({"commands": "true"})).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert_eq!(
        site.user.records(),
        ["ann bash success", "ann bash success"]
    );
    // The policy of the one that another value of the claim stands for.
    let ben = issuer.token(json!({"sub": "00u2"}));
    let make = json!({"commands": "touch made"});
    site.call(&ben, "bash", make).await;
    assert!(!site.user.root.join("made").exists());
}

#[tokio::test]
async fn every_token_that_is_wrong_in_one_point_is_refused() {
    let issuer = Issuer::new();
    let other = Issuer::new();
    let site = with_file(&issuer, "").await;
    let good = issuer.token(json!({}));
    assert_eq!(list(&site, &good).await.status, 200);
    let header = |changes: Value| {
        let mut header = rs256();
        for (key, value) in changes.as_object().unwrap() {
            header[key] = value.clone();
        }
        issuer.sign(&header, &claims(json!({})))
    };
    let (start, signature) = good.rsplit_once('.').unwrap();
    let (head, _) = start.split_once('.').unwrap();
    let swapped = base64(claims(json!({"sub": "00u2"})).to_string());
    let wrong = [
        ("expired", issuer.token(json!({"exp": now() - 120}))),
        ("no end", issuer.token(json!({"exp": null}))),
        (
            "an end that is a text",
            issuer.token(json!({"exp": "never"})),
        ),
        ("not yet good", issuer.token(json!({"nbf": now() + 120}))),
        ("a start that is a text", issuer.token(json!({"nbf": "x"}))),
        (
            "another audience",
            issuer.token(json!({"aud": "https://other.example.com"})),
        ),
        (
            "a longer audience",
            issuer.token(json!({"aud": format!("{RESOURCE}/x")})),
        ),
        ("no audience", issuer.token(json!({"aud": null}))),
        (
            "another issuer",
            issuer.token(json!({"iss": "https://evil.example"})),
        ),
        ("no issuer", issuer.token(json!({"iss": null}))),
        ("an unknown key", header(json!({"kid": "r2"}))),
        ("a key of another kind", header(json!({"kid": "e1"}))),
        (
            "an algorithm that is not allowed",
            header(json!({"alg": "RS512"})),
        ),
        (
            "an extension that must be understood",
            header(json!({"crit": ["x"], "x": 1})),
        ),
        (
            "no signature",
            issuer.sign(&json!({"alg": "none"}), &claims(json!({}))),
        ),
        (
            "the public key as a secret",
            header(json!({"alg": "HS256"})),
        ),
        (
            "a published secret",
            header(json!({"alg": "HS256", "kid": "s1"})),
        ),
        (
            "a curve instead of RSA",
            issuer.sign(&json!({"alg": "ES256", "kid": "r1"}), &claims(json!({}))),
        ),
        (
            "keys of somebody else",
            other.sign(&json!({"alg": "ES256", "kid": "e1"}), &claims(json!({}))),
        ),
        (
            "claims of another token",
            format!("{head}.{swapped}.{signature}"),
        ),
        (
            "a cut signature",
            format!("{start}.{}", &signature[..signature.len() - 4]),
        ),
        ("nothing behind the last dot", format!("{start}.")),
        ("one dot", start.to_owned()),
        ("four parts", format!("{good}.x")),
    ];
    for (what, token) in wrong {
        let answer = list(&site, &token).await;
        assert_eq!(answer.status, 401, "{what}: {}", answer.head);
        let how = answer.header("www-authenticate").unwrap();
        assert!(how.contains("error=\"invalid_token\""), "{what}: {how}");
    }
    // Clocks differ a little.
    let just = issuer.token(json!({"exp": now() - 20, "nbf": now() + 20}));
    assert_eq!(list(&site, &just).await.status, 200);
    // A value that stands for nobody, or is no text.
    for sub in [json!("00u3"), json!("*"), json!(1), json!(null)] {
        let answer = list(&site, &issuer.token(json!({"sub": sub}))).await;
        assert_eq!(answer.status, 403, "{sub}: {}", answer.head);
    }
}

#[tokio::test]
async fn a_token_without_the_scope_is_told_which_one_it_needs() {
    let issuer = Issuer::new();
    let site = with_file(&issuer, "scope = 'mcp'").await;
    assert_eq!(list(&site, &issuer.token(json!({}))).await.status, 200);
    for changes in [json!({"scope": "openid mcp:read"}), json!({"scope": null})] {
        let answer = list(&site, &issuer.token(changes)).await;
        assert_eq!(answer.status, 403, "{}", answer.head);
        let how = answer.header("www-authenticate").unwrap();
        assert!(
            how.contains("error=\"insufficient_scope\", scope=\"mcp\""),
            "{how}"
        );
    }
    let list_of = issuer.token(json!({"scope": null, "scp": ["mcp"]}));
    assert_eq!(list(&site, &list_of).await.status, 200);
}

#[tokio::test]
async fn an_issuer_may_have_an_audience_a_claim_and_algorithms_of_its_own() {
    let issuer = Issuer::new();
    let more = "audience = 'jp'\nclaim = 'azp'\nalgorithms = ['ES256']";
    let site = with_file(&issuer, more).await;
    let es256 = json!({"alg": "ES256", "kid": "e1"});
    let good = json!({"aud": "jp", "azp": "00u1", "sub": "nobody"});
    let token = issuer.sign(&es256, &claims(good.clone()));
    assert_eq!(list(&site, &token).await.status, 200);
    for (token, status) in [
        (issuer.sign(&rs256(), &claims(good)), 401),
        (issuer.sign(&es256, &claims(json!({"azp": "00u1"}))), 401),
        (issuer.sign(&es256, &claims(json!({"aud": "jp"}))), 403),
    ] {
        assert_eq!(list(&site, &token).await.status, status);
    }
}

#[tokio::test]
async fn clients_learn_where_to_get_a_token() {
    let issuer = Issuer::new();
    let site = with_file(&issuer, "").await;
    let answer = site.send("POST", "/mcp", &[], "{}").await;
    assert_eq!(answer.status, 401);
    let expected = "Bearer resource_metadata=\"https://jp.example.com/.well-known/oauth-protected-resource/mcp\"";
    assert_eq!(answer.header("www-authenticate"), Some(expected));
    for path in ["", "/mcp"] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        let answer = site.send("GET", &path, &[], "").await;
        assert_eq!(answer.status, 200, "{}", answer.head);
        let found = answer.json();
        assert_eq!(found["resource"], RESOURCE);
        assert_eq!(found["authorization_servers"], json!([ISSUER]));
    }
    // Where nobody else's tokens count, there is nothing to learn.
    let site = Site::start(User::new()).await;
    let path = "/.well-known/oauth-protected-resource/mcp";
    assert_eq!(site.send("GET", path, &[], "").await.status, 404);
    let answer = site.send("POST", "/mcp", &[], "{}").await;
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
}

/// Serves a document to everybody, and says of each request what it was.
async fn serving(document: String) -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (heard, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                let mut bytes = [0; 4096];
                match stream.read(&mut bytes).await {
                    Ok(count) if count > 0 => request.extend_from_slice(&bytes[..count]),
                    _ => break,
                }
            }
            heard.send(String::from_utf8(request).unwrap()).unwrap();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n{document}",
                document.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (format!("http://{addr}"), requests)
}

#[tokio::test]
async fn keys_are_fetched_once_however_many_tokens_name_unknown_ones() {
    let issuer = Issuer::new();
    let (place, mut requests) = serving(issuer.jwks().to_string()).await;
    let site = site(&format!("{place}/keys"), "").await;
    for n in 0..20 {
        let header = json!({"alg": "RS256", "kid": format!("unknown{n}")});
        let token = issuer.sign(&header, &claims(json!({})));
        assert_eq!(list(&site, &token).await.status, 401);
        assert_eq!(list(&site, &issuer.token(json!({}))).await.status, 200);
    }
    let first = requests.recv().await.unwrap();
    assert!(first.starts_with("GET /keys "), "{first}");
    assert!(requests.try_recv().is_err());
}

#[tokio::test]
async fn without_keys_nobody_gets_in_and_the_client_is_told_to_come_back() {
    let issuer = Issuer::new();
    let large = format!("{{\"keys\": [], \"x\": \"{}\"}}", "y".repeat(300 * 1024));
    for document in ["no JSON".to_owned(), large] {
        let (place, _requests) = serving(document).await;
        let site = site(&place, "").await;
        let answer = list(&site, &issuer.token(json!({}))).await;
        assert_eq!(answer.status, 503, "{}", answer.head);
        assert_eq!(answer.header("retry-after"), Some("5"));
    }
}

#[tokio::test]
async fn e56_no_token_of_a_client_reaches_an_upstream_server() {
    let issuer = Issuer::new();
    let (upstream, mut requests) = serving("{}".to_owned()).await;
    let address = upstream.strip_prefix("http://").unwrap();
    let site = with_file(&issuer, "").await;
    let mine = site.user.places().config_dir().unwrap().join("config.toml");
    let config = std::fs::read_to_string(&mine).unwrap();
    let upstreams = format!(
        "[policy]\nnet = ['{address}']\n[providers.mcp.up]\nurl = '{upstream}/mcp'\n\
         [conversation.tools.shout]\nsource = 'mcp.up.shout'\nrun = 'unattended'\n"
    );
    std::fs::write(&mine, format!("{config}{upstreams}")).unwrap();
    let own = site.add("own", None);
    // One made for another server gets nowhere, and one made for this server no further.
    let foreign = issuer.token(json!({"aud": upstream}));
    let params = json!({"name": "shout", "arguments": {}});
    let refused = site.try_ask(&foreign, "tools/call", params.clone()).await;
    assert_eq!(refused.status, 401, "{}", refused.head);
    assert!(requests.try_recv().is_err(), "nothing was asked upstream");
    for token in [&issuer.token(json!({})), &own] {
        let answer = site.ask(token, "tools/call", params.clone()).await;
        let request = requests.try_recv();
        let request = request.unwrap_or_else(|_| panic!("nothing was asked upstream: {answer}"));
        assert!(request.starts_with("POST /mcp "), "{request}: {answer}");
        while let Ok(more) = requests.try_recv() {
            assert!(!more.contains(token.as_str()), "{more}");
        }
        assert!(!request.contains(token.as_str()), "{request}");
        assert!(
            !request.to_lowercase().contains("authorization"),
            "{request}"
        );
    }
}
