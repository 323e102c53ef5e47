//! `jp tool format`.

use clap::Args;
use jp_config::tool::ParametersStyle;
use jp_llm::ToolDefinition;
use jp_tool::Action;
use serde_json::{Map, Value, json};

use super::{
    call::{self, Wanted},
    report::{self, Ending},
};
use crate::{
    answers::Answers, arguments, commands::JSON_VERSION, error::CliError, exit::Exit,
    session::Session, ui::Ui,
};

/// Arguments of `jp tool format`.
#[derive(Debug, Args)]
#[command(after_help = "\
Uses the tool's `style.parameters`: json, function_call, off, or tool, which
asks the tool itself. --tool asks it in any case.

Examples:
  jp tool format test path=a.txt
  jp tool format test path=a.txt --tool")]
pub(crate) struct FormatArgs {
    /// The tool
    name: String,
    /// The arguments: a JSON object, key=value words, or -
    #[arg(value_name = "ARGUMENT")]
    arguments: Vec<String>,
    /// Let the tool format them, whatever its style
    #[arg(long)]
    tool: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Formats a call.
pub(crate) fn run(args: &FormatArgs, ui: &Ui) -> Result<Exit, CliError> {
    let arguments = arguments::read(&args.arguments)?;
    let session = Session::open(ui)?;
    let tool = ToolDefinition::new(&args.name, session.loaded(), session.host())?;
    let by_tool = args.tool || tool.parameters_style == ParametersStyle::Tool;
    if !by_tool {
        let text = by_style(&args.name, tool.parameters_style, &arguments);
        return print(&text, args, ui);
    }
    let wanted = Wanted {
        name: &args.name,
        arguments,
        action: Action::FormatArguments,
        answers: Answers::default(),
        files: std::collections::BTreeMap::new(),
        agreed: false,
    };
    let (called, session) = call::make(wanted, session, ui)?;
    match Ending::of(&called.executed) {
        Ending::Success(text) => print(text, args, ui),
        ending => {
            report::show(&args.name, &called, (session.host(), false), ui)?;
            Ok(ending.exit())
        }
    }
}

fn print(text: &str, args: &FormatArgs, ui: &Ui) -> Result<Exit, CliError> {
    if args.json {
        ui.json(&json!({"version": JSON_VERSION, "tool": args.name, "text": text}))?;
    } else {
        ui.result(text)?;
    }
    Ok(Exit::Done)
}

fn by_style(name: &str, style: ParametersStyle, arguments: &Map<String, Value>) -> String {
    match style {
        ParametersStyle::Off => String::new(),
        ParametersStyle::FunctionCall => {
            let words: Vec<String> = arguments
                .iter()
                .map(|(key, value)| format!("{key}: {value}"))
                .collect();
            format!("{name}({})\n", words.join(", "))
        }
        ParametersStyle::Json | ParametersStyle::Tool => {
            let json = serde_json::to_string_pretty(arguments).unwrap_or_default();
            format!("{json}\n")
        }
    }
}
