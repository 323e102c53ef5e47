//! What a tool may be granted beyond the policy, as it is stored with a decision.

use jp_policy::{
    Access as FileAccess, Ambient, Brokered, Capabilities, FileRule, Files, GuestPath, Net,
};
use serde::{Deserialize, Serialize};

/// What a proposal is about.
pub(super) struct Access {
    /// What is granted.
    pub(super) capabilities: Capabilities,
    /// What the tool was, by its digest.
    pub(super) definition: [u8; 32],
    /// The lines of a policy that would grant the same.
    pub(super) lines: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    definition: String,
    lines: Vec<String>,
    files: Vec<(String, bool)>,
    selected: Option<bool>,
    net: Option<Vec<String>>,
    any_host: bool,
    subprocess: bool,
    calls: Vec<String>,
    env: Vec<String>,
    clocks: bool,
    random: bool,
    stdio: bool,
}

impl Access {
    pub(super) fn write(&self) -> String {
        let Capabilities {
            files,
            selected,
            net,
            subprocess,
            brokered,
            env,
            ambient,
        } = &self.capabilities;
        let writes = |access: FileAccess| access == FileAccess::ReadWrite;
        let rule = |rule: &FileRule| (rule.path.as_str().to_owned(), writes(rule.access));
        let stored = Stored {
            definition: self
                .definition
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            lines: self.lines.clone(),
            files: files.rules().iter().map(rule).collect(),
            selected: selected.map(writes),
            net: match net {
                Net::Hosts(hosts) => Some(hosts.iter().map(ToString::to_string).collect()),
                Net::None | Net::Any => None,
            },
            any_host: *net == Net::Any,
            subprocess: *subprocess,
            calls: brokered.names().map(ToString::to_string).collect(),
            env: env.iter().map(ToString::to_string).collect(),
            clocks: ambient.clocks,
            random: ambient.random,
            stdio: ambient.stdio,
        };
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Reads it back; nothing when any part of it makes no sense.
    pub(super) fn read(text: &str) -> Option<Self> {
        let stored: Stored = serde_json::from_str(text).ok()?;
        let access = |writes| match writes {
            true => FileAccess::ReadWrite,
            false => FileAccess::Read,
        };
        let rules = stored.files.iter().map(|(path, writes)| {
            Some(FileRule {
                path: GuestPath::new(path).ok()?,
                access: access(*writes),
            })
        });
        let rules: Option<Vec<FileRule>> = rules.collect();
        let hosts = stored.net.iter().flatten().map(|host| host.parse().ok());
        let hosts: Option<Vec<_>> = hosts.collect();
        let calls = stored.calls.iter().map(|name| name.parse().ok());
        let calls: Option<Vec<_>> = calls.collect();
        let env: Option<_> = stored.env.iter().map(|name| name.parse().ok()).collect();
        let net = match (stored.any_host, &stored.net) {
            (true, _) => Net::Any,
            (false, Some(_)) => Net::hosts(hosts?),
            (false, None) => Net::None,
        };
        Some(Self {
            capabilities: Capabilities {
                files: Files::new(rules?),
                selected: stored.selected.map(access),
                net,
                subprocess: stored.subprocess,
                brokered: Brokered::new(calls?),
                env: env?,
                ambient: Ambient {
                    clocks: stored.clocks,
                    random: stored.random,
                    stdio: stored.stdio,
                },
            },
            definition: digest(&stored.definition)?,
            lines: stored.lines,
        })
    }
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let parsed: jp_disk::Sha256 = text.parse().ok()?;
    Some(*parsed.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_can_be_missing_comes_back_as_it_was() {
        let mut all = Capabilities {
            net: Net::hosts(["*.example.com:443".parse().unwrap()]),
            subprocess: true,
            brokered: Brokered::new(["kv.sqlite.get".parse().unwrap()]),
            selected: Some(FileAccess::Read),
            ambient: Ambient::NONE,
            ..Capabilities::default()
        };
        all.env.insert("LANG".parse().unwrap());
        let all = all.with_files(GuestPath::new("/data").unwrap(), FileAccess::ReadWrite);
        for capabilities in [
            Capabilities {
                net: Net::Any,
                ..all.clone()
            },
            Capabilities {
                ambient: Ambient::NONE,
                ..Capabilities::default()
            },
            all,
        ] {
            let access = Access {
                capabilities: capabilities.clone(),
                definition: [9; 32],
                lines: vec!["net = true".to_owned()],
            };
            let read = Access::read(&access.write()).unwrap();
            assert_eq!(read.capabilities, capabilities);
            assert_eq!((read.definition, read.lines.len()), ([9; 32], 1));
        }
        assert!(Access::read("{}").is_none());
    }
}
