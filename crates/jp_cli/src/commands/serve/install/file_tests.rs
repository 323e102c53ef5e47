//! What happens when others change the file too.

use std::thread;

use serde_json::json;

use super::*;
use crate::commands::serve::install::edit::Format;

const TARGET: Target<'_> = Target {
    format: Format::Json,
    section: "mcpServers",
    name: "jp",
};

fn plan(path: &Path, name: &str) -> Plan {
    let entry = json!({"command": "/bin/jp", "args": ["serve"]});
    let change = Change::Add {
        entry: &entry,
        force: false,
    };
    let target = Target { name, ..TARGET };
    Plan::make(path.to_owned(), Scope::User, &target, &change).unwrap()
}

#[test]
fn a_change_of_another_program_in_between_is_noticed_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    fs::write(&path, "{}").unwrap();
    let made = plan(&path, "jp");
    fs::write(&path, "{\"new\": 1}").unwrap();
    let error = made.write().unwrap_err();
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .to_string()
            .contains("changed it meanwhile"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"new\": 1}");
    // One that comes where there was none, and one that goes.
    let made = plan(&dir.path().join("b.json"), "jp");
    fs::write(dir.path().join("b.json"), "{}").unwrap();
    assert!(made.write().is_err());
    let made = plan(&path, "jp");
    fs::remove_file(&path).unwrap();
    assert!(made.write().is_err());
    assert!(!path.exists());
}

#[test]
fn of_many_at_once_each_is_there_or_was_told_that_it_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    fs::write(&path, "{}").unwrap();
    let done: Vec<(String, bool)> = thread::scope(|scope| {
        let all: Vec<_> = (0..16)
            .map(|number| {
                let path = &path;
                scope.spawn(move || {
                    let name = format!("jp-{number}");
                    let written = plan(path, &name).write().is_ok();
                    (name, written)
                })
            })
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let text = fs::read_to_string(&path).unwrap();
    for (name, written) in &done {
        let target = Target { name, ..TARGET };
        assert_eq!(
            edit::entry(&text, &target).unwrap().is_some(),
            *written,
            "{name}: {text}"
        );
    }
    assert!(done.iter().any(|(_, written)| *written));
}
