//! Reads the servers that clients of this machine have in their configuration, and changes nothing.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use serde_json::{Map, Value};

use super::{
    client::{Client, Machine},
    edit::{self, Format, merge},
    file,
};

/// The servers of one file.
#[derive(Debug)]
pub(crate) struct Configured {
    /// Its name.
    pub(crate) title: &'static str,
    /// The file.
    pub(crate) path: PathBuf,
    /// Names of servers, and what the client says of each.
    pub(crate) servers: Vec<(String, Value)>,
    /// Why the file says nothing, if it cannot be read.
    pub(crate) problem: Option<String>,
}

/// Returns what the clients know, those of a project before the user's own: clients give them precedence.
/// A file that is not there is left out.
pub(crate) fn configured(root: Option<&Path>, only: &[String]) -> Vec<Configured> {
    let machine = Machine::of_process();
    let mut all: Vec<Configured> = Vec::new();
    let clients = Client::value_variants().iter().copied();
    let clients: Vec<Client> = clients
        .filter(|client| only.is_empty() || only.iter().any(|name| name == client.id()))
        .collect();
    for &client in &clients {
        let project = root.and_then(|root| client.project_file(root).ok());
        // Two clients read the same file of a project.
        let project = project.filter(|path| all.iter().all(|known| known.path != *path));
        all.extend(project.and_then(|path| read(client, path, root)));
    }
    for client in clients {
        let user = client.user_file(&machine).ok();
        all.extend(user.and_then(|path| read(client, path, root)));
    }
    all
}

/// Returns the names of clients whose files can be read.
pub(crate) fn clients() -> Vec<&'static str> {
    let all = Client::value_variants().iter();
    all.map(|client| client.id()).collect()
}

fn read(client: Client, path: PathBuf, root: Option<&Path>) -> Option<Configured> {
    let mut found = Configured {
        title: client.facts().title,
        servers: Vec::new(),
        problem: None,
        path,
    };
    match servers(client, &found.path, root) {
        Ok(None) => return None,
        Ok(Some(servers)) => found.servers = servers,
        Err(Unreadable(problem)) => found.problem = Some(problem),
    }
    Some(found)
}

/// Names of servers, and what is said of each.
type Servers = Vec<(String, Value)>;

/// Why a file of a client is not read, in words for the person.
struct Unreadable(String);

fn servers(
    client: Client,
    path: &Path,
    root: Option<&Path>,
) -> Result<Option<Servers>, Unreadable> {
    let Some(bytes) = file::bytes(path).map_err(|error| Unreadable(said(&error)))? else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| Unreadable(error.to_string()))?;
    let facts = client.facts();
    // Comments are read wherever they stand: a client that knows none would not have started.
    let format = match facts.format {
        Format::Json => Format::Jsonc,
        other => other,
    };
    let document = edit::document(text, format, facts.section)
        .map_err(|error| Unreadable(error.to_string()))?;
    let mut servers = Vec::new();
    let mut add = |section: Option<&Value>| {
        let entries = section.and_then(Value::as_object).into_iter().flatten();
        for (name, entry) in entries.filter(|(_, entry)| !merge::is_ours(entry)) {
            servers.push((name.clone(), entry.clone()));
        }
    };
    // Claude Code keeps what belongs to one directory beside what belongs to all.
    let project = root.and_then(|root| {
        let projects = document
            .get("projects")
            .filter(|_| client == Client::ClaudeCode);
        projects?.get(root.to_str()?)?.get(facts.section)
    });
    add(project);
    add(document.get(facts.section));
    Ok(Some(servers))
}

/// Writes an error with its cause.
fn said(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Returns what a document says as one value; of YAML the section alone.
pub(super) fn object(section: &str, entries: Vec<(String, Value)>) -> Value {
    let entries = Value::Object(entries.into_iter().collect::<Map<_, _>>());
    Value::Object(Map::from_iter([(section.to_owned(), entries)]))
}
