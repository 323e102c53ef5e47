//! What is written into the configuration of a client.

use serde_json::{Value, json};

use super::{client::Client, edit::merge::TOKEN, error::InstallError};

/// How a client reaches jp.
#[derive(Debug, Clone)]
pub(super) enum Reach {
    /// It starts a program.
    Program {
        program: String,
        args: Vec<String>,
        /// Whether the arguments name a workspace.
        has_workspace: bool,
    },
    /// It connects to one that runs.
    Http { url: String },
}

/// Returns the entry of a client.
pub(super) fn entry(client: Client, name: &str, reach: &Reach) -> Result<Value, InstallError> {
    match reach {
        Reach::Program {
            program,
            args,
            has_workspace,
        } => Ok(started(client, name, (program, args), *has_workspace)),
        Reach::Http { url } => connected(client, name, url),
    }
}

fn started(
    client: Client,
    name: &str,
    (program, args): (&str, &[String]),
    has_workspace: bool,
) -> Value {
    match client {
        // Its limit on a call is not extended by progress.
        Client::ClaudeCode => json!({
            "type": "stdio", "command": program, "args": args, "env": {}, "timeout": 600_000,
        }),
        Client::Codex => json!({"command": program, "args": args, "tool_timeout_sec": 600}),
        Client::Vscode if has_workspace => {
            json!({"type": "stdio", "command": program, "args": args})
        }
        Client::Vscode => json!({
            "type": "stdio", "command": program, "args": args, "cwd": "${workspaceFolder}",
        }),
        Client::CopilotCli => json!({
            "type": "stdio", "command": program, "args": args, "env": {}, "tools": ["*"],
        }),
        Client::Goose => json!({
            "name": name, "type": "stdio", "enabled": true, "cmd": program, "args": args,
            "envs": {}, "env_keys": [], "timeout": 300,
        }),
        Client::Opencode => {
            let words: Vec<&str> = [program]
                .into_iter()
                .chain(args.iter().map(String::as_str))
                .collect();
            json!({"type": "local", "command": words, "enabled": true, "environment": {}})
        }
        Client::ClaudeDesktop | Client::Cursor | Client::Zed | Client::GeminiCli => {
            json!({"command": program, "args": args, "env": {}})
        }
    }
}

/// The token is named in the client's own syntax, so that it is in no file.
fn connected(client: Client, name: &str, url: &str) -> Result<Value, InstallError> {
    let headers = |token: &str| json!({"Authorization": format!("Bearer {token}")});
    let shell = format!("${{{TOKEN}}}");
    let env = format!("${{env:{TOKEN}}}");
    Ok(match client {
        Client::ClaudeCode => json!({"type": "http", "url": url, "headers": headers(&shell)}),
        Client::Codex => {
            json!({"url": url, "bearer_token_env_var": TOKEN, "tool_timeout_sec": 600})
        }
        Client::Cursor => json!({"url": url, "headers": headers(&env)}),
        Client::Vscode => json!({"type": "http", "url": url, "headers": headers(&env)}),
        Client::CopilotCli => json!({
            "type": "http", "url": url, "headers": headers(&shell), "tools": ["*"],
        }),
        Client::Goose => json!({
            "name": name, "type": "streamable_http", "enabled": true, "uri": url,
            "headers": headers(&shell), "envs": {}, "env_keys": [TOKEN], "timeout": 300,
        }),
        Client::GeminiCli => json!({"httpUrl": url, "headers": headers(&shell)}),
        Client::Opencode => json!({
            "type": "remote", "url": url, "enabled": true,
            "headers": headers(&format!("{{env:{TOKEN}}}")),
        }),
        Client::ClaudeDesktop => {
            let why = "it takes URLs in its settings under Connectors only";
            return Err(InstallError::NoHttp { client, why });
        }
        Client::Zed => {
            let why = "it reads no variables of the environment in headers";
            return Err(InstallError::NoHttp { client, why });
        }
    })
}

/// Returns the command of the client itself that does the same, if it has one.
pub(super) fn typed(client: Client, name: &str, reach: &Reach) -> Option<String> {
    match (client, reach) {
        (Client::ClaudeCode, Reach::Http { url }) => Some(format!(
            "claude mcp add --scope user --transport http {name} {} --header 'Authorization: Bearer ${{{TOKEN}}}'",
            quoted(url)
        )),
        (_, Reach::Http { .. }) => None,
        (_, Reach::Program { program, args, .. }) => {
            let words = [program].into_iter().chain(args).map(|word| quoted(word));
            let words = words.collect::<Vec<_>>().join(" ");
            match client {
                Client::ClaudeCode => {
                    Some(format!("claude mcp add --scope user {name} -- {words}"))
                }
                Client::Codex => Some(format!("codex mcp add {name} -- {words}")),
                Client::GeminiCli => Some(format!("gemini mcp add -s user {name} {words}")),
                Client::Vscode => {
                    let entry = json!({"name": name, "command": program, "args": args});
                    Some(format!("code --add-mcp {}", quoted(&entry.to_string())))
                }
                _ => None,
            }
        }
    }
}

/// Writes a word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
