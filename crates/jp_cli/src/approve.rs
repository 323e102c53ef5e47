//! Approval on the terminal: shows what would run and with what authority, and asks.

use std::{borrow::Cow, sync::atomic::Ordering};

use async_trait::async_trait;
use jp_config::tool::InlineResults;
use jp_llm::{Approval, ApprovalRequest, Approver, Delivery, DeliveryRequest};
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

/// Lines of arguments that are shown at first; the rest is counted.
const MAX_LINES: usize = 40;

/// Characters of a line that are shown at first; the rest is counted.
const MAX_WIDTH: usize = 200;

/// How much of the arguments a person sees.
#[derive(Clone, Copy)]
enum View {
    /// What fits on a screen, and how much is left out.
    Bounded,
    /// All of it.
    Whole,
}

/// Asks the person at the keyboard.
pub(crate) struct TerminalApprover {
    ui: Ui,
    interrupts: Interrupts,
    /// Whether the person has agreed on the command line (`--yes`).
    agreed: bool,
}

impl TerminalApprover {
    pub(crate) fn new(ui: &Ui, interrupts: &Interrupts, agreed: bool) -> Self {
        Self {
            ui: ui.clone(),
            interrupts: interrupts.clone(),
            agreed,
        }
    }

    /// Shows what would run, and returns whether that was all of it.
    fn show(&self, request: &ApprovalRequest<'_>, view: View) -> bool {
        let ui = &self.ui;
        let name = ui.paint(Style::Strong, text::escape(request.tool));
        ui.say(format_args!("{name} ({}) wants to run.", request.source));
        let json = written(request.arguments);
        let (lines, is_whole) = lines(&json, view);
        for (at, line) in lines.iter().enumerate() {
            let name = if at == 0 { "arguments:" } else { "" };
            ui.say(format_args!("  {name:<10} {line}"));
        }
        let may = words::capabilities(request.grant.capabilities()).join("; ");
        ui.say(format_args!("  it may:    {may}"));
        let limits = words::limits(request.grant, request.memory);
        ui.say(format_args!("  it has:    {limits}"));
        if request.unconfined {
            let warning = "where the system cannot confine it, it runs with the full authority of \
                           your user";
            ui.say(format_args!("  {}", ui.paint(Style::Bad, warning)));
        }
        is_whole
    }

    async fn ask(&self, request: &ApprovalRequest<'_>) -> Approval {
        let is_whole = self.show(request, View::Bounded);
        prompt::forget_typed();
        let (more, please) = match (request.can_remember, is_whole) {
            (false, true) => ("", "Please type y, n or e."),
            (true, true) => ("", "Please type y, n, w, never or e."),
            (false, false) => ("/v to view everything", "Please type y, n, e or v."),
            (true, false) => (
                "/v to view everything",
                "Please type y, n, w, never, e or v.",
            ),
        };
        self.say_answers(request.can_remember);
        let keys = format!("Run it? [y/N{more}] ");
        loop {
            self.ui.write(&self.ui.paint(Style::Strong, &keys));
            match prompt::line(&self.interrupts.cancel).await {
                Typed::Line(line) => match line.trim().to_lowercase().as_str() {
                    "y" | "yes" => return Approval::Approved,
                    "" | "n" | "no" => return Approval::Refused(None),
                    "w" | "workspace" if request.can_remember => return Approval::ForWorkspace,
                    "never" if request.can_remember => return Approval::Never,
                    "e" | "edit" => {
                        if let Some(edited) = self.edit(request.arguments).await {
                            return Approval::Edited(edited);
                        }
                    }
                    "v" | "view" if !is_whole => {
                        self.show(request, View::Whole);
                        // Nobody has seen it all before it was there.
                        prompt::forget_typed();
                    }
                    _ => self.ui.say(please),
                },
                Typed::Ended => return Approval::Unavailable,
                Typed::TimedOut => {
                    self.ui.say("");
                    let why = "no answer within 10 minutes";
                    return Approval::Refused(Some(why.to_owned()));
                }
                Typed::Cancelled => {
                    self.ui.say("");
                    return Approval::Refused(Some("cancelled".to_owned()));
                }
            }
        }
    }

