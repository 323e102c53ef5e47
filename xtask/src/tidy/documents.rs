//! Rules about all text, and about links between documents.

use std::path::Path;

use super::Finding;
use super::tree::Tree;

/// Parts of paths that only exist on somebody's machine. Split, so that this file may pass.
const MACHINE_PATHS: &[&str] = &[
    concat!("/Us", "ers/"),
    concat!("C:\\Us", "ers\\"),
    concat!("/root", "/."),
    concat!("/.cargo", "/registry"),
    concat!("/.rustup", "/toolchains"),
];

/// Parents of repositories that also make sense inside a sandbox or an example.
const COMMON_PARENTS: &[&str] = &["/home", "/tmp", "/var", "/usr", "/opt", "/srv"];

/// No file names a place on the machine it was written on.
pub(super) fn machine_paths(tree: &Tree, root: &Path) -> Vec<Finding> {
    let mut needles: Vec<String> = MACHINE_PATHS
        .iter()
        .map(|&needle| needle.to_owned())
        .collect();
    needles.extend(own_places(root));
    let mut findings = Vec::new();
    for file in &tree.files {
        for (number, line) in file.text.lines().enumerate() {
            if let Some(needle) = needles.iter().find(|needle| line.contains(needle.as_str())) {
                let place = format!("{}:{}", file.path, number + 1);
                findings.push(Finding::failure(
                    place,
                    format!("names a machine's path: {needle}"),
                ));
            }
        }
    }
    findings
}

/// Returns this repository's own path, and its neighbourhood's where that is nothing common.
fn own_places(root: &Path) -> Vec<String> {
    let depth = root.components().count();
    let mut places = Vec::new();
    if depth > 2 {
        places.push(root.display().to_string());
    }
    let parent = root
        .parent()
        .map(|parent| parent.display().to_string())
        .unwrap_or_default();
    if depth > 2
        && !COMMON_PARENTS
            .iter()
            .any(|common| parent.starts_with(common))
    {
        places.push(format!("{parent}/"));
    }
    places
}

/// Links between files of the repository lead somewhere.
pub(super) fn links(tree: &Tree, root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.named(".md") {
        let dir = root
            .join(&file.path)
            .parent()
            .map(Path::to_owned)
            .unwrap_or_default();
        for (number, target) in link_targets(&file.text) {
            let path = target.split('#').next().unwrap_or_default();
            if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
                continue;
            }
            if path.starts_with('/') || !dir.join(path).exists() {
                let place = format!("{}:{number}", file.path);
                findings.push(Finding::failure(
                    place,
                    format!("the link to `{target}` leads nowhere"),
                ));
            }
        }
    }
    findings
}

/// Returns the targets of `[…](…)` and `[…]: …`, with line numbers, outside of code.
fn link_targets(text: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    let mut in_fence = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
            continue;
        }
        if in_fence {
            continue;
        }
        // Every second part between backticks is code.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for (at, _) in prose.match_indices("](") {
            let rest = &prose[at + 2..];
            let end = rest.find([')', ' ']).unwrap_or(rest.len());
            targets.push((index + 1, rest[..end].to_owned()));
        }
        if let Some((label, target)) = prose.split_once("]: ")
            && label.starts_with('[')
        {
            targets.push((
                index + 1,
                target.split(' ').next().unwrap_or_default().to_owned(),
            ));
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::super::tree::planted;
    use super::*;

    #[test]
    fn a_machines_path_is_found_in_any_kind_of_file() {
        let tree = planted(&[
            ("a.md", concat!("see /Us", "ers/someone/x")),
            ("b.rs", "// in /odd/place/repo/src"),
            ("c.toml", "x = \"/odd/place/other\""),
            ("d.sh", "cd /home/user"),
        ]);
        let found = machine_paths(&tree, Path::new("/odd/place/repo"));
        let places: Vec<_> = found.iter().map(|found| found.place.as_str()).collect();
        assert_eq!(places, ["a.md:1", "b.rs:1", "c.toml:1"]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let root = tempfile::tempdir().unwrap();
        let text = "[good](other.md#part) [web](https://example.com) [here](#x)\n\
                    `[code](gone.md)` [bad](gone.md)\n\
                    ```\n[fenced](gone.md)\n```\n\
                    [ref]: missing.md\n";
        std::fs::write(root.path().join("a.md"), text).unwrap();
        std::fs::write(root.path().join("other.md"), "").unwrap();
        let tree = Tree::read(root.path()).unwrap();
        let found = links(&tree, root.path());
        let places: Vec<_> = found.iter().map(|found| found.place.as_str()).collect();
        assert_eq!(places, ["a.md:2", "a.md:6"]);
    }
}
