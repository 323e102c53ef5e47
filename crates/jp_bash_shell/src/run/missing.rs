//! What is said of a command that is not there: bash's words, and one line that helps whoever wrote the script.
//!
//! Models call the programs of a usual machine. The line says that this shell is virtual and what works instead.

use crate::Shell;
use crate::builtins;
use crate::flow::Flow;
use crate::vars::known;

/// Names that are explained in one call; a loop over unknown commands must not fill the output.
const MOST_EXPLAINED: usize = 8;

/// The longest name that is looked at.
const LONGEST: usize = 64;

/// Programs of a usual machine, and what to use in their place.
const INSTEAD: &[(&[&str], &str)] = &[
    (
        &["git", "gh", "hg", "svn"],
        "there are no repositories here; compare files with `diff -u`, search them with `grep -rn`",
    ),
    (
        &[
            "python", "python3", "python2", "perl", "ruby", "node", "deno", "bun", "php", "lua",
            "Rscript", "julia",
        ],
        "use bash itself, `awk`, `sed` and `jq`",
    ),
    (
        &[
            "pip", "pip3", "pipx", "uv", "npm", "npx", "pnpm", "yarn", "gem", "bundle", "apt",
            "apt-get", "aptitude", "dpkg", "yum", "dnf", "rpm", "apk", "pacman", "brew", "snap",
            "conda",
        ],
        "nothing can be installed; `compgen -c` lists what there is",
    ),
    (
        &[
            "cargo", "rustc", "gcc", "g++", "cc", "c++", "clang", "make", "cmake", "ninja", "go",
            "java", "javac", "mvn", "gradle", "dotnet", "tsc",
        ],
        "nothing can be compiled or started here; `compgen -c` lists what there is",
    ),
    (
        &["sudo", "su", "doas"],
        "there are no other users; run the command by itself",
    ),
    (
        &[
            "docker",
            "podman",
            "kubectl",
            "helm",
            "systemctl",
            "service",
            "journalctl",
            "crontab",
            "at",
            "screen",
            "tmux",
        ],
        "there are no services; use `&`, `wait` and `timeout`",
    ),
    (
        &[
            "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "telnet", "ftp", "ping", "dig",
            "nslookup", "host", "openssl",
        ],
        "the network is reached with `curl` alone, to hosts that are granted",
    ),
    (&["wget", "aria2c", "http", "https"], "use `curl -O URL`"),
    (
        &["vim", "vi", "nvim", "nano", "emacs", "ed", "ex", "code"],
        "change a file with `sed -i`, write one with `cat > FILE <<'EOF'`",
    ),
    (
        &["less", "more", "most", "bat", "batcat"],
        "use `cat`, `head` or `sed -n '10,20p'`",
    ),
    (
        &["rg", "ag", "ack", "ripgrep"],
        "use `grep -rnE PATTERN DIR`",
    ),
    (&["fd", "fdfind", "locate"], "use `find DIR -name PATTERN`"),
    (&["exa", "eza", "lsd", "dir", "vdir"], "use `ls -la`"),
    (&["tree"], "use `find DIR | sort`"),
    (
        &["yq", "jaq", "gron", "fx"],
        "use `jq` for JSON, `awk` and `sed` for the rest",
    ),
    (
        &["zsh", "fish", "dash", "ksh", "csh", "tcsh", "pwsh"],
        "use `bash` or `sh`",
    ),
    (
        &["man", "info", "tldr", "apropos"],
        "use `help NAME` or `NAME --help`",
    ),
    (
        &["ps", "top", "htop", "pgrep", "pkill", "killall", "lsof"],
        "only the script's own jobs can be seen: `jobs`, `kill`, `wait`",
    ),
    (
        &[
            "tar", "gzip", "gunzip", "zcat", "zip", "unzip", "bzip2", "xz", "zstd", "7z",
        ],
        "archives cannot be packed or unpacked here",
    ),
    (
        &["sqlite3", "psql", "mysql", "redis-cli", "mongo"],
        "there are no databases; use `join`, `sort`, `awk` and `jq` on files",
    ),
];

