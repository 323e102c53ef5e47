//! Opens what a grant allows for a guest: directories, chosen files, a directory of the call's own, and
//! variables.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use jp_policy::{Access, FileRule};
use jp_wasm::{DirPerms, FilePerms, Preopen, TempQuota, ToolTemp, WasiConfig, WasiContext};

use crate::{
    ToolError,
    places::{directory_beside, in_workspace},
    runtime::Invocation,
    tool::{HostError, Misconfigured},
};

/// The directory that is the call's own.
const TEMP: &str = "/tmp";

/// Where chosen files are.
const CHOSEN: &str = "/in/";

/// The workspace's own data, which is made when the first tool may use it.
const APP_DATA: &str = "/app-data";

/// What a guest sees of this machine. Keep it until the guest is gone.
pub(super) struct Opened {
    /// What the guest finds.
    pub(super) wasi: WasiContext,
    /// Wiped when it is dropped.
    _temp: Option<ToolTemp>,
}

impl From<WasiContext> for Opened {
    fn from(wasi: WasiContext) -> Self {
        Self { wasi, _temp: None }
    }
}

/// Where a rule leads.
enum Place<'a> {
    /// To a directory of this machine.
    Dir(PathBuf),
    /// To one beside the workspace, which guests find at its own path.
    Beside(PathBuf),
    /// To one below another, which it must not leave.
    Below(&'a Path, &'a Path),
    /// To the directory of the call's own.
    Temp,
    /// To a file that is mounted by itself.
    File,
}

