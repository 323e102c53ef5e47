//! A fresh clone: a workspace whose `jp.lock` came with it, on a machine that has verified nothing. A
//! call fetches what the lock file means, and only what a key signed that the user trusts.

use std::fs;

use jp_disk::Disk;
use jp_llm::{ToolDefinition, ToolError, registry::SignedProblem};
use jp_registry::{Digest, Lock};
use serde_json::{Value, json};

use crate::{
    kit::{Desk, call},
    shop::{Shop, places, read_again, stored},
    signed::{problem, refusal},
    web::Web,
};

/// A registry on the net, and a desk that has nothing but the lock file of somebody else.
fn cloned() -> (Shop, Web, Desk) {
    let shop = Shop::new();
    let model = shop.publish_model("tiny", b"weights");
    shop.publish("files", &json!({ "model_dependencies": [model] }));
    let first = shop.installed(Desk::new(""), "files");
    let clone = Desk::new("").file("jp.lock", first.read("jp.lock"));
    fs::create_dir_all(clone.held().join("data")).unwrap();
    let web = Web::serve(&shop);
    (shop, web, clone)
}

/// What the user trusts. How far the revocations of a registry are known is noted beside it.
fn trusted_keys(desk: &Desk) -> Value {
    let written = fs::read(places(desk).keys).unwrap();
    let mut keys: Value = serde_json::from_slice(&written).unwrap();
    keys.as_object_mut().unwrap().remove("revocations");
    keys
}

/// Calls the tool as a front does.
async fn run(desk: &Desk) -> Result<String, ToolError> {
    let path = format!("/models/tiny/{}", Digest::of(b"weights"));
    let call = call(json!({"do": [["read", path]]}));
    let tool = ToolDefinition::for_call("files", &call, &desk.loaded, &desk.host).await?;
    let ran = tool.execute_detailed(call, &desk.host).await;
    ran.result.map(|_| "ran".to_owned())
}

/// Asserts that nothing came from anywhere.
fn is_empty(desk: &Desk) {
    assert_eq!(stored(desk), Vec::<String>::new());
    assert!(!places(desk).receipts().exists());
    assert!(!desk.held().join("data/registry/manifests").exists());
}

#[tokio::test]
async fn a_call_fetches_manifest_artifact_and_model_if_the_user_trusts_the_key() {
    let (shop, mut web, mut desk) = cloned();
    shop.trusted_by(&desk);
    web.serves(&mut desk);
    assert_eq!(run(&desk).await.unwrap(), "ran");
    assert_eq!(stored(&desk).len(), 2);
    assert!(!desk.root.join("jp.lock.tmp").exists());
    // It was verified here now, and nobody has to be asked again.
    web.vanish();
    read_again(&mut desk);
    assert!(
        desk.host
            .registry()
            .unwrap()
            .list(&desk.loaded, &desk.root)
            .all(|tool| tool.problem.is_none())
    );
    assert_eq!(run(&desk).await.unwrap(), "ran");
}

#[tokio::test]
async fn a_clone_never_trusts_a_key_by_itself() {
    let (shop, web, mut desk) = cloned();
    // The registry is the user's own choice; whose tools it lists is not the registry's to say.
    crate::shop::trust(&desk, |roots| {
        let registry = shop.trusted_registry();
        roots.trust_registry(crate::shop::MAIN, registry).unwrap();
    });
    let before = trusted_keys(&desk);
    web.serves(&mut desk);
    let error = run(&desk).await.unwrap_err();
    assert!(
        matches!(problem(&error), SignedProblem::Key { .. }),
        "{error}"
    );
    let hint = error.hint().unwrap();
    assert!(
        hint.contains("`jp trust key PUBLIC-KEY --for files`"),
        "{hint}"
    );
    is_empty(&desk);
    assert_eq!(trusted_keys(&desk), before);
    assert_eq!(desk.record(), "undecided, denied");
}

