//! `stt.*`: speech to text, by any endpoint that speaks OpenAI's audio transcriptions.

use std::sync::Arc;

use async_trait::async_trait;
use data_encoding::{BASE64, BASE64_NOPAD, HEXLOWER};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::json;

use crate::{
    Answer, ApiBody, ApiRequest, CallError, Capability, CapabilityCall, Endpoint, Services, Spec,
    endpoint::{ask, not_configured, unexpected},
    web::Job,
};

/// What endpoints know, and what it is called in a request.
const FORMATS: [(&str, &str); 9] = [
    ("wav", "audio/wav"),
    ("mp3", "audio/mpeg"),
    ("mpga", "audio/mpeg"),
    ("mpeg", "audio/mpeg"),
    ("m4a", "audio/mp4"),
    ("mp4", "audio/mp4"),
    ("ogg", "audio/ogg"),
    ("flac", "audio/flac"),
    ("webm", "audio/webm"),
];

/// A model that writes down speech.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscribeOptions {
    /// Where it is; `/audio/transcriptions` is added.
    pub endpoint: Endpoint,
    /// The model, such as `whisper-1`.
    pub model: String,
}

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Capability>> {
    vec![Arc::new(Transcribe)]
}

struct Transcribe;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TranscribeArguments {
    audio_base64: String,
    format: Option<String>,
    language: Option<String>,
}

#[async_trait]
impl Capability for Transcribe {
    fn spec(&self) -> &Spec {
        &Spec {
            name: "stt.transcribe",
            summary: "Writes down speech; the configured endpoint's host needs a `net` grant",
            arguments: "audio_base64*, format, language",
            result: "{status, text}",
            owner: None,
            scope: None,
        }
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError> {
        let arguments: TranscribeArguments = call.arguments()?;
        let options = services.stt.as_ref();
        let options = options.ok_or_else(|| not_configured("stt.transcribe", "broker.stt"))?;
        let body = form(&options.model, &arguments)?;
        let endpoint = options.endpoint.clone();
        let request = ApiRequest {
            path: "/audio/transcriptions".to_owned(),
            body,
        };
        let answer = Job::run(services, call, move |job| ask(job, &endpoint, request)).await?;
        let text = answer["text"].as_str();
        let text = text.ok_or_else(|| unexpected("the model", "no `text`"))?;
        Ok(json!({ "status": "ok", "text": text }).into())
    }
}

fn form(model: &str, arguments: &TranscribeArguments) -> Result<ApiBody, CallError> {
    let audio = audio(&arguments.audio_base64)?;
    let format = arguments.format.as_deref().unwrap_or("wav");
    let known = FORMATS.iter().find(|(name, _)| *name == format);
    let Some((format, kind)) = known else {
        let names: Vec<&str> = FORMATS.iter().map(|(name, _)| *name).collect();
        let problem = format!("is none of {}", names.join(", "));
        return Err(CallError::invalid("format", &problem));
    };
    let mut fields = vec![("model", model), ("response_format", "json")];
    if let Some(language) = arguments.language.as_deref() {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        if !(2..=16).contains(&language.len()) || !language.bytes().all(fits) {
            return Err(CallError::invalid("language", "is no code such as `en`"));
        }
        fields.push(("language", language));
    }
    let boundary = boundary()?;
    let mut bytes = Vec::with_capacity(audio.len().saturating_add(1024));
    for (name, value) in fields {
        let part = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        bytes.extend(part.into_bytes());
    }
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"audio.{format}\"\r\nContent-Type: {kind}\r\n\r\n"
    );
    bytes.extend(head.into_bytes());
    bytes.extend(audio);
    bytes.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
    Ok(ApiBody::Bytes {
        content_type: format!("multipart/form-data; boundary={boundary}"),
        bytes,
    })
}

fn audio(text: &str) -> Result<Vec<u8>, CallError> {
    let letters: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let decoded = BASE64
        .decode(&letters)
        .or_else(|_| BASE64_NOPAD.decode(&letters));
    match decoded {
        Ok(audio) if audio.is_empty() => Err(CallError::invalid("audio_base64", "is empty")),
        Ok(audio) => Ok(audio),
        Err(_) => Err(CallError::invalid("audio_base64", "is no base64")),
    }
}

/// Returns what separates the parts: nothing a guest could foresee and put into its audio.
fn boundary() -> Result<String, CallError> {
    let mut random = [0; 24];
    let filled = SystemRandom::new().fill(&mut random);
    filled.map_err(|_| CallError::internal("the system gives no random numbers"))?;
    Ok(HEXLOWER.encode(&random))
}
