//! Tests of the whole tool: a tree of files and JSON arguments in, text out.

#[cfg(unix)]
mod hostile;
mod knowledge;
#[cfg(unix)]
mod links;
mod listing;
mod loading;

use std::{fs, path::Path};

use jp_tool::{Action, Context, Outcome};
use tempfile::TempDir;

/// Files by path; a path that ends in `/` is an empty directory.
type Tree<'a> = &'a [(&'a str, &'a str)];

fn lay_out(tree: Tree<'_>) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (path, content) in tree {
        let path = dir.path().join(path);
        if path.as_os_str().to_string_lossy().ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }
    dir
}

fn run_in(dir: &Path, action: Action, arguments: &str) -> String {
    let context = Context {
        root: dir.to_str().unwrap().into(),
        action,
    };
    match crate::run(&context, arguments) {
        Outcome::Success { content } => content,
        Outcome::Error {
            message,
            trace,
            transient,
        } => {
            assert!(trace.is_empty() && !transient);
            format!("error: {message}")
        }
        Outcome::NeedsInput { .. } => panic!("`learn` asks nothing"),
    }
}

/// Lays out a tree, runs the tool on it with JSON arguments and returns its text.
fn check(tree: Tree<'_>, arguments: &str) -> String {
    run_in(lay_out(tree).path(), Action::Run, arguments)
}

/// Loads the given subjects of a tree, with nothing configured.
fn load(tree: Tree<'_>, subjects: &str) -> String {
    check(tree, &format!(r#"{{"topic":"t","subjects":{subjects}}}"#))
}

fn strings(entries: &[&str]) -> Vec<String> {
    entries.iter().map(|entry| (*entry).to_owned()).collect()
}
