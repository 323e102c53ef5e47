//! `jp tool verify` and `jp tool review`: a tool's manifest, looked at before anybody runs it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use jp_policy::{Form, Request, Unbacked};
use jp_registry::{Digest, Expected, Fetched, MAX_MANIFEST, Places, Purpose, ToolManifest};
use serde_json::{Value, json};

use crate::{
    commands::JSON_VERSION,
    error::CliError,
    exit::Exit,
    page::Page,
    places,
    ui::{Style, Ui},
    words,
};

/// The largest artifact that is hashed.
const MAX_ARTIFACT: u64 = 64 << 20;

/// Arguments of `jp tool verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Checks the signature beside the manifest (MANIFEST.sig unless --signature says
otherwise) against the keys you trust, and the artifact against the manifest.

Examples:
  jp tool verify tools/ocr.json
  jp tool verify ocr.json --artifact ocr.wasm")]
pub(crate) struct VerifyArgs {
    /// The manifest
    manifest: PathBuf,
    /// Its signature
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// The artifact it should pin
    #[arg(long, value_name = "FILE")]
    artifact: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `jp tool review`.
#[derive(Debug, Args)]
#[command(after_help = "\
Shows everything a reviewer must see: what a model sees, what the tool asks
for, its limits, models and licence. Nothing of the tool runs.

Examples:
  jp tool review tools/ocr.json")]
pub(crate) struct ReviewArgs {
    /// The manifest
    manifest: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads a document of a tool's maker.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let failed = |source| CliError::at("cannot read", path, source);
    let found = fs::metadata(path).map_err(failed)?;
    if !found.is_file() || found.len() > MAX_MANIFEST as u64 {
        let message = format!(
            "invalid file {}: expected a regular file of at most {MAX_MANIFEST} bytes",
            path.display()
        );
        return Err(CliError::usage(message));
    }
    fs::read(path).map_err(failed)
}

/// Reads a manifest, and says where it is wrong.
pub(crate) fn manifest(path: &Path) -> Result<(Value, ToolManifest), CliError> {
    let bytes = read(path)?;
    let wrong = |reason: String| CliError::usage(format!("{}: {reason}", path.display()));
    let value = jp_registry::parse_document(&bytes, MAX_MANIFEST)
        .map_err(|error| wrong(error.to_string()))?;
    let read = ToolManifest::read(&value).map_err(|error| wrong(error.to_string()))?;
    Ok((value, read))
}

/// Returns the signature file that belongs to a manifest.
pub(crate) fn signature_path(manifest: &Path) -> PathBuf {
    let mut name = manifest.as_os_str().to_owned();
    name.push(".sig");
    PathBuf::from(name)
}

/// Reads the signatures of a manifest, and says how to make them where there are none.
pub(crate) fn signatures(manifest: &Path, path: &Path) -> Result<Vec<u8>, CliError> {
    read(path).map_err(|error| match error {
        CliError::System { .. } => CliError::Usage {
            message: format!(
                "{} is not signed: there is no {}",
                manifest.display(),
                path.display()
            ),
            hint: Some(format!(
                "sign it: `jp registry sign {} --key FILE`",
                manifest.display()
            )),
        },
        other => other,
    })
}

/// Verifies a manifest, and an artifact against it.
pub(crate) fn verify(args: &VerifyArgs, ui: &Ui) -> Result<Exit, CliError> {
    let (_, said) = manifest(&args.manifest)?;
    let signature = args.signature.clone();
    let signature = signature.unwrap_or_else(|| signature_path(&args.manifest));
    let fetched = Fetched {
        bytes: read(&args.manifest)?,
        signatures: signatures(&args.manifest, &signature)?,
        from: args.manifest.display().to_string(),
    };
    let known = Places::new(Path::new("."), places::own().data_dir()?);
    let known = known.known().map_err(CliError::install)?;
    let expected = Expected {
        id: said.id.clone(),
        version: None,
        digest: None,
        registry: None,
        purpose: Purpose::Install,
    };
    let verified = jp_registry::verify(fetched, &known.roots, &known.revoked, &expected);
    let verified = verified.map_err(|error| CliError::install(error.into()))?;
    let artifact = args.artifact.as_deref().map(digest).transpose()?;
    if let Some(found) = artifact.filter(|found| *found != said.artifact.sha256) {
        return Err(CliError::Registry {
            message: format!(
                "the artifact is not the one that the manifest pins: its sha256 is {found}, not {}",
                said.artifact.sha256
            ),
            hint: None,
            exit: Exit::Denied,
        });
    }
    let (id, version) = (&said.id, &said.version);
    let key = &verified.key;
    if args.json {
        ui.json(&json!({
            "version": JSON_VERSION,
            "id": id.as_str(),
            "tool_version": version.to_string(),
            "manifest": verified.digest.to_string(),
            "key": key.to_string(),
            "artifact": artifact.map(|found| found.to_string()),
        }))?;
        return Ok(Exit::Done);
    }
    ui.say(format_args!(
        "{id} {version} is signed by the key {key}, which you trust for it."
    ));
    match artifact {
        Some(found) => ui.say(format_args!(
            "The artifact is {found}, as the manifest says."
        )),
        None => ui.hint("`--artifact FILE` compares the Wasm file too"),
    }
    Ok(Exit::Done)
}

fn digest(path: &Path) -> Result<Digest, CliError> {
    let failed = |source| CliError::at("cannot read", path, source);
    let found = fs::metadata(path).map_err(failed)?;
    if !found.is_file() || found.len() > MAX_ARTIFACT {
        let message = format!(
            "invalid file {}: expected a regular file of at most {MAX_ARTIFACT} bytes",
            path.display()
        );
        return Err(CliError::usage(message));
    }
    Ok(Digest::of(&fs::read(path).map_err(failed)?))
}

/// Shows what a reviewer must see.
pub(crate) fn review(args: &ReviewArgs, ui: &Ui) -> Result<Exit, CliError> {
    let (value, said) = manifest(&args.manifest)?;
    let request = said.request();
    let conditional = request.conditional.iter();
    let all = || {
        conditional
            .clone()
            .map(|more| &more.needs)
            .chain([&request.capabilities])
    };
    let subprocess = all().any(|set| set.subprocess);
    let any_host = all().any(|set| set.net == jp_policy::Net::Any);
    let unbacked = request.unbacked(Form::Wasm, &jp_llm::is_known_call);
    if args.json {
        let unbacked = unbacked.as_ref();
        ui.json(&json!({
            "version": JSON_VERSION,
            "refused": unbacked.map(ToString::to_string),
            "hint": unbacked.map(Unbacked::instead),
            "manifest": value,
            "digest": jp_registry::document_digest(&value).map_err(CliError::registry)?.to_string(),
            "shown": said.shown(),
            "asks": request.words(),
            "runs_commands": subprocess,
            "reaches_any_host": any_host,
        }))?;
        return Ok(Exit::Done);
    }
    ui.bytes(page(&said, &request).as_bytes())?;
    let strongly = |text: &str| ui.say(ui.paint(Style::Bad, text));
    if subprocess {
        strongly(
            "WARNING: it runs commands of the host (tool.exec.subprocess). What a command does, no \
             sandbox of Wasm can hold.",
        );
    }
    if any_host {
        strongly(
            "WARNING: it can reach every host (net: true). Whatever it reads, it can send anywhere.",
        );
    }
    if let Some(unbacked) = unbacked {
        strongly(&format!("REFUSED at install: {unbacked}."));
        ui.hint(&unbacked.instead());
    }
    Ok(Exit::Done)
}

/// Writes down all of a manifest that counts: no line of it may stay unseen.
fn page(said: &ToolManifest, request: &Request) -> Page {
    let mut page = Page::new(12);
    page.field("tool", &format!("{} {}", said.id, said.version));
    page.field("name", &said.display_name);
    page.field("description", &said.description);
    page.field("licence", &said.license);
    let artifact = &said.artifact;
    let size = words::bytes(artifact.size_bytes);
    page.field("artifact", &format!("sha256 {}, {size}", artifact.sha256));
    if let Some(url) = &artifact.url {
        page.field("fetched from", url);
    }
    page.field("asks for", &words::request(request).join("\n"));
    page.field("limits", &words::asked_limits(&request.limits));
    for model in &said.model_dependencies {
        page.field("model", &model.to_string());
    }
    if let Some(deprecated) = &said.deprecated {
        page.field("deprecated", &deprecated.reason);
    }
    page.field("takes", &format!("{:#}", said.input_schema));
    if let Some(schema) = &said.output_schema {
        page.field("returns", &format!("{schema:#}"));
    }
    page
}
