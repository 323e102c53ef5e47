//! From what is written to what is meant, field by field.

use jp_policy::{Ceilings, Limits};
use semver::Version;
use serde_json::{Map, Value};
use url::Url;

use super::{
    Artifact, Deprecated, MAX_ARTIFACT, ManifestError, ToolManifest, licence,
    raw::{RawArtifact, RawDeprecated, RawManifest},
    schema,
    text::{Kind, check_filled},
};
use crate::{Digest, id::ToolRef};

/// The longest URL.
const MAX_URL: usize = 2048;

/// The most models of one tool.
const MAX_MODELS: usize = 16;

/// The most requirements of one tool.
const MAX_REQUIREMENTS: usize = 64;

/// The longest version: numbers, a few words and a commit.
const MAX_VERSION: usize = 64;

/// Reads the meaning of a manifest.
pub(super) fn check(raw: RawManifest) -> Result<ToolManifest, ManifestError> {
    if let Some(schema) = &raw.schema {
        check_filled("/$schema", schema, Kind::Line(256))?;
    }
    check_filled("/displayName", &raw.display_name, Kind::Line(40))?;
    check_filled("/description", &raw.description, Kind::Line(140))?;
    licence::check(&raw.license).map_err(|problem| ManifestError::value("/license", problem))?;
    check_conditions(&raw)?;
    check_limits(&raw)?;
    check_calling(&raw)?;
    check_validation(raw.validated_at.as_deref(), raw.validated_by.as_deref())?;
    let imports = raw.wasi_imports.capabilities();
    let input_schema = object_schema(&raw.input_schema)?;
    let output_schema = raw.output_schema.as_ref();
    let output_schema = output_schema.map(|own| schema::check("/output_schema", own));
    let manifest = ToolManifest {
        id: parse("/id", &raw.id)?,
        version: version("/version", &raw.version)?,
        display_name: raw.display_name,
        description: raw.description,
        license: raw.license,
        artifact: artifact(raw.artifact)?,
        model_dependencies: models(&raw.model_dependencies)?,
        capability_requirements: raw.capability_requirements,
        imports: imports.map_err(|source| ManifestError::Capabilities { source })?,
        wasi_imports: raw.wasi_imports,
        limits: raw.limits,
        entrypoint: raw.entrypoint,
        abi: raw.abi,
        deprecated: raw.deprecated.map(deprecated).transpose()?,
        validated_at: raw.validated_at,
        validated_by: raw.validated_by,
        input_schema: Value::Object(input_schema),
        output_schema: output_schema.transpose()?.map(Value::Object),
        shown_digest: Digest::of(b""),
        capabilities_digest: Digest::of(b""),
    };
    manifest.with_digests()
}

fn parse<T: std::str::FromStr<Err: std::error::Error>>(
    path: &str,
    text: &str,
) -> Result<T, ManifestError> {
    text.parse()
        .map_err(|error: T::Err| ManifestError::value(path, error))
}

/// Reads a version.
pub(crate) fn version(path: &str, text: &str) -> Result<Version, ManifestError> {
    let parsed = Some(text)
        .filter(|text| text.len() <= MAX_VERSION)
        .and_then(|text| Version::parse(text).ok());
    parsed.ok_or_else(|| {
        let problem = format!(
            "invalid version `{}`: expected three numbers, such as `1.2.0`",
            jp_text::short_line(text, 40)
        );
        ManifestError::value(path, problem)
    })
}

fn artifact(raw: RawArtifact) -> Result<Artifact, ManifestError> {
    if let Some(url) = &raw.url {
        check_url("/artifact/url", url)?;
    }
    let size_bytes = raw.size_bytes;
    if size_bytes == 0 || size_bytes > MAX_ARTIFACT {
        let problem = format!("invalid size of {size_bytes} bytes: expected 1 to {MAX_ARTIFACT}");
        return Err(ManifestError::value("/artifact/size_bytes", problem));
    }
    Ok(Artifact {
        url: raw.url,
        sha256: parse("/artifact/sha256", &raw.sha256)?,
        size_bytes,
    })
}

/// Checks that a URL can be downloaded from, and holds no password.
pub(crate) fn check_url(path: &str, text: &str) -> Result<(), ManifestError> {
    let fail = |problem: &str| Err(ManifestError::value(path, problem));
    if text.len() > MAX_URL {
        return fail(&format!("a URL has at most {MAX_URL} bytes"));
    }
    let Ok(url) = Url::parse(text) else {
        return fail("invalid URL: expected one such as `https://example.com/ocr.wasm`");
    };
    if !matches!(url.scheme(), "https" | "http") || !url.has_host() {
        return fail("only `https:` and `http:` can be downloaded from");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return fail("a URL holds no user and password: everybody can read the manifest");
    }
    // The parser fixes spaces, tabs and backslashes; two readers would see two URLs.
    if text.chars().any(|c| !c.is_ascii_graphic() || c == '\\') || url.fragment().is_some() {
        return fail("a URL holds no spaces, backslashes, other letters than ASCII's, or `#`");
    }
    Ok(())
}

