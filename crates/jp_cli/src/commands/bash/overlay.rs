//! What becomes of overlays when the script has ended: `--diff` and `--apply`.

use std::{thread, time::Duration};

use jp_bash::{Applied, ApplyError, ApplyOptions, Bash, HostDir};

use super::{diff, mount::Mounted};
use crate::{error::CliError, text, ui::Ui};

/// How often an apply is tried again while another one is at work, and how long is waited between.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(50);

/// The most names in one warning.
const MAX_NAMES: usize = 10;

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) diff: bool,
    pub(super) apply: bool,
    pub(super) set_id: bool,
}

/// Shows and applies what the script changed.
pub(super) fn finish<'a>(
    overlays: impl Iterator<Item = &'a Mounted>,
    bash: &mut Bash,
    wanted: Wanted,
    exit_code: i32,
    ui: &Ui,
) -> Result<(), CliError> {
    let overlays: Vec<&Mounted> = overlays.collect();
    if wanted.diff {
        for mounted in &overlays {
            diff::show(mounted, bash, ui)?;
        }
    }
    if !wanted.apply {
        return Ok(());
    }
    if exit_code != 0 {
        ui.say(format_args!(
            "nothing applied because the script failed (exit {exit_code})"
        ));
        return Ok(());
    }
    let opened: Vec<(&Mounted, HostDir)> = overlays
        .into_iter()
        .map(|mounted| Ok((mounted, mounted.open()?)))
        .collect::<Result<_, CliError>>()?;
    // Of several directories none is written if one of them would be refused.
    if opened.len() > 1 {
        for (mounted, dir) in &opened {
            bash.check_apply(mounted.path.as_bytes(), dir)
                .map_err(|error| failed(mounted, &error))?;
        }
    }
    for (mounted, dir) in &opened {
        let options = ApplyOptions {
            set_id: wanted.set_id,
        };
        let applied = apply(bash, mounted, dir, options)?;
        report(mounted, &applied, ui);
    }
    Ok(())
}

/// Applies one overlay; another apply in the same directory is waited for.
fn apply(
    bash: &mut Bash,
    mounted: &Mounted,
    dir: &HostDir,
    options: ApplyOptions,
) -> Result<Applied, CliError> {
    let mut tries = 0;
    loop {
        match bash.apply(mounted.path.as_bytes(), dir, options) {
            Err(ApplyError::Busy) if tries < TRIES => {
                tries += 1;
                thread::sleep(PAUSE);
            }
            done => return done.map_err(|error| failed(mounted, &error)),
        }
    }
}

fn report(mounted: &Mounted, applied: &Applied, ui: &Ui) {
    let dir = mounted.shown();
    if let Some(recovered) = applied.recovered {
        ui.say(format_args!("{dir}: {recovered}"));
    }
    match applied.changes.len() {
        0 => ui.say(format_args!("nothing to apply to {dir}")),
        1 => ui.say(format_args!("applied 1 change to {dir}")),
        count => ui.say(format_args!("applied {count} changes to {dir}")),
    }
    if applied.without_set_id.is_empty() {
        return;
    }
    let names = applied.without_set_id.iter().take(MAX_NAMES);
    let mut names = names.map(|path| text::path_word(path)).collect::<Vec<_>>();
    if let more @ 1.. = applied.without_set_id.len() - names.len() {
        names.push(format!("and {more} more"));
    }
    ui.warning(&format!(
        "setuid and setgid bits were not applied: {}",
        names.join(", ")
    ));
    ui.hint("`--apply-setuid` applies them");
}

/// Makes the error of an overlay that could not be applied.
fn failed(mounted: &Mounted, error: &ApplyError) -> CliError {
    let what = match error {
        ApplyError::Unfinished { .. } => error.to_string(),
        _ => format!("{error}; nothing was written"),
    };
    CliError::Apply {
        message: format!("cannot apply to {}: {what}", mounted.shown()),
        hint: match error {
            ApplyError::Conflict { .. } => {
                Some("run the script again: it sees the files as they are now".to_owned())
            }
            ApplyError::Unrecovered(_) => Some(format!(
                "if the files in {} are as you want them, remove its directory .jp-apply",
                mounted.shown()
            )),
            _ => None,
        },
    }
}
