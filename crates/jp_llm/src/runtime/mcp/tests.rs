//! From the configuration to the outcome, with a server that is a real process: a script of the
//! system's shell that speaks the protocol.

mod over_http;

use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use jp_broker::mcp::Means;
use jp_config::{Loaded, PolicyConfig, Sources};
use jp_policy::Request;
use jp_tool::{Tool, ToolRequest, ToolResponse, ToolStatus};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    Call as ToolCall, Caller, Events, ExecutionOutcome, Host, ToolDefinition, ToolError, Trust,
    tool::body::Body,
};

/// Answers with what it was sent, says no, reports progress, or sleeps.
const SERVER: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
text() { answer '{"content":[{"type":"text","text":"'"$1"'"}],"isError":'"$2"'}'; }
while read -r line; do
  id=${line##*'"id":'}; id=${id%%[,\}]*}
  token=${line##*'"progressToken":'}; token=${token%%[,\}]*}
  case $line in
  *'"method":"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
  *'"method":"tools/list"'*) answer '{"tools":[
      {"name":"echo","description":"Says it again. And a line of detail.","inputSchema":{"type":"object","properties":{"word":{"type":"string"}}}},
      {"name":"no","inputSchema":{"type":"object"}},{"name":"sleep","inputSchema":{"type":"object"}}]}' ;;
  *'"name":"echo"'*)
    printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2,"message":"half"}}\n' "$token"
    sleep 0.2
    word=${line##*'"word":"'}; text "${word%%\"*} $GREETING $HOME" false ;;
  *'"name":"no"'*) text 'not today' true ;;
  esac
done
"#;

struct Nobody;

#[async_trait]
impl Tool for Nobody {
    fn name(&self) -> &str {
        "nobody"
    }
    fn short_description(&self) -> &str {
        ""
    }
    fn description(&self) -> String {
        String::new()
    }
    fn help(&self) -> String {
        String::new()
    }
    fn system_prompt(&self) -> String {
        String::new()
    }
    fn input_schema(&self) -> serde_json::Value {
        json!({})
    }
    fn output_schema(&self) -> serde_json::Value {
        json!({})
    }
    fn version(&self) -> &str {
        "0"
    }
    async fn execute(&mut self, _: ToolRequest) -> ToolResponse {
        ToolResponse::default()
    }
    async fn execute_with_status(
        &mut self,
        request: ToolRequest,
        _: Box<dyn FnMut(ToolStatus) + Send>,
    ) -> ToolResponse {
        self.execute(request).await
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<ToolStatus>>);

impl Events for Heard {
    fn report(&self, _: &str, _: &str, status: ToolStatus) {
        self.0.lock().unwrap().push(status);
    }
}

struct Desk {
    _held: tempfile::TempDir,
    loaded: Loaded,
    host: Host,
    heard: Arc<Heard>,
}

impl Desk {
    fn new(where_to: &str, policy: &str) -> Self {
        let held = tempfile::tempdir().unwrap();
        let root = held.path().canonicalize().unwrap();
        let one_line = SERVER
            .replace("'{\"tools\":[\n      ", "'{\"tools\":[")
            .replace("}}}},\n      ", "}}}},");
        fs::write(root.join("server.sh"), one_line).unwrap();
        let config = "
            [conversation.tools.echo]
            source = 'mcp.s'
            run = 'unattended'
            [conversation.tools.refuse]
            source = 'mcp.s.no'
            run = 'unattended'
            [conversation.tools.slow]
            source = 'mcp.s.sleep'
            run = 'unattended'
            [conversation.tools.gone]
            source = 'mcp.s'
            [providers.mcp.s]
            command = '/bin/sh'
            arguments = ['server.sh']
            variables = ['GREETING']
            grant = { workspace = 'read' }";
        for directory in ["user", "ws/.jp"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join(where_to), config).unwrap();
        fs::rename(root.join("server.sh"), root.join("ws/server.sh")).unwrap();
        let loaded = jp_config::load(&Sources {
            user_config_dir: Some(root.join("user")),
            workspace_root: Some(root.join("ws")),
            cwd: root.join("ws"),
            ..Sources::default()
        })
        .unwrap();
        let policy: PolicyConfig = serde_json::from_str(policy).unwrap();
        let heard = Arc::new(Heard::default());
        let caller = Caller {
            events: Some(heard.clone()),
            ..Caller::default()
        };
        let host = Host::builder(root.join("ws"), policy.to_policy().unwrap());
        let host = host.caller(caller).build();
        Self {
            _held: held,
            loaded,
            host,
            heard,
        }
    }

