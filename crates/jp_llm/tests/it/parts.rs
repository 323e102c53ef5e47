//! Results keep their kind on the way through the pipeline, and inputs of every kind are provided.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jp_llm::{
    AskRequest, Asker, Call, Executed, InputRequest,
    tool::{Cause, Stop},
};
use jp_tool::Input;
use serde_json::{Value, json};

use crate::kit::{Desk, Ended, call, object, reader};

fn desk() -> Desk {
    Desk::new(&reader("parts", "")).guest("parts", "parts")
}

async fn made(desk: &Desk, call: Call) -> Executed {
    desk.make("parts", call).await
}

#[tokio::test]
async fn parts_and_data_of_a_component_reach_the_caller() {
    let desk = desk();
    let executed = desk.call("parts", json!({"do": "all"})).await;
    assert_eq!(executed.parts().len(), 6);
    assert_eq!(*executed.structured().unwrap(), json!({"sum": 3}));
    let text = executed.result.unwrap().into_response().unwrap();
    assert!(text.contains("[audio: audio/wav, 100000 bytes"), "{text}");
}

#[tokio::test]
async fn data_is_held_to_the_schema_that_the_tool_describes() {
    let desk = desk();
    let error = desk.call("parts", json!({"do": "unfit"})).await.error();
    let Cause::Stopped(Stop::ResultUnfit { path, .. }) = error.cause() else {
        panic!("{error:?}")
    };
    assert_eq!(path, "/sum");
}

#[tokio::test]
async fn what_a_person_withholds_is_gone_with_all_its_parts() {
    let desk = Desk::new(&reader("parts", "result = 'skip'")).guest("parts", "parts");
    let executed = desk.call("parts", json!({"do": "all"})).await;
    let parts = executed.parts();
    assert_eq!(parts.len(), 1, "{parts:?}");
    assert_eq!(executed.structured().as_deref(), None);
}

/// Provides what it has, all at once, and remembers what was wanted.
#[derive(Default)]
struct Client(Mutex<Vec<String>>);

#[async_trait]
impl Asker for Client {
    async fn ask(&self, _: &AskRequest<'_>) -> Option<Value> {
        None
    }

    async fn provide(&self, request: &InputRequest<'_>) -> Vec<Option<Value>> {
        let answer = |input: &&Input| match input {
            Input::Question(_) => Some(json!("jp")),
            Input::Form(_) => None,
            Input::Sample(sample) => {
                let said = &sample.messages.last()?.text;
                Some(json!({"text": format!("{said} 4"), "model": "m"}))
            }
            Input::Roots { .. } => Some(json!([{"uri": "file:///w"}])),
        };
        let ids: Vec<_> = request.inputs.iter().map(|input| input.id()).collect();
        self.0.lock().unwrap().push(ids.join(" "));
        request.inputs.iter().map(answer).collect()
    }
}

#[tokio::test]
async fn several_inputs_are_provided_at_once_and_known_ones_are_not_asked_for() {
    let client = Arc::new(Client::default());
    let mut desk = desk();
    desk.caller(|caller| caller.asker = Arc::clone(&client) as _);
    let mut wanted = call(json!({"do": "ask"}));
    let executed = made(&desk, wanted.clone()).await;
    let expected = json!({"sum": 3, "answers": {"name": "jp",
        "sample": {"text": "2 + 2? 4", "model": "m"}, "roots": [{"uri": "file:///w"}]}});
    assert_eq!(*executed.structured().unwrap(), expected, "{executed:?}");
    wanted = Call {
        answers: object(json!({"name": "me", "roots": "file:///r"})),
        ..call(json!({"do": "ask"}))
    };
    let answered = made(&desk, wanted).await;
    let answers = answered.structured().unwrap()["answers"].clone();
    assert_eq!(
        (&answers["name"], &answers["roots"]),
        (&json!("me"), &json!([{"uri": "file:///r"}]))
    );
    assert_eq!(*client.0.lock().unwrap(), ["name sample roots", "sample"]);
}

