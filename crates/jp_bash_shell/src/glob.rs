//! Pathname expansion over the virtual files: sorted, hidden files and `**` as bash's options say.

use jp_bash_system::{FileKind, Follow, Stop, System, failed};

use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;
use crate::pattern::{Pattern, PatternOptions};
use crate::vars::known;

/// One component of a path.
enum Component {
    /// Plain text.
    Name(Vec<u8>),
    Pattern(Pattern),
    /// `**` under `globstar`.
    Deep,
}

/// How names are matched.
#[derive(Clone, Copy)]
struct How {
    options: PatternOptions,
    dot_glob: bool,
    skip_dots: bool,
    star: bool,
}

/// From so many bytes on, what a pattern takes is asked for before it is compiled.
const LONG_PATTERN: usize = 4096;

/// The deepest directory that `**` looks into.
const MAX_DEPTH: usize = 256;

impl Shell<'_> {
    /// Returns what a pattern matches; `None` if it is no pattern at all.
    pub(crate) fn glob(&mut self, pattern: &[u8]) -> Result<Option<Vec<Vec<u8>>>, Flow> {
        let ignore = self
            .vars
            .text(known::GLOBIGNORE)
            .filter(|text| !text.is_empty())
            .map(<[u8]>::to_vec);
        let how = How {
            options: PatternOptions {
                extglob: self.options.has(Opt::ExtGlob),
                fold: self.options.has(Opt::NoCaseGlob),
                utf8: self.utf8(),
            },
            dot_glob: self.options.has(Opt::DotGlob) || ignore.is_some(),
            skip_dots: self.options.has(Opt::GlobSkipDots),
            star: self.options.has(Opt::GlobStar),
        };
        if pattern.len() > LONG_PATTERN {
            self.kernel.budget.room(pattern.len().saturating_mul(96))?;
        }
        let Some((root, components)) = split(pattern, how) else {
            return Ok(None);
        };
        // The words that come of this are counted where they are collected.
        let before = self.reserved;
        let found = self.walk(root, components, how);
        self.release(self.reserved.saturating_sub(before));
        let mut found = found?;
        if let Some(ignore) = ignore {
            self.leave_out(&mut found, &ignore, how.options)?;
        }
        found.sort();
        found.dedup();
        Ok(Some(found))
    }

    /// Removes what `GLOBIGNORE` names, and always `.` and `..`.
    fn leave_out(
        &mut self,
        found: &mut Vec<Vec<u8>>,
        ignore: &[u8],
        options: PatternOptions,
    ) -> Result<(), Flow> {
        let patterns: Vec<Pattern> = ignore
            .split(|byte| *byte == b':')
            .map(|text| Pattern::new(text, options))
            .collect();
        let mut kept = Vec::with_capacity(found.len());
        for path in found.drain(..) {
            let mut out = matches!(path.rsplit(|b| *b == b'/').next(), Some(b"." | b".."));
            for pattern in &patterns {
                out = out || pattern.matches(&path, &self.kernel.budget)?;
            }
            if !out {
                kept.push(path);
            }
        }
        *found = kept;
        Ok(())
    }

    /// Walks down component by component, keeping the paths that still match.
    fn walk(
        &mut self,
        root: Vec<u8>,
        components: Vec<Component>,
        how: How,
    ) -> Result<Vec<Vec<u8>>, Flow> {
        let mut paths = vec![root];
        let count = components.len();
        for (number, component) in components.iter().enumerate() {
            let last = number + 1 == count;
            let mut next = Vec::new();
            for path in paths {
                self.kernel.budget.work(1)?;
                match component {
                    Component::Name(name) if name.is_empty() && !last => {
                        // `a//b`: bash keeps the slashes.
                        let slashes: &[u8] = if path.ends_with(b"/") { b"/" } else { b"//" };
                        next.push([&path, slashes].concat());
                    }
                    Component::Name(name) if name.is_empty() => {
                        // `dir/`: only directories, with the slash kept.
                        if !path.is_empty() && self.is_directory(&path)? {
                            next.push([&path, &b"/"[..]].concat());
                        }
                    }
                    Component::Name(name) => {
                        let path = join(&path, name);
                        if !last || self.exists(&path)? {
                            next.push(path);
                        }
                    }
                    Component::Pattern(pattern) => {
                        self.matching(&path, pattern, last, how, &mut next)?;
                    }
                    Component::Deep => self.deep(&path, last, how, &mut next)?,
                }
                self.kernel
                    .budget
                    .work(u32::try_from(next.len() / 64).unwrap_or(u32::MAX))?;
            }
            if matches!(component, Component::Deep) {
                // `**/**` finds the same paths many ways.
                next.sort();
                next.dedup();
            }
            paths = next;
        }
        Ok(paths)
    }

    fn exists(&mut self, path: &[u8]) -> Result<bool, Stop> {
        Ok(failed(self.stat(path, Follow::No))?.is_ok())
    }

    fn is_directory(&mut self, path: &[u8]) -> Result<bool, Stop> {
        let path = if path.is_empty() { b"." } else { path };
        let stat = failed(self.stat(path, Follow::Yes))?;
        Ok(stat.is_ok_and(|stat| stat.kind == FileKind::Directory))
    }

    /// Adds the names of a directory that match.
    fn matching(
        &mut self,
        directory: &[u8],
        pattern: &Pattern,
        last: bool,
        how: How,
        next: &mut Vec<Vec<u8>>,
    ) -> Result<(), Flow> {
        let shown = if directory.is_empty() {
            b"."
        } else {
            directory
        };
        let Ok(entries) = failed(self.read_dir(shown))? else {
            return Ok(());
        };
        let wants_dot = pattern.starts_with(b'.');
        if wants_dot && !how.skip_dots {
            for name in [&b"."[..], b".."] {
                if pattern.matches(name, &self.kernel.budget)? {
                    next.push(join(directory, name));
                }
            }
        }
        for entry in entries {
            if entry.name.starts_with(b".") && !wants_dot && !how.dot_glob {
                continue;
            }
            if !pattern.matches(&entry.name, &self.kernel.budget)? {
                continue;
            }
            let path = join(directory, &entry.name);
            let directory = match entry.kind {
                _ if last => true,
                FileKind::Directory => true,
                FileKind::Symlink => self.is_directory(&path)?,
                _ => false,
            };
            if directory {
                self.count_path(&path)?;
                next.push(path);
            }
        }
        Ok(())
    }

    fn count_path(&mut self, path: &[u8]) -> Result<(), Stop> {
        // Until the whole pattern is done, though paths of earlier components go sooner.
        self.reserve(path.len() as u64 + 48)?;
        self.kernel.budget.turns(1)
    }

    /// Adds a directory and everything below it; symlinks are not followed.
    fn deep(
        &mut self,
        directory: &[u8],
        last: bool,
        how: How,
        next: &mut Vec<Vec<u8>>,
    ) -> Result<(), Flow> {
        let mut todo = vec![(directory.to_vec(), 0)];
        if !last {
            next.push(directory.to_vec());
        } else if !directory.is_empty() {
            next.push([directory.strip_suffix(b"/").unwrap_or(directory), b"/"].concat());
        }
        while let Some((path, depth)) = todo.pop() {
            let shown = if path.is_empty() {
                b"."
            } else {
                path.as_slice()
            };
            let Ok(entries) = failed(self.read_dir(shown))? else {
                continue;
            };
            for entry in entries {
                if entry.name.starts_with(b".") && !how.dot_glob {
                    continue;
                }
                let below = join(&path, &entry.name);
                let directory = entry.kind == FileKind::Directory;
                if directory && depth < MAX_DEPTH {
                    todo.push((below.clone(), depth + 1));
                }
                if last || directory {
                    self.count_path(&below)?;
                    next.push(below);
                }
            }
        }
        Ok(())
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(directory.len() + name.len() + 1);
    path.extend_from_slice(directory);
    if !directory.is_empty() && !directory.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Splits a pattern at its slashes; none if nothing in it is special.
fn split(pattern: &[u8], how: How) -> Option<(Vec<u8>, Vec<Component>)> {
    let start = pattern.iter().take_while(|byte| **byte == b'/').count();
    let (root, rest) = pattern.split_at_checked(start)?;
    let mut special = false;
    let mut components = Vec::new();
    for text in rest.split(|byte| *byte == b'/') {
        if text == b"**" && how.star {
            special = true;
            if !matches!(components.last(), Some(Component::Deep)) {
                components.push(Component::Deep);
            }
            continue;
        }
        let text = text.strip_suffix(b"\\").unwrap_or(text);
        let pattern = Pattern::new(text, how.options);
        match pattern.plain_text() {
            Some(name) => {
                components.push(Component::Name(name.to_vec()));
            }
            None => {
                special = true;
                components.push(Component::Pattern(pattern));
            }
        }
    }
    special.then(|| (root.to_vec(), components))
}
