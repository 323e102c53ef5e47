//! What a crate may touch of the machine: environment, clock, sockets, files, processes, terminal,
//! randomness. Syntactic, over the sources without their tests; the table is in `touches`.
//!
//! Clippy's `disallowed-methods` could not hold these walls: it bans items one by one and not modules,
//! it judges tests too, and a nested `clippy.toml` replaces the root's. What cannot be seen here is
//! what another crate does on this one's behalf; that is for the tables of who may know whom.

use std::collections::BTreeSet;

use super::Finding;
use super::modules::{self, Module, Modules};
use super::tokens::Kind::{Colons, Sign, Word};
use super::touches::{ANYWHERE, HARMLESS, METHODS, Method, REACHES, Row, Touch};
use super::tree::Tree;
use super::uses::{self, Segments};
use crate::metadata::{Metadata, Package};
use std::path::Path;

/// Where the table lies.
const TABLE: &str = "xtask/src/tidy/touches.rs";

/// Something of the machine that a line of code reaches for.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    touch: Touch,
    /// The file's path below `src/`, and in the repository.
    below: String,
    path: String,
    line: usize,
    what: String,
}

/// Every crate touches what its row says: no more, and no less.
pub(super) fn within_rows(
    tree: &Tree,
    root: &Path,
    metadata: &Metadata,
    rows: &[Row],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let Some(row) = rows.iter().find(|row| row.package == package.name) else {
            findings.push(Finding::failure(
                &package.name,
                format!("has no row in {TABLE}; say there what it may touch"),
            ));
            continue;
        };
        findings.extend(within_row(tree, &sources_dir(package, root), row));
    }
    for row in rows.iter().filter(|row| !metadata.has(row.package)) {
        findings.push(Finding::failure(
            TABLE,
            format!("no crate is called `{}`", row.package),
        ));
    }
    findings
}

fn sources_dir(package: &Package, root: &Path) -> String {
    let dir = package.dir().strip_prefix(root).unwrap_or(package.dir());
    format!("{}/src/", dir.display())
}

fn within_row(tree: &Tree, dir: &str, row: &Row) -> Vec<Finding> {
    let Some(rights) = row.rights else {
        return Vec::new();
    };
    let sources = modules::sources(tree, dir);
    let modules = Modules::parse(&sources);
    let mut findings = lent(&modules);
    let hits = hits(&modules);
    let mut used = BTreeSet::new();
    for hit in &hits {
        let of_touch = rights
            .iter()
            .enumerate()
            .filter(|(_, right)| right.touch == hit.touch);
        let allowing = of_touch
            .clone()
            .find(|(_, right)| hit.below.starts_with(right.room));
        match allowing {
            Some((index, _)) => drop(used.insert(index)),
            None => findings.push(refusal(
                hit,
                row,
                of_touch.map(|(_, right)| right.room).collect(),
            )),
        }
    }
    for (index, right) in rights
        .iter()
        .enumerate()
        .filter(|(index, _)| !used.contains(index))
    {
        let place = if right.room.is_empty() {
            String::new()
        } else {
            format!(" in `{}`", right.room)
        };
        let twin = rights[..index]
            .iter()
            .any(|other| other.touch == right.touch && right.room.starts_with(other.room));
        let why = if twin {
            "an earlier line allows it already"
        } else {
            "it does not"
        };
        let text = format!(
            "`{}` may touch {}{place}, and {why}; take it away",
            row.package, right.touch
        );
        findings.push(Finding::failure(TABLE, text));
    }
    findings
}

fn refusal(hit: &Hit, row: &Row, rooms: Vec<&str>) -> Finding {
    let text = match rooms[..] {
        [] => format!(
            "`{}` touches {}; {} must not: {TABLE}",
            hit.what, hit.touch, row.package
        ),
        _ => format!(
            "`{}` touches {}; {} may do so in {} only: {TABLE}",
            hit.what,
            hit.touch,
            row.package,
            rooms.join(", ")
        ),
    };
    Finding::failure(format!("{}:{}", hit.path, hit.line), text)
}

/// Nobody hands out what the walls are about under a name of their own: other crates could not be judged.
fn lent(modules: &Modules<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for module in &modules.all {
        for name in module.names.iter().filter(|name| name.is_public) {
            let meanings = modules.meanings(module, &name.path);
            let Some(path) = meanings
                .iter()
                .find(|path| reaches(path).is_some() || leads_to_a_wall(path))
            else {
                continue;
            };
            let text = format!(
                "hands `{}` out to other crates, where it could not be seen",
                path.join("::")
            );
            findings.push(Finding::failure(
                format!("{}:{}", module.path, name.line),
                text,
            ));
        }
    }
    findings
}

