//! `jp tool show`.

use clap::Args;
use jp_config::Layer;
use jp_llm::{
    PreparedTool, ToolDefinition, ToolDocs,
    registry::Origin,
    runtime::{Manual, Memory},
};
use jp_policy::Limits;
use serde_json::{Value, json};

use super::origin;
use crate::{
    commands::JSON_VERSION,
    error::CliError,
    exit::Exit,
    page::Page,
    session::{Session, block_on},
    table::table,
    text,
    ui::Ui,
    words,
};

/// As much of a description fits a screen.
const MAX_TEXT: usize = 400;

/// As many lines of what is asked for fit one.
const MAX_ITEMS: usize = 4;

/// And so many arguments.
const MAX_ARGUMENTS: usize = 12;

/// The room for names of fields.
const WIDTH: usize = 12;

/// Arguments of `jp tool show`.
#[derive(Debug, Args)]
#[command(after_help = "\
`asks for` is what the tool wants, `gets` what a call would be granted, and
`runs` who decides that it runs (see `jp tool list --help`). Of a signed tool,
version, registry, key, sha256 and status are shown too, even if it cannot be
used. `returns` is the schema of results, where one is known; `prompt` and
`help` are what a tool of jp itself, such as bash, says about its use.

Examples:
  jp tool show learn
  jp tool show learn --json | jq .parameters
  jp tool show bash --json | jq -r .help
  jp tool show ocr --json | jq -r .signed.version")]
pub(crate) struct ShowArgs {
    /// The tool
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print everything, schemas and manuals too
    #[arg(short, long)]
    verbose: bool,
}

/// Shows a tool.
pub(crate) fn run(args: &ShowArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let origin = origin::find(&args.name, &session);
    let tool = match (block_on(session.told_tool(&args.name))?, &origin) {
        (Ok(tool), _) => tool,
        // What is wrong with it is wrong with just these bytes of just this publisher.
        (Err(error), Some(origin)) => return broken(args, error, origin, ui),
        (Err(error), None) => return Err(error),
    };
    let shown = Shown {
        sha256: match &origin {
            Some(origin) => Some(origin.sha256.to_string()),
            None => sha256(&tool, &session),
        },
        manual: tool.manual(),
        docs: tool.known_docs(),
        tool,
        origin,
        session: &session,
    };
    if args.json {
        ui.json(&shown.json())?;
    } else {
        // What a program reads is all there is; a person has one screen.
        let brief = ui.out_is_terminal && !args.verbose;
        ui.bytes(shown.page(brief).as_bytes())?;
        if brief {
            ui.hint(&format!(
                "`jp tool show -v {}` prints schemas and manuals too",
                args.name
            ));
        }
    }
    Ok(Exit::Done)
}

/// Shows what is known of a signed tool that cannot be used.
fn broken(args: &ShowArgs, error: CliError, origin: &Origin, ui: &Ui) -> Result<Exit, CliError> {
    if args.json {
        ui.json(&json!({
            "version": JSON_VERSION,
            "name": args.name,
            "signed": origin::json(origin),
            "error": error.to_string(),
            "hint": error.hint(),
        }))?;
        return Ok(error.exit());
    }
    let mut page = Page::new(WIDTH);
    page.field("name", &args.name);
    origin::show(origin, &mut page);
    ui.bytes(page.as_bytes())?;
    Err(error)
}

/// Returns the hash of the tool's Wasm file, if it has one that can be read.
fn sha256(tool: &ToolDefinition, session: &Session) -> Option<String> {
    let tools = &session.loaded().config.conversation.tools.tools;
    let relative = tools.get(&tool.name)?.wasm()?;
    let path = jp_config::resolve_wasm(&session.location().root, relative).ok()?;
    jp_llm::sha256_file(&path).ok()
}

/// A tool, and what belongs to it.
struct Shown<'a> {
    tool: PreparedTool,
    /// What people are told about it.
    docs: ToolDocs,
    /// What it says about itself, if it is a tool of this process.
    manual: Option<Manual>,
    sha256: Option<String>,
    /// Where it comes from, if it is signed.
    origin: Option<Origin>,
    session: &'a Session,
}

