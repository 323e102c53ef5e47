//! Where this user keeps things, which workspace is meant, and who is at the keyboard.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use jp_llm::broker::{BrokerPlaces, SessionKeyring, VaultPaths};
use jp_registry::{Digest, lock::LOCK_FILE};

use crate::{error::CliError, recover, ui::Ui};

/// The file in which an app says what it is.
const APP_MANIFEST: &str = "locara.json";

/// The most of `/etc/passwd` that is read for a name.
const MAX_PASSWD: u64 = 1024 * 1024;

/// Returns the directory of the user's configuration.
pub(crate) fn config_dir() -> Option<PathBuf> {
    place("JP_CONFIG_DIR", "XDG_CONFIG_HOME", ".config", "jp")
}

/// Returns the directory of what must survive: the audit log and the trust file.
pub(crate) fn data_dir() -> Result<PathBuf, CliError> {
    place("JP_DATA_DIR", "XDG_DATA_HOME", ".local/share", "jp").ok_or(CliError::NoHome {
        variable: "JP_DATA_DIR",
        what: "data",
    })
}

/// Returns the directory of the audit log.
pub(crate) fn audit_dir() -> Result<PathBuf, CliError> {
    Ok(data_dir()?.join("audit"))
}

/// Returns the file that remembers which workspaces are trusted.
pub(crate) fn trust_file() -> Result<PathBuf, CliError> {
    Ok(data_dir()?.join("trust.json"))
}

/// Returns the file of the keys that the user trusts.
pub(crate) fn keys_file() -> Result<PathBuf, CliError> {
    Ok(data_dir()?.join("keys.json"))
}

/// Returns where the broker keeps things. The key of the secrets lies apart from them, so that a copy
/// of the data directory opens nothing.
pub(crate) fn broker() -> Result<BrokerPlaces, CliError> {
    let config = config_dir().ok_or(CliError::NoHome {
        variable: "JP_CONFIG_DIR",
        what: "configuration",
    })?;
    let data = data_dir()?;
    Ok(BrokerPlaces {
        store: data.join("broker/store.sqlite"),
        secrets: VaultPaths {
            secrets: data.join("secrets/sealed"),
            key: config.join("key/secrets"),
        },
        keyring: keyring()?,
    })
}

/// Returns the keyring of this session, unless `JP_KEYRING=off` forbids it.
fn keyring() -> Result<Option<SessionKeyring>, CliError> {
    let chosen = env::var_os("JP_KEYRING").unwrap_or_default();
    match chosen.to_str() {
        Some("" | "auto") => {}
        Some("off") => return Ok(None),
        _ => {
            return Err(CliError::usage(format!(
                "JP_KEYRING is `off` or `auto`, not {chosen:?}"
            )));
        }
    }
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    if let Some(address) = set("DBUS_SESSION_BUS_ADDRESS") {
        return Ok(Some(SessionKeyring::new(address.to_str())));
    }
    // Where systemd puts it; programs that the desktop did not start have no variable.
    let socket = set("XDG_RUNTIME_DIR").map(|dir| PathBuf::from(dir).join("bus"));
    Ok(Some(match socket.filter(|socket| socket.exists()) {
        Some(socket) => SessionKeyring::at_socket(&socket),
        None => SessionKeyring::new(None),
    }))
}

/// Returns the directory of what can be made or fetched again.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    place("JP_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "jp")
}

/// Returns the directory of compiled code.
pub(crate) fn code_dir() -> Option<PathBuf> {
    Some(cache_dir()?.join("code"))
}

/// Returns the directories beside the workspace that a tool can be granted, by the paths it knows them
/// by: what this workspace's tools keep, and those of the user's own that have a name.
pub(crate) fn granted(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut places = BTreeMap::new();
    if let Ok(data) = data_dir() {
        let name = Digest::of(root.as_os_str().as_encoded_bytes()).to_string();
        places.insert("/app-data".to_owned(), data.join("app-data").join(name));
    }
    if let Some(home) = env::var_os("HOME").filter(|home| !home.is_empty()) {
        let home = PathBuf::from(home);
        for name in [
            "Desktop",
            "Documents",
            "Downloads",
            "Music",
            "Pictures",
            "Public",
            "Templates",
            "Videos",
        ] {
            let guest = format!("/user/{}", name.to_lowercase());
            places.insert(guest, home.join(name));
        }
    }
    places
}

