//! Says that a file was missed because the command is confined: people look for it where it is, and the
//! command cannot see it there.

use std::path::{Component, Path, PathBuf};

use crate::{Host, tool::word};

/// What programs say of a file that is not there. Commands run with `LANG=C.UTF-8`.
const MISSING: &str = "No such file or directory";

/// As much of standard error is looked at.
const MAX_LOOKED_AT: usize = 16 * 1024;

/// The longest path that is repeated.
const MAX_PATH: usize = 256;

/// What every command sees.
const OF_SYSTEM: &[&str] = &[
    "/bin", "/dev", "/etc", "/lib", "/lib64", "/nix", "/proc", "/sbin", "/sys", "/tmp", "/usr",
];

/// Finds a path in what a command printed that lies outside of what it sees. Whether anything is there is not
/// looked at: a model must not learn by it which files exist.
pub(super) fn note(stderr: &[u8], tool: &str, host: &Host) -> Option<String> {
    let start = stderr.get(..MAX_LOOKED_AT).unwrap_or(stderr);
    let text = String::from_utf8_lossy(start);
    let mut lines = text.lines().filter(|line| line.contains(MISSING));
    let path = lines.find_map(|line| outside(line, host.root()))?;
    let path = jp_text::inline(&path).to_string();
    let grant = format!("paths = [{{ path = \"{path}\", access = \"read\" }}]");
    Some(format!(
        "the command is confined, so it sees nothing of `{path}`; if it exists, `grant.{grant}` under \
         `[conversation.tools.{}]` and `{grant}` under `[policy]` in your own configuration show it",
        word(tool)
    ))
}

/// Returns the first path of a line that lies outside of the workspace and of the system.
fn outside(line: &str, root: &Path) -> Option<String> {
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '‘' | '’' | ':' | ',' | ';');
    let mut words = line.split(ends).filter(|word| word.len() <= MAX_PATH);
    words.find_map(|word| {
        if word.starts_with("~/") {
            return Some(word.to_owned());
        }
        if !word.starts_with('/') && !word.starts_with("../") && !word.contains("/../") {
            return None;
        }
        let path = plain(&root.join(word));
        let is_seen = path.starts_with(root) || OF_SYSTEM.iter().any(|dir| path.starts_with(dir));
        // Where the workspace lies in /tmp, what is beside it is hidden by the private /tmp of the command.
        let is_beside =
            root.starts_with("/tmp") && path.starts_with("/tmp") && !path.starts_with(root);
        let is_hidden = (!is_seen || is_beside) && path.components().count() > 1;
        is_hidden.then(|| path.to_str().map(str::to_owned))?
    })
}

/// Resolves `..` without looking at any file.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_outside_of_workspace_and_system_are_named() {
        let root = Path::new("/home/ada/app");
        for (line, expected) in [
            (
                "cat: /home/ada/x: No such file or directory",
                Some("/home/ada/x"),
            ),
            (
                "wc: '../.ssh/id': No such file or directory",
                Some("/home/ada/.ssh/id"),
            ),
            ("cat: ~/x: No such file or directory", Some("~/x")),
            ("cat: notes.txt: No such file or directory", None),
            ("cat: /home/ada/app/x: No such file or directory", None),
            ("cat: sub/../x: No such file or directory", None),
            ("sh: /usr/bin/x: No such file or directory", None),
            ("cat: /tmp/x: No such file or directory", None),
            ("cat: /: No such file or directory", None),
        ] {
            assert_eq!(outside(line, root).as_deref(), expected, "{line}");
        }
        let long = format!("cat: /{}: No such file or directory", "x".repeat(1000));
        assert_eq!(outside(&long, root), None);
    }
}
