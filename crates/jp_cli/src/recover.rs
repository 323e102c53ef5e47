//! An apply that was killed is undone or finished by the next command that comes to its directory.

use std::path::Path;

use jp_bash::{HostDir, RecoverError};
use jp_host::Location;
use jp_llm::script::{Recovery, recover};

use crate::{text, ui::Ui};

/// Recovers a workspace, and the directory of it that the command works in.
pub(crate) fn workspace(workspace: &Location, ui: &Ui) {
    at(&workspace.root, ui);
    if workspace.cwd != workspace.root {
        at(&workspace.cwd, ui);
    }
}

fn at(path: &Path, ui: &Ui) {
    // The code that needs the directory says why it cannot be opened.
    if let Ok(dir) = HostDir::open(path)
        && let Some(recovery) = recover(&dir)
    {
        tell(&recovery, path, ui);
    }
}

/// Says what became of an apply that was killed in a directory.
pub(crate) fn tell(recovery: &Recovery, path: &Path, ui: &Ui) {
    let shown = text::path_word(path.as_os_str().as_encoded_bytes());
    match recovery {
        Ok(done) => ui.say(format_args!("{shown}: {done}")),
        Err(error @ RecoverError::Foreign) => {
            ui.warning(&format!("{shown}: {error}; it was left alone"));
        }
        Err(error) => ui.warning(&format!(
            "cannot undo the interrupted apply in {shown}: {error}; what is needed to undo it stays \
             in its directory .jp-apply, and removing that keeps the files as they are now"
        )),
    }
}
