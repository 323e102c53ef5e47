//! How much one principal may do at once, and that others do not wait for it.

use std::time::Duration;

use serde_json::json;

use crate::{
    kit::{MODERN, User},
    principals::read_until,
    site::{Answer, Site, in_session, known, message},
};

#[tokio::test]
async fn whoever_floods_the_server_is_told_to_wait_and_others_are_served() {
    let user = User::new();
    let mine = user.places().config_dir().unwrap().to_owned();
    std::fs::create_dir_all(&mine).unwrap();
    let limits = "[serve.limits]\nconcurrency = 1\nqueue = 1\nstreams = 1\ntotal = 2\n";
    std::fs::write(mine.join("config.toml"), limits).unwrap();
    let site = Site::start(user).await;
    let (alpha, beta) = (site.add("alpha", None), site.add("beta", None));
    let params = json!({"name": "bash", "arguments": {"commands": "sleep 60"}});
    let (name, body) = message("tools/call", params);
    let bearer = format!("Bearer {alpha}");
    let more = [
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", name.as_deref().unwrap()),
    ];
    let headers = [&known(&bearer)[..], &more].concat();
    // One runs, one waits, and the others are refused: in which order they come does not matter.
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(site.open("POST", "/mcp", &headers, &body.to_string()).await);
    }
    let mut refused = 0;
    while refused < 3 {
        let answers = open.iter_mut().map(|stream| Box::pin(Answer::read(stream)));
        let (answer, at, _) = futures::future::select_all(answers).await;
        assert_eq!(answer.status, 429, "{}", answer.head);
        assert_eq!(answer.header("retry-after"), Some("1"), "{}", answer.head);
        open.swap_remove(at);
        refused += 1;
    }
    // Small requests are answered all the same, and others are served.
    let unknown = json!({"taskId": "0123456789abcdef0123456789abcdef"});
    let answer = site.try_ask(&alpha, "tasks/get", unknown).await;
    assert_ne!(answer.status, 429, "{}", answer.head);
    let answer = site
        .call(&beta, "bash", json!({"commands": "echo served"}))
        .await;
    assert!(answer.to_string().contains("served"), "{answer}");
    // Whoever goes away makes room.
    drop(open);
    let answer = loop {
        let params = json!({"name": "bash", "arguments": {"commands": "echo at last"}});
        let answer = site.try_ask(&alpha, "tools/call", params).await;
        if answer.status != 429 {
            break answer;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(answer.body.contains("at last"), "{}", answer.body);
    // Streams are counted for themselves.
    let session = site.session(&alpha).await;
    let headers = [&known(&bearer)[..], &in_session(&session)].concat();
    let mut first = site.open("GET", "/mcp", &headers, "").await;
    let mut read = String::new();
    read_until(&mut first, &mut read, "200 OK", 1).await;
    let second = site.send("GET", "/mcp", &headers, "").await;
    assert_eq!(second.status, 429, "{}", second.head);
}
