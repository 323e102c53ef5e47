//! Models that tools depend on: published, installed with the tool, read by its guest, and by no other.

use std::{fs, os::unix::fs::PermissionsExt};

use jp_llm::{registry::SignedProblem, tool::Cause};
use jp_registry::Digest;
use serde_json::json;

use crate::{
    kit::{Desk, Ended, call},
    shop::{Shop, object, read_again, stored},
    signed::problem,
    web::Web,
};

const WEIGHTS: &[u8] = b"the weights of a very small model";

fn sha256() -> String {
    Digest::of(WEIGHTS).to_string()
}

fn path() -> String {
    format!("/models/tiny-1.5/{}", sha256())
}

/// A registry with a model, the tool `files` that depends on it, and `reader` that does not.
fn shop() -> Shop {
    let shop = Shop::new();
    let pinned = shop.publish_model("tiny-1.5", WEIGHTS);
    shop.publish("files", &json!({ "model_dependencies": [pinned] }));
    shop.publish_as("reader", "files", &json!({}));
    shop
}

async fn steps(desk: &Desk, tool: &str, steps: serde_json::Value) -> Vec<String> {
    let said = desk.said(tool, json!({ "do": steps })).await.unwrap();
    serde_json::from_str(&said).unwrap()
}

/// Puts other bytes in the place of the model's, as a broken disk or a careless program would.
fn damage(desk: &Desk) {
    let object = object(desk, &sha256());
    fs::set_permissions(&object, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&object, "the weights of another small model").unwrap();
}

#[tokio::test]
async fn a_tool_reads_its_model_and_cannot_change_it() {
    let desk = shop().installed(Desk::new(""), "files");
    let said = steps(
        &desk,
        "files",
        json!([
            ["read", path()],
            ["list", "/models/tiny-1.5"],
            ["write", path(), "mine"],
            ["append", path(), "mine"],
            ["truncate", path()],
            ["unlink", path()],
            ["write", "/models/tiny-1.5/more", "mine"],
            ["rename", path(), "/tmp/stolen"],
            ["link", path(), "/tmp/linked"],
            ["list", "/models/other"],
        ]),
    )
    .await;
    let text = String::from_utf8_lossy(WEIGHTS);
    assert_eq!(
        said[..2],
        [format!("ok: {text}"), format!("ok: {}", sha256())]
    );
    assert!(
        said[2..].iter().all(|step| !step.starts_with("ok")),
        "{said:?}"
    );
    assert_eq!(fs::read(object(&desk, &sha256())).unwrap(), WEIGHTS);
    let record = &desk.records()[0];
    assert_eq!(
        record.grant,
        "fs=/models/tiny-1.5:read,/tmp:read-write net=none"
    );
}

#[test]
fn a_tool_that_reads_another_model_than_the_app_names_is_denied() {
    let named = |digest: &str| format!("models = [\"tiny-1.5@sha256:{digest}\"]\n");
    let desk = shop().installed(Desk::new(&named(&sha256())), "files");
    assert!(desk.tool("files").is_ok());
    let desk = shop().installed(Desk::new(&named(&"0".repeat(64))), "files");
    let error = desk.tool("files").err().unwrap();
    assert!(
        matches!(problem(&error), SignedProblem::OtherModel { .. }),
        "{error}"
    );
    assert!(error.hint().unwrap().contains(&sha256()), "{error}");
    let other = "models = [\"other@sha256:".to_owned() + &"0".repeat(64) + "\"]\n";
    let desk = shop().installed(Desk::new(&other), "files");
    assert!(desk.tool("files").is_ok());
}

#[tokio::test]
async fn a_tool_without_the_dependency_does_not_see_the_model() {
    let shop = shop();
    let desk = shop.installed(shop.installed(Desk::new(""), "files"), "reader");
    let looks = json!([
        ["read", path()],
        ["list", "/models"],
        ["list", "/models/tiny-1.5"]
    ]);
    let said = steps(&desk, "reader", looks).await;
    assert!(said.iter().all(|step| !step.starts_with("ok")), "{said:?}");
    assert_eq!(desk.records()[0].grant, "fs=/tmp:read-write net=none");
}

#[tokio::test]
async fn a_damaged_model_is_never_shown_to_the_tool() {
    let shop = shop();
    let mut desk = shop.installed(Desk::new(""), "files");
    let tool = desk.tool("files").unwrap();
    let read = || call(json!({"do": [["read", path()]]}));
    assert!(
        tool.execute_detailed(read(), &desk.host)
            .await
            .said()
            .is_ok()
    );
    // The same definition, as in a host that lives long, and the next command.
    for known in [true, false] {
        damage(&desk);
        let error = match known {
            true => tool.execute_detailed(read(), &desk.host).await.error(),
            false => desk.make("files", read()).await.error(),
        };
        assert!(
            matches!(problem(&error), SignedProblem::Missing { .. }),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.contains("model tiny-1.5 (the copy here was damaged"),
            "{text}"
        );
        assert!(error.hint().unwrap().contains("jp tool install --locked"));
        let mut web = Web::serve(&shop);
        web.serves(&mut desk);
        let said = desk.make("files", read()).await.said().unwrap();
        assert!(
            said.contains("ok: the weights of a very small model"),
            "{said}"
        );
        web.vanish();
        read_again(&mut desk);
    }
}

#[tokio::test]
async fn a_missing_model_is_fetched_at_the_call_if_the_tool_is_locked_and_somebody_answers() {
    let shop = shop();
    let mut desk = shop.installed(Desk::new(""), "files");
    fs::remove_file(object(&desk, &sha256())).unwrap();
    let read = json!({"do": [["read", path()]]});
    let error = desk.call("files", read.clone()).await.error();
    assert!(
        matches!(problem(&error), SignedProblem::Missing { .. }),
        "{error}"
    );
    let mut web = Web::serve(&shop);
    web.serves(&mut desk);
    let served = shop.dir().join("artifacts").join(sha256());
    fs::write(&served, "the weights of another small modl").unwrap();
    assert_eq!(fs::metadata(&served).unwrap().len(), WEIGHTS.len() as u64);
    let error = desk.call("files", read.clone()).await.error();
    assert!(
        matches!(problem(&error), SignedProblem::Wrong { .. }),
        "{error}"
    );
    assert!(!stored(&desk).contains(&sha256()));
    fs::write(&served, WEIGHTS).unwrap();
    let said = desk.said("files", read.clone()).await.unwrap();
    assert!(said.contains("ok: the weights"), "{said}");
    fs::remove_file(object(&desk, &sha256())).unwrap();
    web.vanish();
    let error = desk.call("files", read).await.error();
    assert!(
        matches!(problem(&error), SignedProblem::Fetch { .. }),
        "{error}"
    );
    fs::remove_file(desk.root.join("jp.lock")).unwrap();
    read_again(&mut desk);
    assert!(matches!(
        desk.tool("files"),
        Err(error) if matches!(error.cause(), Cause::Missing(_))
    ));
}
