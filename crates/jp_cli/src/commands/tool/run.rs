//! `jp tool run`.

use clap::Args;
use jp_tool::Action;

use super::{
    call::{self, Wanted},
    report::{self, Ending},
};
use crate::{answers::Answers, arguments, error::CliError, exit::Exit, session::Session, ui::Ui};

/// Arguments of `jp tool run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Arguments are one JSON object, or words: key=value for text, key:=json for
anything else. A single - reads the object from standard input, up to 64 MiB.

--file chooses a file for this call alone. Its path is relative to the
directory of your shell, also with -C. PATH:rw is refused where the tool only
asks to read.

A question the tool asks is asked on the terminal; without one it is printed as
JSON, and the exit code is 3.

Examples:
  jp tool run learn topic=skills
  jp tool run learn '{\"topic\": \"skills\", \"subjects\": [\"ast-grep\", \"review/*\"]}'
  jp tool run learn topic=skills 'subjects:=[\"ast-grep\"]' --json
  echo '{\"topic\": \"skills\"}' | jp tool run learn -
  jp tool run ocr --file source=./scan.pdf
  jp tool run redact --file source=./scan.pdf:rw
  jp tool run test path=a.txt ask:=true --answer confirm=yes")]
pub(crate) struct RunArgs {
    /// The tool
    name: String,
    /// The arguments: a JSON object, key=value words, or -
    #[arg(value_name = "ARGUMENT")]
    arguments: Vec<String>,
    /// Answer a question the tool may ask (may be repeated)
    #[arg(long, value_name = "ID=VALUE")]
    answer: Vec<String>,
    /// Let the tool read a file, as this argument; PATH:rw lets it change it (may be repeated)
    #[arg(long, value_name = "ARGUMENT=PATH")]
    file: Vec<String>,
    /// Approve this call, and that its result is delivered
    #[arg(long)]
    yes: bool,
    /// Print JSON: the outcome and all that is known about the call
    #[arg(long)]
    json: bool,
    /// Also show what the tool printed, what the call used, and the schema that arguments do not fit
    #[arg(short, long)]
    verbose: bool,
}

/// Calls a tool.
pub(crate) fn run(args: &RunArgs, ui: &Ui) -> Result<Exit, CliError> {
    let mut arguments = arguments::read(&args.arguments)?;
    let files = arguments::choose(&args.file, &mut arguments)?;
    let wanted = Wanted {
        name: &args.name,
        answers: Answers::parse(&args.answer)?,
        arguments,
        files,
        action: Action::Run,
        agreed: args.yes,
    };
    let (called, session) = match call::make(wanted, Session::open(ui)?, ui) {
        Ok(called) => called,
        Err(CliError::Tool(error)) if args.json => {
            ui.json(&report::json_of_error(&args.name, &error))?;
            return Ok(error.verdict().into());
        }
        Err(error) => return Err(error),
    };
    for id in &called.unasked {
        ui.warning(&format!("the tool did not ask `{id}`"));
    }
    if args.json {
        ui.json(&report::json(&args.name, &called))?;
    } else {
        report::show(&args.name, &called, (session.host(), args.verbose), ui)?;
    }
    if args.verbose {
        report::verbose(&called.executed.details, ui);
    }
    let exit = Ending::of(&called.executed).exit();
    // The process ends here: taking engine and configuration apart would only delay that.
    std::mem::forget(session);
    Ok(exit)
}
