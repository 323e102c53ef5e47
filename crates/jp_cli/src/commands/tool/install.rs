//! `jp tool install` and `update`: which tools of registries a workspace uses.

use clap::Args;
use jp_llm::registry::declare;
use jp_registry::{InstallError, Installed, Installer, LOCK_FILE, Mode, Spec, ToolId};
use tokio_util::sync::CancellationToken;

use super::installed::Report;
use crate::{
    error::CliError,
    exit::Exit,
    interrupt::Interrupts,
    registry::{self, Accept},
    session::Session,
    ui::Ui,
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
    /// Do not contact registries; use what is on this machine
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
you accept it. Tools that come with the workspace have nothing to update: `jp
tool lock` takes what changed in them.

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

/// Installs tools.
pub(crate) fn install(args: &InstallArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let mut specs = Vec::new();
    for text in &args.tools {
        let spec: Spec = text
            .parse()
            .map_err(|error: jp_registry::FormatError| CliError::usage(error.to_string()))?;
        refuse_brought(&spec, &session)?;
        specs.push(match &args.registry {
            Some(name) => spec.from_registry(name),
            None => spec,
        });
    }
    let interrupts = listen()?;
    let changing = args.changing;
    let mut installer = changing.installer(&session, &interrupts.cancel, ui)?;
    let mut report = Report::new(changing.json, ui);
    if specs.is_empty() {
        lock_all(&session, &mut installer, &mut report)?;
    } else {
        registry::refuse_without(&installer)?;
        let one = |spec: &Spec| (spec.name.clone(), patiently(|| installer.install(spec)));
        let done: Vec<_> = specs.iter().map(one).collect();
        let undeclared = undeclared(&done, &session);
        report.installed(done);
        for (warning, hint) in undeclared {
            ui.warning(&warning);
            ui.hint(&hint);
        }
    }
    report.finish()
}

/// Says of tools that were installed which of them the app does not declare: calls of those are denied.
fn undeclared(
    done: &[(ToolId, Result<Installed, InstallError>)],
    session: &Session,
) -> Vec<(String, String)> {
    let root = &session.location().root;
    let installed = done.iter().filter_map(|(_, done)| done.as_ref().ok());
    let missing = installed.filter_map(|installed| {
        let (tool, name) = (&installed.tool, &installed.tool.name);
        let (id, version) = (tool.id.as_str(), tool.version.to_string());
        let missing = session.loaded().undeclared(name.as_str(), id, &version)?;
        let file = missing.file.strip_prefix(root).unwrap_or(&missing.file);
        let text = format!(
            "calls of `{name}` are denied: `{}` does not declare it",
            file.display()
        );
        Some((text, declare(root, &missing)))
    });
    missing.collect()
}

/// Brings `jp.lock` to what the workspace names: of registries, and of its own.
pub(super) fn lock_all(
    session: &Session,
    installer: &mut Installer<'_>,
    report: &mut Report<'_>,
) -> Result<(), CliError> {
    installer.wanted = registry::wanted(session.loaded())?;
    let brought = registry::brought(session.loaded())?;
    match installer.forget_custom(&brought) {
        Ok(gone) => report.forgotten(&gone),
        Err(error) => report.refused(LOCK_FILE, error),
    }
    if !installer.wanted.is_empty() || registry::has_locked(session)? {
        registry::refuse_without(installer)?;
        report.installed(installer.lock().map_err(CliError::install)?);
    }
    let root = &session.location().root;
    let locked = installer.lock_custom(root, &brought);
    report.brought(locked.map_err(CliError::install)?);
    Ok(())
}

/// Refuses to look in registries for what comes with the workspace.
fn refuse_brought(spec: &Spec, session: &Session) -> Result<(), CliError> {
    if !registry::is_brought(spec.name.as_str(), session.loaded()) {
        return Ok(());
    }
    let (name, id) = (&spec.name, &spec.id);
    Err(CliError::Usage {
        message: format!("`{name}` comes with the workspace, not from a registry"),
        hint: Some(format!(
            "`jp tool lock` locks it as it is; a registry's beside it needs another name: \
             `jp tool install my-{name}={id}`"
        )),
    })
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
    let mut report = Report::new(changing.json, ui);
    let is_brought = |name: &ToolId| registry::is_brought(name.as_str(), session.loaded());
    let all = names.is_empty();
    let (brought, names): (Vec<ToolId>, Vec<ToolId>) = match all {
        true => {
            let brought = registry::brought(session.loaded())?.into_iter();
            (brought.map(|tool| tool.name).collect(), names)
        }
        false => names.into_iter().partition(is_brought),
    };
    report.unmoved(&brought);
    // No name means all, and those of the workspace alone are not all.
    if all || !names.is_empty() {
        if registry::has_locked(&session)? {
            registry::refuse_without(&installer)?;
        }
        report.installed(installer.update(&names).map_err(CliError::install)?);
    }
    report.finish()
}

pub(crate) fn listen() -> Result<Interrupts, CliError> {
    Interrupts::listen().map_err(|source| CliError::System {
        what: "cannot listen for Ctrl-C".to_owned(),
        source,
    })
}

pub(super) fn parse_names(names: &[String]) -> Result<Vec<ToolId>, CliError> {
    let parse = |name: &String| {
        let parsed = name.parse();
        parsed.map_err(|error: jp_registry::FormatError| CliError::usage(error.to_string()))
    };
    names.iter().map(parse).collect()
}
