//! Who else can read or change what jp keeps for this user. Knows modes and owners, not contents.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use jp_registry::Places;

use super::finding::{Family, Finding, Severity, quoted};
use crate::{error::CliError, places};

/// More configuration files than this are refused when they are read.
const MAX_FILES: usize = 1000;

/// What others may do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    /// Look at it.
    Read,
    /// Nothing.
    Nothing,
}

impl Others {
    /// Returns the bits that must not be set.
    const fn refused(self) -> u32 {
        match self {
            Self::Read => 0o022,
            Self::Nothing => 0o077,
        }
    }
}

/// A file or directory that is looked at, if it is there.
struct Place {
    what: &'static str,
    path: PathBuf,
    others: Others,
}

/// Checks everything that is kept for this user.
pub(super) fn check() -> Result<Vec<Finding>, CliError> {
    let me = rustix::process::geteuid().as_raw();
    let mut findings = Vec::new();
    for place in kept()? {
        findings.extend(look(&place, me));
    }
    Ok(findings)
}

fn kept() -> Result<Vec<Place>, CliError> {
    let mut all = Vec::new();
    let mut add = |what, path: PathBuf, others| all.push(Place { what, path, others });
    let own = places::own();
    let data = own.data_dir()?;
    if let Some(config) = own.config_dir() {
        add("the configuration", config.to_owned(), Others::Read);
        // A user who can write one of them decides what tools may do.
        for file in own_files(config) {
            add("the configuration file", file, Others::Read);
        }
    }
    add("the data directory", data.to_owned(), Others::Read);
    add("the trust file", own.trust_file()?, Others::Read);
    add("the trusted keys", own.keys_file()?, Others::Read);
    add("the audit log", own.audit_dir()?, Others::Nothing);
    add(
        "the tokens of servers",
        own.serve_tokens()?,
        Others::Nothing,
    );
    let known = Places::new(Path::new("."), data);
    add("the receipts", known.receipts(), Others::Read);
    add("the revocations", known.revocations(), Others::Read);
    add("what is known of registries", known.data, Others::Read);
    if let Ok(broker) = own.broker() {
        let files = [
            ("the store of the broker", broker.store),
            ("the secrets", broker.secrets.secrets),
            ("the key of the secrets", broker.secrets.key),
        ];
        for (what, file) in files {
            if let Some(dir) = file.parent() {
                add(
                    "the directory of a private file",
                    dir.to_owned(),
                    Others::Nothing,
                );
            }
            add(what, file, Others::Nothing);
        }
    }
    if let (Some(cache), Some(code)) = (own.cache_dir(), own.code_dir()) {
        add("the cache", cache.to_owned(), Others::Read);
        add("the cache of compiled code", code, Others::Read);
        add("the store of artifacts", own.store_dir()?, Others::Read);
        add(
            "the directories of running calls",
            cache.join("tmp"),
            Others::Read,
        );
    }
    Ok(all)
}

/// Returns the configuration files of a directory, and what is below its `config.d`.
fn own_files(config: &Path) -> Vec<PathBuf> {
    let mut files = vec![config.join("config.toml"), config.join("config.json")];
    let mut dirs = vec![config.join("config.d")];
    while let Some(dir) = dirs.pop().filter(|_| files.len() < MAX_FILES) {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => dirs.push(entry.path()),
                _ => files.push(entry.path()),
            }
        }
        files.push(dir);
    }
    files
}

fn look(place: &Place, me: u32) -> Option<Finding> {
    let path = &place.path;
    let finding = |problem: String, fix: String| Finding {
        family: Family::Files,
        severity: Severity::Error,
        subject: path.display().to_string(),
        problem: format!("{}: {problem}", place.what),
        fix,
    };
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            let fix = format!("ls -ld {}", quoted(path));
            return Some(finding(format!("cannot check it: {error}"), fix));
        }
    };
    if meta.uid() != me {
        let problem = format!("it belongs to the user {}, not to you ({me})", meta.uid());
        return Some(finding(
            problem,
            format!("sudo chown -R {me} {}", quoted(path)),
        ));
    }
    let open = meta.mode() & place.others.refused();
    if open == 0 {
        return None;
    }
    let can = if open & 0o022 == 0 { "read" } else { "change" };
    Some(finding(
        format!("others can {can} it (mode {:o})", meta.mode() & 0o777),
        chmod(path, place.others, meta.is_dir()),
    ))
}

fn chmod(path: &Path, others: Others, is_dir: bool) -> String {
    let mode = match (others, is_dir) {
        (Others::Read, _) => "go-w",
        (Others::Nothing, true) => "700",
        (Others::Nothing, false) => "600",
    };
    format!("chmod {mode} {}", quoted(path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_others_can_do_is_named_with_the_command_that_ends_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        fs::write(&file, "").unwrap();
        let me = fs::metadata(&file).unwrap().uid();
        let check = |mode: u32, others, me| {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let place = Place {
                what: "a file",
                path: file.clone(),
                others,
            };
            look(&place, me).map(|found| (found.problem, found.fix))
        };
        assert_eq!(check(0o600, Others::Nothing, me), None);
        assert_eq!(check(0o644, Others::Read, me), None);
        let (problem, fix) = check(0o640, Others::Nothing, me).unwrap();
        assert!(
            problem.contains("others can read it (mode 640)"),
            "{problem}"
        );
        assert_eq!(fix, format!("chmod 600 {}", file.display()));
        let (problem, fix) = check(0o664, Others::Read, me).unwrap();
        assert!(problem.contains("others can change it"), "{problem}");
        assert_eq!(fix, format!("chmod go-w {}", file.display()));
        let (problem, fix) = check(0o600, Others::Nothing, me + 1).unwrap();
        assert!(problem.contains("belongs to the user"), "{problem}");
        assert!(fix.starts_with("sudo chown -R"), "{fix}");
    }

    #[test]
    fn a_missing_file_is_not_a_finding() {
        let place = Place {
            what: "nothing",
            path: PathBuf::from("/nonexistent/jp"),
            others: Others::Nothing,
        };
        assert_eq!(look(&place, 0), None);
    }
}
