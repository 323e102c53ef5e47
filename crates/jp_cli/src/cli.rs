//! The command line as clap reads it.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand, error::ContextValue};

use crate::{commands, error::CliError, exit::Exit, text, ui::Ui};

/// Runs the tools that language models call, and nothing they were not granted.
#[derive(Debug, Parser)]
#[command(name = "jp", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  jp init                                   make this directory a workspace
  jp tool list                              the tools of this workspace
  jp tool run learn topic=skills            call one
  jp tool install ocr                       add a signed tool of a registry
  jp bash -c 'seq 3 | sort -r'              a script in the virtual bash
  jp serve                                  give an agent all of them
  jp trust                                  let this workspace run commands
  jp approve                                decide about calls that wait for you
  jp audit show --last 5                    what ran lately
  jp doctor                                 find problems, and how to fix them

Exit codes: 0 done, 1 the tool said no, 2 usage or configuration, 3 an answer is
needed, 124 time limit, 125 failure of jp itself, 126 denied, 127 no such tool,
130 cancelled, 134 trap or another limit.";

const TOOL_EXAMPLES: &str = "\
Examples:
  jp tool list                              what there is here
  jp tool show learn                        what one does, needs and gets
  jp tool run learn topic=skills            call it
  jp tool search pdf                        what registries offer
  jp tool install ocr                       fetch, verify and pin one
  jp tool update                            move to the newest versions";

const MCP_EXAMPLES: &str = "\
Examples:
  jp mcp import                             those that your other clients know
  jp mcp add time -- mcp-server-time        a program
  jp mcp add forge --url https://forge.example.com/mcp
  jp mcp list                               what there is
  jp mcp remove forge";

const REGISTRY_EXAMPLES: &str = "\
From a Wasm file to a tool that others install:
  jp registry keygen publisher.key > publisher.pub
  jp registry keygen registry.key > registry.pub
  jp registry sign ocr.json --key publisher.key --artifact ocr.wasm
  jp registry init ./tools --name main --key registry.key
  jp registry publish ./tools ocr.json ocr.wasm --key registry.key
  jp registry serve ./tools";

/// The options of every command.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Global {
    /// Work in this directory instead of the current one
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub(crate) dir: Option<PathBuf>,
    /// Set a key of the configuration for this command (may be repeated)
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub(crate) cfg: Vec<String>,
    /// Read this file too, as your own; it overrides the others (may be repeated)
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a workspace: a directory whose files tools may see
    Init(commands::init::InitArgs),
    /// List, inspect, call, install and update tools
    #[command(subcommand, after_help = TOOL_EXAMPLES)]
    Tool(commands::tool::Command),
    /// Add, import, list, remove and log in to MCP servers, whose tools become yours
    #[command(subcommand, after_help = MCP_EXAMPLES)]
    Mcp(commands::mcp::Command),
    /// Run a script in the virtual bash
    Bash(commands::bash::BashArgs),
    /// Show the knowledge base
    #[command(subcommand)]
    Kb(commands::kb::Command),
    /// Show and change the configuration
    #[command(subcommand)]
    Config(commands::config::Command),
    /// Read and verify the record of all calls
    #[command(subcommand)]
    Audit(commands::audit::Command),
    /// Store secrets that tools use and never see
    #[command(subcommand)]
    Secret(commands::secret::Command),
    /// Give an agent the tools of this workspace (a server of the Model Context Protocol)
    Serve(commands::serve::ServeArgs),
    /// Make keys, sign tools, and write and serve registries of tools
    #[command(subcommand, after_help = REGISTRY_EXAMPLES)]
    Registry(commands::registry::Command),
    /// Explain what a tool gets and what clients are told of it, line by line
    Why(commands::why::WhyArgs),
    /// Print what is due: reminders, tasks and wake-ups, one JSON object per line
    Due(commands::due::DueArgs),
    /// Decide about calls that wait for your approval
    Approve(commands::approve::ApproveArgs),
    /// List what you decided about calls
    Grants(commands::grants::GrantsArgs),
    /// Take back what you decided about calls
    Revoke(commands::grants::RevokeArgs),
    /// Say what your policy makes of a call
    #[command(subcommand)]
    Policy(commands::policy::Command),
    /// Trust this workspace as it is now
    Trust(commands::trust::TrustArgs),
    /// Check for problems, and print the command that fixes each
    Doctor(commands::doctor::DoctorArgs),
    /// Print completions for a shell
    Completions(commands::completions::CompletionsArgs),
    /// Print what can be typed next
    #[command(name = "__complete", hide = true)]
    Complete(commands::complete::CompleteArgs),
    #[command(flatten)]
    Chore(commands::wasm::Chore),
}

