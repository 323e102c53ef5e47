//! `jp audit`: what ran, for whom, with what grant; and whether that record is intact.

use clap::{Args, Subcommand};
use jp_audit::{AuditError, Entry, Reader, Report};
use serde_json::{Value, json};

use super::JSON_VERSION;
use crate::{
    clock,
    error::CliError,
    exit::Exit,
    places,
    table::table,
    text,
    ui::{Style, Ui},
    words,
};

/// The verbs of `jp audit`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the newest records
    #[command(after_help = "\
Examples:
  jp audit show
  jp audit show --last 100 --tool read
  jp audit show --json | jq '.records[] | select(.outcome == \"denied\")'")]
    Show(ShowArgs),
    /// Check that no record was changed, removed or added
    #[command(after_help = "Examples:\n  jp audit verify && echo intact")]
    Verify(VerifyArgs),
}

/// Arguments of `jp audit show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// How many records
    #[arg(long, value_name = "N", default_value_t = 20)]
    last: usize,
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `jp audit verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs a verb.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    match command {
        Command::Show(args) => show(args, ui),
        Command::Verify(args) => verify(args, ui),
    }
}

fn show(args: &ShowArgs, ui: &Ui) -> Result<Exit, CliError> {
    let entries = newest(args)?;
    if args.json {
        let records: Vec<Value> = entries
            .iter()
            .map(|entry| match entry {
                Ok(entry) => serde_json::from_str(&entry.raw).unwrap_or_default(),
                Err(error) => json!({"error": error.to_string()}),
            })
            .collect();
        ui.json(&json!({"version": JSON_VERSION, "records": records}))?;
        return Ok(Exit::Done);
    }
    if entries.is_empty() {
        ui.say(none(args)?);
        return Ok(Exit::Done);
    }
    let mut rows = Vec::new();
    for entry in &entries {
        match entry {
            Ok(entry) => rows.push(row(entry)),
            Err(error) => ui.warning(&error.to_string()),
        }
    }
    let header = [
        "SEQ",
        "TIME (UTC)",
        "WHO",
        "TOOL",
        "DECISION",
        "OUTCOME",
        "TOOK",
        "DETAIL",
    ];
    ui.bytes(table(&header, &rows).as_bytes())?;
    Ok(Exit::Done)
}

/// Says why there is nothing to show.
fn none(args: &ShowArgs) -> Result<String, CliError> {
    let any = Reader::open(&places::own().audit_dir()?)?.tail(1, |_| true)?;
    Ok(match &args.tool {
        _ if any.is_empty() => "There are no records yet.".to_owned(),
        _ if args.last == 0 => "`--last 0` shows no records.".to_owned(),
        Some(tool) => {
            let tool = text::escape_line(tool);
            format!("No records of tool `{tool}`.")
        }
        None => "No record could be read.".to_owned(),
    })
}

fn newest(args: &ShowArgs) -> Result<Vec<Result<Entry, AuditError>>, CliError> {
    let reader = Reader::open(&places::own().audit_dir()?)?;
    let wanted = |entry: &Entry| args.tool.as_ref().is_none_or(|tool| entry.tool == *tool);
    Ok(reader.tail(args.last, wanted)?)
}

fn row(entry: &Entry) -> Vec<String> {
    let cell = |text: &str, most| text::shorten(&text::one_line(text), most).into_owned();
    let detail = match &entry.event {
        Some(event) => format!("log: {event}"),
        None => entry.detail.clone().unwrap_or_default(),
    };
    let took = std::time::Duration::from_micros(entry.duration_us);
    vec![
        entry.seq.to_string(),
        clock::utc(entry.time),
        cell(&entry.principal, 16),
        match &entry.capability {
            Some(capability) => cell(&format!("{} > {capability}", entry.tool), 40),
            None => cell(&entry.tool, 24),
        },
        cell(&entry.decision, 12),
        cell(&entry.outcome, 12),
        if entry.event.is_some() {
            String::new()
        } else {
            words::duration(took)
        },
        cell(&detail, 80),
    ]
}

fn verify(args: &VerifyArgs, ui: &Ui) -> Result<Exit, CliError> {
    let dir = places::own().audit_dir()?;
    let report = jp_audit::verify(&dir)?;
    let exit = if report.is_intact() {
        Exit::Done
    } else {
        Exit::SaidNo
    };
    if args.json {
        ui.json(&report_json(&report))?;
        return Ok(exit);
    }
    for note in &report.notes {
        ui.say(format_args!("note: {}", text::message(&note.to_string())));
    }
    for problem in &report.problems {
        let label = ui.paint(Style::Bad, "problem:");
        ui.say(format_args!(
            "{label} {}",
            text::message(&problem.to_string())
        ));
    }
    if report.problems_not_listed > 0 {
        ui.say(format_args!("… and {} more", report.problems_not_listed));
    }
    let verdict = if report.is_intact() {
        "intact"
    } else {
        "NOT intact"
    };
    ui.line(format_args!(
        "The log in {} is {verdict}: {} call{} in {} file{}.",
        dir.display(),
        report.records,
        if report.records == 1 { "" } else { "s" },
        report.files,
        if report.files == 1 { "" } else { "s" }
    ))?;
    if let Some(last) = &report.last {
        ui.line(format_args!("Newest record: {} {}", last.seq, last.mac))?;
    }
    Ok(exit)
}

fn report_json(report: &Report) -> Value {
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    let notes: Vec<String> = report.notes.iter().map(ToString::to_string).collect();
    let last = report.last.as_ref();
    json!({
        "version": JSON_VERSION,
        "intact": report.is_intact(),
        "records": report.records,
        "events": report.events,
        "files": report.files,
        "problems": problems,
        "problems_not_listed": report.problems_not_listed,
        "notes": notes,
        "last": last.map(|last| json!({"seq": last.seq, "mac": last.mac})),
    })
}
