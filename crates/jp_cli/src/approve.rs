//! Approval on the terminal: shows what would run and with what authority, and asks.

use std::sync::{Mutex, PoisonError, atomic::Ordering};

use async_trait::async_trait;
use jp_llm::{Approval, ApprovalRequest, Approver};
use serde_json::{Map, Value};

use crate::{
    edit,
    interrupt::Interrupts,
    prompt::{self, Typed},
    text,
    ui::{Style, Ui},
    words,
};

/// Arguments up to this length stay on one line.
const ONE_LINE: usize = 80;

/// Lines of arguments that are shown; the rest is counted.
const MAX_LINES: usize = 40;

/// Asks the person at the keyboard.
pub(crate) struct TerminalApprover {
    ui: Ui,
    interrupts: Interrupts,
    /// Whether the person has agreed on the command line (`--yes`).
    agreed: bool,
    /// The decision: a call that goes on after a question is the same call.
    decided: Mutex<Option<Approval>>,
}

impl TerminalApprover {
    pub(crate) fn new(ui: &Ui, interrupts: &Interrupts, agreed: bool) -> Self {
        Self {
            ui: ui.clone(),
            interrupts: interrupts.clone(),
            agreed,
            decided: Mutex::new(None),
        }
    }

    fn show(&self, request: &ApprovalRequest<'_>) {
        let ui = &self.ui;
        let name = ui.paint(Style::Strong, text::escape(request.tool));
        ui.say(format_args!("{name} ({}) wants to run.", request.source));
        self.show_arguments(request.arguments);
        let may = words::capabilities(request.grant.capabilities()).join("; ");
        ui.say(format_args!("  it may:    {may}"));
        let limits = words::limits(request.grant);
        ui.say(format_args!("  it has:    {limits}"));
        if request.unconfined {
            let warning = "where the system cannot confine it, it runs with the full authority of \
                           your user";
            ui.say(format_args!("  {}", ui.paint(Style::Bad, warning)));
        }
    }

    fn show_arguments(&self, arguments: &Map<String, Value>) {
        let mut json = serde_json::to_string(arguments).unwrap_or_default();
        if json.len() > ONE_LINE {
            json = serde_json::to_string_pretty(arguments).unwrap_or_default();
        }
        let json = text::escape(&json).into_owned();
        let mut lines = json.lines();
        let first = lines.next().unwrap_or("{}");
        self.ui.say(format_args!("  arguments: {}", short(first)));
        for line in lines.by_ref().take(MAX_LINES) {
            self.ui.say(format_args!("             {}", short(line)));
        }
        let more = lines.count();
        if more > 0 {
            self.ui
                .say(format_args!("             … and {more} more lines"));
        }
    }

    async fn ask(&self, request: &ApprovalRequest<'_>) -> Approval {
        self.show(request);
        prompt::forget_typed();
        loop {
            let keys = if request.editable {
                "Run it? [y/N/e to edit] "
            } else {
                "Run it? [y/N] "
            };
            self.ui.write(&self.ui.paint(Style::Strong, keys));
            match prompt::line(&self.interrupts.cancel).await {
                Typed::Line(line) => match line.trim().to_lowercase().as_str() {
                    "y" | "yes" => return Approval::Approved,
                    "" | "n" | "no" => return Approval::Refused(None),
                    "e" | "edit" if request.editable => {
                        if let Some(edited) = self.edit(request.arguments).await {
                            return Approval::Edited(edited);
                        }
                    }
                    _ => self.ui.say("Please type y or n."),
                },
                Typed::Ended => return Approval::Unavailable,
                Typed::TimedOut => {
                    self.ui.say("");
                    let why = "nobody answered within 10 minutes";
                    return Approval::Refused(Some(why.to_owned()));
                }
                Typed::Cancelled => {
                    self.ui.say("");
                    return Approval::Refused(Some("cancelled".to_owned()));
                }
            }
        }
    }

    /// Lets the person change the arguments, in their editor or on one line.
    async fn edit(&self, arguments: &Map<String, Value>) -> Option<Map<String, Value>> {
        let written = match edit::editor() {
            Some(editor) => {
                let arguments = arguments.clone();
                self.interrupts.editing.store(true, Ordering::Relaxed);
                let written =
                    tokio::task::spawn_blocking(move || edit::edit(&editor, &arguments)).await;
                self.interrupts.editing.store(false, Ordering::Relaxed);
                match written {
                    Ok(Ok(text)) => text,
                    Ok(Err(error)) => {
                        self.ui.error(&format!("cannot edit: {error}"), None);
                        return None;
                    }
                    Err(_) => return None,
                }
            }
            None => {
                self.ui.write("New arguments, as JSON on one line: ");
                match prompt::line(&self.interrupts.cancel).await {
                    Typed::Line(line) => line,
                    _ => return None,
                }
            }
        };
        match serde_json::from_str::<Map<String, Value>>(&written) {
            Ok(edited) => Some(edited),
            Err(error) => {
                self.ui
                    .error(&format!("that is no JSON object: {error}"), None);
                None
            }
        }
    }
}

fn short(line: &str) -> String {
    text::shorten(line, 200).into_owned()
}

#[async_trait]
impl Approver for TerminalApprover {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        if self.agreed {
            return Approval::Approved;
        }
        let decided = || self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = decided().clone() {
            return before;
        }
        if !self.ui.can_ask {
            return Approval::Unavailable;
        }
        let approval = self.ask(request).await;
        *decided() = Some(approval.clone());
        approval
    }
}
