//! Tools that ask: offered and fixed answers, wrong ones, too many questions, one budget.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use jp_llm::{
    AskRequest, Asker, Call, ToolError,
    tool::{Cause, Stop},
};
use jp_policy::Limit;
use serde_json::{Value, json};

use crate::kit::{Desk, Ended, call, object, reader, script};

fn asker(more: &str) -> Desk {
    Desk::new(&reader("ask", more)).guest("ask", "ask")
}

fn with(answers: Value) -> Call {
    Call {
        answers: object(answers),
        ..call(json!({}))
    }
}

/// A script that asks again for as long as `enough` is false of the number of answers `$n`.
fn inquirer(id: &str, enough: &str) -> Desk {
    let text = format!(
        r#"n=$(printf %s "$2" | tr -cd : | wc -c); if {enough}; then echo "after $n"; else
echo '{{"type":"needs_input","question":{{"id":"{id}","text":"?","answer_type":"boolean"}}}}'; fi"#
    );
    let line = format!(
        "{{ program = \"sh\", args = [\"-c\", '''{text}''', \"sh\", \"x\", \"{{{{tool.answers}}}}\"] }}"
    );
    Desk::new(&crate::kit::command("ask", &line, "")).trusted()
}

#[tokio::test]
async fn a_question_without_an_answer_goes_to_the_caller() {
    let desk = asker("");
    let executed = desk.call("ask", json!({})).await;
    let outcome = executed.result.unwrap();
    let question = outcome.needs_input().unwrap();
    assert_eq!((&*question.id, &*question.text), ("name", "Who are you?"));
    assert_eq!(desk.record(), "allowed, needs_input");
    assert_eq!(desk.records()[0].detail.as_deref(), Some("name"));
    let response = outcome.into_response();
    assert_eq!(
        response,
        Ok("Tool requires additional input: Who are you?".to_owned())
    );
}

/// Answers with what it was given, and keeps what it was asked.
struct Answering(Option<Value>, Mutex<Vec<String>>);

#[async_trait]
impl Asker for Answering {
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value> {
        let asked = format!("{} {}", request.tool, request.question.id);
        self.1.lock().unwrap().push(asked);
        self.0.clone()
    }
}

fn answering(desk: &mut Desk, answer: Option<Value>) -> Arc<Answering> {
    let asker = Arc::new(Answering(answer, Mutex::default()));
    desk.caller(|caller| caller.asker = Arc::clone(&asker) as Arc<dyn Asker>);
    asker
}

