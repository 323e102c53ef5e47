//! An MCP server that wants logins, and the authorization server that makes them, at one address.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

/// One request that came in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visit {
    /// Method and path.
    pub(crate) what: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// What a site does differently.
#[derive(Clone)]
pub(crate) struct Manner {
    /// What its metadata say instead.
    pub(crate) resource: Value,
    pub(crate) issuer: Value,
    /// How long a token lasts.
    pub(crate) lasts: i64,
    /// How the server refuses a token that it does not know.
    pub(crate) refusal: &'static str,
    pub(crate) renews: bool,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            resource: json!({}),
            issuer: json!({}),
            lasts: 3600,
            refusal: "401 Unauthorized",
            renews: true,
        }
    }
}

/// A site on loopback.
pub(crate) struct Site {
    pub(crate) origin: String,
    pub(crate) visits: Arc<Mutex<Vec<Visit>>>,
    /// The token that is good now.
    pub(crate) good: Arc<Mutex<String>>,
}

impl Site {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let site = Self {
            origin: origin.clone(),
            visits: Arc::default(),
            good: Arc::new(Mutex::new("nothing-yet".to_owned())),
        };
        let (visits, good) = (Arc::clone(&site.visits), Arc::clone(&site.good));
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let (visits, good) = (Arc::clone(&visits), Arc::clone(&good));
                let (manner, origin) = (manner.clone(), origin.clone());
                thread::spawn(move || {
                    if let Some(visit) = read(&mut stream) {
                        visits.lock().unwrap().push(visit.clone());
                        let answer = answer(&visit, &manner, &origin, &good);
                        let _ = stream.write_all(answer.as_bytes());
                    }
                });
            }
        });
        site
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    pub(crate) fn host(&self) -> &str {
        self.origin.trim_start_matches("http://")
    }

    /// Returns the visits to a place.
    pub(crate) fn at(&self, what: &str) -> Vec<Visit> {
        let visits = self.visits.lock().unwrap();
        visits
            .iter()
            .filter(|one| one.what == what)
            .cloned()
            .collect()
    }
}

fn answer(visit: &Visit, manner: &Manner, origin: &str, good: &Mutex<String>) -> String {
    let with = |mut document: Value, change: &Value| {
        let change = change.as_object().unwrap().clone();
        document.as_object_mut().unwrap().extend(change);
        document
    };
    match visit.what.as_str() {
        "GET /metadata" => {
            let document =
                json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]});
            page("200 OK", "", &with(document, &manner.resource))
        }
        "GET /.well-known/oauth-authorization-server" => {
            let document = json!({
                "issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                "authorization_response_iss_parameter_supported": true,
            });
            page("200 OK", "", &with(document, &manner.issuer))
        }
        "POST /register" => page("201 Created", "", &json!({"client_id": "registered"})),
        "POST /token" => {
            let mut good = good.lock().unwrap();
            let is_first = *good == "nothing-yet";
            *good = format!("token-{}-s3cret", good.len() + usize::from(!is_first) * 100);
            let mut tokens =
                json!({"access_token": *good, "token_type": "Bearer", "expires_in": manner.lasts});
            if manner.renews {
                tokens["refresh_token"] = json!("refresh-s3cret");
            }
            page("200 OK", "", &tokens)
        }
        "POST /mcp" => {
            let bearer = format!("authorization: bearer {}\r\n", good.lock().unwrap());
            if !visit.head.to_lowercase().contains(&bearer) {
                let challenge = format!(
                    "WWW-Authenticate: Bearer scope=\"read\", resource_metadata=\"{origin}/metadata\"\r\n"
                );
                return page(manner.refusal, &challenge, &json!({}));
            }
            served(visit)
        }
        _ => page("404 Not Found", "", &json!({})),
    }
}

fn served(visit: &Visit) -> String {
    let body: Value = serde_json::from_str(&visit.body).unwrap_or_default();
    if body["id"].is_null() {
        return page("202 Accepted", "", &json!({}));
    }
    let result = match body["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "site", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "headers", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": visit.head}]}),
        _ => {
            return page(
                "404 Not Found",
                "",
                &json!({"jsonrpc": "2.0", "id": body["id"],
            "error": {"code": -32601, "message": "no"}}),
            );
        }
    };
    page(
        "200 OK",
        "",
        &json!({"jsonrpc": "2.0", "id": body["id"], "result": result}),
    )
}

fn page(status: &str, more: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "HTTP/1.1 {status}\r\n{more}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn read(stream: &mut TcpStream) -> Option<Visit> {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    let what: Vec<&str> = head.split([' ', '?']).take(2).collect();
    Some(Visit {
        what: what.join(" "),
        body: String::from_utf8(body).ok()?,
        head,
    })
}
