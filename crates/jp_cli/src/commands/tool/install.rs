//! `jp tool install`, `update` and `remove`: which tools of registries a workspace uses.

use clap::Args;
use jp_registry::{
    InstallError, ToolId,
    install::{Installed, Installer, Mode, Spec, Warning},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    commands::JSON_VERSION,
    error::CliError,
    exit::Exit,
    interrupt::Interrupts,
    registry::{self, Accept},
    session::Session,
    text,
    ui::Ui,
    words,
};

/// How often another process may be quicker.
const MAX_RACES: usize = 20;

/// What every verb that changes `jp.lock` understands.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Changing {
    /// Accept what changed without being asked: a wider request, another description, a new key
    #[arg(long)]
    yes: bool,
    /// Refuse to change `jp.lock`
    #[arg(long, conflicts_with = "yes")]
    locked: bool,
    /// Ask no registry: use what is on this machine
    #[arg(long)]
    offline: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Changing {
    /// Makes the installer that these words ask for.
    pub(super) fn installer<'a>(
        self,
        session: &'a Session,
        cancel: &CancellationToken,
        ui: &'a Ui,
    ) -> Result<Installer<'a>, CliError> {
        let accept = if self.yes { Accept::Yes } else { Accept::Ask };
        registry::installer(session, self.mode(), accept, cancel, ui)
    }

    const fn mode(self) -> Mode {
        match (self.offline, self.locked) {
            (true, _) => Mode::Offline,
            (false, true) => Mode::Locked,
            (false, false) => Mode::Normal,
        }
    }

    pub(super) const fn is_json(self) -> bool {
        self.json
    }
}

/// Arguments of `jp tool install`.
#[derive(Debug, Args)]
#[command(after_help = "\
A tool is fetched, verified and written into jp.lock before anything of it
runs. Its signature must be by a key that you trust for its name (`jp trust
key`), and what it asks for must be allowed by your policy and by the
workspace's [capabilities].

A whole version (1.2.0) means that one. Anything shorter or with an operator
(1.2, ^1, ~1.2, >=1, <3, *) is a range, of which the newest is taken that was
not revoked, and that is not deprecated if there is one. Versions before a
release (2.0.0-rc.1) are taken only where they are named. What the workspace's
[tooling] asks for always counts, and going back to an older version for its
sake has to be accepted.

Examples:
  jp tool install ocr                 the newest version that fits [tooling]
  jp tool install ocr@1.2.0           this one
  jp tool install ocr@1.2             the newest 1.x from 1.2 on, as in Cargo
  jp tool install 'ocr@>=1.2, <3'     the newest of a range
  jp tool install ocr-old=ocr@1.2.0   beside another version, by its own name
  jp tool install                     whatever [tooling] and jp.lock name")]
pub(crate) struct InstallArgs {
    /// The tools: ID, ID@VERSIONS or NAME=ID@VERSIONS; none means all that the workspace names
    #[arg(value_name = "TOOL")]
    tools: Vec<String>,
    /// Take it from this registry
    #[arg(long, value_name = "NAME")]
    registry: Option<String>,
    #[command(flatten)]
    changing: Changing,
}

/// Arguments of `jp tool update`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each tool goes to the newest version that fits what [tooling] asks for, those
under another name (ocr-old) too: one that is to stay needs its version there. A
version that asks for more, shows the model something else, or is older because
[tooling] asks for older ones, is shown as a difference and installed only when
you accept it.

Examples:
  jp tool update
  jp tool update ocr
  jp tool update ocr --yes")]
pub(crate) struct UpdateArgs {
    /// The tools; none means all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    changing: Changing,
}

/// Arguments of `jp tool remove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Takes tools out of jp.lock. Their bytes stay on this machine, for other
workspaces.

Examples:
  jp tool remove ocr
  jp tool remove ocr ocr-old")]
pub(crate) struct RemoveArgs {
    /// The tools
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    #[command(flatten)]
    changing: Changing,
}

/// What became of one tool.
pub(super) type Outcome = (ToolId, Result<Installed, InstallError>);

/// Installs tools.
pub(crate) fn install(args: &InstallArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let mut specs = Vec::new();
    for text in &args.tools {
        let spec: Spec = text
            .parse()
            .map_err(|error: jp_registry::install::SpecError| CliError::usage(error.to_string()))?;
        specs.push(match &args.registry {
            Some(name) => spec.from_registry(name),
            None => spec,
        });
    }
    let interrupts = listen()?;
    let changing = args.changing;
    let mut installer = changing.installer(&session, &interrupts.cancel, ui)?;
    let outcomes: Vec<Outcome> = if specs.is_empty() {
        installer.wanted = registry::wanted(&session.loaded)?;
        installer.lock().map_err(CliError::install)?
    } else {
        let one = |spec: &Spec| (spec.name.clone(), patiently(|| installer.install(spec)));
        specs.iter().map(one).collect()
    };
    report(outcomes, changing.json, ui)
}

/// Tries again when another process was quicker to change the lock file.
fn patiently(
    install: impl Fn() -> Result<Installed, InstallError>,
) -> Result<Installed, InstallError> {
    for _ in 0..MAX_RACES {
        match install() {
            Err(InstallError::Raced { .. }) => {}
            done => return done,
        }
    }
    install()
}

