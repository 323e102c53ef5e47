//! Several principals on one server: what belongs to one is as if it were not there for the others.

use std::time::Duration;

use jp_config::PolicyConfig;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use crate::{
    kit::{MODERN, User},
    site::{OWN, Site, in_session, known, message},
};

/// What one principal has made, and how others try to get at it.
struct Made {
    what: &'static str,
    /// What its owner asks to see it.
    method: &'static str,
    params: Value,
    /// What shows that it was seen.
    shows: String,
}

/// A site where calls of `bash` become tasks once a tool says so, with two principals.
async fn site() -> (Site, String, String) {
    let user = User::new();
    user.bring("parts");
    let site = Site::start(user).await;
    let (alpha, beta) = (site.add("alpha", None), site.add("beta", None));
    (site, alpha, beta)
}

fn read_only() -> PolicyConfig {
    serde_json::from_value(json!({"workspace": "read", "calls": [], "subprocess": false})).unwrap()
}

/// Looks until a task is over.
async fn ended(site: &Site, token: &str, id: &str) -> Value {
    loop {
        let task = site.ask(token, "tasks/get", json!({"taskId": id})).await;
        if task["result"]["status"] != "working" {
            return task;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns the number of the newest record of a principal.
async fn newest_record(site: &Site, token: &str) -> u64 {
    let read = json!({"uri": "jp://audit/recent"});
    let answer = site.ask(token, "resources/read", read).await;
    let text = answer["result"]["contents"][0]["text"].as_str();
    let records: Vec<Value> = serde_json::from_str(text.unwrap()).unwrap();
    records.last().unwrap()["seq"].as_u64().unwrap()
}

/// Makes everything that can belong to somebody. A kind of thing that is new gets a line here.
async fn everything_of(site: &Site, token: &str) -> Vec<Made> {
    let large = site
        .call(token, "bash", json!({"commands": "seq 20000"}))
        .await;
    let link = &large["result"]["content"][2]["uri"];
    let result = link
        .as_str()
        .unwrap_or_else(|| panic!("{large}"))
        .to_owned();
    let record = newest_record(site, token).await;
    let todo = json!({"action": "create", "title": "buy milk for alpha"});
    let row = site.call(token, "todo", todo).await;
    assert_eq!(row["result"]["isError"], false, "{row}");
    let bash = "[conversation.tools.bash]\nsource = 'builtin'\ntask = 'always'\n";
    let path = site.user.root.join(".jp/config.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    site.user.configure(&format!("{before}{bash}"));
    let task = site
        .call(token, "bash", json!({"commands": "echo of alpha"}))
        .await;
    let task = task["result"]["taskId"]
        .as_str()
        .unwrap_or_else(|| panic!("{task}"))
        .to_owned();
    ended(site, token, &task).await;
    site.user.configure(&before);
    vec![
        Made {
            what: "a task",
            method: "tasks/get",
            params: json!({"taskId": task}),
            shows: "of alpha".to_owned(),
        },
        Made {
            what: "a kept result",
            method: "resources/read",
            params: json!({"uri": result}),
            shows: "19999".to_owned(),
        },
        Made {
            what: "an audit record",
            method: "resources/read",
            params: json!({"uri": format!("jp://audit/{record}")}),
            shows: "\\\"alpha\\\"".to_owned(),
        },
        Made {
            what: "rows",
            method: "tools/call",
            params: json!({"name": "todo", "arguments": {"action": "list"}}),
            shows: "buy milk for alpha".to_owned(),
        },
    ]
}

#[tokio::test]
async fn the_token_of_one_never_opens_what_belongs_to_another() {
    let (site, alpha, beta) = site().await;
    for made in everything_of(&site, &alpha).await {
        let seen = site.ask(&alpha, made.method, made.params.clone()).await;
        assert!(
            seen.to_string().contains(&made.shows),
            "{}: {seen}",
            made.what
        );
        for (who, token) in [("beta", &*beta), ("the user", OWN)] {
            let seen = site.ask(token, made.method, made.params.clone()).await;
            assert!(
                !seen.to_string().contains(&made.shows),
                "{} of {who}: {seen}",
                made.what
            );
        }
        // Nor can it be changed or ended, and it is still its owner's.
        if made.method == "tasks/get" {
            for method in ["tasks/cancel", "tasks/update"] {
                let mut params = made.params.clone();
                params["inputResponses"] = json!({});
                let refused = site.ask(&beta, method, params).await;
                let unknown =
                    json!({"taskId": "0123456789abcdef0123456789abcdef", "inputResponses": {}});
                let unknown = site.ask(&beta, method, unknown).await;
                assert_eq!(refused["error"], unknown["error"], "{method}");
            }
        }
        let seen = site.ask(&alpha, made.method, made.params).await;
        assert!(
            seen.to_string().contains(&made.shows),
            "{}: {seen}",
            made.what
        );
    }
    // What others did is not even counted.
    let complete = json!({"ref": {"type": "ref/resource", "uri": "jp://audit/{number}"},
        "argument": {"name": "number", "value": ""}});
    let numbers = site
        .ask(&alpha, "completion/complete", complete.clone())
        .await;
    assert_ne!(numbers["result"]["completion"]["total"], 0, "{numbers}");
    site.call(&beta, "bash", json!({"commands": "true"})).await;
    let own = newest_record(&site, &beta).await;
    let numbers = site.ask(&beta, "completion/complete", complete).await;
    let values = numbers["result"]["completion"]["values"]
        .as_array()
        .unwrap();
    assert!(values.contains(&json!(own.to_string())), "{numbers}");
    let lines = site.user.records();
    assert!(
        lines.iter().any(|line| line.starts_with("alpha bash ")),
        "{lines:?}"
    );
    assert!(
        lines.iter().any(|line| line.starts_with("beta bash ")),
        "{lines:?}"
    );
}

#[tokio::test]
async fn a_session_belongs_to_whoever_opened_it() {
    let (site, alpha, beta) = site().await;
    let id = site.session(&alpha).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    for token in [&*beta, OWN] {
        let bearer = format!("Bearer {token}");
        let headers = [&known(&bearer)[..], &in_session(&id)].concat();
        assert_eq!(site.post(token, &in_session(&id), &list).await.status, 404);
        for method in ["GET", "DELETE"] {
            let answer = site.send(method, "/mcp", &headers, "").await;
            assert_eq!(answer.status, 404, "{method}: {}", answer.head);
        }
    }
    // It goes on, and acts for its owner.
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": {"name": "bash", "arguments": {"commands": "echo in a session"}}});
    let answer = site.post(&alpha, &in_session(&id), &call).await;
    assert!(answer.body.contains("in a session"), "{}", answer.body);
    let lines = site.user.records();
    assert_eq!(lines, ["alpha bash success"]);
}

#[tokio::test]
async fn a_state_is_good_for_whoever_it_was_made_for() {
    let (site, alpha, beta) = site().await;
    let arguments = json!({"do": "ask"});
    let asked = site.call(&alpha, "parts", arguments.clone()).await;
    let state = asked["result"]["requestState"]
        .as_str()
        .unwrap_or_else(|| panic!("{asked}"));
    let again = json!({"name": "parts", "arguments": arguments, "requestState": state,
    "inputResponses": {
        "name": {"action": "accept", "content": {"name": "Ada"}},
        "sample": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "4"}},
        "roots": {"roots": [{"uri": "file:///w"}]}}});
    let call = async |token: &str| {
        let (_, body) = message("tools/call", again.clone());
        let headers = [
            ("MCP-Protocol-Version", MODERN),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "parts"),
            ("Mcp-Param-Do", "ask"),
        ];
        site.post(token, &headers, &body).await.json()
    };
    for token in [&*beta, OWN] {
        let refused = call(token).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let answer = call(&alpha).await;
    assert_eq!(
        answer["result"]["structuredContent"]["answers"]["name"], "Ada",
        "{answer}"
    );
}

/// A bash that may change the workspace.
const BASH: &str = "[conversation.tools.bash]\nsource = 'builtin'\nrun = 'unattended'\n\
                    grant.workspace = 'read-write'\n";

/// Reads until a text has come so many times.
pub(crate) async fn read_until(
    stream: &mut (impl AsyncReadExt + Unpin),
    read: &mut String,
    text: &str,
    times: usize,
) {
    let reading = async {
        while read.matches(text).count() < times {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).await.unwrap();
            assert_ne!(count, 0, "{text:?} did not come: {read}");
            read.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        }
    };
    tokio::time::timeout(Duration::from_secs(60), reading)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_subscription_tells_of_the_subscribers_own_calls_alone() {
    let (site, alpha, beta) = site().await;
    let filter = json!({"notifications": {"promptsListChanged": true,
        "resourceSubscriptions": ["jp://audit/recent"]}});
    let (_, body) = message("subscriptions/listen", filter);
    let bearer = format!("Bearer {beta}");
    let more = [
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "subscriptions/listen"),
    ];
    let headers = [&known(&bearer)[..], &more].concat();
    let mut stream = site.open("POST", "/mcp", &headers, &body.to_string()).await;
    let mut read = String::new();
    read_until(&mut stream, &mut read, "subscriptions/acknowledged", 1).await;
    site.call(&alpha, "bash", json!({"commands": "true"})).await;
    // Each change is seen by a look that comes after the call; what that look found is told before the
    // next one.
    let config = std::fs::read_to_string(site.user.root.join(".jp/config.toml")).unwrap();
    for n in 1..=2 {
        let prompt =
            format!("[serve.prompts.p{n}]\nmessages = [{{ role = 'user', text = 'x' }}]\n");
        site.user.configure(&format!("{config}{prompt}"));
        read_until(&mut stream, &mut read, "prompts/list_changed", n).await;
    }
    assert!(!read.contains("resources/updated"), "{read}");
    site.call(&beta, "bash", json!({"commands": "true"})).await;
    read_until(&mut stream, &mut read, "resources/updated", 1).await;
}

#[tokio::test]
async fn each_principal_has_what_its_own_policy_allows() {
    let user = User::new();
    user.write("notes.txt", "first");
    let notes = "[serve.resources.notes]\nuri = 'docs://notes'\nfile = 'notes.txt'\n";
    user.configure(&format!("{BASH}{notes}"));
    user.trust();
    let site = Site::start(user).await;
    let nothing = serde_json::from_value(json!({"workspace": "none", "calls": []})).unwrap();
    let reader = site.add("reader", Some(read_only()));
    let nobody = site.add("nobody", Some(nothing));
    let write = json!({"commands": "echo second > notes.txt && cat notes.txt"});
    let written = |site: &Site| std::fs::read_to_string(site.user.root.join("notes.txt")).unwrap();
    for token in [&reader, &nobody] {
        let answer = site.call(token, "bash", write.clone()).await;
        assert_eq!(written(&site), "first", "{answer}");
        let said = answer.to_string();
        assert!(said.contains("in the policy of `"), "{said}");
    }
    // What clients are told of a tool is what its calls would get.
    let hints = async |token: &str| {
        let list = site.ask(token, "tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        let bash = tools
            .into_iter()
            .find(|tool| tool["name"] == "bash")
            .unwrap();
        bash["annotations"]["readOnlyHint"].clone()
    };
    assert_eq!(hints(OWN).await, false);
    // A call that would be denied has no facts.
    assert_eq!(hints(&reader).await, Value::Null);
    // Files that are shown are kept back as they are from tools.
    let file = json!({"uri": "docs://notes"});
    let answer = site.ask(&nobody, "resources/read", file.clone()).await;
    assert!(answer.to_string().contains("policy.workspace"), "{answer}");
    let answer = site.ask(&reader, "resources/read", file).await;
    assert!(answer.to_string().contains("first"), "{answer}");
    let answer = site.call(OWN, "bash", write).await;
    assert_eq!(written(&site), "second\n", "{answer}");
}

#[tokio::test]
async fn a_policy_of_the_configuration_holds_as_well_as_that_of_the_token() {
    let user = User::new();
    let mine = user.places().config_dir().unwrap().to_owned();
    user.configure(BASH);
    user.trust();
    let site = Site::start(user).await;
    let ci = site.add("ci", None);
    let make = json!({"commands": "touch made && echo made"});
    let answer = site.call(&ci, "bash", make.clone()).await;
    assert!(site.user.root.join("made").exists(), "{answer}");
    std::fs::remove_file(site.user.root.join("made")).unwrap();
    // Said while the server runs, it holds from the next request on, in open sessions too.
    let session = site.session(&ci).await;
    std::fs::create_dir_all(&mine).unwrap();
    let narrow = "[serve.principals.ci.policy]\nworkspace = 'read'\n";
    std::fs::write(mine.join("config.toml"), narrow).unwrap();
    site.call(&ci, "bash", make.clone()).await;
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": {"name": "bash", "arguments": make}});
    site.post(&ci, &in_session(&session), &call).await;
    assert!(!site.user.root.join("made").exists());
}

async fn status(site: &Site, token: &str) -> u16 {
    site.try_ask(token, "tools/list", json!({})).await.status
}

#[tokio::test]
async fn tokens_are_added_rotated_and_removed_while_the_server_runs() {
    let site = Site::start(User::new()).await;
    assert_eq!(status(&site, &"x".repeat(43)).await, 401);
    let first = site.add("ci", None);
    assert_eq!(status(&site, &first).await, 200);
    let second = site
        .tokens
        .rotate("ci", Duration::from_secs(3_600), None)
        .unwrap();
    assert_eq!(
        (status(&site, &first).await, status(&site, &second).await),
        (200, 200)
    );
    let third = site.tokens.rotate("ci", Duration::ZERO, None).unwrap();
    assert_eq!(
        (status(&site, &first).await, status(&site, &second).await),
        (401, 401)
    );
    assert_eq!(status(&site, &third).await, 200);
    let session = site.session(&third).await;
    site.tokens.remove("ci").unwrap();
    assert_eq!(status(&site, &third).await, 401);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    assert_eq!(
        site.post(&third, &in_session(&session), &list).await.status,
        401
    );
    let ended = site.tokens.add("ci", None, Some(Duration::ZERO)).unwrap();
    assert_eq!(status(&site, &ended).await, 401);
    // The user's own token is not among them.
    assert_eq!(status(&site, OWN).await, 200);
}

#[tokio::test]
async fn nobody_becomes_the_user_by_having_the_same_name() {
    let site = Site::start(User::new()).await;
    let same = site.add("ada", None);
    let answer = site.try_ask(&same, "tools/list", json!({})).await;
    assert_eq!(answer.status, 403, "{}", answer.head);
}
