//! What is packed and what it is called where; every package has the same program, text and version.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::Compression;

use super::archive::{Entry, Mode};
use super::needs::Needs;

/// The name in npm and PyPI, where `jp` belongs to others.
pub(super) const PACKAGE: &str = "jp-mcp";

/// One sentence for lists of packages; the registry of MCP servers allows 100 characters.
pub(super) const SUMMARY: &str =
    "Runs the tools that language models call, and nothing they were not granted";

/// Who is named where a format wants an author.
pub(super) const AUTHORS: &str = "The jp contributors";

pub(super) const LICENSE: &str = "MIT OR Apache-2.0";

/// The licences in every package.
const LICENSES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT"];

/// What `bash` may see of the directory that a person picks: its files, to read. Without it a script sees none.
pub(super) const GRANT: &[&str] = &[
    "conversation.tools.bash.source=builtin",
    "conversation.tools.bash.grant.workspace=read",
];

/// Where and by whom it is published, which only the publisher knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Publisher {
    /// What names of the registry of MCP servers start with: a domain, turned round.
    pub(super) namespace: String,
    /// The directory that the files are downloaded from.
    pub(super) releases: String,
}

impl Default for Publisher {
    /// A domain that belongs to nobody: with it everything can be tried and nothing published.
    fn default() -> Self {
        Self {
            namespace: "com.example".to_owned(),
            releases: "https://example.com/jp".to_owned(),
        }
    }
}

impl Publisher {
    /// Refuses what the registry of MCP servers would refuse.
    pub(super) fn check(&self) -> Result<()> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        if !self.namespace.contains('.') || !self.namespace.chars().all(plain) {
            bail!(
                "invalid namespace `{}`: expected a domain turned round, such as io.github.NAME",
                self.namespace
            );
        }
        let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#');
        if !self.releases.starts_with("https://") || self.releases.contains(odd) {
            bail!(
                "invalid URL `{}`: expected https://HOST/PATH",
                self.releases
            );
        }
        Ok(())
    }

    /// Returns the name in the registry of MCP servers.
    pub(super) fn server_name(&self) -> String {
        format!("{}/jp", self.namespace)
    }

    /// Returns where a file will be.
    pub(super) fn url(&self, file: &str) -> String {
        format!("{}/{file}", self.releases.trim_end_matches('/'))
    }
}

/// A version of jp, built for a system.
pub(super) struct Release {
    pub(super) version: String,
    pub(super) publisher: Publisher,
    pub(super) program: Vec<u8>,
    pub(super) needs: Needs,
    /// How hard archives are compressed.
    pub(super) effort: Compression,
    licenses: Vec<(&'static str, Vec<u8>)>,
}

impl Release {
    /// Reads the program and what goes with it.
    pub(super) fn read(
        root: &Path,
        program: &Path,
        publisher: Publisher,
        effort: Compression,
    ) -> Result<Self> {
        publisher.check()?;
        let read = |path: &Path| fs::read(path).with_context(|| path.display().to_string());
        let bytes = read(program)?;
        let mut licenses = Vec::new();
        for name in LICENSES {
            licenses.push((*name, read(&root.join(name))?));
        }
        Ok(Self {
            // Of the whole workspace, xtask included.
            version: version(env!("CARGO_PKG_VERSION"))?,
            publisher,
            needs: Needs::of(&bytes)?,
            program: bytes,
            effort,
            licenses,
        })
    }

    /// Returns the licences as files in a directory of an archive.
    pub(super) fn licenses(&self, dir: &str) -> impl Iterator<Item = Entry<'_>> {
        self.licenses.iter().map(move |(name, bytes)| Entry {
            path: format!("{dir}{name}"),
            bytes: Cow::Borrowed(bytes),
            mode: Mode::Read,
        })
    }

    /// Returns the names of the licences.
    pub(super) fn license_names(&self) -> impl Iterator<Item = &'static str> {
        self.licenses.iter().map(|(name, _)| *name)
    }

    /// Returns what packages have to read, with how this one is installed.
    pub(super) fn readme(&self, install: &str) -> String {
        include_str!("package.md")
            .replace("{install}", install)
            .replace("{server}", &self.publisher.server_name())
    }

    /// Returns a release of a program that is none of ours, for tests.
    #[cfg(test)]
    pub(super) fn sample() -> Self {
        let program = std::env::current_exe().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut release =
            Self::read(&root, &program, Publisher::default(), Compression::fast()).unwrap();
        // What it needs has been read, and the rest would only take time.
        release.program.truncate(10_000);
        release
    }
}

/// Takes a version that npm, Python and the registry of MCP servers write in the same way.
fn version(text: &str) -> Result<String> {
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    if text.split('.').count() != 3 || !text.split('.').all(is_number) {
        bail!("cannot pack version {text}: expected three numbers");
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publisher(namespace: &str, releases: &str) -> Publisher {
        Publisher {
            namespace: namespace.to_owned(),
            releases: releases.to_owned(),
        }
    }

    #[test]
    fn only_what_can_be_published_is_taken() {
        assert!(Publisher::default().check().is_ok());
        let url = "https://example.com";
        for namespace in ["", "jp", "io.github.a/b", "io.github.a b"] {
            let error = publisher(namespace, url).check().unwrap_err().to_string();
            assert!(error.contains("invalid namespace"), "{error}");
        }
        for url in [
            "",
            "http://example.com",
            "https://example.com/?a",
            "https://a b",
        ] {
            let error = publisher("io.github.a", url).check().unwrap_err();
            assert!(error.to_string().contains("invalid URL"), "{error}");
        }
    }

    #[test]
    fn a_version_is_three_numbers() {
        assert_eq!(version("0.1.0").unwrap(), "0.1.0");
        for text in ["0.1", "0.1.0-rc.1", "0.1.0+x", "0..1", ""] {
            assert!(version(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_package_says_how_it_is_installed_and_whose_server_it_is() {
        let text = Release::sample().readme("npm install it");
        assert!(text.contains("npm install it"), "{text}");
        assert!(text.contains("mcp-name: com.example/jp"), "{text}");
        assert!(!text.contains('{'), "{text}");
        assert!(SUMMARY.len() <= 100);
    }
}
