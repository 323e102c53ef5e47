//! Components of `jp:tool@0.2.0` answer in parts and with data, and want several inputs at once.

use jp_policy::{Limit, Limits};
use jp_test::{Host, Kit};
use jp_tool::{Input, Outcome, Part};
use jp_wasm::Error;
use serde_json::json;

#[tokio::test]
async fn every_kind_of_part_comes_out_as_it_went_in() {
    for host in Host::ALL {
        let kit = Kit::new(host);
        let ended = kit.call("parts", &json!({"do": "all"})).await;
        let Ok(Outcome::Success { content: text }) = ended.result else {
            panic!("{:?}", ended.result)
        };
        assert!(
            text.starts_with("one\n\n[image: image/png, 3 bytes"),
            "{text}"
        );
        let content = ended.beside.content;
        assert_eq!(content.structured, Some(json!({"sum": 3})));
        let Part::Audio(audio) = &content.parts[2] else {
            panic!("{content:?}")
        };
        assert_eq!(audio.data.as_bytes(), [1; 100_000]);
        let mut parts = serde_json::to_value(&content.parts).unwrap();
        parts[2]["data"] = "".into();
        let expected = json!([
            {"type": "text", "text": "one"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png", "annotations":
                {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-12"}},
            {"type": "audio", "data": "", "mimeType": "audio/wav"},
            {"type": "resource", "resource":
                {"uri": "a:b", "mimeType": "text/plain", "text": "two"}},
            {"type": "resource", "resource":
                {"uri": "a:c", "mimeType": "text/plain", "blob": "Ag=="}},
            {"type": "resource_link", "uri": "file:///x", "name": "x", "title": "X",
                "description": "about x", "mimeType": "text/x", "size": 3},
        ]);
        assert_eq!(parts, expected);
    }
}

#[tokio::test]
async fn a_no_keeps_its_parts_and_a_text_alone_is_nothing_else() {
    let kit = Kit::new(Host::OnDemand);
    let no = kit.call("parts", &json!({"do": "no"})).await;
    assert_eq!(no.result.unwrap(), Outcome::failed("not today"));
    assert_eq!(no.beside.content.parts.len(), 6);
    let text = kit.call("parts", &json!({})).await;
    assert_eq!(text.result.unwrap(), Outcome::from("nothing"));
    assert!(text.beside.content.is_empty());
}

#[tokio::test]
async fn bytes_count_against_the_limit_on_output_when_they_are_handed_over() {
    let kit = Kit::new(Host::OnDemand).limits(|limits| limits.output_bytes = 1 << 20);
    let call = |count: usize| json!({"do": "bytes", "count": count});
    assert!(kit.call("parts", &call(1 << 19)).await.result.is_ok());
    let ended = kit.call("parts", &call((1 << 20) + 1)).await;
    let limit = Limit::Output;
    assert!(
        matches!(ended.result, Err(Error::Limit { limit: found }) if found == limit),
        "{:?}",
        ended.result
    );
}

#[tokio::test]
async fn several_inputs_are_wanted_at_once() {
    let ended = Kit::new(Host::OnDemand)
        .call("parts", &json!({"do": "ask"}))
        .await;
    let Ok(Outcome::NeedsInput { question }) = ended.result else {
        panic!("{:?}", ended.result)
    };
    assert_eq!(question.text, "Who are you?");
    let inputs = ended.beside.inputs;
    let ids: Vec<_> = inputs.iter().map(Input::id).collect();
    assert_eq!(ids, ["name", "sample", "roots"]);
    let Input::Sample(sample) = &inputs[1] else {
        panic!("{inputs:?}")
    };
    assert_eq!(sample.system_prompt.as_deref(), Some("Be brief."));
    assert_eq!((sample.messages.len(), sample.max_tokens), (1, 10));
}

#[tokio::test]
async fn a_form_reaches_the_host_with_questions_of_every_type() {
    let kit = Kit::new(Host::OnDemand);
    let ended = kit.call("parts", &json!({"do": "form"})).await;
    let [Input::Form(form)] = ended.beside.inputs.as_slice() else {
        panic!("{:?}", ended.beside)
    };
    assert!(!ended.beside.any);
    assert_eq!(form.text, "Please fill in.");
    let options = json!([{"value": "a", "title": "A"}, {"value": "b"}]);
    let kinds: Vec<_> = form.questions.iter().map(|one| &one.answer_type).collect();
    assert_eq!(
        serde_json::to_value(kinds).unwrap(),
        json!(["Boolean", "Text", "Integer", "Number", {"Select": {"options": ["a"]}},
            {"Choice": {"options": options}}, {"Labelled": {"options": options}},
            {"Choices": {"options": options}}])
    );
    assert_eq!(form.questions[0].default, None);
    assert_eq!(form.questions[7].default, Some(json!(["a", "b"])));
    let ended = kit.call("parts", &json!({"do": "any"})).await;
    assert!(ended.beside.any);
    assert_eq!(ended.beside.inputs.len(), 4);
}

#[tokio::test]
async fn a_description_has_a_title_and_an_output_schema() {
    let kit = Kit::new(Host::OnDemand);
    let path = jp_test::guest("parts");
    let prepared = kit.runtime().prepare_path(path, &|_| {}).await.unwrap();
    let said = kit.runtime().describe(&prepared, &Limits::default()).await;
    let said = said.unwrap().unwrap();
    let tool = said.tool("parts").unwrap();
    assert_eq!(tool.title.as_deref(), Some("All parts"));
    assert_eq!(
        tool.output_schema.as_ref().unwrap()["required"],
        json!(["sum"])
    );
}