/// Opens what the grant of a call allows.
pub(super) fn open(invocation: &Invocation<'_>) -> Result<Opened, ToolError> {
    let rules = invocation.grant().capabilities().files.rules();
    let places: Vec<(&FileRule, Place<'_>)> = rules
        .iter()
        .map(|rule| Ok((rule, place(rule, invocation)?)))
        .collect::<Result<_, ToolError>>()?;
    let failed = |error: jp_wasm::Error| invocation.error(HostError::from(error));
    let preopens = places.iter().filter_map(|(rule, place)| match place {
        Place::Dir(dir) => Some(preopen(rule, dir)),
        Place::Beside(dir) => Some(Preopen {
            guest_path: rule.host_path()?.to_owned(),
            ..preopen(rule, dir)
        }),
        _ => None,
    });
    let config = WasiConfig {
        preopens: preopens.collect(),
    };
    let mut wasi = invocation
        .host
        .wasm()?
        .wasi_context(&config)
        .map_err(failed)?;
    for (rule, place) in &places {
        if let Place::Below(root, relative) = place {
            wasi.mount_below(root, relative, rule.path.as_str(), perms(rule.access))
                .map_err(failed)?;
        }
    }
    mount_files(invocation, &mut wasi)?;
    let wants_temp = places.iter().any(|(_, place)| matches!(place, Place::Temp));
    let temp = wants_temp
        .then(|| temp(invocation, &mut wasi))
        .transpose()?;
    wasi.env = variables(invocation);
    wasi.ambient = invocation.grant().capabilities().ambient;
    Ok(Opened { wasi, _temp: temp })
}

/// Says where a rule leads on this host.
fn place<'a>(rule: &'a FileRule, invocation: &Invocation<'a>) -> Result<Place<'a>, ToolError> {
    let (path, host) = (rule.path.as_str(), invocation.host);
    if let Some(below) = in_workspace(rule) {
        return Ok(match below.as_str() {
            "" => Place::Dir(host.root().to_owned()),
            // A directory below the workspace may be a symbolic link to somewhere else.
            below => Place::Below(host.root(), Path::new(below)),
        });
    }
    if rule.host_path().is_some() {
        let beside = directory_beside(rule, host.policy());
        return beside
            .map(Place::Beside)
            .ok_or_else(|| no_place(invocation, path));
    }
    if path.strip_prefix(TEMP).is_some_and(is_below) {
        return Ok(Place::Temp);
    }
    if path.starts_with(CHOSEN)
        || invocation
            .tool
            .model_files
            .iter()
            .any(|model| model.place == path)
    {
        return Ok(Place::File);
    }
    let known = host.places().iter().rev().find_map(|(prefix, dir)| {
        let rest = path.strip_prefix(prefix.as_str())?;
        is_below(rest).then_some((rest.trim_start_matches('/'), dir))
    });
    match known {
        None => Err(no_place(invocation, path)),
        Some(("", dir)) => {
            if path == APP_DATA {
                jp_disk::create_dir(dir).map_err(|source| {
                    let path = dir.clone();
                    invocation.error(HostError::Use { path, source })
                })?;
            }
            Ok(Place::Dir(dir.clone()))
        }
        Some((rest, dir)) => Ok(Place::Below(dir, Path::new(rest))),
    }
}

fn is_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// Mounts the files a person chose, and the models of the tool: each alone, without its directory.
fn mount_files(invocation: &Invocation<'_>, wasi: &mut WasiContext) -> Result<(), ToolError> {
    let rules = invocation.grant().capabilities().files.rules();
    for rule in rules {
        let access = match rule.access {
            Access::Read => FilePerms::Read,
            Access::ReadWrite => FilePerms::ReadWrite,
        };
        let place = rule.path.as_str();
        let chosen = invocation.files.iter().find(|file| file.place == place);
        let model = invocation
            .tool
            .model_files
            .iter()
            .find(|model| model.place == place);
        let (path, expected) = match (chosen, model) {
            (Some(file), _) => (file.file.path.clone(), Some(file.guest_path())),
            (None, Some(model)) => match model.found.get() {
                Some(path) => (path, None),
                None => return Err(no_place(invocation, place)),
            },
            (None, None) => continue,
        };
        let seen = wasi
            .mount_file(&path, place, access)
            .map_err(|error| invocation.error(HostError::from(error)))?;
        if expected.is_some_and(|expected| expected != seen) {
            return Err(invocation.error(HostError::Misplaced { seen }));
        }
    }
    Ok(())
}

/// Makes the directory of the call's own. What a crash left behind is removed once per process.
fn temp(invocation: &Invocation<'_>, wasi: &mut WasiContext) -> Result<ToolTemp, ToolError> {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let Some(base) = invocation.host.temp_dir() else {
        return Err(no_place(invocation, TEMP));
    };
    let first = SWEPT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(base.to_owned());
    if first {
        // What cannot be removed now stays for the next process, and is not a reason to refuse a call.
        drop(ToolTemp::sweep(base));
    }
    let failed = |error: jp_wasm::Error| invocation.error(HostError::from(error));
    let temp = ToolTemp::create(base, TempQuota::default()).map_err(failed)?;
    wasi.mount_temp(&temp).map_err(failed)?;
    Ok(temp)
}

/// Looks up the variables the grant names. The guest does not see those that are missing or not valid
/// UTF-8.
fn variables(invocation: &Invocation<'_>) -> Vec<(String, String)> {
    let names = invocation.grant().capabilities().env.iter();
    let known = names.filter_map(|name| {
        let name = name.to_string();
        let value = invocation.host.variable(&name)?.into_string().ok()?;
        Some((name, value))
    });
    known.collect()
}

fn preopen(rule: &FileRule, dir: &Path) -> Preopen {
    let (dir_perms, file_perms) = match rule.access {
        Access::Read => (DirPerms::Read, FilePerms::Read),
        Access::ReadWrite => (DirPerms::ReadWrite, FilePerms::ReadWrite),
    };
    Preopen {
        guest_path: rule.path.as_str().to_owned(),
        host_path: dir.to_owned(),
        dir_perms,
        file_perms,
    }
}

const fn perms(access: Access) -> DirPerms {
    match access {
        Access::Read => DirPerms::Read,
        Access::ReadWrite => DirPerms::ReadWrite,
    }
}

fn no_place(invocation: &Invocation<'_>, path: &str) -> ToolError {
    let path = path.to_owned();
    invocation.error(Misconfigured::NoPlace { path })
}
