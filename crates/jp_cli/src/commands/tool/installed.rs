//! What became of tools that were installed, locked or updated, for people and for programs.

use jp_registry::{InstallError, Installed, LockedCustom, LockedTool, ToolId, Warning};
use serde_json::{Value, json};

use crate::{commands::JSON_VERSION, error::CliError, exit::Exit, text, ui::Ui, words};

/// A name, and what was done about its tool.
type Outcome<T = LockedTool> = (ToolId, Result<Installed<T>, InstallError>);

/// Says what becomes of each tool, at once to a person and at the end to a program. The first failure
/// decides the exit code.
pub(super) struct Report<'a> {
    ui: &'a Ui,
    as_json: bool,
    entries: Vec<Value>,
    exit: Exit,
}

impl<'a> Report<'a> {
    pub(super) const fn new(as_json: bool, ui: &'a Ui) -> Self {
        Self {
            ui,
            as_json,
            entries: Vec::new(),
            exit: Exit::Done,
        }
    }

    /// Returns whether there was nothing to say.
    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Reports on tools of registries.
    pub(super) fn installed(&mut self, outcomes: Vec<Outcome>) {
        for (name, outcome) in outcomes {
            match outcome {
                Ok(installed) => {
                    let tool = &installed.tool;
                    let mut entry = entry(&name, &installed);
                    entry["id"] = tool.id.as_str().into();
                    entry["version"] = tool.version.to_string().into();
                    entry["registry"] = tool.registry.as_str().into();
                    entry["sha256"] = tool.sha256.to_string().into();
                    let before = installed.before.as_ref();
                    entry["before"] = before.map(|before| before.version.to_string()).into();
                    self.entries.push(entry);
                    self.say(&name, &line(&name, &installed), &installed);
                }
                Err(error) => self.refused(name.as_str(), error),
            }
        }
    }

    /// Reports on tools that come with the workspace.
    pub(super) fn brought(&mut self, outcomes: Vec<Outcome<LockedCustom>>) {
        for (name, outcome) in outcomes {
            match outcome {
                Ok(locked) => {
                    let tool = &locked.tool;
                    let mut entry = entry(&name, &locked);
                    entry["id"] = tool.name.as_str().into();
                    entry["version"] = tool.version.to_string().into();
                    entry["sha256"] = tool.sha256.to_string().into();
                    let before = locked.before.as_ref();
                    entry["before"] = before.map(|before| before.version.to_string()).into();
                    self.entries.push(entry);
                    self.say(&name, &brought_line(&locked), &locked);
                }
                Err(error) => self.refused(name.as_str(), error),
            }
        }
    }

    /// Reports on tools that no longer come with the workspace.
    pub(super) fn forgotten(&mut self, gone: &[LockedCustom]) {
        for tool in gone {
            let (name, version) = (&tool.name, &tool.version);
            self.entries.push(json!({
                "name": name.as_str(), "version": null, "registry": null,
                "before": version.to_string(), "changed": true,
            }));
            if !self.as_json {
                let line = "which no longer comes with the workspace";
                self.ui.say(format_args!(
                    "Removed {name} {version} from jp.lock, {line}."
                ));
            }
        }
    }

    /// Reports on tools that no registry has, and that nothing is looked for.
    pub(super) fn unmoved(&mut self, names: &[ToolId]) {
        for name in names {
            let why = "it comes with the workspace: there is nothing to update";
            self.entries.push(json!({
                "name": name.as_str(), "registry": null, "changed": false, "warnings": [why],
            }));
            if !self.as_json {
                self.ui.say(format_args!("{name}: {why}."));
                self.ui.hint("`jp tool lock` takes what changed in it");
            }
        }
    }

    /// Reports on a tool that stays as it is, or is not there.
    pub(super) fn refused(&mut self, name: &str, error: InstallError) {
        let shown = CliError::install(error);
        let hint = shown.hint();
        let entry = json!({"name": name, "error": shown.to_string(), "hint": hint});
        self.entries.push(entry);
        if !self.as_json {
            self.ui.error(&shown.to_string(), hint.as_deref());
        }
        if self.exit == Exit::Done {
            self.exit = shown.exit();
        }
    }

    /// Ends the report.
    pub(super) fn finish(self) -> Result<Exit, CliError> {
        if self.as_json {
            let entries = &self.entries;
            self.ui
                .json(&json!({"version": JSON_VERSION, "tools": entries}))?;
        } else if self.entries.is_empty() {
            self.ui
                .say("No tools of registries. `jp tool search WORD` finds some.");
        }
        Ok(self.exit)
    }

    fn say<T: PartialEq>(&self, name: &ToolId, line: &str, installed: &Installed<T>) {
        if self.as_json {
            return;
        }
        let ui = self.ui;
        ui.say(text::escape(line));
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
}

fn line(name: &ToolId, installed: &Installed) -> String {
    let tool = &installed.tool;
    let version = &tool.version;
    match &installed.before {
        None => format!("Installed {name} {version} from {}.", tool.registry),
        Some(before) if before.id == tool.id && before.version > *version => {
            format!("Downgraded {name} from {} to {version}.", before.version)
        }
        Some(before) if installed.is_change() => {
            format!("Updated {name} from {} to {version}.", before.version)
        }
        Some(_) => format!("{name} {version} is installed."),
    }
}

fn brought_line(locked: &Installed<LockedCustom>) -> String {
    let (name, version) = (&locked.tool.name, &locked.tool.version);
    match &locked.before {
        None => format!("Locked {name} {version}, which comes with the workspace."),
        Some(before) if before.version != *version => {
            let before = &before.version;
            format!("Locked {name} {version} of the workspace in place of {before}.")
        }
        Some(_) if locked.is_change() => {
            format!("Locked {name} {version} of the workspace as it is now.")
        }
        Some(_) => format!("{name} {version} of the workspace is as it was locked."),
    }
}

/// Returns the fields that the JSON of every tool has.
fn entry<T: PartialEq>(name: &ToolId, installed: &Installed<T>) -> Value {
    let warnings: Vec<String> = installed.warnings.iter().map(ToString::to_string).collect();
    json!({
        "name": name.as_str(),
        "id": null,
        "version": null,
        "registry": null,
        "sha256": null,
        "before": null,
        "changed": installed.is_change(),
        "asks": installed.asks,
        "warnings": warnings,
    })
}

/// Shows a warning with its way out.
pub(super) fn warn(warning: &Warning, ui: &Ui) {
    ui.warning(&warning.to_string());
    if let Some(hint) = warning.hint() {
        ui.hint(&hint);
    }
}
