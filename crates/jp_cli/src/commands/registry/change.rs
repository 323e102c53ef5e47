//! `jp registry deprecate`, `revoke` and `renew`.

use std::path::PathBuf;

use clap::Args;
use jp_registry::{Revocation, RevokedThing, ToolId};

use super::{keys, publish};
use crate::{error::CliError, exit::Exit, ui::Ui};

/// Arguments of `jp registry deprecate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Deprecated versions still work; whoever has them is told.

Examples:
  jp registry deprecate ./tools ocr '<2.0.0' --key registry.key --reason old
  jp registry deprecate ./tools ocr '<2.0.0' --key registry.key --undo")]
pub(crate) struct DeprecateArgs {
    /// The directory of the registry
    dir: PathBuf,
    /// The tool
    id: String,
    /// Its versions, such as `1.2.0`, `<2.0.0` or `*`
    versions: String,
    /// Why
    #[arg(long, required_unless_present = "undo")]
    reason: Option<String>,
    /// Take the deprecation back
    #[arg(long, conflicts_with = "reason")]
    undo: bool,
    /// The secret key of the registry
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

/// Arguments of `jp registry revoke`.
#[derive(Debug, Args)]
#[command(
    after_help = "\
What is revoked is refused everywhere as soon as the list was seen, and never
comes back.

Examples:
  jp registry revoke ./tools --key registry.key --reason 'leaks' \\
      --tool ocr --versions 1.2.0
  jp registry revoke ./tools --key registry.key --reason 'malware' \\
      --sha256 9f86…
  jp registry revoke ./tools --key registry.key --reason 'stolen' \\
      --publisher-key 0123…",
    group = clap::ArgGroup::new("what").required(true).args(["tool", "sha256", "publisher_key"])
)]
pub(crate) struct RevokeArgs {
    /// The directory of the registry
    dir: PathBuf,
    /// Versions of this tool
    #[arg(long, value_name = "ID", requires = "versions")]
    tool: Option<String>,
    /// Which versions, such as `1.2.0` or `<1.3.0`
    #[arg(long, value_name = "VERSIONS", requires = "tool")]
    versions: Option<String>,
    /// These bytes, whatever tool they are
    #[arg(long)]
    sha256: Option<String>,
    /// Everything the key with this id signed
    #[arg(long, value_name = "KEY-ID")]
    publisher_key: Option<String>,
    /// Why
    #[arg(long)]
    reason: String,
    /// The secret key of the registry
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

/// Arguments of `jp registry renew`.
#[derive(Debug, Args)]
#[command(after_help = "\
An index and revocations that are a year old, or older than they say they hold,
make whoever fetches them wonder whether newer ones are held back. Run this
before, by hand or by a timer.

Examples:
  jp registry renew ./tools --valid-for 30 --key registry.key
  jp registry renew ./tools --key registry.key")]
pub(crate) struct RenewArgs {
    /// The directory of the registry
    dir: PathBuf,
    /// For how many days lists hold from now on; as before unless given
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=3650))]
    valid_for: Option<u64>,
    /// The secret key of the registry
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

/// Reads versions: one that is written out means itself.
fn versions(text: &str) -> Result<semver::VersionReq, CliError> {
    let exact = text.parse::<semver::Version>().is_ok();
    let text = if exact {
        format!("={text}")
    } else {
        text.to_owned()
    };
    text.parse()
        .map_err(|error: semver::Error| CliError::usage(format!("`{text}`: {error}")))
}

fn tool(text: &str) -> Result<ToolId, CliError> {
    text.parse()
        .map_err(|error: jp_registry::FormatError| CliError::usage(error.to_string()))
}

/// Deprecates versions of a tool.
pub(crate) fn deprecate(args: &DeprecateArgs, ui: &Ui) -> Result<Exit, CliError> {
    let (id, versions) = (tool(&args.id)?, versions(&args.versions)?);
    let key = keys::open(&args.key)?;
    let registry = publish::open(&args.dir, &key)?;
    let count = registry
        .deprecate(&id, &versions, args.reason.as_deref())
        .map_err(CliError::publish)?;
    let done = if args.undo {
        "no longer deprecated"
    } else {
        "deprecated"
    };
    ui.say(format_args!("{count} version(s) of {id} are {done}."));
    Ok(Exit::Done)
}

/// Takes something back for good.
pub(crate) fn revoke(args: &RevokeArgs, ui: &Ui) -> Result<Exit, CliError> {
    let usage = |error: jp_disk::Sha256Error| CliError::usage(error.to_string());
    let thing = match (&args.tool, &args.sha256, &args.publisher_key) {
        (Some(id), _, _) => RevokedThing::Versions {
            id: tool(id)?,
            versions: versions(args.versions.as_deref().unwrap_or("*"))?,
        },
        (_, Some(sha256), _) => RevokedThing::Artifact(sha256.parse().map_err(usage)?),
        (_, _, Some(key)) => {
            let key = key.parse();
            RevokedThing::Key(
                key.map_err(|error: jp_registry::FormatError| CliError::usage(error.to_string()))?,
            )
        }
        _ => return Err(CliError::usage("say what is revoked")),
    };
    let key = keys::open(&args.key)?;
    let registry = publish::open(&args.dir, &key)?;
    let reason = args.reason.clone();
    registry
        .revoke(Revocation { thing, reason })
        .map_err(CliError::publish)?;
    ui.say("Revoked.");
    Ok(Exit::Done)
}

/// Signs the lists of a registry anew.
pub(crate) fn renew(args: &RenewArgs, ui: &Ui) -> Result<Exit, CliError> {
    let key = keys::open(&args.key)?;
    let registry = publish::open(&args.dir, &key)?;
    let holds = args.valid_for.map(|days| days.saturating_mul(24 * 60 * 60));
    registry.renew(holds).map_err(CliError::publish)?;
    ui.say("Renewed.");
    Ok(Exit::Done)
}
