//! `prompts/get`: the messages of a prompt, with its arguments filled in.

use data_encoding::BASE64;
use jp_config::{PromptMessageConfig, PromptRole, ServedPromptConfig};
use jp_llm::{knowledge_prompt, shown_file};
use rmcp::{
    ErrorData,
    model::{ContentBlock, GetPromptResult, JsonObject, PromptMessage, ResourceContents, Role},
};
use serde_json::Value;

use crate::{
    fill::fill,
    principal::Served,
    resources::{Shelf, read},
};

/// All messages of a prompt together are no larger.
const LARGEST: usize = 16 * 1024 * 1024;

/// Makes the prompt of the knowledge base.
pub(super) fn knowledge(shelf: &Shelf) -> Result<GetPromptResult, ErrorData> {
    // What could not be read `learn` and `jp doctor` say.
    let (section, _) = knowledge_prompt(shelf.catalogue.host());
    let message = section.map(|section| PromptMessage::new_text(Role::User, section));
    Ok(GetPromptResult::new(message.into_iter().collect()))
}

/// Makes a prompt of the configuration.
pub(super) fn configured(
    shared: &Served,
    shelf: &Shelf,
    config: &ServedPromptConfig,
    arguments: JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let given = given(config, arguments)?;
    let values: Vec<(&str, &str)> = given
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let mut making = Making {
        shared,
        shelf,
        values: &values,
        room: LARGEST,
    };
    let messages = config
        .messages
        .iter()
        .map(|message| making.message(message));
    let mut result = GetPromptResult::new(messages.collect::<Result<_, _>>()?);
    result.description.clone_from(&config.description);
    Ok(result)
}

/// Returns each argument with what it is: nothing, if it was left out and need not be there.
fn given(
    config: &ServedPromptConfig,
    mut arguments: JsonObject,
) -> Result<Vec<(&str, String)>, ErrorData> {
    let invalid = |text: String| ErrorData::invalid_params(text, None);
    let mut given = Vec::new();
    for argument in &config.arguments {
        let name = argument.name.as_str();
        let value = match arguments.remove(name) {
            Some(Value::String(text)) => text,
            Some(_) => {
                return Err(invalid(format!(
                    "invalid argument `{name}`: expected a text"
                )));
            }
            None if argument.required => {
                return Err(invalid(format!("missing argument `{name}`")));
            }
            None => String::new(),
        };
        given.push((name, value));
    }
    match arguments.keys().next() {
        Some(name) => Err(invalid(format!(
            "unknown argument `{}`",
            jp_text::start(name, 80)
        ))),
        None => Ok(given),
    }
}

/// A prompt that is being made.
struct Making<'a> {
    shared: &'a Served,
    shelf: &'a Shelf,
    values: &'a [(&'a str, &'a str)],
    /// How many bytes there is room for.
    room: usize,
}

impl Making<'_> {
    fn message(&mut self, config: &PromptMessageConfig) -> Result<PromptMessage, ErrorData> {
        let role = match config.role {
            PromptRole::User => Role::User,
            PromptRole::Assistant => Role::Assistant,
        };
        Ok(PromptMessage::new(role, self.content(config)?))
    }

    fn content(&mut self, config: &PromptMessageConfig) -> Result<ContentBlock, ErrorData> {
        if let Some(image) = &config.image {
            let host = self.shelf.catalogue.host();
            let bytes = shown_file(host, image.path().as_str(), read::LARGEST as u64);
            let bytes =
                bytes.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            self.take(bytes.len())?;
            let mime = config.mime_type.as_ref().map_or("", |mime| mime.as_str());
            return Ok(ContentBlock::image(BASE64.encode(&bytes), mime));
        }
        if let Some(uri) = &config.resource {
            let uri = self.fill(uri)?;
            let contents = read::read(self.shared, &uri).map_err(|error| error.of(&uri))?;
            let first = contents.into_iter().next();
            let first = first.ok_or_else(|| read::ReadError::Unknown.of(&uri))?;
            self.take(match &first {
                ResourceContents::TextResourceContents { text, .. } => text.len(),
                ResourceContents::BlobResourceContents { blob, .. } => blob.len(),
                _ => 0,
            })?;
            return Ok(ContentBlock::resource(first));
        }
        let text = self.fill(config.text.as_deref().unwrap_or_default())?;
        Ok(ContentBlock::text(text))
    }

    fn fill(&mut self, text: &str) -> Result<String, ErrorData> {
        let filled = fill(text, self.values, self.room).ok_or_else(too_large)?;
        self.take(filled.len())?;
        Ok(filled)
    }

    fn take(&mut self, bytes: usize) -> Result<(), ErrorData> {
        self.room = self.room.checked_sub(bytes).ok_or_else(too_large)?;
        Ok(())
    }
}

fn too_large() -> ErrorData {
    let text = format!("prompt too large: expected at most {LARGEST} bytes with its arguments");
    ErrorData::invalid_params(text, None)
}