/// Returns what the crate's code touches, each line once.
fn hits(modules: &Modules<'_>) -> BTreeSet<Hit> {
    let mut found = BTreeSet::new();
    let functions = modules.functions();
    for module in &modules.all {
        let hit = |touch: Touch, line: usize, what: String| Hit {
            touch,
            below: module.below.to_owned(),
            path: module.path.to_owned(),
            line,
            what,
        };
        for name in &module.names {
            let touched = modules
                .meanings(module, &name.path)
                .iter()
                .find_map(|path| Some((reaches(path)?, path.join("::"))));
            found.extend(touched.map(|(touch, what)| hit(touch, name.line, what)));
        }
        for (path, line) in paths(module) {
            let touched = modules
                .meanings(module, &path)
                .iter()
                .find_map(|path| Some((reaches(path)?, path.join("::"))));
            found.extend(touched.map(|(touch, what)| hit(touch, line, what)));
        }
        for (method, line) in methods(module, &functions) {
            found.insert(hit(method.touch, line, format!(".{}()", method.name)));
        }
    }
    found
}

/// Returns the paths of two and more segments that a module's code writes.
fn paths(module: &Module<'_>) -> Vec<(Segments, usize)> {
    let tokens = &module.tokens;
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !matches!(tokens[at].kind, Word(_)) {
            at += 1;
            continue;
        }
        let (mut path, end) = uses::path_at(tokens, at);
        let is_qualified = at.checked_sub(1).and_then(kind) == Some(Sign('<'));
        if let (true, Some(Sign('>')), Some(Colons), Some(Word(last))) =
            (is_qualified, kind(end), kind(end + 1), kind(end + 2))
        {
            path.push(last.to_owned());
        }
        // `std::$part` of a macro may become anything.
        if kind(end) == Some(Colons) && kind(end + 1) == Some(Sign('$')) {
            path.push("$".to_owned());
        }
        if path.len() > 1 {
            found.push((path, tokens[at].line));
        }
        at = end;
    }
    found
}

/// Returns the calls of methods that touch something without naming it. A crate with a method of the
/// same name is believed where the file does not mention the type in question.
fn methods(module: &Module<'_>, functions: &BTreeSet<&str>) -> Vec<(&'static Method, usize)> {
    let mentions = |types: &[&str]| {
        module
            .tokens
            .iter()
            .any(|token| matches!(token.kind, Word(word) if types.contains(&word)))
    };
    let mut found = Vec::new();
    for window in module.tokens.windows(4) {
        let [dot, name, open, close] = window else {
            continue;
        };
        let (Sign('.'), Word(called), Sign('('), Sign(')')) =
            (dot.kind, name.kind, open.kind, close.kind)
        else {
            continue;
        };
        let method = METHODS.iter().find(|method| method.name == called);
        found.extend(
            method
                .filter(|method| !functions.contains(method.name) || mentions(method.types))
                .map(|method| (method, name.line)),
        );
    }
    found
}

/// Returns what a path from outside of the crate touches.
fn reaches(path: &[String]) -> Option<Touch> {
    let starts = |with: &str| {
        let mut segments = path.iter();
        with.split("::")
            .all(|part| segments.next().is_some_and(|segment| segment == part))
    };
    if HARMLESS.iter().any(|with| starts(with)) {
        return None;
    }
    if let Some((touch, _)) = REACHES.iter().find(|(_, with)| starts(with)) {
        return Some(*touch);
    }
    let ends = |with: &str| path.len() > 1 && path[path.len() - 2..].join("::") == with;
    if let Some((touch, _)) = ANYWHERE.iter().find(|(_, with)| ends(with)) {
        return Some(*touch);
    }
    let (last, above) = path.split_last()?;
    let is_open = last == "$" && leads_to_a_wall(above);
    is_open.then_some(Touch::Files)
}

/// Returns whether something that the walls are about lies below a path.
fn leads_to_a_wall(path: &[String]) -> bool {
    let prefix = format!("{}::", path.join("::"));
    REACHES.iter().any(|(_, with)| with.starts_with(&prefix))
}

#[cfg(test)]
#[path = "touch_tests.rs"]
mod tests;
