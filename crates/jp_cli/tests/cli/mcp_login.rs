//! `jp mcp login`, from the address it prints to the login it keeps, and what it says when it cannot.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Stdio,
    thread,
};

use serde_json::json;

use crate::kit::{Ran, Sandbox};

/// Starts a server that wants a login, with the authorization server that makes it.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let theirs = origin.clone();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            answer(&mut stream, &theirs);
        }
    });
    origin
}

fn answer(stream: &mut TcpStream, origin: &str) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    let _ = reader.read_exact(&mut vec![0; length]);
    let place = first.split([' ', '?']).nth(1).unwrap_or_default();
    let (status, body) = match place {
        "/meta" => (
            "200 OK",
            json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]}),
        ),
        "/.well-known/oauth-authorization-server" => (
            "200 OK",
            json!({
                "issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"), "registration_endpoint": format!("{origin}/register"),
                "code_challenge_methods_supported": ["S256"],
            }),
        ),
        "/register" => ("201 Created", json!({"client_id": "registered"})),
        "/token" => (
            "200 OK",
            json!({"access_token": "tok-s3cret", "token_type": "bearer", "scope": "read"}),
        ),
        _ => ("401 Unauthorized", json!({})),
    };
    let body = body.to_string();
    let answer = format!(
        "HTTP/1.1 {status}\r\nWWW-Authenticate: Bearer resource_metadata=\"{origin}/meta\"\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes());
}

/// Comes back from the page of a login, as the browser of a person who agreed.
fn agree(page: &str) {
    let word = |name: &str| {
        let (_, rest) = page.split_once(&format!("{name}=")).unwrap();
        rest.split('&')
            .next()
            .unwrap()
            .replace("%3A", ":")
            .replace("%2F", "/")
    };
    let redirect = word("redirect_uri");
    let (authority, path) = redirect
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(authority).unwrap();
    let state = word("state");
    write!(
        stream,
        "GET /{path}?code=c&state={state} HTTP/1.1\r\nHost: {authority}\r\n\r\n"
    )
    .unwrap();
    let _ = stream.read_to_string(&mut String::new());
}

#[test]
fn a_login_is_made_kept_without_being_shown_and_forgotten() {
    let origin = server();
    let host = origin.trim_start_matches("http://");
    let sandbox = Sandbox::new("");
    sandbox.write(
        "home/.config/jp/config.toml",
        &format!("[policy]\nnet = [\"{host}\"]\n[providers.mcp.forge]\nurl = \"{origin}/mcp\"\n"),
    );
    let mut command = sandbox.command(&["mcp", "login", "forge"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut page = String::new();
    output.read_line(&mut page).unwrap();
    assert!(page.starts_with(&format!("{origin}/authorize?")), "{page}");
    agree(page.trim());
    let ran: Ran = child.wait_with_output().unwrap().into();
    ran.exits(0).warns("Logged in to `forge`. It allows: read.");
    let listed = sandbox.jp(&["secret", "list", "--json"]).exits(0).json();
    let listed = listed.to_string();
    assert!(listed.contains("jp-127-0-0-1"), "{listed}");
    assert!(!listed.contains("tok-s3cret"), "{listed}");
    sandbox.jp(&["mcp", "logout", "forge"]).exits(0);
    sandbox.jp(&["mcp", "logout", "forge"]).exits(1);
}

#[test]
fn only_servers_behind_a_url_are_logged_in_to() {
    let sandbox = Sandbox::new("[providers.mcp.house]\ncommand = \"sh\"\n");
    sandbox.jp(&["trust"]).exits(0);
    let unknown = sandbox.jp(&["mcp", "login", "nope"]);
    unknown
        .exits(2)
        .warns("unknown MCP server `nope`; configured: house");
    sandbox.write(
        "home/.config/jp/config.toml",
        "[policy]\nsubprocess = true\n",
    );
    let program = sandbox.jp(&["mcp", "login", "house"]);
    program
        .exits(2)
        .warns("only servers behind a URL are logged in to");
}
