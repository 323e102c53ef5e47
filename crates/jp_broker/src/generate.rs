//! `llm.*` and `coding.*`: texts by a model, from any endpoint that speaks OpenAI's chat completions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    ApiBody, ApiRequest, CallError, Code, Endpoint, Services,
    answer::Status,
    arguments::kinds::Said,
    capability::{Capability, CapabilityCall, Known, Spec},
    endpoint::{ask, not_configured, unexpected},
    web::Job,
};

/// A model that writes texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerateOptions {
    /// Where it is; `/chat/completions` is added.
    pub endpoint: Endpoint,
    /// The model a call gets when it names none.
    pub model: String,
    /// The models a call may name besides: others may cost more.
    pub models: Vec<String>,
    /// The most tokens one answer may have.
    pub max_tokens: u32,
    /// How the endpoint calls that limit.
    pub token_field: TokenField,
}

/// How an endpoint calls the limit on an answer's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TokenField {
    /// `max_tokens`: almost every endpoint.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`: OpenAI's own newer models.
    MaxCompletionTokens,
}

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Known>> {
    vec![Arc::new(Generate(&LLM)), Arc::new(Generate(&CODING))]
}

struct Variant {
    spec: Spec,
    options: fn(&Services) -> Option<&GenerateOptions>,
    setting: &'static str,
}

static LLM: Variant = Variant {
    spec: Spec::new(
        "llm.generate",
        "Asks the configured language model; its host needs a `net` grant",
    ),
    options: |services| services.llm.as_ref(),
    setting: "broker.llm",
};

static CODING: Variant = Variant {
    spec: Spec::new(
        "coding.generate",
        "Asks the configured model for code; its host needs a `net` grant",
    ),
    options: |services| services.coding.as_ref(),
    setting: "broker.coding",
};

struct Generate(&'static Variant);

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct GenerateArguments {
    /// The task, with all it needs to know.
    prompt: Said,
    /// How the model should go about it.
    system_prompt: Option<String>,
    /// One of the configured `models`; the configured `model` when left out.
    // Models are not offered the choice: they would guess a name.
    #[cfg_attr(test, schemars(extend("x-offered" = false)))]
    model: Option<String>,
}

/// What a model wrote.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Generated {
    status: Status,
    response: String,
    model: Option<String>,
    finish_reason: Option<String>,
    // The caller of half an answer must know that it is half.
    truncated: bool,
}

impl Capability for Generate {
    type Arguments = GenerateArguments;
    type Reply = Generated;

    fn spec(&self) -> Spec {
        self.0.spec
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        arguments: GenerateArguments,
    ) -> Result<Generated, CallError> {
        let variant = self.0;
        let options = (variant.options)(services)
            .ok_or_else(|| not_configured(variant.spec.name, variant.setting))?;
        let body = body(options, &arguments)?;
        let endpoint = options.endpoint.clone();
        let request = ApiRequest {
            path: "/chat/completions".to_owned(),
            body: ApiBody::Json(body),
        };
        let answer = Job::run(services, call, move |job| ask(job, &endpoint, request)).await?;
        read(&answer)
    }
}

fn body(options: &GenerateOptions, arguments: &GenerateArguments) -> Result<Value, CallError> {
    let model = arguments.model.as_ref().unwrap_or(&options.model);
    if *model != options.model && !options.models.contains(model) {
        let shown = jp_text::start(model, 80);
        let message = format!("model '{shown}' is not among the configured `models`");
        return Err(CallError::new(Code::Forbidden, message));
    }
    let system = arguments.system_prompt.as_deref();
    let system = system.map(|text| json!({ "role": "system", "content": text }));
    let user = json!({ "role": "user", "content": *arguments.prompt });
    let limit = match options.token_field {
        TokenField::MaxTokens => "max_tokens",
        TokenField::MaxCompletionTokens => "max_completion_tokens",
    };
    Ok(json!({
        "model": model,
        "messages": system.into_iter().chain([user]).collect::<Vec<_>>(),
        limit: options.max_tokens,
    }))
}

fn read(answer: &Value) -> Result<Generated, CallError> {
    let choice = answer.pointer("/choices/0").unwrap_or(&Value::Null);
    let response = match choice.pointer("/message/content") {
        Some(Value::String(text)) => text.clone(),
        // Some endpoints answer in parts.
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => return Err(unexpected("the model", "no text in `choices`")),
    };
    let finish = choice["finish_reason"].as_str();
    Ok(Generated {
        status: Status::Ok,
        response,
        model: answer["model"].as_str().map(str::to_owned),
        finish_reason: finish.map(str::to_owned),
        truncated: finish == Some("length"),
    })
}
