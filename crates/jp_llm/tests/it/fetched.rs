//! What is fetched at the time of a call, over HTTP: the bytes that the lock file means, or none.

use std::fs;

use jp_llm::{
    registry::SignedProblem,
    tool::{Cause, ErrorKind},
};
use jp_registry::{Digest, Revocation, RevokedThing};
use serde_json::json;

use crate::{
    kit::{Desk, Ended},
    shop::{Shop, object, read_again, stored},
    signed::{problem, refusal},
    web::Web,
};

/// A workspace whose tool is locked and whose store has lost it, and a registry on the net.
fn desk() -> (Shop, Web, Desk) {
    let shop = Shop::new();
    shop.publish("files", &json!({}));
    let web = Web::serve(&shop);
    let mut desk = shop.installed(Desk::new(""), "files");
    fs::remove_dir_all(desk.held().join("store/objects")).unwrap();
    web.serves(&mut desk);
    (shop, web, desk)
}

fn sha256() -> String {
    Digest::of(&fs::read(jp_test::guest("files")).unwrap()).to_string()
}

#[tokio::test]
async fn a_missing_artifact_is_fetched_verified_and_run() {
    let (_shop, mut web, mut desk) = desk();
    assert_eq!(stored(&desk), Vec::<String>::new());
    assert_eq!(desk.said("files", json!({"do": []})).await.unwrap(), "[]");
    assert_eq!(stored(&desk), [sha256()]);
    assert_eq!(desk.records()[0].sha256.as_deref(), Some(sha256().as_str()));
    // From now on nobody has to be asked.
    web.vanish();
    read_again(&mut desk);
    assert_eq!(desk.said("files", json!({"do": []})).await.unwrap(), "[]");
}

#[tokio::test]
async fn a_registry_that_is_away_is_told_with_the_command_for_later() {
    let (_shop, mut web, desk) = desk();
    web.vanish();
    let error = desk.call("files", json!({"do": []})).await.error();
    assert!(
        matches!(problem(&error), SignedProblem::Fetch { .. }),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("files@1.0.0 could not be fetched"),
        "{error}"
    );
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    assert!(error.hint().unwrap().contains("`jp tool install --locked`"));
    assert_eq!(error.kind(), ErrorKind::Host);
    assert_eq!(stored(&desk), Vec::<String>::new());
}

#[tokio::test]
async fn bytes_that_nobody_signed_are_refused_and_not_kept() {
    let (shop, _web, desk) = desk();
    let served = shop.dir().join(format!("artifacts/{}.wasm", sha256()));
    let right = fs::read(&served).unwrap();
    let mut swapped = right.clone();
    *swapped.last_mut().unwrap() ^= 1;
    let longer = [&right[..], b"more"].concat();
    let other = fs::read(jp_test::guest("echo")).unwrap();
    for wrong in [swapped, longer, other] {
        fs::write(&served, wrong).unwrap();
        let error = desk.call("files", json!({"do": []})).await.error();
        // What ends early may still come, and goes on where it ended; the rest is hopeless.
        let told = problem(&error);
        let expected = matches!(
            told,
            SignedProblem::Wrong { .. } | SignedProblem::Fetch { .. }
        );
        assert!(expected && error.hint().is_some(), "{error}");
        assert!(!object(&desk, &sha256()).exists(), "{error}");
    }
    fs::write(&served, right).unwrap();
    assert_eq!(desk.said("files", json!({"do": []})).await.unwrap(), "[]");
}

#[tokio::test]
async fn what_its_registry_took_back_since_is_not_fetched_any_more() {
    let (shop, _web, mut desk) = desk();
    let revocation = Revocation {
        thing: RevokedThing::Artifact(sha256().parse().unwrap()),
        reason: "it steals".to_owned(),
    };
    shop.open().revoke(revocation).unwrap();
    let error = desk.call("files", json!({"do": []})).await.error();
    assert!(
        matches!(problem(&error), SignedProblem::Revoked { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("it steals"), "{error}");
    assert_eq!(stored(&desk), Vec::<String>::new());
    // Seen once, it is known without the registry.
    read_again(&mut desk);
    let error = refusal(&desk, "files");
    assert!(
        matches!(problem(&error), SignedProblem::Revoked { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_tool_that_is_not_locked_is_not_fetched() {
    let (_shop, web, mut desk) = desk();
    fs::remove_file(desk.root.join("jp.lock")).unwrap();
    web.serves(&mut desk);
    assert!(matches!(
        desk.tool("files"),
        Err(error) if matches!(error.cause(), Cause::Missing(_))
    ));
    let mut desk = desk.file(".jp/config.toml", "[tooling]\nfiles = \"*\"\n");
    desk.look_again();
    let call = crate::kit::call(json!({"do": []}));
    let made = jp_llm::ToolDefinition::for_call("files", &call, &desk.loaded, &desk.host).await;
    let error = made.err().unwrap();
    assert!(
        matches!(problem(&error), SignedProblem::NotLocked),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("`jp tool lock`"));
    assert_eq!(stored(&desk), Vec::<String>::new());
}
