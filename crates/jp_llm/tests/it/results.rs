//! Results of tools that say beforehand what their results look like.

use jp_llm::tool::{Cause, ErrorKind, Stop};
use serde_json::json;

use crate::{
    kit::{Desk, Ended},
    shop::Shop,
};

fn desk(output: serde_json::Value) -> Desk {
    let shop = Shop::new();
    shop.publish("files", &json!({ "output_schema": output }));
    shop.installed(Desk::new(""), "files")
}

#[tokio::test]
async fn a_result_that_fits_is_delivered() {
    let desk = desk(json!({"type": "array", "items": {"type": "string"}}));
    let steps = json!({"do": [["write", "/tmp/a", "x"]]});
    assert_eq!(desk.said("files", steps).await.unwrap(), "[\"ok\"]");
}

#[tokio::test]
async fn a_result_that_does_not_fit_is_an_error_that_names_the_place() {
    let desk = desk(json!({"type": "array", "items": {"type": "integer"}}));
    let steps = json!({"do": [["write", "/tmp/a", "x"]]});
    let error = desk.call("files", steps).await.error();
    let Cause::Stopped(Stop::ResultUnfit { path, reason }) = error.cause() else {
        panic!("{error}")
    };
    assert_eq!((error.tool(), path.as_str()), ("files", "/0"));
    assert!(reason.contains("integer"), "{reason}");
    assert_eq!(error.kind(), ErrorKind::Stopped);
    assert_eq!(desk.record(), "allowed, trap");
}

#[tokio::test]
async fn the_schema_of_results_holds_for_tools_of_any_kind() {
    let desk = Desk::new("");
    let mut bash = desk.tool("bash").unwrap();
    bash.output_schema = Some(json!({"type": "object", "required": ["no_such_field"]}));
    let call = crate::kit::call(json!({"commands": "echo hi"}));
    let error = bash.execute_detailed(call, &desk.host).await.error();
    assert!(
        matches!(error.cause(), Cause::Stopped(Stop::ResultUnfit { .. })),
        "{error}"
    );
}