fn models(written: &[String]) -> Result<Vec<crate::Pinned>, ManifestError> {
    if written.len() > MAX_MODELS {
        let problem = format!("a tool has at most {MAX_MODELS} models");
        return Err(ManifestError::value("/model_dependencies", problem));
    }
    let mut models: Vec<crate::Pinned> = Vec::with_capacity(written.len());
    for (at, text) in written.iter().enumerate() {
        let path = format!("/model_dependencies/{at}");
        let model: crate::Pinned = parse(&path, text)?;
        // Both would be mounted at the same place.
        if models.iter().any(|other| other.id == model.id) {
            return Err(ManifestError::value(&path, "the model is named twice"));
        }
        models.push(model);
    }
    Ok(models)
}

/// Checks that every condition is about an argument there is.
fn check_conditions(raw: &RawManifest) -> Result<(), ManifestError> {
    if raw.capability_requirements.len() > MAX_REQUIREMENTS {
        let problem = format!("a tool has at most {MAX_REQUIREMENTS} requirements");
        return Err(ManifestError::value("/capability_requirements", problem));
    }
    let arguments = raw
        .input_schema
        .get("properties")
        .and_then(Value::as_object);
    for (at, requirement) in raw.capability_requirements.iter().enumerate() {
        let Some(when) = &requirement.when else {
            continue;
        };
        let name = when.top_level();
        if !arguments.is_some_and(|arguments| arguments.contains_key(&name)) {
            let path = format!("/capability_requirements/{at}");
            let problem = format!(
                "the tool has no argument `{}`",
                jp_text::short_line(&name, 64)
            );
            return Err(ManifestError::value(&path, problem));
        }
    }
    Ok(())
}

fn check_limits(raw: &RawManifest) -> Result<(), ManifestError> {
    let checked = Ceilings::default().check(&raw.limits, Some(Limits::REGISTRY_FUEL));
    checked.map_err(|source| ManifestError::Limits { source })?;
    Ok(())
}

fn check_calling(raw: &RawManifest) -> Result<(), ManifestError> {
    if let Some(abi) = raw.abi.filter(|abi| !(1..=2).contains(abi)) {
        let problem = format!("invalid version {abi} of the calling convention: expected 1 or 2");
        return Err(ManifestError::value("/abi", problem));
    }
    let is_name = |name: &str| {
        let letter = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
        let starts = name
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        starts && name.len() <= 64 && name.bytes().all(letter)
    };
    if let Some(name) = raw.entrypoint.as_deref().filter(|name| !is_name(name)) {
        let problem = format!(
            "invalid export `{}`: expected a name such as `execute`",
            jp_text::short_line(name, 64)
        );
        return Err(ManifestError::value("/entrypoint", problem));
    }
    Ok(())
}

/// Checks when and by whom something was looked at.
pub(crate) fn check_validation(at: Option<&str>, by: Option<&str>) -> Result<(), ManifestError> {
    match (at, by) {
        (None, None) => Ok(()),
        (Some(at), Some(by)) => {
            check_day("/validated_at", at)?;
            check_filled("/validated_by", by, Kind::Line(80))
        }
        (None, Some(_)) => Err(ManifestError::value(
            "/validated_at",
            "it is missing beside `validated_by`",
        )),
        (Some(_), None) => Err(ManifestError::value(
            "/validated_by",
            "it is missing beside `validated_at`",
        )),
    }
}

/// Checks that a text is a day: `2026-04-01`.
fn check_day(path: &str, text: &str) -> Result<(), ManifestError> {
    let digits = |part: &str, length| {
        let all = part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
        all.then(|| part.parse::<u32>().ok()).flatten()
    };
    let mut parts = text.split('-');
    let mut number = |length| parts.next().and_then(|part| digits(part, length));
    let (year, month, day) = (number(4), number(2), number(2));
    let days = match (year, month) {
        (Some(_), Some(1 | 3 | 5 | 7 | 8 | 10 | 12)) => 31,
        (Some(_), Some(4 | 6 | 9 | 11)) => 30,
        (Some(year), Some(2)) if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        (Some(_), Some(2)) => 28,
        _ => 0,
    };
    if parts.next().is_none() && day.is_some_and(|day| (1..=days).contains(&day)) {
        return Ok(());
    }
    let problem = format!(
        "invalid day `{}`: expected one such as `2026-04-01`",
        jp_text::short_line(text, 40)
    );
    Err(ManifestError::value(path, problem))
}

fn deprecated(raw: RawDeprecated) -> Result<Deprecated, ManifestError> {
    let (path, reason, replaced_by) = match raw {
        RawDeprecated::Reason(reason) => ("/deprecated", reason, None),
        RawDeprecated::Table(table) => ("/deprecated/reason", table.reason, table.replaced_by),
    };
    check_filled(path, &reason, Kind::Line(280))?;
    let replaced_by = replaced_by.map(|text| parse::<ToolRef>("/deprecated/replaced_by", &text));
    Ok(Deprecated {
        reason,
        replaced_by: replaced_by.transpose()?.map(|tool| tool.to_string()),
    })
}

/// Checks the schema of the arguments, which are an object.
fn object_schema(own: &Map<String, Value>) -> Result<Map<String, Value>, ManifestError> {
    if own.get("type").and_then(Value::as_str) != Some("object") {
        let problem = "arguments are an object: write \"type\": \"object\"";
        return Err(ManifestError::schema("/input_schema/type", problem));
    }
    schema::check("/input_schema", own)
}
