//! `stt.*`: speech to text, by any endpoint that speaks OpenAI's audio transcriptions.

use std::sync::Arc;

use data_encoding::{BASE64, BASE64_NOPAD, HEXLOWER};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    ApiBody, ApiRequest, CallError, Endpoint, Services,
    answer::Status,
    arguments::{
        kinds::{Said, or_usual},
        misfit,
    },
    capability::{Capability, CapabilityCall, Known, Spec},
    endpoint::{ask, not_configured, unexpected},
    web::Job,
};

/// A model that writes down speech.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscribeOptions {
    /// Where it is; `/audio/transcriptions` is added.
    pub endpoint: Endpoint,
    /// The model, such as `whisper-1`.
    pub model: String,
}

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Known>> {
    vec![Arc::new(Transcribe)]
}

struct Transcribe;

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct TranscribeArguments {
    /// The recording, in base64.
    audio_base64: Said,
    /// What kind of file it is.
    #[serde(default, deserialize_with = "or_usual")]
    format: Format,
    /// The language that is spoken, such as `en`.
    language: Option<Language>,
}

/// The kinds of files that endpoints know.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Serialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Wav,
    Mp3,
    Mpga,
    Mpeg,
    M4a,
    Mp4,
    Ogg,
    Flac,
    Webm,
}

impl Format {
    /// Returns the ending of its files, and what it is called in a request.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Wav => ("wav", "audio/wav"),
            Self::Mp3 => ("mp3", "audio/mpeg"),
            Self::Mpga => ("mpga", "audio/mpeg"),
            Self::Mpeg => ("mpeg", "audio/mpeg"),
            Self::M4a => ("m4a", "audio/mp4"),
            Self::Mp4 => ("mp4", "audio/mp4"),
            Self::Ogg => ("ogg", "audio/ogg"),
            Self::Flac => ("flac", "audio/flac"),
            Self::Webm => ("webm", "audio/webm"),
        }
    }
}

/// A code of a language.
struct Language(String);

impl<'de> Deserialize<'de> for Language {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let code = String::deserialize(from)?;
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        match (2..=16).contains(&code.len()) && code.bytes().all(fits) {
            true => Ok(Self(code)),
            false => Err(misfit("a code such as `en`")),
        }
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Language {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Language".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9-]{2,16}$" })
    }
}

/// What was said.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Transcribed {
    status: Status,
    text: String,
}

impl Capability for Transcribe {
    type Arguments = TranscribeArguments;
    type Reply = Transcribed;

    fn spec(&self) -> Spec {
        Spec::new(
            "stt.transcribe",
            "Writes down speech; the configured endpoint's host needs a `net` grant",
        )
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        arguments: TranscribeArguments,
    ) -> Result<Transcribed, CallError> {
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
        Ok(Transcribed {
            status: Status::Ok,
            text: text.to_owned(),
        })
    }
}

fn form(model: &str, arguments: &TranscribeArguments) -> Result<ApiBody, CallError> {
    let audio = audio(&arguments.audio_base64)?;
    let (format, kind) = arguments.format.words();
    let mut fields = vec![("model", model), ("response_format", "json")];
    if let Some(Language(code)) = &arguments.language {
        fields.push(("language", code));
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
        Ok(audio) if audio.is_empty() => Err(CallError::invalid(
            "audio_base64",
            "expected a recording, found nothing",
        )),
        Ok(audio) => Ok(audio),
        Err(_) => Err(CallError::invalid("audio_base64", "expected base64")),
    }
}

/// Returns what separates the parts: nothing a guest could foresee and put into its audio.
fn boundary() -> Result<String, CallError> {
    let mut random = [0; 24];
    let filled = SystemRandom::new().fill(&mut random);
    filled.map_err(|_| CallError::internal("the system gives no random numbers"))?;
    Ok(HEXLOWER.encode(&random))
}
