//! Shows what was changed, or would be.

use std::path::{Path, PathBuf};

use jp_bash::unified;
use serde_json::{Value, json};

use super::{client::Client, entry::Reach, file::Plan};
use crate::{error::CliError, text, ui::Ui};

/// The most that is shown of a difference, in bytes.
const MAX_DIFF: u64 = 64 << 10;
/// The longest line that is compared. A file in one line would be shown as a whole, with its secrets.
const MAX_LINE: usize = 2000;

/// What became of one client.
pub(super) struct Outcome<'a> {
    pub(super) client: Client,
    pub(super) action: &'static str,
    pub(super) plan: &'a Plan,
    pub(super) backup: Option<PathBuf>,
    /// Whether it was only asked what would be done.
    pub(super) is_print: bool,
    /// The entry, unless it is taken out.
    pub(super) entry: Option<&'a Value>,
    pub(super) typed: Option<String>,
}

impl Outcome<'_> {
    /// Returns it for programs.
    pub(super) fn json(&self) -> Value {
        json!({
            "client": self.client.id(),
            "file": self.plan.path,
            "action": self.action,
            "written": !self.is_print && self.plan.after.is_some(),
            "backup": self.backup,
            "entry": self.entry,
            "diff": self.diff(),
            "command": self.typed,
            "next": self.client.facts().next,
        })
    }

    /// Shows it to people: the difference on standard output, the rest on standard error.
    pub(super) fn show(&self, reach: Option<&Reach>, ui: &Ui) -> Result<(), CliError> {
        let title = self.client.facts().title;
        let file = shown(&self.plan.path);
        if self.plan.after.is_none() {
            ui.say(match self.entry {
                Some(_) => {
                    format!("{title} has this entry already in {file}; nothing was changed.")
                }
                None => format!("{title} has no entry of jp in {file}; nothing was changed."),
            });
            return Ok(());
        }
        ui.bytes(self.diff().as_bytes())?;
        if self.is_print {
            ui.say(format_args!("{file} was not changed."));
            if let Some(typed) = &self.typed {
                ui.hint(&format!("{title} can do the same itself: {typed}"));
            }
            return Ok(());
        }
        let done = match self.action {
            "removed" => "Removed jp from",
            "updated" => "Updated jp in",
            _ => "Added jp to",
        };
        ui.say(format_args!("{done} {title}: {file}"));
        if let Some(backup) = &self.backup {
            let backup = shown(backup);
            ui.say(format_args!("The file as it was before is {backup}"));
        }
        ui.hint(self.client.facts().next);
        if matches!(reach, Some(Reach::Http { .. })) {
            let token = super::edit::merge::TOKEN;
            ui.hint(&format!(
                "set {token} in the environment that {title} is started from"
            ));
        }
        Ok(())
    }

    fn diff(&self) -> String {
        let Some(after) = &self.plan.after else {
            return String::new();
        };
        let before = self.plan.before.as_deref().unwrap_or_default();
        let path = shown(&self.plan.path);
        let old = match self.plan.before {
            Some(_) => path.as_str(),
            None => "/dev/null",
        };
        let mut diff = format!("--- {old}\n+++ {path}\n");
        let is_long = |text: &[u8]| {
            text.split(|byte| *byte == b'\n')
                .any(|line| line.len() > MAX_LINE)
        };
        if is_long(before) || is_long(after.as_bytes()) {
            diff.push_str("(the lines of this file are too long to be shown)\n");
            if let Some(entry) = self.entry {
                diff.push_str(&text::json_escape(&format!("{entry:#}\n")));
            }
            return diff;
        }
        let hunks = unified(before, after.as_bytes(), MAX_DIFF);
        for line in hunks.text.split_inclusive(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            // Of a line that ends as on Windows only the other end is shown.
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            diff.push_str(&text::line_of_bytes(line));
            diff.push('\n');
        }
        if hunks.cut {
            diff.push_str("(cut: the rest of this diff is not shown, the limit is 64 KiB)\n");
        }
        diff
    }
}

/// Writes a path so that it can be typed.
pub(super) fn shown(path: &Path) -> String {
    text::path_word(path.as_os_str().as_encoded_bytes())
}
