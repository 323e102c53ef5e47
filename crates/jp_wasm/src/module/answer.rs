//! What a module's answer means: a result, an error, or a capability call.
//!
//! An answer may be as large as the output limit, so nothing of it is turned into values but the
//! few fields that decide; the rest is checked to be JSON and passed on as it is.

use std::borrow::Cow;

use jp_tool::{Answer, Outcome, Problem};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};

use super::AbiVersion;
use crate::{
    capability::{self, CapabilityError},
    error::Error,
};

/// JSON longer than this is not a status, version or flag of ours.
const MAX_WORD: usize = 100;

/// Characters of a reason; a JSON error may quote what it could not read.
const MAX_REASON: usize = 300;

/// Bytes of each stream that an exit is explained with.
const MAX_STREAM: usize = 16 * 1024;

/// What a module said.
#[expect(
    clippy::large_enum_variant,
    reason = "made once per answer and taken apart at once; a box would cost each an allocation"
)]
pub(super) enum Said {
    /// Its last word.
    Answer(Answer),
    /// What it wants done on its behalf.
    Call {
        /// The capability.
        name: String,
        /// The arguments, as it wrote them.
        arguments: String,
    },
}

/// The fields that decide.
#[derive(Deserialize, Default)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stub: Option<&'a RawValue>,
    #[serde(borrow, default)]
    abi_version: Option<&'a RawValue>,
    #[serde(borrow, default)]
    capability_call: Option<&'a RawValue>,
    #[serde(borrow, default)]
    retryable: Option<&'a RawValue>,
    #[serde(borrow, default)]
    code: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Envelope<'_> {
    /// Returns what an answer complains about, if it has a code and a text for it.
    fn problem(&self) -> Option<Problem> {
        let text = |value: Option<&RawValue>| serde_json::from_str::<String>(value?.get()).ok();
        Some(Problem {
            code: Some(text(self.code)?),
            message: text(self.error)?,
        })
    }

    /// Returns the status, whichever way it is written; nothing for what is not a text.
    fn status(&self) -> Cow<'_, str> {
        let written = word(self.status);
        let quoted = written.strip_prefix('"');
        match quoted.and_then(|rest| rest.strip_suffix('"')) {
            Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
            Some(_) => Cow::Owned(serde_json::from_str(written).unwrap_or_default()),
            None => Cow::Borrowed(""),
        }
    }
}

#[derive(Deserialize)]
struct CapabilityCall<'a> {
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

/// Reads an answer, which no text at all is too.
pub(super) fn read(text: String, version: AbiVersion) -> Result<Said, Error> {
    if text.is_empty() {
        return Ok(Said::Answer(Outcome::from("{}").into()));
    }
    let envelope = envelope(&text)?;
    if word(envelope.stub) == "true" {
        return Err(refused(
            "it answered `\"stub\": true`: a placeholder, not a tool",
        ));
    }
    match &*envelope.status() {
        "capability_call" => capability_call(&envelope, version),
        "host_call" => Err(refused(
            "it attempted the deprecated host_call fallback; a tool asks with a capability_call",
        )),
        status => {
            let kind = Kind::of(status, &envelope);
            let problem = match kind {
                Kind::Success => None,
                Kind::Error { .. } => envelope.problem(),
            };
            let answer = Answer::from(kind.outcome(text));
            Ok(Said::Answer(answer.with_problem(problem)))
        }
    }
}

/// Turns what a capability call brought into the outcome of the call.
pub(super) fn of_capability(name: &str, result: Result<Box<RawValue>, CapabilityError>) -> Answer {
    match result {
        Ok(result) => Kind::Success.outcome(told(name, &result)).into(),
        Err(error) => failed(error),
    }
}

/// Writes the result of a capability call as a module receives it.
pub(super) fn told(name: &str, result: &RawValue) -> String {
    let name = Value::from(name).to_string();
    let parts = [
        r#"{"status":"ok","abi_version":1,"capability_result":{"name":"#,
        &name,
        r#","result":"#,
        result.get(),
        "}}",
    ];
    parts.concat()
}

/// Makes the answer of a capability call that failed and was the module's last word.
fn failed(error: CapabilityError) -> Answer {
    let CapabilityError {
        json,
        problem,
        transient,
    } = error;
    Answer::from(Kind::Error { transient }.outcome(json)).with_problem(Some(problem))
}

