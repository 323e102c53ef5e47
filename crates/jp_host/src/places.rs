//! Where a user keeps things.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use jp_audit::{Log, Options};
use jp_disk::Sha256;
use jp_llm::broker::{BrokerPlaces, SessionKeyring, VaultPaths};

use crate::OpenError;

/// Directories of the home directory that tools may be granted by name.
const NAMED: &[&str] = &[
    "Desktop",
    "Documents",
    "Downloads",
    "Music",
    "Pictures",
    "Public",
    "Templates",
    "Videos",
];

/// Where a user keeps configuration, data and what can be made again.
#[derive(Debug, Clone, Default)]
pub struct Places {
    config: Option<PathBuf>,
    data: Option<PathBuf>,
    cache: Option<PathBuf>,
    home: Option<PathBuf>,
    keyring: KeyringVariables,
}

/// What the environment says of the keyring.
#[derive(Debug, Clone, Default)]
struct KeyringVariables {
    choice: OsString,
    bus: Option<OsString>,
    runtime_dir: Option<PathBuf>,
}

impl Places {
    /// Reads where things are from variables of the environment: `JP_CONFIG_DIR`, `JP_DATA_DIR` and
    /// `JP_CACHE_DIR`, or else what XDG says, or else below `HOME`.
    #[must_use]
    pub fn from_environment(variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let place = |own: &str, base: &str, below_home: &str| {
            let chosen = if let Some(own) = set(own) {
                PathBuf::from(own)
            } else if let Some(base) = set(base).map(PathBuf::from).filter(|p| p.is_absolute()) {
                base.join("jp")
            } else {
                PathBuf::from(set("HOME")?).join(below_home).join("jp")
            };
            // A relative path would mean another directory under `-C`.
            std::path::absolute(chosen).ok()
        };
        Self {
            config: place("JP_CONFIG_DIR", "XDG_CONFIG_HOME", ".config"),
            data: place("JP_DATA_DIR", "XDG_DATA_HOME", ".local/share"),
            cache: place("JP_CACHE_DIR", "XDG_CACHE_HOME", ".cache"),
            home: set("HOME").map(PathBuf::from),
            keyring: KeyringVariables {
                choice: variable("JP_KEYRING").unwrap_or_default(),
                bus: set("DBUS_SESSION_BUS_ADDRESS"),
                runtime_dir: set("XDG_RUNTIME_DIR").map(PathBuf::from),
            },
        }
    }

    /// Puts everything below one directory; for tests and for programs with a home of their own.
    #[must_use]
    pub fn below(dir: &Path) -> Self {
        Self {
            config: Some(dir.join("config")),
            data: Some(dir.join("data")),
            cache: Some(dir.join("cache")),
            home: None,
            keyring: KeyringVariables {
                choice: "off".into(),
                ..KeyringVariables::default()
            },
        }
    }

    /// Returns the directory of the user's configuration.
    #[must_use]
    pub fn config_dir(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// Returns the directory of the user's configuration, where it is needed.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is none.
    pub fn needed_config_dir(&self) -> Result<&Path, OpenError> {
        self.config_dir().ok_or(OpenError::NoHome {
            variable: "JP_CONFIG_DIR",
            what: "configuration",
        })
    }

    /// Returns the directory of what must survive: the audit log and the trust file.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is none.
    pub fn data_dir(&self) -> Result<&Path, OpenError> {
        self.data.as_deref().ok_or(OpenError::NoHome {
            variable: "JP_DATA_DIR",
            what: "data",
        })
    }

    /// Returns the directory of the audit log.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is none.
    pub fn audit_dir(&self) -> Result<PathBuf, OpenError> {
        Ok(self.data_dir()?.join("audit"))
    }

    /// Returns the store of what servers keep for their clients.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is no place for it.
    pub fn serve_store(&self) -> Result<PathBuf, OpenError> {
        Ok(self.data_dir()?.join("serve/store.sqlite"))
    }

    /// Returns the store of what the user decided about calls.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is no place for it.
    pub fn approvals_store(&self) -> Result<PathBuf, OpenError> {
        Ok(self.data_dir()?.join("approvals/store.sqlite"))
    }

    /// Returns the key that seals what clients keep for servers.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is no place for it.
    pub fn serve_key(&self) -> Result<PathBuf, OpenError> {
        Ok(self.data_dir()?.join("serve/key"))
    }

    /// Returns the file of the tokens of others whom the user lets in over HTTP.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is no place for it.
    pub fn serve_tokens(&self) -> Result<PathBuf, OpenError> {
        Ok(self.data_dir()?.join("serve/tokens.json"))
    }

    /// Opens the audit log, kept as the options say. A front that runs anything must.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn open_log(&self, options: Options) -> Result<Log, OpenError> {
        Ok(Log::open(&self.audit_dir()?, options)?)
    }

