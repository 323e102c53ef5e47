//! One host behind many callers, and a workspace that changes while it is open.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use jp_audit::Reader;
use jp_host::{Live, Location, OpenError, Places, Workspace};
use jp_llm::{
    Call, Caller, Events, Host,
    tool::{Cause, Refused},
};
use jp_policy::Policy;
use jp_tool::ToolStatus;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A user with a workspace.
struct User {
    held: TempDir,
    root: PathBuf,
}

impl User {
    fn new() -> Self {
        let held = TempDir::new().unwrap();
        let root = held.path().canonicalize().unwrap().join("workspace");
        fs::create_dir_all(root.join(".jp")).unwrap();
        Self { held, root }
    }

    fn places(&self) -> Places {
        Places::below(&self.held.path().join("mine"))
    }

    fn configure(&self, text: &str) {
        fs::write(self.root.join(".jp/config.toml"), text).unwrap();
    }

    fn live(&self) -> Live {
        let location = Location::find(Some(&self.root)).unwrap();
        Live::open(Workspace::at(location), self.places()).unwrap()
    }

    fn principals(&self) -> Vec<String> {
        let reader = Reader::open(&self.places().audit_dir().unwrap()).unwrap();
        let entries = reader.map(Result::unwrap);
        let entries = entries.filter(|entry| entry.event.is_none());
        entries.map(|entry| entry.principal).collect()
    }
}

fn bash(commands: &str) -> Call {
    let Value::Object(arguments) = json!({ "commands": commands }) else {
        unreachable!()
    };
    Call {
        arguments,
        ..Call::default()
    }
}

fn named(principal: &str) -> Caller {
    Caller {
        principal: principal.to_owned(),
        ..Caller::default()
    }
}

async fn said(workspace: &Workspace, call: Call, host: &Host) -> String {
    let executed = workspace.call("bash", call, host).await.unwrap();
    executed
        .result
        .unwrap()
        .into_response()
        .unwrap_or_else(|no| no)
}

fn tools(workspace: &Workspace) -> Vec<String> {
    let tools = workspace.tools(workspace.host());
    tools.map(|tool| tool.unwrap().name.clone()).collect()
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Events for Heard {
    fn report(&self, _: &str, _: &str, status: ToolStatus) {
        self.0.lock().unwrap().extend(status.output);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_at_once_have_their_own_name_events_and_policy() {
    let user = User::new();
    user.configure("[conversation.tools.bash]\nsource = \"builtin\"\ngrant.workspace = \"read\"\n");
    fs::write(user.root.join("note.txt"), "mine\n").unwrap();
    let workspace = user.live().now().unwrap();
    let (ann, bob) = (Arc::new(Heard::default()), Arc::new(Heard::default()));
    let of_ann = workspace.host().for_caller(Caller {
        events: Some(Arc::clone(&ann) as _),
        ..named("ann")
    });
    let of_bob = workspace.host().for_caller(Caller {
        events: Some(Arc::clone(&bob) as _),
        ..named("bob")
    });
    let (first, second) = tokio::join!(
        said(&workspace, bash("cat note.txt"), &of_ann),
        said(&workspace, bash("echo two"), &of_bob)
    );
    assert!(
        first.contains("mine") && second.contains("two"),
        "{first} {second}"
    );
    assert_eq!(*ann.0.lock().unwrap(), ["mine\n"]);
    assert_eq!(*bob.0.lock().unwrap(), ["two\n"]);
    // Somebody to whom the user allows nothing gets nothing, whatever the workspace says.
    let of_eve = workspace.host().for_caller(Caller {
        policy: Some(Policy::default()),
        ..named("eve")
    });
    let denied = workspace.call("bash", bash("cat note.txt"), &of_eve).await;
    let error = denied.unwrap().result.unwrap_err();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::Denied { .. })),
        "{error:?}"
    );
    let mut principals = user.principals();
    principals.sort();
    assert_eq!(principals, ["ann", "bob", "eve"]);
}

#[tokio::test]
async fn a_policy_of_a_caller_allows_nothing_that_the_user_does_not() {
    let user = User::new();
    let workspace = user.live().now().unwrap();
    let mut wide = workspace.host().policy().clone();
    wide.capabilities.subprocess = true;
    let host = workspace.host().for_caller(Caller {
        policy: Some(wide),
        ..named("mallory")
    });
    assert_eq!(host.policy(), workspace.host().policy());
}

#[tokio::test]
async fn a_changed_configuration_is_noticed_and_calls_under_way_keep_theirs() {
    let user = User::new();
    let live = user.live();
    let before = live.now().unwrap();
    assert!(Arc::ptr_eq(&before, &live.now().unwrap()));
    assert_eq!(
        tools(&before)
            .iter()
            .filter(|name| *name == "shell")
            .count(),
        0
    );
    user.configure("[conversation.tools.shell]\nsource = \"builtin.bash\"\n");
    let after = live.now().unwrap();
    assert!(tools(&after).contains(&"shell".to_owned()));
    // The one that a call began with still works.
    assert!(
        said(&before, bash("echo on"), before.host())
            .await
            .contains("on")
    );
    // Both write to one log, one after the other.
    assert!(
        said(&after, bash("echo on"), after.host())
            .await
            .contains("on")
    );
    assert_eq!(user.principals().len(), 2);
}