    fn tools(&self) -> McpTools {
        // Walls have their own tests; here the system's shell runs bare.
        let means = Means {
            unconfined: true,
            ..Means::default()
        };
        let variable = |name: &str| (name == "GREETING").then(|| "hello".into());
        McpTools::new(&self.loaded, &self.host, means, &variable)
    }

    /// Defines a tool as the pipeline would, with what the server told.
    fn define(&self, tools: &McpTools, name: &str) -> Result<ToolDefinition, ToolError> {
        let config = &self.loaded.config.conversation.tools.tools[name];
        let defined = tools.define(name, "s", config)?;
        let request = Request { ..config.request() };
        let mut definition = ToolDefinition::native(name, Box::new(Nobody), request);
        definition.body = Body::Server(defined.tool);
        definition.schema = defined.schema;
        definition.docs = defined.docs;
        definition.source = config.source.clone();
        definition.run = config.run;
        Ok(definition)
    }
}

const ALL: &str = r#"{"workspace": "read-write", "subprocess": true}"#;

fn call(arguments: serde_json::Value) -> ToolCall {
    ToolCall {
        arguments: arguments.as_object().unwrap().clone(),
        ..ToolCall::default()
    }
}

async fn said(tool: &ToolDefinition, call: ToolCall, host: &Host) -> Result<String, String> {
    match tool.execute(call, host).await.unwrap() {
        ExecutionOutcome::Completed { result, .. } => result,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_tool_of_a_server_runs_like_any_other() {
    let desk = Desk::new("user/config.toml", ALL);
    let tools = desk.tools();
    let unlisted = tools.prepare(&desk.loaded, &CancellationToken::new()).await;
    assert!(unlisted.is_empty(), "{unlisted:?}");
    let echo = desk.define(&tools, "echo").unwrap();
    assert_eq!(
        echo.docs.description.as_deref(),
        Some("Says it again. And a line of detail.")
    );
    let answer = said(&echo, call(json!({"word": "once"})), &desk.host).await;
    assert_eq!(answer, Ok("once hello /tmp".to_owned()));
    let heard = desk.heard.0.lock().unwrap().clone();
    let half = heard
        .iter()
        .find(|status| status.message.as_deref() == Some("half"));
    assert_eq!(
        half.and_then(|status| status.percent_complete),
        Some(50.0),
        "{heard:?}"
    );
    let wrong = said(&echo, call(json!({"word": 7})), &desk.host).await;
    assert!(wrong.unwrap_err().starts_with("Invalid arguments"));
    let refuse = desk.define(&tools, "refuse").unwrap();
    assert_eq!(
        said(&refuse, call(json!({})), &desk.host).await,
        Err("not today".to_owned())
    );
    let gone = desk.define(&tools, "gone").err().unwrap().to_string();
    assert!(gone.contains("there is no such tool"), "{gone}");
}

#[tokio::test]
async fn what_was_prepared_lasts_as_long_as_what_the_server_told() {
    let mut desk = Desk::new("user/config.toml", ALL);
    let (tools, never) = (Arc::new(desk.tools()), CancellationToken::new());
    desk.host = desk.host.into_builder().mcp(Arc::clone(&tools)).build();
    tools.list("s", &never).await.unwrap();
    let config = desk.loaded.config.conversation.tools.tools["echo"].clone();
    let mut echo = ToolDefinition::native("echo", Box::new(Nobody), Request::default());
    echo.body = Body::Server(tools.define("echo", "s", &config).unwrap().tool);
    let echo = echo.prepare();
    tools.list("s", &never).await.unwrap();
    assert!(echo.is_current(&desk.host));
    // Started anew, it may have other tools.
    tools.servers().stop().await;
    tools.list("s", &never).await.unwrap();
    assert!(!echo.is_current(&desk.host));
}

#[tokio::test]
async fn cancel_and_time_end_a_call() {
    let desk = Desk::new("user/config.toml", ALL);
    let tools = desk.tools();
    tools.list("s", &CancellationToken::new()).await.unwrap();
    let slow = desk.define(&tools, "slow").unwrap();
    let waits = call(json!({}));
    let cancel = waits.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    let ended = slow.execute(waits, &desk.host).await.unwrap();
    assert!(
        matches!(ended, ExecutionOutcome::Cancelled { .. }),
        "{ended:?}"
    );
    let mut slow = desk.define(&tools, "slow").unwrap();
    slow.request.limits.time_ms = Some(100);
    let error = slow.execute(call(json!({})), &desk.host).await.unwrap_err();
    assert!(error.to_string().contains("ran out of time"), "{error}");
}

#[tokio::test]
async fn a_server_of_an_untrusted_workspace_is_not_started() {
    let mut desk = Desk::new("ws/.jp/config.toml", ALL);
    let never = CancellationToken::new();
    let unlisted = desk.tools().prepare(&desk.loaded, &never).await;
    assert!(
        unlisted[0].error.to_string().contains("run `jp trust`"),
        "{unlisted:?}"
    );
    let trusted = Trust::Trusted {
        pins: std::collections::BTreeMap::new(),
    };
    desk.host = desk.host.clone().into_builder().trust(trusted).build();
    assert!(desk.tools().list("s", &never).await.is_ok());
}

#[tokio::test]
async fn a_server_needs_what_it_asks_for_from_the_users_policy() {
    let desk = Desk::new(
        "user/config.toml",
        r#"{"workspace": "read-write", "subprocess": false}"#,
    );
    let unlisted = desk
        .tools()
        .prepare(&desk.loaded, &CancellationToken::new())
        .await;
    let error = unlisted[0].error.to_string();
    assert!(error.contains("under `[policy]`"), "{error}");
    assert!(!unlisted[0].optional);
}

/// Calls `echo` of the server with another digest than it has, and returns why it is refused.
async fn refused(desk: &Desk, tools: &McpTools, digest: Digest) -> ToolError {
    let mut tool = ToolDefinition::native("echo", Box::new(Nobody), Request::default());
    let servers = Arc::clone(tools.servers());
    tool.body = Body::Server(ServerTool {
        servers,
        server: "s".to_owned(),
        tool: "echo".to_owned(),
        digest,
        told: Arc::default(),
    });
    let error = tool.execute(call(json!({})), &desk.host).await.unwrap_err();
    let hint = error.hint().unwrap_or_default();
    assert!(
        !format!("{error} {hint}").contains("unconfined"),
        "{error}: {hint}"
    );
    error
}

#[tokio::test]
async fn a_tool_that_changed_a_server_that_is_refused_and_a_wrong_program_are_each_told_as_that() {
    let never = CancellationToken::new();
    let mut desk = Desk::new("user/config.toml", ALL);
    let tools = desk.tools();
    let listed = tools.list("s", &never).await.unwrap();
    let (own, other) = (listed.get("echo").unwrap(), listed.get("no").unwrap());
    let (own, other) = (own.digest(), other.digest());
    let error = refused(&desk, &tools, other).await;
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::McpSwapped { .. })),
        "{error:?}"
    );
    assert!(error.hint().unwrap().contains("`jp tool lock`"), "{error}");
    let server = &mut desk.loaded.config.providers.mcp["s"];
    server.checksum = Some(jp_config::Checksum {
        algorithm: jp_config::ChecksumAlgorithm::Sha256,
        value: "00".repeat(32),
    });
    let error = refused(&desk, &desk.tools(), own).await;
    let Cause::Refused(Refused::McpProgram { found, .. }) = error.cause() else {
        panic!("{error:?}")
    };
    let line = format!("`checksum.value = \"{found}\"` under `[providers.mcp.s]`");
    assert!(error.hint().unwrap().contains(&line), "{error}");
    let untrusted = Desk::new("ws/.jp/config.toml", ALL);
    let error = refused(&untrusted, &untrusted.tools(), own).await;
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::McpRefused { .. })),
        "{error:?}"
    );
    assert!(error.to_string().contains("run `jp trust`"), "{error}");
}

#[test]
fn progress_becomes_a_part_of_a_hundred_whatever_a_server_says() {
    let percent = |progress, total| {
        let message = None;
        status(&Progress {
            progress,
            total,
            message,
        })
        .percent_complete
    };
    assert_eq!(percent(1.0, Some(4.0)), Some(25.0));
    assert_eq!(percent(9.0, Some(4.0)), Some(100.0));
    assert_eq!(percent(-1.0, Some(4.0)), Some(0.0));
    assert_eq!(percent(1.0, Some(0.0)), None);
    assert_eq!(percent(f64::NAN, Some(1.0)), None);
    assert_eq!(percent(1.0, None), None);
}
