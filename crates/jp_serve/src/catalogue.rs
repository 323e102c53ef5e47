//! The tools of a workspace as clients see them: made once for each state of the configuration, and
//! completed once by what tools say of themselves.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use jp_config::tool::TaskMode;
use jp_host::Workspace;
use jp_llm::{Host, PreparedTool};
use jp_policy::Policy;
use jp_tool::DescribedTool;
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::{annotations, hints, lazy::Index};

/// Clients drop tools whose full names are longer than 128 characters, and put the name of the server
/// before ours.
const LONGEST_NAME: usize = 110;

/// The tools of one state of a workspace, as the principals of one policy have them.
pub(crate) struct Catalogue {
    workspace: Arc<Workspace>,
    policy: Option<Arc<Policy>>,
    /// The host of the workspace under that policy. Calls are made on that of their own caller.
    host: Host,
    tools: Vec<Tool>,
    /// The same, with what tools said of themselves.
    completed: OnceLock<Vec<Tool>>,
    /// The tools that are still to be asked what they are.
    unasked: Mutex<Vec<Arc<PreparedTool>>>,
    /// Where in `tools` a name stands, and the id of its tool.
    known: HashMap<String, (usize, String)>,
    /// The ids of tools that cannot be had as they are, by their names. They are not listed; a call of one
    /// says why.
    stopped: HashMap<String, String>,
    /// What the servers of the workspace had told when these were listed.
    told: u64,
    problems: Vec<String>,
    indexes: Measured<Index>,
    sizes: Measured<usize>,
}

/// What is measured of a list when it is first wanted: as it was listed, and as it was completed.
struct Measured<T>([OnceLock<T>; 2]);

impl<T> Default for Measured<T> {
    fn default() -> Self {
        Self([OnceLock::new(), OnceLock::new()])
    }
}

impl Catalogue {
    /// Lists the tools. Nothing is compiled and no server is started for it.
    pub(crate) fn of(workspace: Arc<Workspace>, host: Host, policy: Option<Arc<Policy>>) -> Self {
        let mut made = Self {
            tools: Vec::new(),
            completed: OnceLock::new(),
            unasked: Mutex::default(),
            known: HashMap::new(),
            stopped: HashMap::new(),
            told: workspace.servers_told(),
            problems: Vec::new(),
            indexes: Measured::default(),
            sizes: Measured::default(),
            workspace: Arc::clone(&workspace),
            host: host.clone(),
            policy,
        };
        let mut found = Vec::new();
        for tool in workspace.tools(&host) {
            match tool {
                Ok(tool) if tool.is_enabled() && tool.is_offered(&host) => found.push(tool),
                Ok(_) => {}
                Err(error) => {
                    let id = error.tool().to_owned();
                    made.stopped.insert(wire_name(&id), id);
                    made.problems.push(error.to_string());
                }
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let added = found.into_iter().filter(|tool| made.add(tool, &host));
        let added = added.collect();
        made.unasked = Mutex::new(added);
        made
    }

    /// Asks the tools what they are whose configuration does not say it: once, in the background, and
    /// without any authority. A list that is wanted meanwhile does not wait.
    pub(crate) fn complete(self: &Arc<Self>) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let mut unasked = self.unasked.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = std::mem::take(&mut *unasked);
        drop(unasked);
        if tools.is_empty() {
            return;
        }
        let catalogue = Arc::clone(self);
        runtime.spawn(async move {
            let mut completed = catalogue.tools.clone();
            for (shown, tool) in completed.iter_mut().zip(&tools) {
                // One that fails to say it says why when it is called.
                if let Ok(Some(said)) = tool.described(&catalogue.host).await {
                    *shown = show(tool, Some(said), &catalogue.host);
                }
            }
            let _ = catalogue.completed.set(completed);
        });
    }

    /// Adds a tool, unless clients could not call it.
    fn add(&mut self, tool: &PreparedTool, host: &Host) -> bool {
        let name = wire_name(&tool.name);
        let problem = if name.len() > LONGEST_NAME {
            Some(format!("has more than {LONGEST_NAME} characters"))
        } else {
            let same = self.known.get(&name);
            same.map(|(_, other)| format!("looks like that of the tool `{other}` to clients"))
        };
        if let Some(problem) = problem {
            let text = format!(
                "the tool `{}` is not offered: its name {problem}",
                tool.name
            );
            self.problems.push(text);
            return false;
        }
        let at = self.tools.len();
        self.known.insert(name, (at, tool.name.clone()));
        self.tools.push(show(tool, None, host));
        true
    }

    /// Tells whether the tools were asked what they are, so that the list stays as it is.
    pub(crate) fn is_complete(&self) -> bool {
        self.completed.get().is_some() || self.tools.is_empty()
    }

    /// Tells whether these are the tools of a workspace as they are now, under a policy.
    pub(crate) fn is_of(&self, workspace: &Arc<Workspace>, policy: Option<&Arc<Policy>>) -> bool {
        Arc::ptr_eq(&self.workspace, workspace)
            && self.told == workspace.servers_told()
            && self.is_under(policy)
    }

    /// Tells whether these are the tools that a policy leaves.
    pub(crate) fn is_under(&self, policy: Option<&Arc<Policy>>) -> bool {
        self.policy.as_ref() == policy
    }

    /// Returns what may be read and shown under the policy. No call is made on it.
    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) const fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// Returns the tools, by name.
    pub(crate) fn tools(&self) -> &[Tool] {
        self.completed.get().unwrap_or(&self.tools)
    }

