//! Tools that answer at once, each with another kind of content.

use jp_tool::{Answer, Content, Outcome, Part, Resource, ResourceContents};

use crate::media::{PNG, WAV};

pub(crate) fn run(name: &str) -> Option<Answer> {
    let parts = match name {
        "test_simple_text" => vec!["This is a simple text response for testing.".into()],
        "test_image_content" => vec![Part::image(PNG.to_vec(), "image/png")],
        "test_audio_content" => vec![Part::audio(WAV.to_vec(), "audio/wav")],
        "test_embedded_resource" => vec![resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )],
        "test_multiple_content_types" => vec![
            "Multiple content types test:".into(),
            Part::image(PNG.to_vec(), "image/png"),
            resource(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            ),
        ],
        "test_error_handling" => {
            let text = "This tool intentionally returns an error for testing";
            return Some(Outcome::failed(text).into());
        }
        "test_custom_headers" => vec!["The headers fit the arguments.".into()],
        "brought" => vec!["It is there.".into()],
        "json_schema_2020_12_tool" => vec!["The arguments fit the schema.".into()],
        _ => return None,
    };
    Some(Content::from(parts).into())
}

fn resource(uri: &str, mime_type: &str, text: &str) -> Part {
    Part::resource(Resource {
        uri: uri.to_owned(),
        mime_type: Some(mime_type.to_owned()),
        contents: ResourceContents::Text(text.to_owned()),
    })
}
