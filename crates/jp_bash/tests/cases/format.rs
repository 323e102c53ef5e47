//! Reads `cases/*.txt`: scripts, and what bash did with them. Knows no shell.
//!
//! A case is `### name`, the script, `#--- stdout` with what it printed (`#--- no newline` if the last
//! line had no end), `#--- stderr` where that counts too, and `#--- exit N`.
//! `cargo xtask record-cases FILE…` fills in all but the first two.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// One case with what is expected.
pub(crate) struct Case {
    /// The file's name without its ending.
    pub(crate) file: String,
    /// `file: name`
    pub(crate) id: String,
    pub(crate) script: Vec<u8>,
    pub(crate) expected: Seen,
}

/// What a script did.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) stdout: Vec<u8>,
    /// Nothing in a case that does not compare it.
    pub(crate) stderr: Option<Vec<u8>>,
    pub(crate) exit: i32,
}

impl Seen {
    /// Returns how `other` differs from what is expected, or nothing.
    pub(crate) fn differs(&self, other: &Self) -> Option<String> {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let stderr = other.stderr.as_deref().unwrap_or_default();
        let mut out = String::new();
        if self.stdout != other.stdout {
            let (expected, got) = (shown(&self.stdout), shown(&other.stdout));
            out.push_str(&format!("--- expected stdout\n{expected}--- got\n{got}"));
        }
        if self.exit != other.exit {
            let (expected, got) = (self.exit, other.exit);
            out.push_str(&format!("--- expected exit {expected}, got {got}\n"));
        }
        match &self.stderr {
            Some(expected) if expected != stderr => {
                let (expected, got) = (shown(expected), shown(stderr));
                out.push_str(&format!("--- expected stderr\n{expected}--- got\n{got}"));
            }
            None if !out.is_empty() => {
                out.push_str(&format!("--- got on stderr\n{}", shown(stderr)));
            }
            _ => {}
        }
        (!out.is_empty()).then_some(out)
    }
}

enum Section {
    Script,
    Stdout,
    Stderr,
    End,
}

/// Reads all cases, in the order of their files' names.
pub(crate) fn all() -> Result<Vec<Case>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.retain(|path| {
        path.extension().is_some_and(|ext| ext == "txt")
            && path
                .file_stem()
                .is_some_and(|stem| stem != "known-failures")
    });
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = std::fs::read(&path)?;
        cases.extend(parse(&stem, &text).with_context(|| format!("in {}", path.display()))?);
    }
    let mut ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    ids.sort_unstable();
    for pair in ids.windows(2) {
        ensure!(pair.first() != pair.last(), "two cases are called {pair:?}");
    }
    Ok(cases)
}

/// Returns the directory of the cases.
pub(crate) fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

fn parse(file: &str, text: &[u8]) -> Result<Vec<Case>> {
    let mut cases: Vec<Case> = Vec::new();
    let mut section = Section::End;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(name) = bare.strip_prefix(b"### ") {
            cases.push(Case {
                file: file.to_owned(),
                id: format!("{file}: {}", String::from_utf8_lossy(name)),
                script: Vec::new(),
                expected: Seen::default(),
            });
            section = Section::Script;
            continue;
        }
        let Some(case) = cases.last_mut() else {
            continue;
        };
        let expected = &mut case.expected;
        if bare == b"#--- stdout" {
            section = Section::Stdout;
        } else if bare == b"#--- stderr" {
            section = Section::Stderr;
            expected.stderr = Some(Vec::new());
        } else if bare == b"#--- no newline" {
            expected.stdout.pop();
        } else if let Some(code) = bare.strip_prefix(b"#--- exit ") {
            expected.exit = str::from_utf8(code)?.trim().parse()?;
            section = Section::End;
        } else {
            match (&section, &mut expected.stderr) {
                (Section::Script, _) => case.script.extend_from_slice(line),
                (Section::Stdout, _) => expected.stdout.extend_from_slice(line),
                (Section::Stderr, Some(stderr)) => stderr.extend_from_slice(line),
                _ => {}
            }
        }
    }
    Ok(cases)
}
