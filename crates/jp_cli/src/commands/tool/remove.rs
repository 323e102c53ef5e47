//! `jp tool remove`: tools that a workspace no longer uses.

use clap::Args;
use jp_registry::{InstallError, ToolId};
use serde_json::{Value, json};

use super::install::{Changing, listen, parse_names};
use crate::{commands::JSON_VERSION, error::CliError, exit::Exit, session::Session, ui::Ui};

/// Arguments of `jp tool remove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Removes tools from jp.lock. Their bytes stay on this machine, for other
workspaces. What [tooling] names has to be deleted there too.

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

/// Removes tools from `jp.lock`; one that cannot be removed does not stop the others.
pub(crate) fn run(args: &RemoveArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let interrupts = listen()?;
    let installer = args.changing.installer(&session, &interrupts.cancel, ui)?;
    let as_json = args.changing.is_json();
    let (mut removed, mut kept): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut exit = Exit::Done;
    for name in parse_names(&args.names)? {
        let named = session.loaded().config.tooling.contains_key(name.as_str());
        match installer.remove(&name) {
            Ok(version) => {
                removed.push(json!({"name": name.as_str(), "version": version.to_string()}));
                if !as_json {
                    ui.say(format_args!("Removed {name} {version}."));
                }
                if named {
                    still_named(&name, ui);
                }
            }
            Err(error) => {
                let shown = not_removed(error, &name, named);
                let (message, hint) = (shown.to_string(), shown.hint());
                if as_json {
                    kept.push(json!({"name": name.as_str(), "error": message, "hint": hint}));
                } else {
                    ui.error(&message, hint.as_deref());
                }
                if exit == Exit::Done {
                    exit = shown.exit();
                }
            }
        }
    }
    if as_json {
        ui.json(&json!({"version": JSON_VERSION, "removed": removed, "failed": kept}))?;
    }
    Ok(exit)
}

fn still_named(name: &ToolId, ui: &Ui) {
    ui.warning(&format!(
        "`[tooling]` still names `{name}`: `jp tool install` and `jp tool lock` bring it back"
    ));
    ui.hint(&delete_line(name));
}

/// Says why a tool was not removed. The hint of the error says how to install it, which is not wanted here.
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