/// Updates tools.
pub(crate) fn update(args: &UpdateArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let names = parse_names(&args.names)?;
    let interrupts = listen()?;
    let changing = args.changing;
    let installer = changing.installer(&session, &interrupts.cancel, ui)?;
    let outcomes = installer.update(&names).map_err(CliError::install)?;
    report(outcomes, changing.json, ui)
}

/// Takes tools out of `jp.lock`.
pub(crate) fn remove(args: &RemoveArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let interrupts = listen()?;
    let installer = args.changing.installer(&session, &interrupts.cancel, ui)?;
    let mut removed = Vec::new();
    for name in parse_names(&args.names)? {
        let named = registry::wanted_as(name.as_str(), &session.loaded).is_some();
        let gone = installer.remove(&name);
        let gone = gone.map_err(|error| not_removed(error, &name, named))?;
        if !args.changing.json {
            ui.say(format_args!("Removed {name} {}.", gone.version));
        }
        if named {
            ui.warning(&format!(
                "`[tooling]` still names `{name}`: `jp tool install` and `jp tool lock` bring it back"
            ));
            ui.hint(&delete_line(&name));
        }
        removed.push(json!({"name": name.as_str(), "version": gone.version.to_string()}));
    }
    if args.changing.json {
        ui.json(&json!({"version": JSON_VERSION, "removed": removed}))?;
    }
    Ok(Exit::Done)
}

/// Says why a tool was not removed; whoever wants to be rid of one is not told how to install it.
fn not_removed(error: InstallError, name: &ToolId, named: bool) -> CliError {
    let missing = matches!(error, InstallError::NotLocked { .. });
    let mut shown = CliError::install(error);
    if let (true, CliError::Registry { hint, .. }) = (missing, &mut shown) {
        *hint = Some(match named {
            true => delete_line(name),
            false => "`jp tool list` shows what is there".to_owned(),
        });
    }
    shown
}

/// Says what to delete for a workspace not to ask for a tool.
fn delete_line(name: &ToolId) -> String {
    format!("delete `{name}` under `[tooling]` (in a `locara.json`: in its `tooling`)")
}

pub(crate) fn listen() -> Result<Interrupts, CliError> {
    Interrupts::listen().map_err(|source| CliError::System {
        what: "cannot listen for Ctrl-C".to_owned(),
        source,
    })
}

fn parse_names(names: &[String]) -> Result<Vec<ToolId>, CliError> {
    let parse = |name: &String| {
        let parsed = name.parse();
        parsed.map_err(|error: jp_registry::IdError| CliError::usage(error.to_string()))
    };
    names.iter().map(parse).collect()
}

/// Says what became of each tool; the first failure decides the exit code.
pub(super) fn report(outcomes: Vec<Outcome>, as_json: bool, ui: &Ui) -> Result<Exit, CliError> {
    let mut exit = Exit::Done;
    let mut entries = Vec::new();
    if outcomes.is_empty() && !as_json {
        ui.say("No tools of registries. `jp tool search WORD` finds some.");
    }
    for (name, outcome) in outcomes {
        match outcome {
            Ok(installed) => {
                entries.push(entry(&name, &installed));
                if !as_json {
                    say(&name, &installed, ui);
                }
            }
            Err(error) => {
                let shown = CliError::install(error);
                let hint = shown.hint();
                entries
                    .push(json!({"name": name.as_str(), "error": shown.to_string(), "hint": hint}));
                if !as_json {
                    ui.error(&shown.to_string(), hint.as_deref());
                }
                if exit == Exit::Done {
                    exit = shown.exit();
                }
            }
        }
    }
    if as_json {
        ui.json(&json!({"version": JSON_VERSION, "tools": entries}))?;
    }
    Ok(exit)
}

fn say(name: &ToolId, installed: &Installed, ui: &Ui) {
    let tool = &installed.tool;
    let version = &tool.version;
    let line = match &installed.before {
        None => format!("Installed {name} {version} from {}.", tool.registry),
        Some(before) if before.id == tool.id && before.version > *version => {
            format!("Took {name} back from {} to {version}.", before.version)
        }
        Some(before) if installed.is_change() => {
            format!("Updated {name} from {} to {version}.", before.version)
        }
        Some(_) => format!("{name} {version} is installed."),
    };
    ui.say(text::escape(&line));
    if installed.is_change() {
        for ask in words::or_nothing(installed.asks.clone()) {
            ui.say(format_args!("  asks for: {}", text::one_line(&ask)));
        }
    }
    for warning in &installed.warnings {
        warn(warning, ui);
    }
    if installed.before.is_none() {
        ui.hint(&format!("`jp tool show {name}` says what it takes"));
    }
}

/// Shows a warning with its way out.
pub(super) fn warn(warning: &Warning, ui: &Ui) {
    ui.warning(&warning.to_string());
    if let Some(hint) = warning.hint() {
        ui.hint(&hint);
    }
}

fn entry(name: &ToolId, installed: &Installed) -> Value {
    let tool = &installed.tool;
    let warnings: Vec<String> = installed.warnings.iter().map(ToString::to_string).collect();
    json!({
        "name": name.as_str(),
        "id": tool.id.as_str(),
        "version": tool.version.to_string(),
        "registry": tool.registry,
        "sha256": tool.sha256.to_string(),
        "before": installed.before.as_ref().map(|before| before.version.to_string()),
        "changed": installed.is_change(),
        "asks": installed.asks,
        "warnings": warnings,
    })
}
