//! Which files grep searches: operands, directories below them, standard input.

use jp_bash_system::io::complain;
use jp_bash_system::{Errno, FileKind, Follow, Limit, OpenHow, Stop, SysError, System, failed};

use super::config::{Config, Directories, Show};
use super::glob;
use super::search::{Found, Search};

/// The deepest directory that is entered.
const MAX_DEPTH: usize = 512;

struct Walk {
    search: Search,
    matched: bool,
    errors: bool,
    names: bool,
}

/// Searches everything; the exit status.
pub(super) fn search_all(sys: &mut dyn System, mut config: Config) -> Result<i32, Stop> {
    let recursive = matches!(config.directories, Directories::Recurse { .. });
    let mut files = std::mem::take(&mut config.files);
    let here = files.is_empty() && recursive;
    if files.is_empty() {
        files.push(if recursive {
            b".".to_vec()
        } else {
            b"-".to_vec()
        });
    }
    let names = config
        .with_filename
        .unwrap_or(files.len() > 1 || (recursive && !is_single_file(sys, &files)?));
    let quiet = config.show == Show::Quiet;
    let mut walk = Walk {
        search: Search::new(config),
        matched: false,
        errors: false,
        names,
    };
    for file in &files {
        if file == b"-" {
            walk.descriptor(sys, 0, b"-")?;
        } else {
            walk.operand(sys, file, here)?;
        }
        if quiet && walk.matched {
            break;
        }
    }
    if let Err(errno) = walk.search.finish(sys)? {
        let text = format!("write error: {}", errno.text());
        complain(sys, b"grep", text.as_bytes())?;
        return Ok(2);
    }
    Ok(match (walk.matched, walk.errors) {
        (true, false) => 0,
        (true, true) if quiet => 0,
        (_, true) => 2,
        (false, false) => 1,
    })
}

fn is_single_file(sys: &mut dyn System, files: &[Vec<u8>]) -> Result<bool, Stop> {
    let [file] = files else {
        return Ok(false);
    };
    if file == b"-" {
        return Ok(true);
    }
    Ok(failed(sys.stat(file, Follow::Yes))?.is_ok_and(|stat| stat.kind != FileKind::Directory))
}

impl Walk {
    fn operand(&mut self, sys: &mut dyn System, path: &[u8], here: bool) -> Result<(), Stop> {
        let stat = match failed(sys.stat(path, Follow::Yes))? {
            Ok(stat) => stat,
            Err(errno) => return self.fail(sys, path, errno),
        };
        if stat.kind == FileKind::Directory {
            if self.excluded_dir(path, true) {
                return Ok(());
            }
            return match self.search.config.directories {
                Directories::Recurse { .. } => self.directory(sys, path, here),
                Directories::Skip => Ok(()),
                Directories::Read => {
                    self.fail(sys, path, Errno::IsDir)?;
                    failed(self.search.nothing(sys, path, self.names))?.ok();
                    Ok(())
                }
            };
        }
        if self.excluded(path, true) {
            return Ok(());
        }
        let device = matches!(stat.kind, FileKind::Fifo | FileKind::CharDevice);
        if device && self.search.config.skip_devices == Some(true) {
            return Ok(());
        }
        self.file(sys, path)
    }

    /// Walks a directory with a list of pending entries, so that depth costs no native stack.
    fn directory(&mut self, sys: &mut dyn System, top: &[u8], here: bool) -> Result<(), Stop> {
        let Directories::Recurse { follow } = self.search.config.directories else {
            return Ok(());
        };
        let mut pending: Vec<(Vec<u8>, FileKind, usize)> =
            vec![(top.to_vec(), FileKind::Directory, 0)];
        while let Some((path, kind, depth)) = pending.pop() {
            sys.work(1)?;
            let mut kind = kind;
            if kind == FileKind::Symlink {
                if !follow {
                    continue;
                }
                match failed(sys.stat(&path, Follow::Yes))? {
                    Ok(stat) => kind = stat.kind,
                    Err(errno) => {
                        self.fail(sys, &path, errno)?;
                        continue;
                    }
                }
            }
            if kind != FileKind::Directory {
                if self.excluded(&path, false) {
                    continue;
                }
                let device = matches!(kind, FileKind::Fifo | FileKind::CharDevice);
                if device && self.search.config.skip_devices != Some(false) {
                    continue;
                }
                self.file(sys, &path)?;
                if self.search.config.show == Show::Quiet && self.matched {
                    return Ok(());
                }
                continue;
            }
            if depth > 0 && self.excluded_dir(&path, false) {
                continue;
            }
            if depth >= MAX_DEPTH {
                return Err(Stop::Limit(Limit::Depth));
            }
            let entries = match failed(sys.read_dir(&path))? {
                Ok(entries) => entries,
                Err(errno) => {
                    self.fail(sys, &path, errno)?;
                    continue;
                }
            };
            for entry in entries.into_iter().rev() {
                let name = if here && depth == 0 {
                    entry.name
                } else {
                    join(&path, &entry.name)
                };
                pending.push((name, entry.kind, depth + 1));
            }
        }
        Ok(())
    }

    fn file(&mut self, sys: &mut dyn System, path: &[u8]) -> Result<(), Stop> {
        match failed(sys.open(path, OpenHow::READ))? {
            Ok(fd) => {
                let done = self.descriptor(sys, fd, path);
                sys.close(fd);
                done
            }
            Err(errno) => self.fail(sys, path, errno),
        }
    }

    fn descriptor(&mut self, sys: &mut dyn System, fd: u32, path: &[u8]) -> Result<(), Stop> {
        let name = if path == b"-" {
            self.search.config.label.clone()
        } else {
            path.to_vec()
        };
        let found = match self.search.file(sys, fd, &name, self.names) {
            Ok(found) => found,
            Err(SysError::Errno(errno)) => return self.fail(sys, &name, errno),
            Err(SysError::Stop(stop)) => return Err(stop),
        };
        match found {
            Found::Lines(count) => self.matched |= count > 0,
            Found::GaveUp(error) => {
                self.errors = true;
                let text = [name.as_slice(), b": ", error.to_string().as_bytes()].concat();
                self.search.flush(sys)?;
                complain(sys, b"grep", &text)?;
            }
        }
        Ok(())
    }

    fn fail(&mut self, sys: &mut dyn System, path: &[u8], errno: Errno) -> Result<(), Stop> {
        self.errors = true;
        if self.search.config.no_messages {
            return Ok(());
        }
        self.search.flush(sys)?;
        let text = [path, b": ", errno.text().as_bytes()].concat();
        complain(sys, b"grep", &text)
    }

    /// Applies `--include` and `--exclude`: the last glob that matches decides; where the first is an
    /// include, what matches none is left out.
    fn excluded(&self, path: &[u8], operand: bool) -> bool {
        let globs = &self.search.config.globs;
        let base = base_name(path);
        let mut excluded = matches!(globs.first(), Some((true, _)));
        for (include, pattern) in globs {
            if glob::matches(pattern, base) || (operand && glob::matches(pattern, path)) {
                excluded = !include;
            }
        }
        excluded
    }

    fn excluded_dir(&self, path: &[u8], operand: bool) -> bool {
        let base = base_name(path);
        self.search.config.exclude_dirs.iter().any(|pattern| {
            glob::matches(pattern, base) || (operand && glob::matches(pattern, path))
        })
    }
}

fn base_name(path: &[u8]) -> &[u8] {
    let trimmed = path.strip_suffix(b"/").unwrap_or(path);
    trimmed
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or(trimmed)
}

fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = dir.to_vec();
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
