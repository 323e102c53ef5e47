//! `jp registry init`, `publish` and `add-model`.

use std::path::{Path, PathBuf};

use clap::Args;
use jp_publish::{Registry, SigningKey, Submission};
use jp_registry::{MAX_MANIFEST, Signatures};

use super::keys;
use crate::{
    clock,
    commands::{
        tool::verify::{manifest, read, signature_path, signatures},
        wasm,
    },
    error::CliError,
    exit::Exit,
    places,
    ui::Ui,
};

/// Arguments of `jp registry init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jp registry keygen registry.key
  jp registry init ./tools --name main --key registry.key")]
pub(crate) struct InitArgs {
    /// The directory
    dir: PathBuf,
    /// What the registry is called
    #[arg(long)]
    name: String,
    /// The secret key that signs its index
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

/// Arguments of `jp registry publish`.
#[derive(Debug, Args)]
#[command(after_help = "\
The manifest must be signed (`jp registry sign`), and the artifact must be the
one it pins. What is published never changes: a version that is there with
other content is refused, with exit code 1. The very same once more is fine.

Examples:
  jp registry publish ./tools ocr.json ocr.wasm --key registry.key
  jp registry publish ./tools ocr.json ocr.wasm --key registry.key \\
      --validated-by tools-team")]
pub(crate) struct PublishArgs {
    /// The directory of the registry
    dir: PathBuf,
    /// The manifest, with its signature beside it
    manifest: PathBuf,
    /// The artifact
    artifact: PathBuf,
    /// The secret key of the registry
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// State that somebody has validated the tool, today
    #[arg(long, value_name = "WHO")]
    validated_by: Option<String>,
}

/// Arguments of `jp registry add-model`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jp registry add-model ./tools glm-ocr.json glm-ocr.gguf --key registry.key")]
pub(crate) struct AddModelArgs {
    /// The directory of the registry
    dir: PathBuf,
    /// The model's manifest
    manifest: PathBuf,
    /// The files of its forms that have no URL of their own
    files: Vec<PathBuf>,
    /// The secret key of the registry
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

/// Opens a registry to change it.
pub(super) fn open<'a>(dir: &Path, key: &'a SigningKey) -> Result<Registry<'a>, CliError> {
    Registry::open(dir, key, clock::now() / 1000).map_err(CliError::publish)
}

/// Makes an empty registry.
pub(crate) fn init(args: &InitArgs, ui: &Ui) -> Result<Exit, CliError> {
    let key = keys::open(&args.key)?;
    let now = clock::now() / 1000;
    let made = Registry::init(&args.dir, &args.name, &key, now);
    made.map_err(CliError::publish)?;
    let dir = args.dir.canonicalize().unwrap_or_else(|_| args.dir.clone());
    ui.say(format_args!("Made a registry in {}.", dir.display()));
    let file = places::own()
        .config_dir()
        .map(|dir| dir.join("config.toml"));
    let file = file.map_or_else(String::new, |file| format!(", {}", file.display()));
    ui.say(format_args!(
        "To use it, add this to your own configuration{file}:"
    ));
    ui.line(format_args!(
        "[registries.{}]\ndir = \"{}\"\nkey = \"{}\"\ndefault = true",
        args.name,
        dir.display(),
        key.public()
    ))?;
    Ok(Exit::Done)
}

/// Puts a tool into a registry.
pub(crate) fn publish(args: &PublishArgs, ui: &Ui) -> Result<Exit, CliError> {
    let key = keys::open(&args.key)?;
    let (value, said) = manifest(&args.manifest)?;
    wasm::refuse_unbacked(&said, &args.artifact, ui)?;
    let path = signature_path(&args.manifest);
    let signatures = signatures(&args.manifest, &path)?;
    let signatures = Signatures::read(&signatures).map_err(CliError::registry)?;
    let today = clock::utc(clock::now());
    let today = today.split(' ').next().unwrap_or_default();
    let registry = open(&args.dir, &key)?;
    let published = registry.publish(&Submission {
        manifest: &value,
        signatures: &signatures,
        artifact: &args.artifact,
        publisher: None,
        validated: args.validated_by.as_deref().map(|who| (who, today)),
    });
    let published = published.map_err(CliError::publish)?;
    let (id, version) = (&published.id, &published.version);
    ui.say(match (published.already, published.newest) {
        (true, _) => format!("{id} {version} was there already, with the same content."),
        (false, true) => format!("Published {id} {version}; it is the newest."),
        (false, false) => format!("Published {id} {version}; a newer version stays the newest."),
    });
    ui.hint(&format!(
        "`jp registry serve {}` serves it on this machine; any web server can",
        args.dir.display()
    ));
    Ok(Exit::Done)
}

/// Puts a model into a registry.
pub(crate) fn add_model(args: &AddModelArgs, ui: &Ui) -> Result<Exit, CliError> {
    let key = keys::open(&args.key)?;
    let value = jp_registry::parse_document(&read(&args.manifest)?, MAX_MANIFEST);
    let value =
        value.map_err(|error| CliError::usage(format!("{}: {error}", args.manifest.display())))?;
    let files: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    let registry = open(&args.dir, &key)?;
    let digest = registry
        .add_model(&value, &files)
        .map_err(CliError::publish)?;
    ui.say(format_args!("Added the model; its manifest is {digest}."));
    Ok(Exit::Done)
}
