//! What a declaration means.

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    Declared, DeclaredEnv, DeclaredError, DeclaredFiles, DeclaredFs, DeclaredNet, DeclaredStdio,
    USER_PATHS,
};
use crate::{
    Access, Ambient, Brokered, Capabilities, EnvName, FileRule, Files, GuestPath, HostPattern,
    HostPatternError, Net,
};

/// Hosts times ports; nobody reads a list that is longer than this.
const MAX_HOSTS: usize = 1024;

impl Declared {
    /// Returns the capabilities that are meant.
    ///
    /// # Errors
    ///
    /// When a name, host, port or directory means nothing, or is never granted.
    pub fn capabilities(&self) -> Result<Capabilities, DeclaredError> {
        if self.process == Some(true) {
            return Err(error(
                "process",
                "it is never granted".into(),
                "a tool that must run commands asks for \"tool.exec.subprocess\": true",
            ));
        }
        let (files, selected) = files(self.fs.as_ref())?;
        let calls = self.calls.iter().flatten().map(|name| {
            name.parse()
                .map_err(|source| bad_name("calls", name, &source))
        });
        let mut calls: Vec<_> = calls.collect::<Result<_, _>>()?;
        if self.mcp == Some(true) {
            calls.extend(MCP.parse());
        }
        let ambient = Ambient {
            clocks: self.clocks != Some(false),
            random: self.random != Some(false),
            stdio: self.stdio != Some(DeclaredStdio(false)),
        };
        Ok(Capabilities {
            files,
            selected,
            net: self.net.as_ref().map_or(Ok(Net::None), net)?,
            subprocess: self.subprocess == Some(true),
            brokered: Brokered::new(calls),
            env: env(self.env.as_ref())?,
            ambient,
        })
    }
}

/// What `tools.mcp` stands for.
pub(crate) const MCP: &str = "mcp.*";

fn net(net: &DeclaredNet) -> Result<Net, DeclaredError> {
    const WRITE: &str =
        "write [\"api.example.com\", \"*.example.org\"], false for none or true for all";
    let (hosts, ports) = match net {
        DeclaredNet::All(true) => return Ok(Net::Any),
        DeclaredNet::All(false) => return Ok(Net::None),
        DeclaredNet::Hosts(hosts) => (hosts, None),
        DeclaredNet::Table(table) => (&table.allowed_hosts, table.allowed_ports.as_ref()),
    };
    let count = hosts.len().saturating_mul(ports.map_or(1, Vec::len));
    if count > MAX_HOSTS {
        let problem = format!("too many hosts and ports ({count})");
        return Err(error(
            "net",
            problem,
            &format!("at most {MAX_HOSTS} are allowed"),
        ));
    }
    let mut patterns = Vec::new();
    for host in hosts {
        let bare: HostPattern = host
            .parse()
            .map_err(|source: HostPatternError| error("net", source.to_string(), WRITE))?;
        let Some(ports) = ports else {
            patterns.push(bare);
            continue;
        };
        for port in ports {
            // A host that already has a port is invalid with a second one.
            let both = format!("{host}:{port}").parse();
            patterns.push(both.map_err(|_| {
                let problem = format!("cannot combine `{host}` with port {port}");
                error(
                    "net",
                    problem,
                    "write hosts without ports, and ports from 1 to 65535",
                )
            })?);
        }
    }
    Ok(Net::hosts(patterns))
}

fn files(fs: Option<&DeclaredFs>) -> Result<(Files, Option<Access>), DeclaredError> {
    let none = DeclaredFiles::default();
    let table = match fs {
        None => &none,
        Some(DeclaredFs::All(false)) => return Ok((Files::default(), None)),
        Some(DeclaredFs::All(true)) => {
            let problem = "`true` says neither which files nor what for".into();
            let write = "write {\"user-selected\": \"read\"} or {\"app-data\": \"read-write\"}";
            return Err(error("fs", problem, write));
        }
        Some(DeclaredFs::Table(table)) => table,
    };
    if let Some(scope) = table.scope.as_deref().filter(|scope| *scope != TEMP) {
        let problem = format!("unknown scope `{}`", start_of(scope));
        return Err(error("fs.scope", problem, "write \"$TOOL_TEMP\""));
    }
    let mut rules = Vec::from([rule("/tmp", Access::ReadWrite)]);
    rules.extend(
        table
            .app_data
            .and_then(|access| access.0)
            .map(|access| rule(APP_DATA, access)),
    );
    for (name, access) in &table.user_paths {
        let path = user_path(name).ok_or_else(|| {
            let problem = format!("unknown directory `{}`", start_of(name));
            let write = format!("write one of {}", USER_PATHS.join(", "));
            error("fs.user-paths", problem, &write)
        })?;
        rules.extend(access.0.map(|access| rule(&path, access)));
    }
    let selected = table.user_selected.and_then(|access| access.0);
    Ok((Files::new(rules.into_iter().flatten()), selected))
}

fn env(env: Option<&DeclaredEnv>) -> Result<BTreeSet<EnvName>, DeclaredError> {
    match env {
        None | Some(DeclaredEnv::All(false)) => Ok(Default::default()),
        Some(DeclaredEnv::All(true)) => {
            let problem = "`true` would hand over every variable".into();
            Err(error(
                "env",
                problem,
                "write their names, such as [\"LANG\"]",
            ))
        }
        Some(DeclaredEnv::Names(names)) => {
            let names = names.iter();
            let parse = |name: &String| name.parse().map_err(|e| bad_name("env", name, &e));
            names.map(parse).collect()
        }
    }
}

/// How a manifest names the directory of the call's own.
const TEMP: &str = "$TOOL_TEMP";

/// Where the app's own directory is.
pub(crate) const APP_DATA: &str = "/app-data";

/// Returns where a directory of the person is.
pub(crate) fn user_path(name: &str) -> Option<String> {
    USER_PATHS.contains(&name).then(|| format!("/user/{name}"))
}

pub(crate) fn rule(path: &str, access: Access) -> Option<FileRule> {
    let path = GuestPath::new(path).ok()?;
    Some(FileRule { path, access })
}

/// Returns the beginning of a stranger's text, fit for a message.
pub(crate) fn start_of(text: &str) -> String {
    jp_text::start(text, 80)
}

fn bad_name(key: &'static str, name: &str, source: &dyn core::fmt::Display) -> DeclaredError {
    let problem = format!("invalid name `{}`", start_of(name));
    error(key, problem, &source.to_string())
}

fn error(key: &'static str, problem: String, write: &str) -> DeclaredError {
    DeclaredError {
        key,
        problem,
        write: write.to_string(),
    }
}
