//! Arguments and results in the editor of the person at the keyboard.

use std::{
    env, fs, io,
    io::Write,
    process::{Command, Stdio},
    time::Duration,
};

use jp_disk::Temporary;

/// The largest file that is taken back from the editor.
const MAX_EDITED: u64 = 64 * 1024 * 1024;

/// How the names of files begin that are being edited.
const PREFIX: &str = "jp-edit-";

/// After this long, the edit counts as abandoned.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the editor the person has chosen.
pub(crate) fn editor() -> Option<String> {
    let set = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR"))
}

/// Lets a person edit a text in a file of this name's ending. Nothing is added to what they wrote.
pub(crate) fn edit(editor: &str, text: &str, suffix: &str) -> io::Result<String> {
    let dir = env::temp_dir();
    // An editor may put another file in its place, which is not locked: only its age tells.
    Temporary::sweep(&dir, PREFIX, ABANDONED);
    let file = Temporary::create(&dir, PREFIX, suffix)?;
    file.file().write_all(text.as_bytes())?;
    // By way of a shell, since people set `EDITOR="code --wait"`; the path is handed over as data.
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(file.path())
        .stdin(Stdio::inherit())
        .status()?;
    if !status.success() {
        return Err(io::Error::other(format!("the editor ended with {status}")));
    }
    if fs::metadata(file.path())?.len() > MAX_EDITED {
        return Err(io::Error::other("the file is larger than 64 MiB"));
    }
    fs::read_to_string(file.path())
}
