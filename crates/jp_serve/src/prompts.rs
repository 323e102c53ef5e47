//! `prompts/*`: what a person behind a client can start with: the knowledge base, and what the
//! configuration says.

mod asked;
mod make;

use jp_config::ServedPromptConfig;
use rmcp::{
    ErrorData, RoleServer,
    model::{GetPromptRequestParams, GetPromptResponse, ListPromptsResult, Prompt, PromptArgument},
    service::RequestContext,
};

use crate::{
    page::Wanted,
    principal::Served,
    resources::{Shelf, beside, shelf},
};

/// The prompt that is made of the knowledge base. No other can have the name.
const KNOWLEDGE: &str = "knowledge";

/// Answers `prompts/list`.
pub(crate) async fn list(shared: &Served, wanted: Wanted) -> Result<ListPromptsResult, ErrorData> {
    let shelf = shelf(shared).await?;
    let part = wanted.part(&all(&shelf), |prompt| &prompt.name);
    let mut result = ListPromptsResult::with_all_items(part.items);
    result.next_cursor = part.next;
    result.ttl_ms = part.ttl_ms;
    result.cache_scope = part.cache_scope;
    Ok(result)
}

/// Answers `prompts/get`.
pub(crate) async fn get(
    shared: &Served,
    mut request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let shelf = shelf(shared).await?;
    if let Some(prompt) = configured(&shelf, &request.name)
        && let Some(asked) = asked::complete(prompt, &mut request, context).await?
    {
        return Ok(GetPromptResponse::InputRequired(asked));
    }
    let made = beside(shared, move |shared| {
        if request.name == KNOWLEDGE && shelf.has_knowledge() {
            return make::knowledge(&shelf);
        }
        let prompt = configured(&shelf, &request.name).ok_or_else(|| unknown(&request.name))?;
        make::configured(
            shared,
            &shelf,
            prompt,
            request.arguments.unwrap_or_default(),
        )
    });
    Ok(made.await??.into())
}

/// Returns all prompts, by name.
pub(crate) fn all(shelf: &Shelf) -> Vec<Prompt> {
    let configured = &shelf.catalogue.workspace().loaded().config.serve.prompts;
    let mut all: Vec<Prompt> = configured
        .iter()
        .map(|(name, one)| shown(name, one))
        .collect();
    if shelf.has_knowledge() {
        let text = "What this workspace has to teach, and how to learn it";
        all.push(Prompt::new(KNOWLEDGE, Some(text), None).with_title("Knowledge"));
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Returns the prompt of the configuration that has a name.
pub(crate) fn configured<'a>(shelf: &'a Shelf, name: &str) -> Option<&'a ServedPromptConfig> {
    let serve = &shelf.catalogue.workspace().loaded().config.serve;
    serve.prompts.get(name)
}

/// Says that there is no prompt of a name.
pub(crate) fn unknown(name: &str) -> ErrorData {
    let name = jp_text::start(name, 80);
    let text = format!("unknown prompt `{name}`; prompts/list has the names");
    ErrorData::invalid_params(text, None)
}

fn shown(name: &str, config: &ServedPromptConfig) -> Prompt {
    let arguments: Vec<PromptArgument> = config
        .arguments
        .iter()
        .map(|argument| {
            // What jp asks for itself a client need not ask for.
            let required = argument.required && argument.ask.is_none();
            let mut shown = PromptArgument::new(&argument.name).with_required(required);
            shown.description.clone_from(&argument.description);
            shown
        })
        .collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    let mut prompt = Prompt::new(name, config.description.as_deref(), arguments);
    prompt.title.clone_from(&config.title);
    prompt
}