#[tokio::test]
async fn the_caller_is_asked_while_the_call_goes_on() {
    let mut desk = asker("");
    let person = answering(&mut desk, Some(json!("Eve")));
    assert_eq!(
        desk.said("ask", json!({})).await,
        Ok("hello Eve".to_owned())
    );
    assert_eq!(*person.1.lock().unwrap(), ["ask name"]);
    // One call, one record.
    assert_eq!(desk.record(), "allowed, success");
    // What is known is not asked.
    let executed = desk.make("ask", with(json!({"name": "Ada"}))).await;
    assert_eq!(executed.said(), Ok("hello Ada".to_owned()));
    assert_eq!(person.1.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_of_the_caller_must_fit_the_question() {
    let mut desk = inquirer("sure", "[ $n -ge 1 ]");
    answering(&mut desk, Some(json!("no boolean")));
    let said = desk.said("ask", json!({})).await.unwrap_err();
    assert!(said.contains("`sure` does not fit"), "{said}");
}

#[tokio::test]
async fn a_call_can_be_cancelled_while_its_caller_thinks() {
    struct Thinking;
    #[async_trait]
    impl Asker for Thinking {
        async fn ask(&self, _: &AskRequest<'_>) -> Option<Value> {
            std::future::pending().await
        }
    }
    let mut desk = asker("");
    desk.caller(|caller| caller.asker = Arc::new(Thinking));
    let waits = call(json!({}));
    let cancel = waits.cancel.clone();
    let stop = async { cancel.cancel() };
    let (executed, ()) = tokio::join!(desk.make("ask", waits), stop);
    assert!(executed.result.unwrap().is_cancelled());
}

#[tokio::test]
async fn offered_and_fixed_answers_are_used() {
    let executed = asker("").make("ask", with(json!({"name": "Ada"}))).await;
    assert_eq!(executed.said(), Ok("hello Ada".to_owned()));
    let fixed = asker("questions.name.answer = \"Bob\"");
    assert_eq!(
        fixed.said("ask", json!({})).await,
        Ok("hello Bob".to_owned())
    );
    let executed = fixed.make("ask", with(json!({"name": "Ada"}))).await;
    assert_eq!(executed.said(), Ok("hello Ada".to_owned()));
    assert_eq!(fixed.records().len(), 2);
}

#[tokio::test]
async fn an_answer_of_the_wrong_type_is_a_result() {
    let desk = asker("");
    let said = desk
        .make("ask", with(json!({"name": 7})))
        .await
        .said()
        .unwrap_err();
    assert_eq!(
        said,
        "The answer to question `name` does not fit: expected a text, got 7"
    );
    assert_eq!(desk.record(), "allowed, invalid");
    let fixed = asker("questions.name.answer = true");
    assert!(
        fixed
            .said("ask", json!({}))
            .await
            .unwrap_err()
            .contains("does not fit")
    );
}

#[tokio::test]
async fn a_call_is_taken_up_again_where_it_was() {
    let desk = asker("");
    let first = call(json!({}));
    let budget = first.budget.clone();
    assert!(
        desk.make("ask", first)
            .await
            .result
            .unwrap()
            .needs_input()
            .is_some()
    );
    let again = Call {
        budget: budget.clone(),
        ..with(json!({"name": "Ada"}))
    };
    assert_eq!(
        desk.make("ask", again).await.said(),
        Ok("hello Ada".to_owned())
    );
    assert_eq!(Value::from(budget.answers()), json!({"name": "Ada"}));
}

#[tokio::test]
async fn sixteen_questions_are_answered_and_the_seventeenth_is_not() {
    let answers: Value = (0..20).map(|n| (format!("q{n}"), json!(true))).collect();
    let desk = inquirer("q'$n'", "[ $n -eq 16 ]");
    let executed = desk.make("ask", with(answers.clone())).await;
    assert_eq!(executed.said(), Ok("after 16\n".to_owned()));
    let desk = inquirer("q'$n'", "[ $n -eq 17 ]");
    let error = desk.make("ask", with(answers)).await.error();
    assert!(
        matches!(error.cause(), Cause::Stopped(Stop::TooManyQuestions)),
        "{error:?}"
    );
    assert_eq!(desk.record(), "allowed, limit");
}

#[tokio::test]
async fn a_tool_that_asks_the_same_again_is_ended() {
    let desk = inquirer("same", "false");
    let error = desk.make("ask", with(json!({"same": true}))).await.error();
    assert!(
        matches!(error.cause(), Cause::Stopped(Stop::TooManyQuestions)),
        "{error:?}"
    );
    assert!(error.to_string().contains("answered before"), "{error}");
}

#[tokio::test]
async fn all_rounds_share_one_budget_of_fuel() {
    let desk = asker("");
    let once = desk.call("ask", json!({})).await.details.fuel.unwrap();
    let all = desk.make("ask", with(json!({"name": "A"}))).await;
    let both = all.details.fuel.unwrap();
    assert!(both > once, "{both} {once}");
    // Enough for each round, but not for both.
    let limit = once.max(both - once) + 1;
    let desk = asker(&format!("limits.fuel = {limit}"));
    let first = call(json!({}));
    let budget = first.budget.clone();
    assert!(
        desk.make("ask", first)
            .await
            .result
            .unwrap()
            .needs_input()
            .is_some()
    );
    let again = Call {
        budget,
        ..with(json!({"name": "A"}))
    };
    let fuel = |error: ToolError| {
        matches!(
            error.cause(),
            Cause::Stopped(Stop::LimitReached {
                limit: Limit::Fuel,
                ..
            })
        )
    };
    assert!(fuel(desk.make("ask", again).await.error()));
    assert!(fuel(
        desk.make("ask", with(json!({"name": "A"}))).await.error()
    ));
}

#[tokio::test]
async fn all_rounds_share_one_budget_of_time() {
    let desk = asker("limits.time = \"5s\"");
    let spent = with(json!({"name": "A"}));
    spent.budget.spend(Duration::from_secs(5), 0);
    let error = desk.make("ask", spent).await.error();
    assert_eq!(
        error.to_string(),
        "tool `ask` ran out of time (limit: 5000 ms)"
    );
    assert_eq!(desk.record(), "allowed, limit");
}

#[tokio::test]
async fn commands_are_given_earlier_answers() {
    let text = r#"echo '{"type":"needs_input","question":{"id":"sure","text":"Sure?","answer_type":"Boolean"}}'"#;
    let desk = Desk::new(&script("ask", text, "")).trusted();
    let executed = desk.call("ask", json!({"x": 1})).await;
    assert_eq!(
        executed.result.unwrap().needs_input().unwrap().text,
        "Sure?"
    );
}