    /// Says what can be answered.
    fn say_answers(&self, can_remember: bool) {
        let ui = &self.ui;
        if can_remember {
            ui.say("  answers:   y once; w in this workspace, until its configuration or the tool");
            ui.say("             changes; n not this call; never; e edit the arguments first");
        } else {
            ui.say("  answers:   y once; n not this call; e edit the arguments first");
        }
    }

    /// Lets the person change a text, in their editor or on one line.
    async fn edit_text(
        &self,
        text: String,
        suffix: &'static str,
        ask: &'static str,
    ) -> Option<String> {
        let Some(editor) = edit::editor() else {
            self.ui.write(ask);
            return match prompt::line(&self.interrupts.cancel).await {
                Typed::Line(line) => Some(line),
                _ => None,
            };
        };
        self.interrupts.editing.store(true, Ordering::Relaxed);
        let written = tokio::task::spawn_blocking(move || edit::edit(&editor, &text, suffix)).await;
        self.interrupts.editing.store(false, Ordering::Relaxed);
        match written {
            Ok(Ok(text)) => Some(text),
            Ok(Err(error)) => {
                self.ui.error(&format!("cannot edit: {error}"), None);
                None
            }
            Err(_) => None,
        }
    }

    /// Lets the person change the arguments.
    async fn edit(&self, arguments: &Map<String, Value>) -> Option<Map<String, Value>> {
        let text = serde_json::to_string_pretty(arguments).unwrap_or_default() + "\n";
        let ask = "New arguments, as JSON on one line: ";
        let written = self.edit_text(text, ".json", ask).await?;
        match serde_json::from_str::<Map<String, Value>>(&written) {
            Ok(edited) => Some(edited),
            Err(error) => {
                self.ui.error(
                    &format!("invalid arguments: expected a JSON object: {error}"),
                    None,
                );
                None
            }
        }
    }
}

/// Writes arguments for a person: on one line if they fit, with every character visible.
fn written(arguments: &Map<String, Value>) -> String {
    let mut json = serde_json::to_string(arguments).unwrap_or_default();
    if json.len() > ONE_LINE {
        json = serde_json::to_string_pretty(arguments).unwrap_or_default();
    }
    text::escape(&json).into_owned()
}

/// Returns the lines that are shown, and whether they are all there is. What is left out is counted:
/// the author of the text chose what comes last.
fn lines(text: &str, view: View) -> (Vec<Cow<'_, str>>, bool) {
    if let View::Whole = view {
        return (text.lines().map(Cow::Borrowed).collect(), true);
    }
    let mut is_whole = true;
    let mut all = text.lines();
    let first = all.by_ref().take(MAX_LINES);
    let mut shown: Vec<Cow<'_, str>> = first
        .map(|line| match line.char_indices().nth(MAX_WIDTH) {
            Some((end, _)) => {
                is_whole = false;
                let (kept, rest) = line.split_at(end);
                Cow::Owned(format!("{kept}… ({} more bytes)", rest.len()))
            }
            None => Cow::Borrowed(line),
        })
        .collect();
    let rest: Vec<usize> = all.map(str::len).collect();
    if !rest.is_empty() {
        is_whole = false;
        let (more, bytes) = (rest.len(), rest.iter().sum::<usize>());
        shown.push(Cow::Owned(format!(
            "… and {more} more lines ({bytes} bytes)"
        )));
    }
    (shown, is_whole)
}