impl Shown<'_> {
    fn json(&self) -> Value {
        let tool = &self.tool;
        let preview = tool.preview(self.session.host());
        let (grant, run, limits) = match &preview {
            Ok(preview) => (
                Some(preview.grant.capabilities().to_string()),
                words::run_mode(preview.run),
                Some(limits(preview.grant.limits(), preview.memory)),
            ),
            Err(_) => (None, "denied", None),
        };
        json!({
            "version": JSON_VERSION,
            "name": tool.name,
            "source": tool.source.to_string(),
            "enabled": tool.is_enabled(),
            "run": run,
            "summary": self.docs.summary,
            "description": self.docs.description,
            "examples": self.docs.examples,
            "parameters": tool.known_schema(),
            "output_schema": self.output_schema(),
            "help": self.manual.as_ref().map(|manual| &manual.help),
            "system_prompt": self.manual.as_ref().map(|manual| &manual.system_prompt),
            "request": tool.request.capabilities.to_string(),
            "asks": tool.request.words(),
            "grant": grant,
            "limits": limits,
            "denied": preview.err().map(|error| error.to_string()),
            "wasm": tool.wasm,
            "sha256": self.sha256,
            "signed": self.origin.as_ref().map(origin::json),
        })
    }

    fn page(&self, brief: bool) -> Page {
        let tool = &self.tool;
        let mut page = Page::new(WIDTH);
        page.field("name", &tool.name);
        let by = match tool.defined_by {
            Layer::User => "",
            Layer::Workspace if self.origin.is_some() => " (used by this workspace)",
            Layer::Workspace => " (defined by this workspace)",
        };
        page.field("source", &format!("{}{by}", tool.source));
        match (&self.origin, &self.sha256) {
            (Some(origin), _) => origin::show(origin, &mut page),
            (None, Some(sha256)) => page.field("sha256", sha256),
            (None, None) => {}
        }
        let texts = [
            ("summary", &self.docs.summary),
            ("description", &self.docs.description),
            ("examples", &self.docs.examples),
            ("wasm", &tool.wasm),
        ];
        for (name, text) in texts {
            if let Some(text) = text.as_ref().filter(|_| !brief || name != "examples") {
                let text = match brief {
                    true => text::shorten(text, MAX_TEXT),
                    false => text.into(),
                };
                page.field(name, &text);
            }
        }
        let tools = &self.session.loaded().config.conversation.tools.tools;
        if let Some(command) = tools.get(&tool.name).and_then(|config| config.command()) {
            page.field("command", &words::command(command));
        }
        let asks = words::request(&tool.request);
        page.field("asks for", &lines(&asks, brief));
        self.grant(&mut page, (asks.as_slice(), brief));
        if !tool.is_enabled() {
            page.field("disabled", "set `enable = true` for the tool");
        }
        if brief {
            page.field("arguments", &arguments(tool.known_schema()));
            return page;
        }
        page.field("parameters", &format!("{:#}", tool.known_schema()));
        if let Some(schema) = self.output_schema() {
            page.field("returns", &format!("{schema:#}"));
        }
        if let Some(manual) = &self.manual {
            page.field("prompt", &manual.system_prompt);
            page.field("help", &manual.help);
        }
        page
    }

    /// Returns the schema of what the tool returns: the one its results are checked against, or the
    /// one that a tool of this process states.
    fn output_schema(&self) -> Option<&Value> {
        let stated = || self.manual.as_ref().map(|manual| &manual.output_schema);
        self.tool.known_output_schema().or_else(stated)
    }

    /// Says what a call would get, or why it would be refused.
    fn grant(&self, page: &mut Page, (asks, brief): (&[String], bool)) {
        match self.tool.preview(self.session.host()) {
            Ok(preview) => {
                let gets = words::capabilities(preview.grant.capabilities());
                match brief && gets == asks {
                    true => page.field("gets", "all of that"),
                    false => page.field("gets", &lines(&gets, brief)),
                }
                page.field("limits", &words::limits(&preview.grant, preview.memory));
                page.field("runs", words::runs(preview.run));
            }
            Err(error) => {
                page.field("denied", &error.to_string());
                if let Some(hint) = error.hint() {
                    page.field("hint", hint);
                }
            }
        }
    }
}

/// Writes items one below the other; of many only the first, where there is one screen.
fn lines(items: &[String], brief: bool) -> String {
    let more = items.len().saturating_sub(MAX_ITEMS);
    match items.get(..MAX_ITEMS) {
        Some(first) if brief && more > 1 => format!("{}\nand {more} more", first.join("\n")),
        _ => items.join("\n"),
    }
}

/// Writes the arguments of a schema, one line each.
fn arguments(schema: &Value) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "an object; only the tool knows what is in it".to_owned();
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let mut all: Vec<(&String, &Value)> = properties.iter().collect();
    all.sort_by_key(|(name, _)| !is_required(name));
    let more = all.len().saturating_sub(MAX_ARGUMENTS);
    let rows = all.iter().take(MAX_ARGUMENTS).map(|(name, part)| {
        let about = part.get("description").and_then(Value::as_str);
        vec![
            text::short_line(name, 40),
            if is_required(name) { "required" } else { "" }.to_owned(),
            kind(part),
            text::short_line(about.unwrap_or_default(), 70),
        ]
    });
    let table = table(&[], &rows.collect::<Vec<_>>());
    let table = table.trim_start_matches('\n');
    match (all.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, 0) => table.to_owned(),
        (false, more) => format!("{table}and {more} more"),
    }
}

/// Names the type of an argument.
fn kind(part: &Value) -> String {
    let name = |value: &Value| match value {
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join("|")
        }
        _ => String::new(),
    };
    text::short_line(&part.get("type").map(name).unwrap_or_default(), 20)
}

fn limits(limits: &Limits, memory: Memory) -> Value {
    json!({
        "time_ms": u64::try_from(limits.time.as_millis()).unwrap_or(u64::MAX),
        "memory_bytes": memory.bytes,
        "memory_of": words::memory_of(memory),
        "output_bytes": limits.output_bytes,
        "fuel": limits.fuel,
        "open_files": limits.open_files,
    })
}