    /// Returns the file that remembers which workspaces are trusted.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is none.
    pub fn trust_file(&self) -> Result<PathBuf, OpenError> {
        Ok(self.data_dir()?.join("trust.json"))
    }

    /// Returns the file of the keys that the user trusts.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is none.
    pub fn keys_file(&self) -> Result<PathBuf, OpenError> {
        Ok(self.data_dir()?.join("keys.json"))
    }

    /// Returns the directory of what can be made or fetched again.
    #[must_use]
    pub fn cache_dir(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// Returns the directory of compiled code.
    #[must_use]
    pub fn code_dir(&self) -> Option<PathBuf> {
        Some(self.cache_dir()?.join("code"))
    }

    /// Returns the directory of the store of signed tools, which all workspaces share.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is none.
    pub fn store_dir(&self) -> Result<PathBuf, OpenError> {
        let cache = self.cache_dir().ok_or(OpenError::NoHome {
            variable: "JP_CACHE_DIR",
            what: "cache",
        })?;
        Ok(cache.join("store"))
    }

    /// Returns where the tools of registries are kept that a workspace has.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHome`] when there is no data directory.
    pub fn registry(&self, root: &Path) -> Result<jp_registry::Places, OpenError> {
        Ok(jp_registry::Places::new(root, self.data_dir()?))
    }

    /// Returns where the broker keeps things. The key of the secrets lies apart from them, so that a
    /// copy of the data directory opens nothing.
    ///
    /// # Errors
    ///
    /// When there is no configuration or data directory, or `JP_KEYRING` is wrong.
    pub fn broker(&self) -> Result<BrokerPlaces, OpenError> {
        let (config, data) = (self.needed_config_dir()?, self.data_dir()?);
        Ok(BrokerPlaces {
            store: data.join("broker/store.sqlite"),
            secrets: VaultPaths {
                secrets: data.join("secrets/sealed"),
                key: config.join("key/secrets"),
            },
            keyring: self.keyring.open()?,
        })
    }

    /// Returns the directories beside the workspace that a tool can be granted, by the paths it knows
    /// them by: what this workspace's tools keep, and those of the user's own that have a name.
    #[must_use]
    pub fn granted(&self, root: &Path) -> BTreeMap<String, PathBuf> {
        let mut places = BTreeMap::new();
        if let Ok(data) = self.data_dir() {
            let name = Sha256::of(root.as_os_str().as_encoded_bytes()).to_string();
            places.insert("/app-data".to_owned(), data.join("app-data").join(name));
        }
        for name in self.home.iter().flat_map(|_| NAMED) {
            let guest = format!("/user/{}", name.to_lowercase());
            places.extend(self.home.as_ref().map(|home| (guest, home.join(name))));
        }
        places
    }

    /// Returns the directory of jp's own that is below a canonical path, if one is: its policy, its trust,
    /// its keys and its record are nothing that a tool or a script may reach.
    #[must_use]
    pub fn own_within(&self, root: &Path) -> Option<&Path> {
        let own = [self.config_dir(), self.data.as_deref()];
        let mut own = own.into_iter().flatten();
        own.find(|dir| canonical(dir).starts_with(root))
    }

    /// Returns the directory of jp's own that is below a path, or that the path is in.
    pub(crate) fn own_at(&self, path: &Path) -> Option<&Path> {
        let path = canonical(path);
        let own = [self.config_dir(), self.data.as_deref()];
        let mut own = own.into_iter().flatten();
        own.find(|own| {
            let own = canonical(own);
            own.starts_with(&path) || path.starts_with(own)
        })
    }

    pub(crate) fn check_config_dir(&self) -> Result<(), OpenError> {
        match self.config_dir() {
            Some(dir) if dir.exists() && !dir.is_dir() => Err(OpenError::ConfigDir {
                path: dir.to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

/// Returns where a directory is, or will be once it is made.
fn canonical(dir: &Path) -> PathBuf {
    let mut above = dir.ancestors();
    let known = above.find_map(|above| Some((above, above.canonicalize().ok()?)));
    match known {
        Some((above, found)) => match dir.strip_prefix(above) {
            Ok(below) if below.as_os_str().is_empty() => found,
            Ok(below) => found.join(below),
            Err(_) => dir.to_path_buf(),
        },
        None => dir.to_path_buf(),
    }
}

impl KeyringVariables {
    /// Returns the keyring of this session, unless `JP_KEYRING=off` forbids it.
    fn open(&self) -> Result<Option<SessionKeyring>, OpenError> {
        match self.choice.to_str() {
            Some("" | "auto") => {}
            Some("off") => return Ok(None),
            _ => {
                return Err(OpenError::Keyring {
                    value: self.choice.clone(),
                });
            }
        }
        if let Some(address) = &self.bus {
            return Ok(Some(SessionKeyring::new(address.to_str())));
        }
        // Where systemd puts it; programs that the desktop did not start have no variable.
        let socket = self.runtime_dir.as_ref().map(|dir| dir.join("bus"));
        Ok(Some(match socket.filter(|socket| socket.exists()) {
            Some(socket) => SessionKeyring::at_socket(&socket),
            None => SessionKeyring::new(None),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(set: &[(&str, &str)]) -> Places {
        Places::from_environment(&|name| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn our_own_variable_wins_over_xdg_and_xdg_over_home() {
        let home = ("HOME", "/h");
        let xdg = ("XDG_DATA_HOME", "/x");
        let own = ("JP_DATA_DIR", "/own");
        let data = |set: &[(&str, &str)]| places(set).data_dir().map(Path::to_owned).ok();
        assert_eq!(data(&[home, xdg, own]), Some("/own".into()));
        assert_eq!(data(&[home, xdg]), Some("/x/jp".into()));
        assert_eq!(
            data(&[home, ("XDG_DATA_HOME", "relative")]),
            Some("/h/.local/share/jp".into())
        );
        assert_eq!(data(&[("HOME", "")]), None);
    }

    #[test]
    fn the_keyring_is_left_alone_where_that_is_said_and_a_typing_error_is_told() {
        let of = |value| places(&[("HOME", "/h"), ("JP_KEYRING", value)]).broker();
        assert_eq!(of("off").unwrap().keyring, None);
        assert!(of("auto").unwrap().keyring.is_some());
        let error = of("of").unwrap_err().to_string();
        assert_eq!(error, "invalid JP_KEYRING \"of\": expected `off` or `auto`");
    }

    #[test]
    fn a_directory_around_our_own_ones_is_known() {
        let held = tempfile::tempdir().unwrap();
        let root = held.path().canonicalize().unwrap();
        let places = Places::below(&root.join("mine"));
        assert_eq!(places.own_within(&root), places.config_dir());
        assert_eq!(places.own_within(&root.join("other")), None);
    }
}