impl TerminalApprover {
    /// Shows a result, and returns whether that was all of it.
    fn show_result(&self, request: &DeliveryRequest<'_>, view: View) -> bool {
        let ui = &self.ui;
        let name = ui.paint(Style::Strong, text::escape(request.tool));
        let (what, result) = match request.result {
            Ok(result) => ("has a result", result),
            Err(message) => ("has failed, with a message", message),
        };
        ui.say(format_args!("{name} {what} ({} bytes).", result.len()));
        let most = match (view, request.shown) {
            (View::Whole, _) | (_, InlineResults::Full) => usize::MAX,
            (View::Bounded, InlineResults::Off) => 0,
            (View::Bounded, InlineResults::Lines(most)) => {
                usize::try_from(most).unwrap_or(usize::MAX)
            }
        };
        let escaped = text::escape(result);
        let mut all = escaped.lines();
        for line in all.by_ref().take(most) {
            ui.say(format_args!("  {line}"));
        }
        let left = all.count();
        if left > 0 && most > 0 {
            ui.say(format_args!("  … and {left} more lines"));
        }
        left == 0
    }

    /// Asks what becomes of a result.
    async fn ask_delivery(&self, request: &DeliveryRequest<'_>) -> Delivery {
        let whole = match request.result {
            Ok(text) | Err(text) => text,
        };
        let ask = "New result, on one line: ";
        if request.edit_first
            && let Some(edited) = self.edit_text(whole.to_owned(), ".txt", ask).await
        {
            return Delivery::Edited(edited);
        }
        let is_whole = self.show_result(request, View::Bounded);
        prompt::forget_typed();
        let (keys, please) = match is_whole {
            true => ("Deliver it? [y/N/e to edit] ", "Please type y, n or e."),
            false => (
                "Deliver it? [y/N/e to edit/v to view everything] ",
                "Please type y, n, e or v.",
            ),
        };
        loop {
            self.ui.write(&self.ui.paint(Style::Strong, keys));
            match prompt::line(&self.interrupts.cancel).await {
                Typed::Line(line) => match line.trim().to_lowercase().as_str() {
                    "y" | "yes" => return Delivery::Deliver,
                    "" | "n" | "no" => return Delivery::Withheld(None),
                    "e" | "edit" => {
                        let edited = self.edit_text(whole.to_owned(), ".txt", ask).await;
                        if let Some(edited) = edited {
                            return Delivery::Edited(edited);
                        }
                    }
                    "v" | "view" if !is_whole => {
                        self.show_result(request, View::Whole);
                        prompt::forget_typed();
                    }
                    _ => self.ui.say(please),
                },
                Typed::Ended => return Delivery::Unavailable,
                Typed::TimedOut => {
                    self.ui.say("");
                    let why = "no answer within 10 minutes";
                    return Delivery::Withheld(Some(why.to_owned()));
                }
                Typed::Cancelled => {
                    self.ui.say("");
                    return Delivery::Withheld(Some("cancelled".to_owned()));
                }
            }
        }
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        if self.agreed {
            return Approval::Approved;
        }
        match self.ui.can_ask {
            true => self.ask(request).await,
            false => Approval::Unavailable,
        }
    }

    async fn deliver(&self, request: &DeliveryRequest<'_>) -> Delivery {
        match (self.agreed, self.ui.can_ask) {
            (true, _) => Delivery::Deliver,
            (false, false) => Delivery::Unavailable,
            (false, true) => self.ask_delivery(request).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_and_there_in_the_whole_view() {
        let fits = vec!["é".repeat(MAX_WIDTH); MAX_LINES].join("\n");
        for view in [View::Bounded, View::Whole] {
            let (shown, is_whole) = lines(&fits, view);
            assert!(is_whole && shown.join("\n") == fits);
        }
        let wide = format!("{fits}é");
        let (shown, is_whole) = lines(&wide, View::Bounded);
        assert!(!is_whole && shown[MAX_LINES - 1].ends_with("é… (2 more bytes)"));
        let long = format!("{fits}\nab\nc");
        let (shown, is_whole) = lines(&long, View::Bounded);
        assert!(!is_whole && shown.len() == MAX_LINES + 1);
        assert_eq!(shown[MAX_LINES], "… and 2 more lines (3 bytes)");
        for text in [wide, long] {
            let (shown, is_whole) = lines(&text, View::Whole);
            assert!(is_whole && shown.join("\n") == text);
        }
    }
}
