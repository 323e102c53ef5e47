//! `jp registry deprecate` and `revoke`.

use std::path::PathBuf;

use clap::Args;
use jp_registry::{
    ToolId,
    revocation::{Revocation, RevokedThing},
};

use super::{keys, publish};
use crate::{error::CliError, exit::Exit, ui::Ui};

/// Arguments of `jp registry deprecate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Deprecated versions still work; whoever has them is told.

Examples:
  jp registry deprecate ./tools ocr '<2.0.0' --reason 'use 2.0' --key registry.key
  jp registry deprecate ./tools ocr '<2.0.0' --undo --key registry.key")]
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
What is revoked is refused everywhere as soon as the list was seen, and never comes
back.

Examples:
  jp registry revoke ./tools --tool ocr --versions 1.2.0 --reason 'leaks' --key registry.key
  jp registry revoke ./tools --sha256 9f86… --reason 'malware' --key registry.key
  jp registry revoke ./tools --publisher-key 0123… --reason 'stolen' --key registry.key",
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
        .map_err(|error: jp_registry::IdError| CliError::usage(error.to_string()))
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
    let usage = |error: jp_registry::IdError| CliError::usage(error.to_string());
    let thing =
        match (&args.tool, &args.sha256, &args.publisher_key) {
            (Some(id), _, _) => RevokedThing::Versions {
                id: tool(id)?,
                versions: versions(args.versions.as_deref().unwrap_or("*"))?,
            },
            (_, Some(sha256), _) => RevokedThing::Artifact(sha256.parse().map_err(usage)?),
            (_, _, Some(key)) => {
                let key = key.parse();
                RevokedThing::Key(key.map_err(|error: jp_registry::key::KeyError| {
                    CliError::usage(error.to_string())
                })?)
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