/// Turns the exit of a program that failed into an answer: what it said, or else what is known.
pub(super) fn of_exit(code: i32, stdout: &[u8], stderr: &[u8]) -> Answer {
    let said = std::str::from_utf8(stdout).ok();
    let said = said.filter(|text| !text.is_empty());
    match said.and_then(|text| Some((text, envelope(text).ok()?))) {
        Some((text, envelope)) => {
            let is_error = envelope.status() == "error";
            let problem = envelope.problem().filter(|_| is_error);
            Answer::from(Outcome::failed(text)).with_problem(problem)
        }
        None => {
            let end = |bytes: &[u8]| {
                let from = bytes.len().saturating_sub(MAX_STREAM);
                String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).into_owned()
            };
            let message = format!("the tool exited with code {code}");
            let said = json!({
                "status": "error",
                "code": "exit",
                "error": message,
                "stdout": end(stdout),
                "stderr": end(stderr),
            });
            let code = Some("exit".to_owned());
            Answer::from(Outcome::failed(said.to_string()))
                .with_problem(Some(Problem { code, message }))
        }
    }
}

/// Whether an answer is a success or an error.
enum Kind {
    Success,
    Error { transient: bool },
}

impl Kind {
    fn of(status: &str, envelope: &Envelope<'_>) -> Self {
        if status == "error" {
            let transient = word(envelope.retryable) == "true";
            Self::Error { transient }
        } else {
            Self::Success
        }
    }

    fn outcome(self, text: String) -> Outcome {
        match self {
            Self::Success => Outcome::Success { content: text },
            Self::Error { transient } => Outcome::Error {
                message: text,
                trace: Vec::new(),
                transient,
            },
        }
    }
}

fn capability_call(envelope: &Envelope<'_>, version: AbiVersion) -> Result<Said, Error> {
    let call = envelope
        .capability_call
        .ok_or_else(|| refused("its `capability_call` object is missing"))?;
    let (found, supported) = (word(envelope.abi_version), version.supported());
    if envelope.abi_version.is_some() && !supported.contains(&found) {
        let message = format!(
            "Unsupported capability ABI version {} (supported: {})",
            if found.is_empty() { "?" } else { found },
            supported.join(", ")
        );
        let error = capability::error("invalid_args", message);
        return Ok(Said::Answer(failed(error)));
    }
    let call: CapabilityCall<'_> = serde_json::from_str(call.get())
        .map_err(|error| refused(&format!("its `capability_call` cannot be read: {error}")))?;
    Ok(Said::Call {
        name: call
            .name
            .ok_or_else(|| refused("its `capability_call` has no name"))?,
        arguments: call.args.map_or("{}", RawValue::get).to_owned(),
    })
}

impl AbiVersion {
    const fn supported(self) -> &'static [&'static str] {
        match self {
            Self::One => &["1"],
            Self::Two => &["1", "2"],
        }
    }
}

/// Checks that text is JSON and finds the fields that decide.
fn envelope(text: &str) -> Result<Envelope<'_>, Error> {
    let read = if text.trim_start().starts_with('{') {
        serde_json::from_str(text)
    } else {
        serde_json::from_str::<IgnoredAny>(text).map(|_| Envelope::default())
    };
    read.map_err(|error| refused(&format!("WASM output must be valid JSON: {error}")))
}

/// Returns a short JSON value as it is written; nothing for an absent or a long one.
fn word(value: Option<&RawValue>) -> &str {
    let text = value.map_or("", RawValue::get);
    if text.len() <= MAX_WORD { text } else { "" }
}

/// Says what is wrong with an answer; what the guest wrote may be part of it, but not all of it.
fn refused(reason: &str) -> Error {
    Error::Trap {
        reason: jp_text::shorten(reason, MAX_REASON).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_is_told_is_json_whatever_the_name_holds() {
        for name in ["clock.now_unix", "a\"},\"status\":\"error", "\u{0}\n\\"] {
            let result = RawValue::from_string(r#"{"unix": 1}"#.to_owned()).unwrap();
            let read: Value = serde_json::from_str(&told(name, &result)).unwrap();
            let expected = json!({
                "status": "ok", "abi_version": 1,
                "capability_result": {"name": name, "result": {"unix": 1}}
            });
            assert_eq!(read, expected);
        }
    }
    #[test]
    fn a_status_is_read_however_it_is_spelled() {
        for (status, is_error) in [
            (r#""error""#, true),
            (r#""\u0065rror""#, true),
            (r#""error\n""#, false),
            (r#""ok""#, false),
            ("1", false),
            ("null", false),
            (r#"["error"]"#, false),
        ] {
            let text = format!(r#"{{"status": {status}, "retryable": true}}"#);
            let Said::Answer(answer) = read(text.clone(), AbiVersion::One).unwrap() else {
                panic!("a call: {text}");
            };
            let transient = matches!(
                answer.outcome,
                Outcome::Error {
                    transient: true,
                    ..
                }
            );
            assert_eq!(transient, is_error, "{text}");
        }
        let call = r#"{"status": "capability\u005fcall", "capability_call": {"name": "a"}}"#;
        let said = read(call.to_owned(), AbiVersion::One).unwrap();
        assert!(matches!(said, Said::Call { .. }));
    }
}
