//! `completion/complete`: what could be filled into a prompt or the address of a resource. The protocol
//! knows no completion of tools' arguments.

use rmcp::{
    ErrorData,
    model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference},
};

use crate::{
    principal::Served,
    prompts,
    resources::{Shelf, audit, beside, shelf, uri},
};

/// Answers `completion/complete`.
pub(crate) async fn complete(
    shared: &Served,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let shelf = shelf(shared).await?;
    let found = beside(shared, move |shared| -> Result<CompletionInfo, ErrorData> {
        let known = known(shared, &shelf, &request)?;
        Ok(matching(known, &request.argument.value))
    });
    Ok(CompleteResult::new(found.await??))
}

/// Returns everything that is known to fit, whatever was typed so far.
fn known(
    shared: &Served,
    shelf: &Shelf,
    request: &CompleteRequestParams,
) -> Result<Vec<String>, ErrorData> {
    let name = request.argument.name.as_str();
    match &request.r#ref {
        Reference::Prompt(prompt) => of_prompt(shelf, &prompt.name, name),
        Reference::Resource(family) => {
            let topic = || request.context.as_ref()?.get_argument("topic");
            of_family(
                shared,
                shelf,
                &family.uri,
                name,
                topic().map(String::as_str),
            )
        }
        _ => Err(invalid(
            "unknown kind of reference: expected a prompt or a resource",
        )),
    }
}

fn of_prompt(shelf: &Shelf, prompt: &str, argument: &str) -> Result<Vec<String>, ErrorData> {
    let Some(config) = prompts::configured(shelf, prompt) else {
        let is_ours = prompts::all(shelf).iter().any(|known| known.name == prompt);
        return match is_ours {
            true => Err(no_argument(argument)),
            false => Err(prompts::unknown(prompt)),
        };
    };
    let mut arguments = config.arguments.iter();
    let known = arguments.find(|known| known.name == argument);
    known
        .map(|known| known.values.clone())
        .ok_or_else(|| no_argument(argument))
}

fn of_family(
    shared: &Served,
    shelf: &Shelf,
    family: &str,
    variable: &str,
    topic: Option<&str>,
) -> Result<Vec<String>, ErrorData> {
    match (family, variable) {
        (uri::RECORDS, "number") => Ok(audit::numbers(shared)),
        (uri::TOOLS, "name") => {
            let tools = shelf.catalogue.tools().iter();
            Ok(tools.map(|tool| tool.name.to_string()).collect())
        }
        (uri::SUBJECTS, "topic") => Ok(shelf.topics().map(str::to_owned).collect()),
        (uri::SUBJECTS, "subject") => Ok(shelf.subjects(topic)),
        _ => {
            let mut configured = shelf
                .catalogue
                .workspace()
                .loaded()
                .config
                .serve
                .resources
                .values();
            let is_it = |text: &str| text == family;
            let template = configured.find_map(|config| {
                let template = config.uri_template.as_ref()?;
                is_it(template.as_str()).then_some(template)
            });
            let ours = [uri::RECORDS, uri::TOOLS, uri::SUBJECTS].contains(&family);
            let has = |name: &str| name == variable;
            match template {
                // Nobody knows what the variables of the configuration can be.
                Some(template) if template.variables().any(has) => Ok(Vec::new()),
                None if !ours => Err(invalid(
                    "unknown resource template: resources/templates/list has them",
                )),
                _ => Err(no_argument(variable)),
            }
        }
    }
}

/// Picks what starts with what was typed, as much of it as the protocol allows.
fn matching(known: Vec<String>, typed: &str) -> CompletionInfo {
    let starts = |value: &String| {
        let start = value.get(..typed.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(typed))
    };
    let mut values: Vec<String> = known.into_iter().filter(starts).collect();
    let total = u32::try_from(values.len()).ok();
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut found = CompletionInfo::default();
    found.values = values;
    found.total = total;
    found.has_more = Some(has_more);
    found
}

fn no_argument(name: &str) -> ErrorData {
    invalid(format!("unknown argument `{}`", jp_text::start(name, 80)))
}

fn invalid(text: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(text.into(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_a_hundred_values_are_given_and_the_rest_is_counted() {
        let known: Vec<String> = (0..250).map(|n| format!("Value{n:03}")).collect();
        let found = matching(known.clone(), "val");
        assert_eq!(
            (found.values.len(), found.total, found.has_more),
            (100, Some(250), Some(true))
        );
        let found = matching(known.clone(), "value24");
        assert_eq!(found.values.len(), 10);
        assert_eq!(found.has_more, Some(false));
        assert_eq!(matching(known, &"x".repeat(10_000)).total, Some(0));
        // Half a letter is no start.
        assert_eq!(matching(vec!["ä".to_owned()], "x").values.len(), 0);
    }
}
