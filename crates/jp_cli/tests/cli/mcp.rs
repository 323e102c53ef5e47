//! An MCP server that says of its tools what a file says, and a workspace with it.

use serde_json::{Value, json};

use crate::kit::Sandbox;

/// The server, in a few lines of shell.
const SERVER: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}\n' "$id" "$(cat tools.json)" ;;
    *'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"LOUD"}]}}\n' "$id" ;;
  esac
done
"#;

/// What the workspace says of it.
pub(crate) const CONFIG: &str = r#"
[providers.mcp.house]
command = "sh"
arguments = ["server.sh"]
grant.workspace = "read"

[conversation.tools.shout]
source = "mcp.house.shout"
run = "unattended"
"#;

/// Makes a workspace with the server, which offers one tool; nobody trusts it yet.
pub(crate) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(CONFIG);
    sandbox.write("workspace/server.sh", SERVER);
    offers(&sandbox, &[shout()]);
    sandbox
}

/// Makes the server offer these tools from now on.
pub(crate) fn offers(sandbox: &Sandbox, tools: &[Value]) {
    sandbox.write("workspace/tools.json", &json!(tools).to_string());
}

/// The tool it offers at first.
pub(crate) fn shout() -> Value {
    json!({"name": "shout", "description": "Says it loudly.", "inputSchema": {
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}})
}

/// Makes the server answer calls with an error of the protocol.
pub(crate) fn rejects_calls(sandbox: &Sandbox, code: i32, message: &str) {
    let result = r#""result":{"content":[{"type":"text","text":"LOUD"}]}"#;
    rejects(sandbox, result, code, message);
}

/// Makes the server answer the question for its tools with an error of the protocol.
pub(crate) fn rejects_lists(sandbox: &Sandbox, code: i32, message: &str) {
    let result = r#""result":{"tools":%s}}\n' "$id" "$(cat tools.json)""#;
    rejects(sandbox, result, code, message);
}

fn rejects(sandbox: &Sandbox, instead_of: &str, code: i32, message: &str) {
    let error = json!({"code": code, "message": message}).to_string();
    // `printf` of the shell makes one backslash of two.
    let error = format!("\"error\":{}", error.replace('\\', "\\\\"));
    let (start, end) = SERVER.split_once(instead_of).unwrap();
    let end = match instead_of.ends_with('"') {
        true => format!("}}\\n' \"$id\"{end}"),
        false => end.to_owned(),
    };
    sandbox.write("workspace/server.sh", &format!("{start}{error}{end}"));
}

/// Makes the server answer calls with this result.
pub(crate) fn answers(sandbox: &Sandbox, result: &Value) {
    sandbox.write("workspace/answer.json", &result.to_string());
    let fixed = r#""result":{"content":[{"type":"text","text":"LOUD"}]}}\n' "$id""#;
    let read = r#""result":%s}\n' "$id" "$(cat answer.json)""#;
    let server = SERVER.replace(fixed, read);
    assert_ne!(server, SERVER);
    sandbox.write("workspace/server.sh", &server);
}