#[tokio::test]
async fn a_second_call_reuses_what_the_first_has_prepared_until_something_changes() {
    let user = User::new();
    let live = user.live();
    let before = live.now().unwrap();
    let ann = before.host().for_caller(named("ann"));
    let first = before.find("bash", &bash(""), &ann).await.unwrap();
    // Also for another caller, and in a list.
    let bob = before.host().for_caller(named("bob"));
    let second = live.now().unwrap().find("bash", &bash(""), &bob).await;
    assert!(Arc::ptr_eq(&first, &second.unwrap()));
    let mut listed = before.tools(&bob).map(Result::unwrap);
    assert!(listed.any(|tool| Arc::ptr_eq(&first, &tool)));
    // Another host may have other tools of that name.
    let other = bob.clone().into_builder().unconfined(true).build();
    let made = before.find("bash", &bash(""), &other).await.unwrap();
    assert!(!Arc::ptr_eq(&first, &made));
    // A tool that is not there is not remembered, and neither is one of another generation.
    assert!(before.find("more", &bash(""), &ann).await.is_err());
    let text = "[conversation.tools.bash]\nsource = \"builtin\"\nsummary = \"New\"\n\
                [conversation.tools.more]\nsource = \"builtin.bash\"\n";
    user.configure(text);
    let after = live.now().unwrap();
    let third = after.find("bash", &bash(""), after.host()).await.unwrap();
    assert_eq!(third.summary(), "New");
    assert!(after.find("more", &bash(""), after.host()).await.is_ok());
    assert_ne!(first.summary(), "New");
}

#[tokio::test]
async fn a_tool_whose_file_was_touched_is_prepared_again() {
    let user = User::new();
    let file = user.root.join("wasm/sum_tool.wasm");
    write(&file, "one");
    let location = Location::find(Some(&user.root)).unwrap();
    let workspace = Workspace::at(location).open(&user.places()).unwrap();
    let find = async || {
        let call = Call::default();
        workspace.find("sum", &call, workspace.host()).await
    };
    let first = find().await.unwrap();
    assert!(Arc::ptr_eq(&first, &find().await.unwrap()));
    fs::write(&file, "another").unwrap();
    let second = find().await.unwrap();
    assert!(!Arc::ptr_eq(&first, &second));
    assert!(Arc::ptr_eq(&second, &find().await.unwrap()));
    fs::remove_file(&file).unwrap();
    assert!(find().await.is_err());
}

#[tokio::test]
async fn a_configuration_that_is_broken_meanwhile_is_an_error_until_it_is_right_again() {
    let user = User::new();
    let live = user.live();
    user.configure("nonsense = true\n");
    for _ in 0..2 {
        assert!(matches!(live.now(), Err(OpenError::Config(_))));
    }
    user.configure("");
    assert!(live.now().is_ok());
}

#[test]
fn each_file_that_a_workspace_is_made_from_is_watched() {
    let user = User::new();
    let live = user.live();
    let mine = user.held.path().join("mine");
    for (path, text) in [
        (user.root.join(".jp/config.d/10-more.toml"), ""),
        (user.root.join(".jp/config.toml"), ""),
        (user.root.join("locara.json"), "{}"),
        (user.root.join("jp.lock"), ""),
        (user.root.join(".jp/tools/x.wasm"), ""),
        (mine.join("config/config.toml"), ""),
        (user.root.join("wasm/x.txt"), ""),
        (
            mine.join("data/trust.json"),
            "{\"version\":1,\"workspaces\":{}}",
        ),
    ] {
        let before = live.now().map_err(|error| error.to_string());
        write(&path, text);
        let after = live.now().map_err(|error| error.to_string());
        let same = match (before, after) {
            (Ok(before), Ok(after)) => Arc::ptr_eq(&before, &after),
            _ => false,
        };
        assert!(!same, "{}", path.display());
    }
}

#[test]
fn what_a_workspace_is_not_made_from_opens_it_no_second_time() {
    let user = User::new();
    let live = user.live();
    let before = live.now().unwrap();
    write(&user.root.join(".jp/notes.txt"), "");
    write(&user.root.join("config.toml"), "");
    assert!(Arc::ptr_eq(&before, &live.now().unwrap()));
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_workspace_is_found_from_below_and_a_file_is_none() {
    let user = User::new();
    let below = user.root.join("a/b");
    fs::create_dir_all(&below).unwrap();
    let location = Location::find(Some(&below)).unwrap();
    assert_eq!(
        (location.cwd, location.root),
        (below.clone(), user.root.clone())
    );
    write(&below.join("file"), "");
    let error = Location::find(Some(&below.join("file"))).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot use the directory"),
        "{error}"
    );
}
