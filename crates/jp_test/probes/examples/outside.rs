//! Tries to read a path outside of the workspace: `{"path": …}`, or `/etc/passwd`.

use jp_probes::{Call, probe};
use jp_tool::Outcome;

fn run(call: &Call) -> Outcome {
    let path = match call.text("path") {
        path if path.is_empty() => "/etc/passwd".to_owned(),
        path => path,
    };
    match std::fs::read_to_string(&path) {
        Ok(content) => content.into(),
        Err(error) => Outcome::failed(format!("cannot read {path}: {error}")),
    }
}

probe!(run);
