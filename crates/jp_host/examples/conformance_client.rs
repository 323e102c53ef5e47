//! What `cargo xtask conformance` runs as a client: a workspace with one MCP server, whose every tool is
//! called once. The protocol, the logins and the calls are those of any other workspace; this file only
//! writes the configuration and stands for the person.
//!
//! The last argument is the URL of the server; `MCP_CONFORMANCE_CONTEXT` may hold calls to make, and a
//! client that is registered already.
#![expect(
    clippy::print_stderr,
    reason = "a program that is looked at when it fails"
)]

use std::{
    env,
    error::Error,
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use jp_host::{Location, Places, Workspace};
use jp_llm::{
    Approval, ApprovalRequest, Approver, AskRequest, Asker, Call, Caller, Host, InputRequest,
    Login, LoginFailed,
    broker::{self, LoginError},
};
use jp_tool::{AnswerType, Input, Question};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

type Failure = Box<dyn Error + Send + Sync>;

/// The id of the server in the workspace.
const SERVER: &str = "upstream";

/// The name of the secret of a client that is registered already.
const SECRET: &str = "conformance_client";

/// Where the suite expects the description of a client.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";

/// The scenario in which the client logs in as itself.
const CREDENTIALS: &str = "auth/client-credentials-basic";

/// How often a call is made again after a login.
const MAX_LOGINS: usize = 3;

/// A person who agrees to everything, and has nothing to add to the defaults of a form.
struct Agreeable;

#[async_trait]
impl Approver for Agreeable {
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        Approval::Approved
    }
}

#[async_trait]
impl Asker for Agreeable {
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value> {
        Some(answer(request.question))
    }

    async fn provide(&self, request: &InputRequest<'_>) -> Vec<Option<Value>> {
        let one = |input: &&Input| match input {
            Input::Form(form) => {
                let open = form.questions.iter().filter(|one| one.default.is_none());
                Some(open.map(|one| (one.id.clone(), answer(one))).collect())
            }
            Input::Question(question) => Some(answer(question)),
            Input::Sample(_) | Input::Roots { .. } => None,
        };
        request.inputs.iter().map(one).collect()
    }
}

fn answer(question: &Question) -> Value {
    if let Some(default) = &question.default {
        return default.clone();
    }
    let first = question.answer_type.options().into_iter().next();
    match (&question.answer_type, first) {
        (AnswerType::Boolean, _) => json!(true),
        (AnswerType::Integer | AnswerType::Number, _) => json!(1),
        (AnswerType::Choices { .. }, _) => json!([]),
        (_, Some(option)) => json!(option.value),
        (_, None) => json!("text"),
    }
}

/// What the suite tells of a scenario.
struct Scenario {
    name: String,
    url: String,
    context: Value,
}

impl Scenario {
    fn from_environment() -> Result<Self, Failure> {
        let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
        Ok(Self {
            name: env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default(),
            url: env::args().next_back().ok_or("expected a URL")?,
            context: serde_json::from_str(&context)?,
        })
    }

    /// Writes the configuration of a user who lets one server run on this machine.
    fn configuration(&self, tools: &[String]) -> String {
        let mut oauth = format!("client_metadata_url = {CLIENT_METADATA:?}\n");
        if let Some(id) = self.context["client_id"].as_str() {
            oauth.push_str(&format!("client_id = {id:?}\nclient_secret = {SECRET:?}\n"));
            if let Some(issuer) = self.context["issuer"].as_str() {
                oauth.push_str(&format!("issuer = {issuer:?}\n"));
            }
            if self.name == CREDENTIALS {
                oauth.push_str("grant = \"client_credentials\"\n");
            }
        }
        let mut text = format!(
            "[policy]\nnet = [\"localhost\", \"127.0.0.1\"]\n\n\
             [providers.mcp.{SERVER}]\nurl = {:?}\ngrant.net = [\"localhost\", \"127.0.0.1\"]\n\n\
             [providers.mcp.{SERVER}.oauth]\n{oauth}",
            self.url
        );
        for tool in tools {
            let source = format!("mcp.{SERVER}.{tool}");
            text.push_str(&format!(
                "\n[conversation.tools.{tool:?}]\nsource = {source:?}\n"
            ));
        }
        text
    }

    /// Returns the calls to make of a tool.
    fn calls(&self, tool: &str, schema: &Map<String, Value>) -> Vec<Map<String, Value>> {
        let listed = self.context["toolCalls"].as_array();
        let named = listed
            .into_iter()
            .flatten()
            .filter(|call| call["name"] == tool);
        let mut calls: Vec<_> = named
            .filter_map(|call| call["arguments"].as_object().cloned())
            .collect();
        for arguments in &mut calls {
            // The schema knows no null, so jp would refuse the call: what is null is left out.
            arguments.retain(|_, value| !value.is_null());
        }
        match calls.is_empty() {
            true => vec![sample(schema)],
            false => calls,
        }
    }
}

/// Makes arguments that fit a schema as plain as those of the suite.
fn sample(schema: &Map<String, Value>) -> Map<String, Value> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| match schema.get("properties")?.get(name)?["type"].as_str() {
        Some("number" | "integer") => Some(json!(5)),
        Some("boolean") => Some(json!(true)),
        _ => Some(json!("text")),
    };
    names
        .filter_map(|name| Some((name.to_owned(), value(name)?)))
        .collect()
}