    /// Returns the tool that clients know by a name.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools().get(self.known.get(name)?.0)
    }

    /// Returns the id of the tool that clients know by a name, also of one that they cannot have now.
    pub(crate) fn id(&self, name: &str) -> Option<&str> {
        let known = self.known.get(name).map(|(_, id)| id);
        known.or_else(|| self.stopped.get(name)).map(String::as_str)
    }

    /// Returns the tools that fit a query best, the best one first.
    pub(crate) fn search(&self, query: &str, most: usize) -> Vec<&Tool> {
        let index = self.measured(&self.indexes, Index::of);
        let found = index.search(query, most).into_iter();
        found.filter_map(|at| self.tools().get(at)).collect()
    }

    /// Returns how many bytes the list of tools has.
    pub(crate) fn size(&self) -> usize {
        *self.measured(&self.sizes, |tools| {
            let list = serde_json::to_vec(tools);
            list.map_or(usize::MAX, |list| list.len())
        })
    }

    fn measured<'a, T>(
        &'a self,
        known: &'a Measured<T>,
        measure: impl FnOnce(&[Tool]) -> T,
    ) -> &'a T {
        let Measured([listed, completed]) = known;
        match self.completed.get() {
            Some(tools) => completed.get_or_init(|| measure(tools)),
            None => listed.get_or_init(|| measure(&self.tools)),
        }
    }

    /// Returns whether calls of a tool become tasks.
    pub(crate) fn task_mode(&self, id: &str) -> TaskMode {
        let tools = &self.workspace.loaded().config.conversation.tools;
        let tool = tools.find(id);
        tool.map_or_else(TaskMode::default, |tool| tool.task())
    }

    /// Returns what keeps tools from being offered.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }
}

/// Writes an id as a name that every provider of models accepts: letters, digits, `_` and `-`.
fn wire_name(id: &str) -> String {
    id.replace('.', "__")
}

/// Returns a tool as clients see it. What the user wrote of it stands before what it says of itself.
fn show(tool: &PreparedTool, said: Option<&DescribedTool>, host: &Host) -> Tool {
    let grant = tool.preview(host).ok();
    let facts = annotations::of(grant.as_ref().map(|preview| preview.grant.capabilities()));
    let text = description(tool, said);
    let schema = match tool.is_unasked() {
        true => object(&Value::Null),
        false => object(tool.known_schema()),
    };
    let mut shown = Tool::new(wire_name(&tool.name), text, schema);
    shown.annotations = facts;
    shown.output_schema = tool.known_output_schema().map(object);
    shown.title = said.and_then(|said| said.title.clone());
    let most = grant.map(|preview| preview.grant.limits().output_bytes);
    shown.meta = hints::of(tool, said, most);
    shown
}

/// Returns what a model is told of a tool.
fn description(tool: &PreparedTool, said: Option<&DescribedTool>) -> String {
    let docs = &tool.docs;
    let said = said.filter(|_| docs.summary.is_none() && docs.description.is_none());
    let said = said.map(|said| (Some(said.summary.clone()), said.description.clone()));
    let (summary, more) = said.unwrap_or_else(|| (docs.summary.clone(), docs.description.clone()));
    let parts = [&summary, &more, &docs.examples];
    let mut text = String::new();
    for part in parts.into_iter().flatten() {
        // A description often starts with its own summary.
        if part.starts_with(text.as_str()) {
            text.clear();
        }
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(part);
    }
    text
}

/// Returns a schema as the protocol wants it: an object that says it is one.
fn object(schema: &Value) -> Arc<JsonObject> {
    let mut object = match schema {
        Value::Object(object) => object.clone(),
        _ => JsonObject::new(),
    };
    if !object.contains_key("type") {
        object.insert("type".to_owned(), json!("object"));
    }
    Arc::new(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_names_that_providers_accept() {
        for (id, name) in [
            ("learn", "learn"),
            ("todo.create", "todo__create"),
            ("a-b_c", "a-b_c"),
        ] {
            assert_eq!(wire_name(id), name);
        }
    }

    #[test]
    fn a_schema_is_an_object_that_says_so() {
        assert_eq!(
            *object(&json!(true)),
            *json!({"type": "object"}).as_object().unwrap()
        );
    }
}
