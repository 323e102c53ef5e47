//! `jp kb`: the knowledge base as models see it.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::JSON_VERSION;
use crate::{error::CliError, exit::Exit, session::Session, table::table, text, ui::Ui};

/// The verbs of `jp kb`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the topics and how many subjects each has
    #[command(after_help = "Examples:\n  jp kb list\n  jp kb list --json")]
    List(ListArgs),
    /// Print the section of the system prompt
    #[command(after_help = "Examples:\n  jp kb prompt")]
    Prompt(PromptArgs),
}

/// Arguments of `jp kb list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `jp kb prompt`.
#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs a verb.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    match command {
        Command::List(args) => list(args, ui),
        Command::Prompt(args) => prompt(args, ui),
    }
}

fn list(args: &ListArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let (mut rows, mut topics) = (Vec::new(), Vec::new());
    for (id, topic, scan) in jp_llm::topics(session.host()) {
        let title = topic.title.as_deref().unwrap_or_default();
        let mut object = json!({"id": id, "title": topic.title, "description": topic.description,
            "subjects": topic.subjects().as_str()});
        let counts = match &scan {
            Ok(scan) => {
                let (available, learned) = (scan.available().count(), scan.learned().count());
                object["available"] = available.into();
                object["learned"] = learned.into();
                object["hidden"] = scan.hidden().count().into();
                object["notes"] = json!(scan.notes());
                format!("{available} to learn, {learned} in the prompt")
            }
            Err(error) => {
                object["error"] = error.to_string().into();
                format!("broken: {error}")
            }
        };
        topics.push(object);
        rows.push(vec![
            text::one_line(id),
            text::one_line(title),
            text::one_line(&counts),
            text::one_line(topic.subjects().as_str()),
        ]);
    }
    if args.json {
        ui.json(&json!({"version": JSON_VERSION, "topics": topics}))?;
    } else if rows.is_empty() {
        ui.say("There are no topics; add one as [kb.topic.NAME] to .jp/config.toml.");
    } else {
        ui.bytes(table(&["TOPIC", "TITLE", "SUBJECTS", "DIRECTORY"], &rows).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn prompt(args: &PromptArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let (prompt, problems) = jp_llm::knowledge_prompt(session.host());
    if args.json {
        let prompt = prompt.map_or(Value::Null, Value::from);
        ui.json(&json!({"version": JSON_VERSION, "prompt": prompt, "problems": problems}))?;
        return Ok(Exit::Done);
    }
    for problem in &problems {
        ui.warning(problem);
    }
    match prompt {
        Some(prompt) => ui.result(&prompt)?,
        None => ui.say("There is nothing to put into a prompt."),
    }
    Ok(Exit::Done)
}