/// One workspace, as its person uses it.
struct Client {
    places: Places,
    secret: Option<String>,
    workspace: Workspace,
    host: Host,
    cancel: CancellationToken,
}

impl Client {
    fn open(scenario: &Scenario, dir: &Path, tools: &[String]) -> Result<Self, Failure> {
        let places = Places::below(dir);
        let config = places.needed_config_dir()?;
        fs::create_dir_all(config)?;
        fs::write(config.join("config.toml"), scenario.configuration(tools))?;
        let root = dir.join("workspace");
        fs::create_dir_all(root.join(".jp"))?;
        let workspace = Workspace::at(Location::find(Some(&root))?).open(&places)?;
        let workspace = workspace.audited(&places)?;
        let host = workspace.host().for_caller(Caller {
            principal: jp_host::principal(),
            approver: Arc::new(Agreeable),
            asker: Arc::new(Agreeable),
            ..Caller::default()
        });
        Ok(Self {
            places,
            secret: scenario.context["client_secret"]
                .as_str()
                .map(str::to_owned),
            workspace,
            host,
            cancel: CancellationToken::new(),
        })
    }

    /// Does something, and again after a login if the server wants one.
    async fn insist<T>(
        &self,
        mut what: impl AsyncFnMut() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let servers = self.workspace.host().mcp().ok_or("no servers")?;
        for _ in 0..MAX_LOGINS {
            match what().await {
                Err(error) if servers.wants_login(SERVER) => {
                    eprintln!("{error}");
                    let mut login = servers.begin_login(SERVER, &[], &self.cancel).await;
                    if let Err(LoginFailed::Login(LoginError::NoSecret { url, .. })) = &login {
                        // The message says what to type, and this is the person who does.
                        self.keep_secret(url)?;
                        login = servers.begin_login(SERVER, &[], &self.cancel).await;
                    }
                    if let Login::Begun(begun) = login? {
                        let url = begun.url().to_owned();
                        let browser = tokio::task::spawn_blocking(move || browse(&url));
                        begun.finish(&self.cancel).await?;
                        browser.await??;
                    }
                }
                done => return done,
            }
        }
        what().await
    }

    /// Keeps the secret of a client that is registered already, for one address.
    fn keep_secret(&self, url: &str) -> Result<(), Failure> {
        let secret = self.secret.as_ref().ok_or("no secret is known")?;
        let secret = broker::Secret {
            name: SECRET.parse()?,
            value: broker::SecretValue::new(secret.as_bytes().to_vec())?,
            audience: vec![url.parse()?],
            reveal: false,
            created: 0,
        };
        Ok(broker::open_secrets(&self.places.broker()?)?.set(&secret)?)
    }

    async fn tools(&self) -> Result<Vec<(String, Map<String, Value>)>, Failure> {
        let servers = self.workspace.host().mcp().ok_or("no servers")?;
        let listed = self
            .insist(async || Ok(servers.list(SERVER, &self.cancel).await?))
            .await?;
        for note in &listed.notes {
            eprintln!("{note}");
        }
        let tools = listed.tools.iter();
        Ok(tools
            .map(|tool| (tool.name.clone(), tool.input_schema.clone()))
            .collect())
    }

    async fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<(), Failure> {
        self.insist(async || {
            let call = Call {
                id: "1".to_owned(),
                arguments: arguments.clone(),
                ..Call::default()
            };
            let executed = self.workspace.call(tool, call, &self.host).await?;
            match executed.result?.into_response() {
                Ok(result) => eprintln!("{tool}: {result}"),
                Err(refusal) => eprintln!("{tool} said no: {refusal}"),
            }
            Ok(())
        })
        .await
    }
}

/// Does what a browser does with the page of a login: goes there, and where it is sent from there.
fn browse(url: &str) -> Result<(), Failure> {
    let mut url = url.to_owned();
    for _ in 0..5 {
        let rest = url.strip_prefix("http://").ok_or("expected an http URL")?;
        let (authority, path) = rest.split_once('/').ok_or("expected a path")?;
        let mut stream = TcpStream::connect(authority)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let request =
            format!("GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let mut lines = answer.lines();
        let location = lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("location").then(|| value.trim())
        });
        match location {
            Some(location) => url = location.to_owned(),
            None => return Ok(()),
        }
    }
    Err("the page of the login sends browsers in circles".into())
}

async fn run() -> Result<(), Failure> {
    let scenario = Scenario::from_environment()?;
    let dir = tempfile::tempdir()?;
    let client = Client::open(&scenario, dir.path(), &[])?;
    let tools = client.tools().await?;
    client.workspace.stop_servers().await;
    let names: Vec<String> = tools.iter().map(|(name, _)| name.clone()).collect();
    let client = Client::open(&scenario, dir.path(), &names)?;
    for (tool, schema) in &tools {
        for arguments in scenario.calls(tool, schema) {
            client.call(tool, &arguments).await?;
        }
    }
    client.workspace.stop_servers().await;
    Ok(())
}

fn main() -> ExitCode {
    if let Some(code) = jp_confine::enter_if_asked() {
        return code;
    }
    let done = tokio::runtime::Runtime::new().map_err(Into::into);
    match done.and_then(|runtime| runtime.block_on(run())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