#[tokio::test]
async fn a_registry_whose_key_nobody_trusts_is_not_believed() {
    let (shop, web, mut desk) = cloned();
    crate::shop::trust(&desk, |roots| {
        let names = ["files".parse().unwrap()];
        let all = jp_registry::AllNames::Refused;
        roots.trust(shop.publisher.public(), &names, all).unwrap();
    });
    web.serves(&mut desk);
    let error = run(&desk).await.unwrap_err();
    assert!(
        matches!(problem(&error), SignedProblem::Unverified(_)),
        "{error}"
    );
    assert!(
        error
            .hint()
            .unwrap()
            .contains("`jp trust key PUBLIC-KEY --registry main`"),
        "{error}"
    );
    is_empty(&desk);
}

#[tokio::test]
async fn without_a_registry_a_clone_says_what_to_type() {
    let (shop, mut web, mut desk) = cloned();
    shop.trusted_by(&desk);
    read_again(&mut desk);
    let error = run(&desk).await.unwrap_err();
    assert!(
        matches!(problem(&error), SignedProblem::NotInstalled),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("`jp tool install --locked`"));
    web.serves(&mut desk);
    web.vanish();
    let error = run(&desk).await.unwrap_err();
    assert!(
        matches!(problem(&error), SignedProblem::Fetch { .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("the manifest of files@1.0.0"),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("`jp tool install --locked`"));
    is_empty(&desk);
}

#[tokio::test]
async fn a_receipt_that_is_gone_is_made_again_from_the_manifest_that_was_kept() {
    let (shop, mut web, mut desk) = cloned();
    shop.trusted_by(&desk);
    web.serves(&mut desk);
    run(&desk).await.unwrap();
    web.vanish();
    for online in [true, false] {
        fs::remove_file(places(&desk).receipts()).unwrap();
        match online {
            true => web.serves(&mut desk),
            false => read_again(&mut desk),
        }
        assert_eq!(run(&desk).await.unwrap(), "ran");
        assert!(places(&desk).receipts().exists());
    }
    crate::shop::trust(&desk, |roots| {
        assert!(roots.forget(&shop.publisher.public().id()));
    });
    fs::remove_file(places(&desk).receipts()).unwrap();
    read_again(&mut desk);
    let error = run(&desk).await.unwrap_err();
    assert!(
        matches!(problem(&error), SignedProblem::Key { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn looking_at_tools_fetches_nothing() {
    let (shop, web, mut desk) = cloned();
    shop.trusted_by(&desk);
    web.serves(&mut desk);
    let all = ToolDefinition::all(&desk.loaded, &desk.host);
    let files = all.into_iter().find(|(name, _)| name == "files").unwrap();
    assert!(files.1.is_err());
    assert!(matches!(
        problem(&refusal(&desk, "files")),
        SignedProblem::NotInstalled
    ));
    is_empty(&desk);
}

#[tokio::test]
async fn a_lock_file_that_says_something_else_than_what_was_signed_is_refused() {
    let (shop, web, mut desk) = cloned();
    shop.trusted_by(&desk);
    let path = places(&desk).lock;
    let before = Lock::open(&path).unwrap().get("files").unwrap().clone();
    for change in ["manifest", "sha256", "shown", "capabilities", "models"] {
        let mut locked = before.clone();
        let other = Digest::of(change.as_bytes());
        match change {
            "manifest" => locked.manifest = other,
            "sha256" => locked.sha256 = other,
            "shown" => locked.shown = other,
            "capabilities" => locked.capabilities = other,
            _ => locked.models.clear(),
        }
        let mut lock = Lock::open(&path).unwrap();
        lock.set(locked).unwrap();
        lock.save(&Disk::real(), &path).unwrap();
        web.serves(&mut desk);
        let error = run(&desk).await.unwrap_err();
        let refused = matches!(problem(&error), SignedProblem::LockChanged { .. });
        assert!(refused, "{change}: {error}");
        is_empty(&desk);
    }
}
