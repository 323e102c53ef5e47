//! Where a tool asks for a capability: its entry in the configuration, its server's, its signed manifest,
//! or what its kind of tool has anyway.

use std::borrow::Cow;

use jp_config::{Loaded, Origin, Place, ToolingConfig, tool::ToolSource};
use jp_policy::Capability;

use super::{Said, covers, key_of};
use crate::{Host, tool::PreparedTool};

/// Says where a tool asks for something.
pub(super) fn said(
    tool: &PreparedTool,
    capability: &Capability,
    loaded: &Loaded,
    host: &Host,
) -> Said {
    let name = tool.name.as_str();
    let own = ["conversation", "tools", name];
    let found = match &tool.source {
        ToolSource::Registry { .. } => of_manifest(name, loaded, host),
        ToolSource::Mcp { server, .. } => {
            let table = ["providers", "mcp", server.as_str()];
            let entry = Entry { table, loaded };
            let found = entry.names(capability);
            let found = found.or_else(|| entry.of_server(capability));
            let found = found.or_else(|| entry.has(capability));
            found.unwrap_or_else(|| unset("calls of a server need it"))
        }
        ToolSource::Builtin { .. } => {
            let entry = Entry { table: own, loaded };
            let found = entry.names(capability);
            let found = found.or_else(|| entry.has(capability));
            found.unwrap_or_else(|| unset("jp gives this builtin that"))
        }
        ToolSource::Local { .. } => {
            let entry = Entry { table: own, loaded };
            let found = entry.names(capability);
            let found = found.or_else(|| entry.of_kind(tool, capability));
            let found = found.or_else(|| entry.has(capability));
            found.unwrap_or_else(|| unset("this kind of tool has it"))
        }
    };
    let Found { key, place, words } = found;
    Said {
        allows: true,
        key,
        place,
        words,
    }
}

/// Where it was found.
struct Found {
    key: Option<String>,
    place: Option<Place>,
    words: Cow<'static, str>,
}

const fn unset(words: &'static str) -> Found {
    Found {
        key: None,
        place: None,
        words: Cow::Borrowed(words),
    }
}

/// The entry of a tool or a server in the configuration.
struct Entry<'a> {
    table: [&'a str; 3],
    loaded: &'a Loaded,
}

impl Entry<'_> {
    fn path<'k>(&'k self, key: &[&'k str]) -> Vec<&'k str> {
        [&self.table[..], key].concat()
    }

    /// Looks for the line below `grant` that names a capability.
    fn names(&self, capability: &Capability) -> Option<Found> {
        let whole = match capability {
            Capability::Files(rule) if rule.path.as_str() == "/workspace" => {
                self.granted("workspace")
            }
            _ => None,
        };
        whole.or_else(|| {
            let key = key_of(capability);
            let path = self.path(&["grant", key]);
            let fits = |item: &str| covers(item, capability);
            let place = self.loaded.place_of_item(&path, fits)?;
            Some(asked(key, place))
        })
    }

    /// Looks for the key below `grant` that says a capability without naming it: `net = true`.
    fn has(&self, capability: &Capability) -> Option<Found> {
        self.granted(key_of(capability))
    }

    fn granted(&self, key: &str) -> Option<Found> {
        let place = self.loaded.place_of(&self.path(&["grant", key]))?;
        Some(asked(key, place))
    }

    /// What a server needs because of how it is reached.
    fn of_server(&self, capability: &Capability) -> Option<Found> {
        match capability {
            Capability::Subprocess => self.because("command", "its server is a program"),
            Capability::Net(_) => self.because("url", "its server is there"),
            _ => None,
        }
    }

    /// What a tool of the workspace needs unless its entry says otherwise.
    fn of_kind(&self, tool: &PreparedTool, capability: &Capability) -> Option<Found> {
        match capability {
            Capability::Subprocess => self.because("command", "it is a command"),
            Capability::Files(_) if tool.wasm.is_some() => self.because(
                "wasm",
                "Wasm tools get the workspace unless `grant.workspace` is set",
            ),
            Capability::Files(_) => self.because(
                "command",
                "commands get the workspace unless `grant.workspace` is set",
            ),
            _ => None,
        }
    }

    fn because(&self, key: &str, words: &'static str) -> Option<Found> {
        let place = self.loaded.place_of(&self.path(&[key]))?;
        Some(Found {
            key: Some(key.to_owned()),
            place: Some(place),
            words: words.into(),
        })
    }
}

fn asked(key: &str, place: Place) -> Found {
    Found {
        key: Some(format!("grant.{key}")),
        place: Some(place),
        words: "the tool's entry asks for it".into(),
    }
}

fn of_manifest(name: &str, loaded: &Loaded, host: &Host) -> Found {
    let place = match loaded.config.tooling.get(name) {
        Some(ToolingConfig::Custom(custom)) => Some(Place {
            origin: Origin::File(custom.manifest.to_path(host.root())),
            line: None,
            column: None,
        }),
        _ => None,
    };
    Found {
        key: Some("capabilities".to_owned()),
        place,
        words: "its signed manifest asks for it".into(),
    }
}
