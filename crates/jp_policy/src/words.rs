//! Capabilities in words a person can judge. The one wording: reviews, installs, differences between
//! versions, approvals and listings all use it. Does not know where the words are shown.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{Access, Capabilities, Capability, FileRule, Net, Request, USER_PATHS};

/// The words for a set that allows nothing.
pub const NOTHING: &str = "nothing outside of itself";

impl Capability {
    /// Says what it lets a tool do, to be read after "it may": `reach api.example.com`. What a stranger
    /// named in it is escaped.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Files(rule) => format!("{} {}", verb(rule.access), place(rule)),
            Self::Selected(access) => format!("{} files you choose", verb(*access)),
            Self::Net(host) if host == "*" => "reach any host on the network".into(),
            Self::Net(host) => format!("reach {}", jp_text::inline(host)),
            Self::Subprocess => "run a command".into(),
            Self::Brokered(name) => format!("ask jp for {name}"),
            Self::Env(name) => format!("see the variable {name}"),
            Self::Ambient(name) => format!("use {name}"),
        }
    }
}

impl Capabilities {
    /// Returns everything in the set, one by one; what is there without asking goes without saying.
    #[must_use]
    pub fn each(&self) -> Vec<Capability> {
        let mut all = Vec::new();
        all.extend(self.files.rules().iter().cloned().map(Capability::Files));
        all.extend(self.selected.map(Capability::Selected));
        match &self.net {
            Net::None => {}
            Net::Any => all.push(Capability::Net("*".into())),
            Net::Hosts(hosts) => {
                all.extend(hosts.iter().map(|host| Capability::Net(host.to_string())));
            }
        }
        all.extend(self.subprocess.then_some(Capability::Subprocess));
        all.extend(self.brokered.names().cloned().map(Capability::Brokered));
        all.extend(self.env.iter().cloned().map(Capability::Env));
        all
    }

    /// Says what the set lets a tool do, one thing per item, and what it takes away.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut said: Vec<String> = self.each().iter().map(Capability::words).collect();
        said.extend(self.ambient.withheld().map(|name| format!("no {name}")));
        said
    }
}

impl Request {
    /// Says what the tool asks for, one thing per item: always, and when an argument is a file.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut said = self.capabilities.words();
        for more in &self.conditional {
            let when = more.when.as_ref().map_or("", |when| when.argument.as_str());
            let needs = more.needs.each();
            let needs = needs.iter().map(|need| {
                let need = need.words();
                format!("{need}, when {} is a file", jp_text::inline(when))
            });
            said.extend(needs);
        }
        said
    }
}

const fn verb(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::ReadWrite => "read and change",
    }
}

fn place(rule: &FileRule) -> String {
    if let Some(path) = rule.host_path() {
        return jp_text::inline(path).to_string();
    }
    let path = rule.path.escaped().to_string();
    let user = path.strip_prefix("/user/");
    if let Some(name) = user.filter(|name| USER_PATHS.contains(name)) {
        return format!("your directory {name}");
    }
    match path.as_str() {
        "/workspace" => "this workspace".into(),
        "/subjects" => "the subjects of the topic".into(),
        "/tmp" => "a directory of its own, wiped afterwards".into(),
        "/app-data" => "the data of this app".into(),
        "/" => "all files it can name".into(),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;
    use crate::{GuestPath, Requirement};

    #[test]
    fn every_capability_has_a_sentence_of_its_own() {
        let file = |path: &str| {
            Capability::Files(FileRule {
                path: GuestPath::new(path).unwrap(),
                access: Access::ReadWrite,
            })
        };
        let all = [
            (file("/workspace"), "read and change this workspace"),
            (
                file("/tmp"),
                "read and change a directory of its own, wiped afterwards",
            ),
            (
                file("/user/documents"),
                "read and change your directory documents",
            ),
            (file("/user/other"), "read and change /user/other"),
            (file("/a\u{202e}b"), "read and change /a\\u202Eb"),
            (Capability::Selected(Access::Read), "read files you choose"),
            (Capability::Net("*".into()), "reach any host on the network"),
            (
                Capability::Net("a.example:8443".into()),
                "reach a.example:8443",
            ),
            (Capability::Subprocess, "run a command"),
            (
                Capability::Brokered("log.emit".parse().unwrap()),
                "ask jp for log.emit",
            ),
            (
                Capability::Env("LANG".parse().unwrap()),
                "see the variable LANG",
            ),
            (Capability::Ambient("clocks"), "use clocks"),
        ];
        for (capability, words) in all {
            assert_eq!(capability.words(), words);
        }
    }

    #[test]
    fn a_request_says_what_holds_always_and_what_holds_for_files() {
        assert_eq!(Request::default().words(), Vec::<String>::new());
        let when = Requirement::new("fs.user-selected", Some(Access::Read), Some("/source"));
        let mut request = Request {
            conditional: vec![when.unwrap()],
            ..Request::default()
        };
        request.capabilities.subprocess = true;
        request.capabilities.ambient.clocks = false;
        assert_eq!(
            request.words(),
            [
                "run a command",
                "no clocks",
                "read files you choose, when /source is a file"
            ]
        );
    }
}