/// Returns the programs of a usual machine that are known not to be here.
pub fn known_missing() -> impl Iterator<Item = &'static str> {
    INSTEAD.iter().flat_map(|(names, _)| names.iter().copied())
}

impl Shell<'_> {
    /// Reports a command that was not found; its status is 127.
    pub(super) fn report_missing(&mut self, name: &[u8]) -> Result<i32, Flow> {
        let text: &[u8] = match self.vars.text(known::PATH) {
            Some(b"") => b": No such file or directory",
            _ => b": command not found",
        };
        self.complain(&[name, text].concat())?;
        if self.kernel.explains(name, MOST_EXPLAINED)
            && let Some(line) = self.explain_missing(name)
        {
            self.print_error(&[b"jp: ", line.as_bytes(), b"\n"].concat())?;
        }
        Ok(127)
    }

    fn explain_missing(&self, name: &[u8]) -> Option<String> {
        let name = std::str::from_utf8(name).ok()?;
        let odd = |c: char| c.is_control() || c.is_whitespace();
        if name.is_empty() || name.len() > LONGEST || name.contains(odd) {
            return None;
        }
        let known = INSTEAD.iter().find(|(names, _)| names.contains(&name));
        let advice = match (known, self.nearest(name)) {
            (Some((_, advice)), _) => (*advice).to_owned(),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => "`compgen -c` lists what there is".to_owned(),
        };
        Some(format!(
            "this is a virtual shell without `{name}`: {advice}"
        ))
    }

    /// Returns the command, builtin or function whose name is one slip of the keyboard away.
    fn nearest(&self, name: &str) -> Option<String> {
        if name.len() < 3 {
            return None;
        }
        let ours = self.kernel.programs.names().iter().copied();
        let builtins = builtins::TABLE.iter().map(|entry| entry.name);
        let custom = self.kernel.custom.keys().map(Vec::as_slice);
        let custom = custom.chain(self.functions.keys().map(|name| &**name));
        let near = |known: &&str| one_slip(name.as_bytes(), known.as_bytes());
        if let Some(found) = ours.chain(builtins).find(near) {
            return Some(found.to_owned());
        }
        let mut custom = custom.filter_map(|known| std::str::from_utf8(known).ok());
        custom.find(near).map(str::to_owned)
    }
}

/// Tells whether one letter added, dropped, changed or swapped with the next makes one name the other.
fn one_slip(a: &[u8], b: &[u8]) -> bool {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (
        a.get(same..).unwrap_or_default(),
        b.get(same..).unwrap_or_default(),
    );
    let rest = |bytes: &'_ [u8], at: usize| bytes.get(at..).map(<[u8]>::to_vec);
    match (a, b) {
        ([], []) => false,
        ([a1, a2, ..], [b1, b2, ..]) if (a1, a2) == (b2, b1) => rest(a, 2) == rest(b, 2),
        _ => {
            rest(a, 1) == rest(b, 1)
                || rest(a, 1).as_deref() == Some(b)
                || Some(a) == rest(b, 1).as_deref()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_of_the_keyboard_is_one_letter() {
        for (typed, meant) in [
            ("gerp", "grep"),
            ("grepp", "grep"),
            ("gre", "grep"),
            ("grap", "grep"),
        ] {
            assert!(one_slip(typed.as_bytes(), meant.as_bytes()), "{typed}");
        }
        for (typed, meant) in [("grep", "grep"), ("xyz", "grep"), ("prge", "grep")] {
            assert!(!one_slip(typed.as_bytes(), meant.as_bytes()), "{typed}");
        }
    }

    #[test]
    fn no_builtin_is_called_missing() {
        for name in known_missing() {
            assert!(builtins::find(name.as_bytes()).is_none(), "{name}");
        }
    }
}
