//! `jp trust key`: whose signatures count, and for which names.

use clap::{Args, Subcommand};
use jp_registry::{
    AllNames, FormatError, KeyId, NamePattern, PublicKey, TrustRoots, TrustedRegistry,
};
use serde_json::{Value, json};

use crate::{
    commands::JSON_VERSION, error::CliError, exit::Exit, places, session::Session, table::table,
    text, ui::Ui,
};

/// The verbs of `jp trust`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Trust a key for the tools it signs, list the trusted keys, or stop trusting one
    Key(KeyArgs),
}

/// Arguments of `jp trust key`.
#[derive(Debug, Args)]
#[command(after_help = "\
A publisher's key counts for the names it is trusted for and for no others; a
registry's key signs its index and its revocations.

Examples:
  jp trust key                                           the keys you trust
  jp trust key ed25519:qL0… --for ocr --for 'pdf.*'
  jp trust key ed25519:pX9… --registry main
  jp trust key 6f1c9a… --forget                          by its id
  jp trust key 6f1c9a… --revoke 'was stolen'             for good")]
pub(crate) struct KeyArgs {
    /// The public key, or with --forget and --revoke its id; none lists the trusted keys
    key: Option<String>,
    /// A tool it may sign, such as `ocr` or `pdf.*` (may be repeated)
    #[arg(long = "for", value_name = "NAME")]
    names: Vec<String>,
    /// Trust it for every tool there is
    #[arg(long)]
    all_names: bool,
    /// It is the key of this registry
    #[arg(long, value_name = "NAME", conflicts_with_all = ["names", "all_names"])]
    registry: Option<String>,
    /// With --registry: refuse its tools that it has not countersigned
    #[arg(long, requires = "registry")]
    validates: bool,
    /// Stop trusting it
    #[arg(long, conflicts_with_all = ["names", "registry", "revoke"])]
    forget: bool,
    /// Never trust it again
    #[arg(long, value_name = "REASON", conflicts_with_all = ["names", "registry"])]
    revoke: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Trusts a key, lists the trusted keys, or stops trusting one.
pub(crate) fn run(args: &KeyArgs, ui: &Ui) -> Result<Exit, CliError> {
    let file = places::own().keys_file()?;
    let Some(key) = &args.key else {
        return list(&TrustRoots::load(&file)?, args, ui);
    };
    if args.forget || args.revoke.is_some() {
        let id: KeyId = id_of(key)?;
        let (_, known) = TrustRoots::change(&file, |roots| {
            Ok::<bool, CliError>(match &args.revoke {
                Some(reason) => roots.revoke(&id, reason),
                None => roots.forget(&id),
            })
        })?;
        ui.say(match (known, &args.revoke) {
            (_, Some(_)) => format!("The key {id} is revoked for good."),
            (true, None) => format!("The key {id} is no longer trusted."),
            (false, None) => format!("The key {id} was not trusted."),
        });
        let done = known || args.revoke.is_some();
        return Ok(if done { Exit::Done } else { Exit::SaidNo });
    }
    let key: PublicKey = key.parse().map_err(usage)?;
    if let Some(name) = &args.registry {
        let session = Session::open(ui)?;
        refuse_configured(name, &key, &session)?;
        let registry = TrustedRegistry {
            key: key.clone(),
            validates: args.validates,
        };
        TrustRoots::change(&file, |roots| {
            roots.trust_registry(name, registry).map_err(CliError::from)
        })?;
        ui.say(format_args!(
            "You trust {} as the registry `{name}`.",
            key.id()
        ));
        warn_of_unknown(name, &session, ui);
        return Ok(Exit::Done);
    }
    trust(&key, args, &file, ui)
}

/// Refuses a key that the user's configuration would replace by its own at the next command.
fn refuse_configured(name: &str, key: &PublicKey, session: &Session) -> Result<(), CliError> {
    let registry = session.loaded().config.registries.get(name);
    let configured = registry.and_then(|registry| registry.key.as_ref());
    match configured {
        Some(other) if *other != key.to_string() => Err(CliError::Usage {
            message: format!(
                "your configuration names another key of the registry `{name}`, which wins"
            ),
            hint: Some(format!(
                "if the new one is right: `jp config set --user registries.{name}.key={key}`"
            )),
        }),
        _ => Ok(()),
    }
}

/// Warns of a registry that the configuration does not name: its key counts for nothing until it does.
fn warn_of_unknown(name: &str, session: &Session, ui: &Ui) {
    let known = &session.loaded().config.registries;
    if known.contains_key(name) {
        return;
    }
    ui.warning(&format!(
        "your configuration names no registry `{name}`, so the key is not used yet"
    ));
    let add = format!("`jp config set --user 'registries.{name}:={{\"url\": \"URL\"}}'` adds it");
    let names: Vec<String> = known.keys().map(|name| format!("`{name}`")).collect();
    ui.hint(&match names.is_empty() {
        true => add,
        false => format!("there is {}; or {add}", names.join(", ")),
    });
}

fn trust(
    key: &PublicKey,
    args: &KeyArgs,
    file: &std::path::Path,
    ui: &Ui,
) -> Result<Exit, CliError> {
    let parse = |name: &String| name.parse();
    let names: Result<Vec<NamePattern>, FormatError> = args.names.iter().map(parse).collect();
    let mut names = names.map_err(|error| CliError::usage(error.to_string()))?;
    let all = match args.all_names {
        true => AllNames::Allowed,
        false => AllNames::Refused,
    };
    if args.all_names {
        names.push(NamePattern::All);
    }
    if names.is_empty() {
        return Err(CliError::Usage {
            message: "missing `--for`: a key is trusted for the names of tools that it may sign"
                .to_owned(),
            hint: Some("add `--for NAME`, such as `--for ocr` or `--for 'pdf.*'`".to_owned()),
        });
    }
    let (roots, ()) = TrustRoots::change(file, |roots| {
        roots
            .trust(key, &names, all)
            .map(|_| ())
            .map_err(CliError::from)
    })?;
    let names: Vec<String> = roots
        .publishers()
        .filter(|(id, _)| **id == key.id())
        .flat_map(|(_, publisher)| publisher.names.iter().map(ToString::to_string))
        .collect();
    ui.say(format_args!(
        "You trust {} for {}.",
        key.id(),
        names.join(", ")
    ));
    Ok(Exit::Done)
}

/// Takes a key's id, or the key itself.
fn id_of(text: &str) -> Result<KeyId, CliError> {
    match text.parse::<PublicKey>() {
        Ok(key) => Ok(key.id()),
        Err(_) => text.parse().map_err(usage),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape `map_err` takes")]
fn usage(error: FormatError) -> CliError {
    CliError::usage(error.to_string())
}

fn list(roots: &TrustRoots, args: &KeyArgs, ui: &Ui) -> Result<Exit, CliError> {
    let names = |publisher: &jp_registry::Publisher| -> Vec<String> {
        publisher.names.iter().map(ToString::to_string).collect()
    };
    if args.json {
        let publishers: Vec<Value> = roots
            .publishers()
            .map(|(id, publisher)| {
                json!({"id": id.to_string(), "key": publisher.key.to_string(), "names": names(publisher)})
            })
            .collect();
        let registries: Vec<Value> = roots
            .registries()
            .map(|(name, registry)| {
                json!({"name": name, "key": registry.key.to_string(), "validates": registry.validates})
            })
            .collect();
        ui.json(&json!({
            "version": JSON_VERSION,
            "publishers": publishers,
            "registries": registries,
        }))?;
        return Ok(Exit::Done);
    }
    let publishers = roots.publishers().map(|(id, publisher)| {
        vec![
            id.to_string(),
            "publisher".to_owned(),
            names(publisher).join(", "),
        ]
    });
    let registries = roots.registries().map(|(name, registry)| {
        let name = text::one_line(name);
        vec![registry.key.id().to_string(), "registry".to_owned(), name]
    });
    let rows: Vec<Vec<String>> = publishers.chain(registries).collect();
    if rows.is_empty() {
        ui.say("You trust no keys. `jp trust key ed25519:… --for NAME` trusts one.");
        return Ok(Exit::Done);
    }
    ui.bytes(table(&["KEY", "KIND", "FOR"], &rows).as_bytes())?;
    Ok(Exit::Done)
}
