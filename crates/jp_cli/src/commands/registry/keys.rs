//! `jp registry keygen`, `sign` and `rotate`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use jp_disk::Disk;
use jp_publish::{KeyError, SigningKey};
use jp_registry::Signatures;

use crate::{
    clock,
    commands::tool::verify::{manifest, read, signature_path},
    error::CliError,
    exit::Exit,
    ui::Ui,
};

/// Arguments of `jp registry keygen`.
#[derive(Debug, Args)]
#[command(after_help = "\
The secret key is written to FILE, readable by you alone. The public key is
printed: it is what others trust, with `jp trust key`.

Examples:
  jp registry keygen publisher.key > publisher.pub")]
pub(crate) struct KeygenArgs {
    /// Where the secret key goes; a file that is there is left alone
    file: PathBuf,
}

/// Arguments of `jp registry sign`.
#[derive(Debug, Args)]
#[command(after_help = "\
Writes MANIFEST.sig. The signature covers the manifest in its canonical form,
and with it the sha256 of the artifact; comments and the order of keys do not
matter.

With --artifact the manifest's `artifact.sha256` and `size_bytes` are compared
with the file first.

Examples:
  jp registry sign ocr.json --key publisher.key --artifact ocr.wasm")]
pub(crate) struct SignArgs {
    /// The manifest
    manifest: PathBuf,
    /// The secret key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The artifact that the manifest pins
    #[arg(long, value_name = "FILE")]
    artifact: Option<PathBuf>,
}

/// Arguments of `jp registry rotate`.
#[derive(Debug, Args)]
#[command(after_help = "\
The old key states that the new one speaks for its names from now on; the
registry passes the statement on, and whoever trusts the old key is asked about
it.

Examples:
  jp registry rotate ./tools --key registry.key \\
      --from old.key --to new.key --for ocr")]
pub(crate) struct RotateArgs {
    /// The directory of the registry
    dir: PathBuf,
    /// The secret key of the registry
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The secret key that hands over
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// The secret key that takes over
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// A name that is handed over, such as `ocr` or `pdf.*` (may be repeated)
    #[arg(long = "for", value_name = "NAME", required = true)]
    names: Vec<String>,
}

/// Makes a key.
pub(crate) fn keygen(args: &KeygenArgs, ui: &Ui) -> Result<Exit, CliError> {
    let key = SigningKey::generate().map_err(key_error)?;
    key.write(&args.file).map_err(key_error)?;
    ui.line(key.public())?;
    ui.say(format_args!(
        "Its id is {}. Keep {} to yourself.",
        key.public().id(),
        args.file.display()
    ));
    ui.hint("others trust what was printed, with `jp trust key`");
    Ok(Exit::Done)
}

/// Reads a secret key.
pub(super) fn open(path: &Path) -> Result<SigningKey, CliError> {
    SigningKey::read(path).map_err(key_error)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape `map_err` takes")]
fn key_error(error: KeyError) -> CliError {
    CliError::Registry {
        message: error.to_string(),
        hint: error.hint(),
        exit: match error {
            KeyError::Io { .. } | KeyError::Random => Exit::HostFailure,
            _ => Exit::Usage,
        },
    }
}

/// Signs a manifest.
pub(crate) fn sign(args: &SignArgs, ui: &Ui) -> Result<Exit, CliError> {
    let (value, said) = manifest(&args.manifest)?;
    if let Some(path) = &args.artifact {
        let failed = |source| CliError::at("cannot read", path, source);
        let bytes = fs::read(path).map_err(failed)?;
        let found = (jp_registry::Digest::of(&bytes), bytes.len() as u64);
        if found != (said.artifact.sha256, said.artifact.size_bytes) {
            return Err(CliError::usage(format!(
                "{} is not what the manifest pins; write \"sha256\": \"{}\" and \"size_bytes\": {} into its `artifact`",
                path.display(),
                found.0,
                found.1
            )));
        }
    }
    let key = open(&args.key)?;
    let path = signature_path(&args.manifest);
    let mut signatures = match path.exists() {
        true => Signatures::read(&read(&path)?).map_err(CliError::registry)?,
        false => Signatures::default(),
    };
    let id = key.public().id();
    let made = jp_publish::sign_manifest(&value, &key).map_err(CliError::registry)?;
    // In place of a signature of an earlier text by the same key.
    signatures.add(made).map_err(CliError::registry)?;
    let written = Disk::real().replace(&path, &signatures.to_bytes(), 0o644);
    written.map_err(|source| CliError::at("cannot write", &path, source))?;
    let digest = jp_registry::document_digest(&value).map_err(CliError::registry)?;
    ui.say(format_args!(
        "Signed {} {} ({digest}) with {id}: {}",
        said.id,
        said.version,
        path.display()
    ));
    let (manifest, artifact) = (args.manifest.display(), args.artifact.as_ref());
    let artifact =
        artifact.map_or_else(|| "FILE.wasm".to_owned(), |path| path.display().to_string());
    ui.hint(&format!(
        "`jp registry publish DIR {manifest} {artifact} --key FILE` puts it into a registry, with the \
         registry's own key"
    ));
    Ok(Exit::Done)
}

/// Hands names over to another key.
pub(crate) fn rotate(args: &RotateArgs, ui: &Ui) -> Result<Exit, CliError> {
    let (key, old, new) = (open(&args.key)?, open(&args.from)?, open(&args.to)?);
    let names: Result<Vec<_>, _> = args.names.iter().map(|name| name.parse()).collect();
    let names =
        names.map_err(|error: jp_registry::FormatError| CliError::usage(error.to_string()))?;
    let now = clock::now() / 1000;
    let statement = jp_publish::sign_rotation(&old, new.public().clone(), names, now);
    let statement = statement.map_err(CliError::registry)?;
    let registry = super::publish::open(&args.dir, &key)?;
    registry
        .add_rotation(statement)
        .map_err(CliError::publish)?;
    ui.say(format_args!(
        "The key {} hands {} over to {}.",
        old.public().id(),
        args.names.join(", "),
        new.public().id()
    ));
    Ok(Exit::Done)
}