/// Reads the command line, runs the command and reports what went wrong.
pub(crate) fn main() -> ExitCode {
    let mut ui = Ui::of_process();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&ui, &error).into(),
    };
    ui.global = cli.global;
    let exit = run(&cli.command, &ui).unwrap_or_else(|error| {
        ui.error(&error.to_string(), error.hint().as_deref());
        error.exit()
    });
    exit.into()
}

fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    match command {
        Command::Init(args) => commands::init::run(args, ui),
        Command::Tool(command) => commands::tool::run(command, ui),
        Command::Mcp(command) => commands::mcp::run(command, ui),
        Command::Bash(args) => commands::bash::run(args, ui),
        Command::Kb(command) => commands::kb::run(command, ui),
        Command::Config(command) => commands::config::run(command, ui),
        Command::Audit(command) => commands::audit::run(command, ui),
        Command::Secret(command) => commands::secret::run(command, ui),
        Command::Serve(args) => commands::serve::run(args, ui),
        Command::Registry(command) => commands::registry::run(command, ui),
        Command::Why(args) => commands::why::run(args, ui),
        Command::Due(args) => commands::due::run(args, ui),
        Command::Approve(args) => commands::approve::run(args, ui),
        Command::Grants(args) => commands::grants::run(args, ui),
        Command::Revoke(args) => commands::grants::revoke(args, ui),
        Command::Policy(command) => commands::policy::run(command, ui),
        Command::Trust(args) => commands::trust::run(args, ui),
        Command::Doctor(args) => commands::doctor::run(args, ui),
        Command::Completions(args) => commands::completions::run(args, ui),
        Command::Complete(args) => commands::complete::run(args, ui),
        Command::Chore(chore) => commands::wasm::chore(chore, ui),
    }
}

/// Shows help on standard output and errors on standard error.
fn usage(ui: &Ui, error: &clap::Error) -> Exit {
    let mut shown = error.render().to_string();
    for (_, value) in error.context() {
        let words = match value {
            ContextValue::String(word) => std::slice::from_ref(word),
            ContextValue::Strings(words) => words,
            _ => continue,
        };
        // A word of the command line is repeated; a line of it could pass for a message of ours.
        for word in words.iter().filter(|word| word.contains('\n')) {
            shown = shown.replace(word, &word.replace('\n', "\\n"));
        }
    }
    if error.use_stderr() {
        ui.say(text::escape(shown.trim_end()));
        return Exit::Usage;
    }
    match ui.bytes(shown.as_bytes()) {
        Ok(()) => Exit::Done,
        Err(error) => {
            ui.error(&error.to_string(), None);
            error.exit()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_is_written_by_hand_in_help_fits_a_terminal_of_80_columns() {
        fn check(command: &clap::Command, name: &str) {
            let text = command.get_after_help().map(ToString::to_string);
            for line in text.iter().flat_map(|text| text.lines()) {
                assert!(line.chars().count() <= 80, "jp{name} --help: {line}");
            }
            for below in command.get_subcommands() {
                check(below, &format!("{name} {}", below.get_name()));
            }
        }
        check(&Cli::command(), "");
    }
}