/// Refuses a workspace that holds jp's own directories: a tool that may write there could change
/// the policy it runs under, and the record of what it did.
pub(crate) fn refuse_own_places(root: &Path) -> Result<(), CliError> {
    let own = [config_dir(), data_dir().ok()];
    let inside = own.into_iter().flatten().find(|dir| {
        let dir = dir.canonicalize().unwrap_or_else(|_| dir.clone());
        dir.starts_with(root)
    });
    match inside {
        Some(dir) => Err(CliError::usage(format!(
            "the workspace {} holds {}, which tools must not reach; work in another directory, or \
             move jp's own with JP_CONFIG_DIR and JP_DATA_DIR",
            root.display(),
            dir.display()
        ))),
        None => Ok(()),
    }
}

/// Refuses a configuration directory that is none: a policy that is not read does not hold.
pub(crate) fn check_config_dir() -> Result<(), CliError> {
    match config_dir() {
        Some(dir) if dir.exists() && !dir.is_dir() => Err(CliError::usage(format!(
            "{} is not a directory, so your configuration cannot be read from it; see JP_CONFIG_DIR",
            dir.display()
        ))),
        _ => Ok(()),
    }
}

fn place(own: &str, base: &str, below_home: &str, name: &str) -> Option<PathBuf> {
    let set = |name: &str| -> Option<OsString> { env::var_os(name).filter(|v| !v.is_empty()) };
    let chosen = if let Some(own) = set(own) {
        PathBuf::from(own)
    } else if let Some(base) = set(base).map(PathBuf::from).filter(|p| p.is_absolute()) {
        base.join(name)
    } else {
        PathBuf::from(set("HOME")?).join(below_home).join(name)
    };
    // A relative path would mean another directory under `-C`.
    std::path::absolute(chosen).ok()
}

/// The directory the command works in, and the workspace around it.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    pub(crate) cwd: PathBuf,
    pub(crate) root: PathBuf,
}

impl Workspace {
    /// Finds the workspace of a command, and undoes or finishes an apply that was killed in it.
    pub(crate) fn open(ui: &Ui) -> Result<Self, CliError> {
        let workspace = Self::find(ui.global.dir.as_deref())?;
        recover::workspace(&workspace, ui);
        Ok(workspace)
    }

    /// Finds the workspace: the nearest directory above that has a `.jp`, an app manifest or a lock
    /// file in it, or else the directory itself.
    fn find(dir: Option<&Path>) -> Result<Self, CliError> {
        let dir = dir.unwrap_or(Path::new("."));
        let cwd = dir.canonicalize().map_err(|error| {
            CliError::usage(format!(
                "cannot use the directory {}: {error}",
                dir.display()
            ))
        })?;
        if !cwd.is_dir() {
            return Err(CliError::usage(format!(
                "{} is no directory",
                dir.display()
            )));
        }
        let root = cwd.ancestors().find(|above| is_root(above));
        Ok(Self {
            root: root.unwrap_or(&cwd).to_owned(),
            cwd,
        })
    }
}

/// Tells whether a directory says that it is a workspace.
fn is_root(dir: &Path) -> bool {
    let has_file = |name: &str| dir.join(name).is_file();
    dir.join(".jp").is_dir() || has_file(APP_MANIFEST) || has_file(LOCK_FILE)
}

/// Returns who is at the keyboard: the name of the process's user, or else the number.
///
/// Not from `USER`, which anybody can set and the audit log would believe.
pub(crate) fn principal() -> String {
    let uid = rustix::process::getuid().as_raw().to_string();
    let mut text = Vec::new();
    if let Ok(file) = fs::File::open("/etc/passwd") {
        // A file that cannot be read leaves the number.
        let _ = file.take(MAX_PASSWD).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    let named = text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| format!("uid {uid}"))
}