#[tokio::test]
async fn an_input_nobody_provides_ends_the_call_as_a_question() {
    let desk = desk();
    let wanted = Call {
        answers: object(json!({"name": "me"})),
        ..call(json!({"do": "ask"}))
    };
    let executed = made(&desk, wanted).await;
    let outcome = executed.result.unwrap();
    let question = outcome.needs_input().unwrap();
    assert_eq!(question.id, "sample");
    assert_eq!(executed.details.beside.inputs.len(), 3);
}

/// Answers the questions it has an answer to, one after the other.
struct Person(Value);

#[async_trait]
impl Asker for Person {
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value> {
        self.0.get(&request.question.id).cloned()
    }
}

#[tokio::test]
async fn a_form_is_asked_as_questions_where_there_are_no_forms() {
    let mut desk = desk();
    desk.caller(|caller| caller.asker = Arc::new(Person(json!({"q0": true, "q7": ["b"]}))));
    let executed = made(&desk, call(json!({"do": "form"}))).await;
    let answers = executed.structured().unwrap()["answers"].clone();
    assert_eq!(
        answers["form"],
        json!({"q0": true, "q1": "x", "q2": 3, "q3": 1.5, "q4": "a", "q5": "b", "q6": "b",
            "q7": ["b"]})
    );
    desk.caller(|caller| caller.asker = Arc::new(Person(json!({"q1": "y"}))));
    let executed = made(&desk, call(json!({"do": "form"}))).await;
    let outcome = executed.result.unwrap();
    assert_eq!(outcome.needs_input().unwrap().id, "form");
}

#[tokio::test]
async fn a_tool_that_needs_one_of_many_goes_on_with_what_it_gets() {
    let client = Arc::new(Client::default());
    let mut desk = desk();
    desk.caller(|caller| caller.asker = Arc::clone(&client) as _);
    let executed = made(&desk, call(json!({"do": "any"}))).await;
    let answers = executed.structured().unwrap()["answers"].clone();
    assert_eq!(answers["name"], "jp", "{executed:?}");
    assert_eq!(answers.get("form"), None);
    assert_eq!(*client.0.lock().unwrap(), ["form name sample roots"]);
}

#[tokio::test]
async fn bytes_of_arguments_go_into_a_component_without_base64() {
    let desk = Desk::new(&reader("given", "")).guest("given", "given");
    let arguments = json!({"bytes": "AQID", "more": ["BA==", ""], "name": "AQID"});
    let said = desk.said("given", arguments).await.unwrap();
    let said: Value = serde_json::from_str(&said).unwrap();
    let sums: Vec<_> = said
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["sum"])
        .collect();
    // A name is text, whatever it looks like.
    assert_eq!(
        sums,
        [&json!(6), &Value::Null, &json!(4), &json!(0)],
        "{said}"
    );
    assert_eq!(said[1]["none"], "AQID");
    for wrong in ["no base64!", "blob:0"] {
        let no = desk
            .said("given", json!({"bytes": "AQID", "more": [wrong]}))
            .await;
        let no = no.unwrap_err();
        assert_eq!(no, "Invalid arguments:\n- at `/more/0`: expected base64");
    }
}

#[tokio::test]
async fn bytes_of_arguments_count_against_the_limit_on_memory() {
    let limits = "limits.memory = \"8MiB\"";
    let desk = Desk::new(&reader("given", limits)).guest("given", "given");
    let blob = |size| jp_tool::Blob::from(vec![0; size]).to_base64();
    let bytes = |size| json!({"bytes": blob(size), "do": "nothing"});
    assert!(desk.said("given", bytes(1 << 20)).await.is_ok());
    let error = desk.call("given", bytes((8 << 20) + 1)).await.result;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("ran out of memory"), "{error}");
}
