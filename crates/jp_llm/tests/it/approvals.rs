//! People who decide, and configurations that decide in their place.

use jp_llm::Approval;
use serde_json::json;

use crate::kit::{Desk, command, object, reader};

#[tokio::test]
async fn a_skipped_tool_never_runs() {
    let skip = command("c", "\"touch ran\"", "").replace("unattended", "skip");
    let (desk, person) = Desk::new(&skip).trusted().person(Approval::Approved);
    let said = desk.said("c", json!({})).await;
    assert_eq!(said, Ok("Tool skipped by configuration.".to_owned()));
    assert!(!desk.has("ran") && person.asked() == 0);
    assert_eq!(desk.record(), "refused, denied");
}

#[tokio::test]
async fn a_person_is_shown_the_grant_and_may_refuse() {
    let config = command("c", "\"touch ran\"", "").replace("unattended", "ask");
    let no = Approval::Refused(Some("not today".to_owned()));
    let (desk, person) = Desk::new(&config).trusted().person(no);
    let said = desk.said("c", json!({})).await;
    assert_eq!(said, Ok("Tool skipped by user: not today".to_owned()));
    assert!(!desk.has("ran"));
    assert_eq!(
        *person.heard.lock().unwrap(),
        ["fs=/workspace:read-write net=none subprocess"]
    );
    assert_eq!(desk.record(), "refused, denied");
    let (desk, _) = Desk::new(&config).trusted().person(Approval::Refused(None));
    assert_eq!(
        desk.said("c", json!({})).await,
        Ok("Tool skipped by user.".to_owned())
    );
}

#[tokio::test]
async fn edited_arguments_are_checked_like_any_other() {
    let config = reader("echo", "run = \"edit\"\nparameters.n.type = \"integer\"");
    let edit = |arguments| {
        let edited = Approval::Edited(object(arguments));
        Desk::new(&config).guest("echo", "echo").person(edited).0
    };
    let desk = edit(json!({"n": "8"}));
    let said = desk.said("echo", json!({"n": 7})).await.unwrap();
    assert!(said.contains(r#"{\"n\":8}"#), "{said}");
    assert_eq!(desk.record(), "approved, success");
    let desk = edit(json!({"n": "many"}));
    assert!(
        desk.said("echo", json!({"n": 7}))
            .await
            .unwrap_err()
            .contains("at `/n`")
    );
    assert_eq!(desk.record(), "approved, invalid");
    let line = "\"printf %s {{tool.arguments.n}}\"";
    let config =
        command("c", line, "parameters.n.type = \"integer\"").replace("unattended", "edit");
    let edited = Approval::Edited(object(json!({"n": 8})));
    let desk = Desk::new(&config).trusted().person(edited).0;
    assert_eq!(desk.said("c", json!({"n": 7})).await, Ok("8".to_owned()));
}

#[tokio::test]
async fn a_result_that_is_not_to_be_delivered_is_not() {
    let desk = Desk::new(&reader("echo", "result = \"skip\"")).guest("echo", "echo");
    let said = desk.said("echo", json!({})).await;
    assert_eq!(
        said,
        Ok("Result delivery skipped by configuration.".to_owned())
    );
}
