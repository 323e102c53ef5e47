//! Secrets of servers: sent to their own server and nobody else, and never seen again.

use jp_broker::{
    Broker, Code, Services,
    mcp::{HttpServer, Reach, Server, github_server},
};
use jp_policy::Net;
use serde_json::json;

use crate::{
    kit::{Ask, broker, call, pool, server, text},
    server::{Served, Way},
};

const ALPHA: (&str, &str) = ("Authorization", "Bearer {{secret:alpha}}");
const BETA: (&str, &str) = ("X-Key", "{{secret:beta}}");

#[tokio::test]
async fn e56_a_server_gets_its_own_secret_and_no_other() {
    let (one, two) = (Served::start(Way::Json), Served::start(Way::Json));
    let broker = broker(vec![
        server("a", &one, &[ALPHA]),
        server("b", &two, &[BETA]),
    ]);
    let hosts = [one.host.as_str(), two.host.as_str()];
    for id in ["a", "b"] {
        call(&broker, &hosts, "mcp.list_tools", json!({"server": id}))
            .await
            .unwrap();
    }
    let heads = |served: &Served| {
        let seen = served.seen.lock().unwrap();
        seen.iter().map(|one| one.head.clone()).collect::<Vec<_>>()
    };
    assert!(
        heads(&one)
            .iter()
            .all(|head| head.contains("Bearer al-s3cret") && !head.contains("be-s3cret"))
    );
    assert!(
        heads(&two)
            .iter()
            .all(|head| head.contains("X-Key: be-s3cret") && !head.contains("al-s3cret"))
    );
}

#[tokio::test]
async fn d42_a_server_that_repeats_a_secret_does_not_reveal_it() {
    let served = Served::start(Way::Json);
    let broker = broker(vec![server("a", &served, &[ALPHA])]);
    let answer = call(
        &broker,
        &[&served.host],
        "mcp.call",
        json!({"tool": "headers"}),
    )
    .await
    .unwrap();
    assert!(!answer.to_string().contains("s3cret"), "{answer}");
    assert!(text(&answer).contains("Bearer [secret:alpha]"), "{answer}");
}

#[tokio::test]
async fn d42_a_secret_whose_letters_are_escaped_does_not_come_back() {
    let served = Served::start(Way::Escaped);
    let pool = pool(vec![server("a", &served, &[ALPHA])]);
    // Past the broker, which scrubs what was read once more: tools of a server are called this way.
    let answer = Ask::default().call(&pool, "headers").await.unwrap();
    let answer = format!("{answer:?}");
    assert!(!answer.contains("s3cret"), "{answer}");
    assert!(answer.contains("Bearer [secret:alpha]"), "{answer}");
}

#[tokio::test]
async fn a_secret_that_is_not_set_is_named_and_nothing_is_sent() {
    let served = Served::start(Way::Json);
    let broker = broker(vec![server("a", &served, &[("X", "{{secret:gamma}}")])]);
    let error = call(&broker, &[&served.host], "mcp.list_tools", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.reason, Some("unauthorized"), "{error}");
    assert!(
        error.message.contains("`jp secret set gamma --for "),
        "{error}"
    );
    assert!(served.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_secret_is_not_sent_where_others_can_read_it() {
    let open = Server {
        id: "a".to_owned(),
        reach: Reach::Url(HttpServer {
            url: "http://example.com/mcp".to_owned(),
            headers: vec![("X".to_owned(), "{{secret:alpha}}".to_owned())],
            net: Net::Any,
        }),
        startup: None,
    };
    let error = call(
        &broker(vec![open]),
        &["example.com"],
        "mcp.list_tools",
        json!({}),
    )
    .await
    .unwrap_err();
    assert_eq!(error.code, Code::Forbidden, "{error}");
    assert!(error.message.contains("over `https` only"), "{error}");
}

#[tokio::test]
async fn the_servers_own_grant_holds_as_well() {
    let served = Served::start(Way::Json);
    let mut other = server("a", &served, &[]);
    let Reach::Url(url) = &mut other.reach else {
        unreachable!()
    };
    url.net = Net::hosts(["example.com".parse().unwrap()]);
    let error = call(
        &broker(vec![other]),
        &[&served.host],
        "mcp.list_tools",
        json!({}),
    )
    .await
    .unwrap_err();
    assert_eq!(
        (error.code, error.reason),
        (Code::Forbidden, Some("net")),
        "{error}"
    );
    assert!(served.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_refused_credential_is_told_apart() {
    let served = Served::start(Way::Unauthorized);
    let broker = broker(vec![server("a", &served, &[ALPHA])]);
    let error = call(&broker, &[&served.host], "mcp.list_tools", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code, error.reason),
        (Code::Upstream, Some("unauthorized")),
        "{error}"
    );
    assert!(
        error.message.contains("401") && !error.message.contains('\u{1b}'),
        "{error}"
    );
    let advice = "it rejects the secret `alpha` of the header `Authorization`: \
                  `jp secret set alpha --for URL` replaces it";
    assert!(error.message.ends_with(advice), "{error}");
}

#[tokio::test]
async fn github_is_a_server_with_a_token_and_names_of_its_own() {
    let served = Served::start(Way::Json);
    let mut github = github_server(Some(&served.url), None).unwrap();
    github.startup = None;
    let services = Services {
        github: Some(pool(vec![github])),
        mcp: Some(pool(vec![server("other", &served, &[])])),
        ..Services::default()
    };
    let broker = Broker::new(services);
    let hosts = [served.host.as_str()];
    let listed = call(&broker, &hosts, "github.list_tools", json!({}))
        .await
        .unwrap();
    assert_eq!(
        (&listed["server"], &listed["status"]),
        (&json!("github"), &json!("ok"))
    );
    let arguments = json!({"tool": "echo", "arguments": {"q": 1}});
    let answer = call(&broker, &hosts, "github.call_tool", arguments)
        .await
        .unwrap();
    assert_eq!(text(&answer), r#"{"q":1}"#);
    assert!(
        served.of("tools/call")[0]
            .head
            .contains("Bearer ghp_s3cret")
    );
    let error = call(&broker, &[], "github.list_tools", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code, Code::Forbidden);
    let unset = Broker::new(Services::default());
    let error = call(&unset, &hosts, "github.list_tools", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code, Code::Unavailable);
    let usual = github_server(None, None).unwrap();
    let Reach::Url(usual) = usual.reach else {
        unreachable!()
    };
    assert_eq!(usual.url, "https://api.githubcopilot.com/mcp/");
    assert_eq!(
        usual.net,
        Net::hosts(["api.githubcopilot.com:443".parse().unwrap()])
    );
}
