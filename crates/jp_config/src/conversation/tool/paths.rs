//! `grant.paths` and `policy.paths`: files and directories of this machine beside the workspace, to read.

use jp_policy::{Access, FileRule, GuestPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::scalar::scalar;

/// Where policies have the paths of this machine, so that none passes for one of a guest.
const HOST: &str = "/host";

/// What guests find at these places is something else.
const RESERVED: &[&str] = &[
    "app-data",
    "host",
    "in",
    "models",
    "subjects",
    "user",
    "workspace",
];

/// A file or directory of this machine, and what may be done with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathGrant {
    /// Where it is; `~/` is your home directory.
    pub path: HostPath,
    /// What may be done with it: it can be read.
    #[serde(default)]
    pub access: PathAccess,
}

impl PathGrant {
    /// Returns what a policy says of it. Without a home directory nothing is below it.
    pub(crate) fn rule(&self) -> Option<FileRule> {
        let path = self.path.0.strip_prefix('/')?;
        let path = GuestPath::new(&format!("{HOST}/{path}")).ok()?;
        let access = Access::Read;
        Some(FileRule { path, access })
    }
}

/// What may be done with a path of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathAccess {
    /// Look at it.
    #[default]
    Read,
}

/// A path of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct HostPath(String);

impl HostPath {
    fn parse(text: &str) -> Option<Self> {
        let below = match text.strip_prefix("~/") {
            Some(below) => below,
            None => text.strip_prefix('/')?,
        };
        GuestPath::new(&format!("{HOST}/{below}")).ok()?;
        let first = below.split('/').find(|part| !part.is_empty())?;
        let is_reserved = text.starts_with('/') && RESERVED.contains(&first);
        (!is_reserved).then(|| Self(text.to_owned()))
    }
}

scalar! {
    HostPath: "an absolute path without `..`, or one that starts with `~/`, such as `~/docs`",
    schema { "type": "string", "pattern": "^(/|~/)." },
    read |value| value.as_str().and_then(HostPath::parse),
    write |this| Value::String(this.0),
}

/// Puts the home directory in where paths of a configuration start with `~/`.
pub(crate) fn expand(config: &mut Value, home: &str) {
    let expand_list = |owner: Option<&mut Value>| {
        let paths = owner.and_then(|owner| owner.get_mut("paths"));
        for entry in paths.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(Value::String(path)) = entry.get_mut("path")
                && let Some(below) = path.strip_prefix("~/")
            {
                *path = format!("{}/{below}", home.trim_end_matches('/'));
            }
        }
    };
    expand_list(config.get_mut("policy"));
    for table in ["/conversation/tools", "/providers/mcp"] {
        let entries = config.pointer_mut(table).and_then(Value::as_object_mut);
        for entry in entries.into_iter().flat_map(|entries| entries.values_mut()) {
            expand_list(entry.get_mut("grant"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_is_absolute_or_below_the_home_directory() {
        for good in ["/srv/docs", "~/docs", "/tmp/x", "/home/ada"] {
            assert!(HostPath::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "docs",
            "~",
            "~/",
            "/",
            "//",
            "~ada/x",
            "/a/../b",
            "~/../x",
            "/workspace/x",
            "/user",
        ] {
            assert!(HostPath::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_home_directory_is_put_in_wherever_a_path_stands() {
        let entry = json!({"grant": {"paths": [{"path": "~/docs"}, {"path": "/x"}]}});
        let mut config = json!({
            "policy": {"paths": [{"path": "~/docs"}]},
            "conversation": {"tools": {"a": entry}}, "providers": {"mcp": {"b": entry}},
        });
        expand(&mut config, "/home/ada/");
        assert_eq!(config["policy"]["paths"][0]["path"], "/home/ada/docs");
        for path in ["/conversation/tools/a", "/providers/mcp/b"] {
            let paths = &config.pointer(path).unwrap()["grant"]["paths"];
            assert_eq!(*paths, json!([{"path": "/home/ada/docs"}, {"path": "/x"}]));
        }
        let grant: PathGrant = serde_json::from_value(json!({"path": "/home/ada/docs"})).unwrap();
        assert_eq!(
            grant.rule().unwrap().to_string(),
            "/host/home/ada/docs:read"
        );
        let unknown: PathGrant = serde_json::from_value(json!({"path": "~/docs"})).unwrap();
        assert_eq!(unknown.rule(), None);
    }
}
