//! Changes that a person must see and accept; nothing that a model or a tool says gets here.

use jp_registry::{Change, Decision};
use tokio_util::sync::CancellationToken;

use super::Accept;
use crate::{prompt, text, ui::Ui};

/// Shows a change and asks whether it is wanted.
pub(super) fn decide(
    change: &Change<'_>,
    accept: Accept,
    cancel: &CancellationToken,
    ui: &Ui,
) -> Decision {
    match change {
        Change::Tool {
            from,
            to,
            diff,
            back,
        } => {
            let (name, old, new) = (&from.name, &from.version, &to.version);
            match back {
                Some(asked) => ui.say(format_args!(
                    "`{name}` would go back from {old} to {new}, which fits {asked}:"
                )),
                None => ui.say(format_args!("`{name}` {new} differs from {old}:")),
            }
            ui.say(format_args!("{diff}"));
        }
        Change::Custom { from, to, diff } => {
            let (name, old, new) = (&from.name, &from.version, &to.version);
            ui.say(format_args!(
                "`{name}` {new}, which comes with the workspace, differs from {old} in jp.lock:"
            ));
            ui.say(format_args!("{diff}"));
        }
        Change::Mcp { server, tool, diff } => {
            let (server, tool) = (text::one_line(server), text::one_line(tool));
            ui.say(format_args!(
                "`{tool}` of MCP server `{server}` has changed:"
            ));
            ui.say(format_args!("{diff}"));
        }
        Change::Key {
            registry,
            old,
            new,
            names,
        } => {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            ui.say(format_args!(
                "The key {old} hands over to {new}, as `{registry}` passes on, for {}.",
                names.join(", ")
            ));
        }
    }
    let asked = || ui.can_ask && prompt::yes("Accept this? [y/N] ", cancel);
    if accept == Accept::Yes || asked() {
        if let Change::Key { new, .. } = change {
            ui.say(format_args!("You trust {new} for them now."));
        }
        return Decision::Accept;
    }
    if !ui.can_ask {
        ui.say("Not accepted: there is no terminal to ask on; `--yes` accepts it.");
    }
    Decision::Refuse
}
