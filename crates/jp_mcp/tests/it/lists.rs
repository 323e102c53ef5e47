//! The list of tools: pages, bounds, what is left out, and what changed.

use jp_mcp::{Limits, McpError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::kit::{Ask, call, limits, pool, pool_of, program, program_in};

#[tokio::test]
async fn all_pages_are_read() {
    let tools = pool(&[])
        .list_tools("s", &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(tools.tools.len(), 14);
    assert!(tools.notes.is_empty(), "{:?}", tools.notes);
    assert_eq!(
        tools.get("echo").unwrap().description.as_deref(),
        Some("On the first page.")
    );
}

#[tokio::test]
async fn e49_e50_e52_what_hides_doubles_or_refers_elsewhere_is_left_out_and_cannot_be_called() {
    let pool = pool(&["hides"]);
    let tools = pool
        .list_tools("s", &CancellationToken::new())
        .await
        .unwrap();
    let names: Vec<_> = tools.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["plain"]);
    assert_eq!(tools.tools[0].description.as_deref(), Some("Adds. "));
    insta::assert_snapshot!(tools.notes.join("\n"), @r"
    tool `plain`: 29 invisible characters were removed from its description
    tool `bd` was left out: expected a name of 1 to 128 of the characters A-Z, a-z, 0-9, `_`, `-`, `.` and `/`
    tool `Twin` was left out: another tool of the server has the same name or one that looks like it
    tool `twin` was left out: another tool of the server has the same name or one that looks like it
    tool `remote` was left out: its schema refers to `https://example.com/schema.json`, but nothing outside it is fetched
    ");
    let error = call(&pool, "twin", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("looks like it"), "{error}");
    let error = call(&pool, "remote", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("nothing outside it is fetched"), "{error}");
}

#[tokio::test]
async fn lists_without_end_and_with_too_many_tools_are_bounded() {
    let never = CancellationToken::new();
    let error = pool(&["loops"]).list_tools("s", &never).await.unwrap_err();
    assert!(error.to_string().contains("repeats a page"), "{error}");
    let few = Limits {
        tools: 100,
        ..limits()
    };
    let tools = pool_of(program(&["many"]), few)
        .list_tools("s", &never)
        .await
        .unwrap();
    assert_eq!(tools.tools.len(), 100);
    assert_eq!(
        tools.notes,
        ["only the first 100 tools are offered; the server lists more"]
    );
    let small = Limits {
        list_bytes: 10_000,
        ..limits()
    };
    let error = pool_of(program(&["many"]), small)
        .list_tools("s", &never)
        .await
        .unwrap_err();
    assert!(
        matches!(error, McpError::TooLarge { limit: 10_000, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn e51_a_storm_of_changes_is_bounded_and_said() {
    let few = Limits {
        refreshes: 2,
        ..limits()
    };
    let pool = pool_of(program(&[]), few);
    let never = CancellationToken::new();
    pool.list_tools("s", &never).await.unwrap();
    let mut said = 0;
    for _ in 0..5 {
        call(&pool, "storm", json!({"times": 500})).await.unwrap();
        let tools = pool.list_tools("s", &never).await.unwrap();
        assert_eq!(tools.tools.len(), 14);
        said += usize::from(tools.notes.iter().any(|note| note.contains("too often")));
    }
    assert!(said >= 1, "{said}");
}

#[tokio::test]
async fn e48_a_tool_that_changes_on_reconnect_has_another_digest_and_is_not_called() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let starts = dir.join("starts");
    let pool = pool_of(
        program_in(&dir, &["counts", starts.to_str().unwrap()]),
        limits(),
    );
    let never = CancellationToken::new();
    let first = pool.list_tools("s", &never).await.unwrap();
    let pinned = Ask {
        digest: Some(first.get("no").unwrap().digest()),
        ..Ask::default()
    };
    pinned.call(&pool, "no", json!({})).await.unwrap();
    call(&pool, "crash", json!({})).await.unwrap_err();
    let second = pool.list_tools("s", &never).await.unwrap();
    assert_ne!(
        first.get("no").unwrap().digest(),
        second.get("no").unwrap().digest()
    );
    assert_eq!(
        first.get("echo").unwrap().digest(),
        second.get("echo").unwrap().digest()
    );
    assert!(first.get("new").is_none() && second.get("new").is_some());
    let error = pinned.call(&pool, "no", json!({})).await.unwrap_err();
    assert!(matches!(error, McpError::Changed { .. }), "{error}");
    // One that has another name now is not that tool, under neither name.
    let renamed = Ask {
        digest: Some(first.get("odd").unwrap().digest()),
        ..Ask::default()
    };
    let error = renamed.call(&pool, "odd", json!({})).await.unwrap_err();
    assert!(matches!(error, McpError::UnknownTool { .. }), "{error}");
    let error = renamed.call(&pool, "odder", json!({})).await.unwrap_err();
    assert!(matches!(error, McpError::Changed { .. }), "{error}");
}
