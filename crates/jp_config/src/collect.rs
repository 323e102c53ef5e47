//! Collecting the files of a configuration in the order in which they win.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    diagnose,
    document::{Document, Format},
    error::{ConfigError, Problem, user_only_in},
    extends::{self, Extends, Strategy},
    file::{Reader, canonical},
    front::{Origins, Remarks, Translated},
    load::{Layer, Sources},
    locara, sandbox, tree,
};

/// One file, checked.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) layer: Layer,
    pub(crate) document: Document,
    pub(crate) tree: Value,
    /// Keys without effect, and what is to be known about each.
    pub(crate) remarks: Remarks,
    /// Where what our keys say stands in a file of another format.
    origins: Origins,
}

impl Found {
    /// Returns the key of the file that says what a key of ours says.
    pub(crate) fn original<'p>(&'p self, path: &'p [String]) -> Cow<'p, [String]> {
        self.origins.original(path)
    }
}

/// Collects files, lowest layer first.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    reader: Reader,
    found: Vec<Found>,
    /// The files that are being read, outermost first.
    open: Vec<PathBuf>,
}

/// Who a file belongs to, and the tree it must lie in.
#[derive(Debug, Clone, Copy)]
struct Side<'a> {
    layer: Layer,
    /// Links of the user's own files may lead anywhere; those of a workspace stay inside.
    within: Option<&'a Path>,
}

impl Collector {
    /// Reads all files the sources point at.
    pub(crate) fn collect(mut self, sources: &Sources) -> Result<Vec<Found>, ConfigError> {
        if let Some(dir) = &sources.user_config_dir {
            let side = Side {
                layer: Layer::User,
                within: None,
            };
            self.main_file(dir, side)?;
        }
        if let Some(root) = &sources.workspace_root {
            let root = canonical(root)?;
            let side = Side {
                layer: Layer::Workspace,
                within: Some(&root),
            };
            // What the app says of itself is the lowest of the workspace's layers.
            self.file(&root.join(locara::FILE), side, Absent::Fine, &[])?;
            self.main_file(&root.join(".jp"), side)?;
            for dir in between(&root, &sources.cwd) {
                self.file(&dir.join(".jp.toml"), side, Absent::Fine, &[])?;
            }
        }
        let side = Side {
            layer: Layer::User,
            within: None,
        };
        for file in &sources.files {
            self.file(file, side, Absent::Wrong, &[])?;
        }
        Ok(self.found)
    }

    /// Reads `config.toml` or `config.json` of a directory, and `config.d` beside it.
    fn main_file(&mut self, dir: &Path, side: Side<'_>) -> Result<(), ConfigError> {
        let default = [Extends {
            path: extends::DEFAULT.to_string(),
            strategy: Strategy::Before,
        }];
        let (toml, json) = (dir.join("config.toml"), dir.join("config.json"));
        if self.file(&toml, side, Absent::Fine, &default)? {
            return match json.exists() {
                true => Err(ConfigError::of_file(json, Problem::Twice { other: toml })),
                false => Ok(()),
            };
        }
        if !self.file(&json, side, Absent::Fine, &default)? {
            // No layer says that it is not to be read.
            self.extended(&default, Strategy::Before, dir, side)?;
        }
        Ok(())
    }

    /// Reads one file and what it extends; returns whether there was one.
    fn file(
        &mut self,
        path: &Path,
        side: Side<'_>,
        absent: Absent,
        default: &[Extends],
    ) -> Result<bool, ConfigError> {
        let Some(document) = self.reader.read(path, side.within)? else {
            return match absent {
                Absent::Fine => Ok(false),
                Absent::Wrong => {
                    let message = "no such file".to_string();
                    Err(ConfigError::of_file(path, Problem::Io { message }))
                }
            };
        };
        let real = canonical(path)?;
        if self.open.contains(&real) {
            let file = path.to_path_buf();
            return Err(ConfigError::of_file(path, Problem::Cycle { file }));
        }
        self.open.push(real);
        let mut said = translated(&document)?;
        check(&document, &said, side.layer)?;
        let extends = take_extends(&mut said.tree).unwrap_or_else(|| default.to_vec());
        let dir = path.parent().unwrap_or(Path::new(""));
        self.extended(&extends, Strategy::Before, dir, side)?;
        self.found.push(Found {
            layer: side.layer,
            document,
            tree: said.tree,
            remarks: said.remarks,
            origins: said.origins,
        });
        self.extended(&extends, Strategy::After, dir, side)?;
        self.open.pop();
        Ok(true)
    }

    fn extended(
        &mut self,
        extends: &[Extends],
        strategy: Strategy,
        dir: &Path,
        side: Side<'_>,
    ) -> Result<(), ConfigError> {
        for entry in extends.iter().filter(|entry| entry.strategy == strategy) {
            for file in entry.files(dir)? {
                self.file(&file, side, Absent::Wrong, &[])?;
            }
        }
        Ok(())
    }
}

/// What it means that a file is not there.
#[derive(Debug, Clone, Copy)]
enum Absent {
    Fine,
    Wrong,
}

/// Checks one file on its own, so that a mistake is found even where a higher layer hides it.
fn check(document: &Document, said: &Translated, layer: Layer) -> Result<(), ConfigError> {
    let tree = &said.tree;
    let fail = |path: Vec<String>, problem| {
        let path = said.origins.original(&path);
        let place = document.place(&path);
        let key = (!path.is_empty()).then(|| tree::dotted(&path));
        ConfigError::at(place, key, problem)
    };
    if layer == Layer::Workspace
        && let Some(section) = user_only_in(tree)
    {
        let problem = Problem::OutsideUser { section };
        let path = section.split('.').map(ToOwned::to_owned);
        return Err(fail(path.collect(), problem));
    }
    // It says how much of the user's disk is used.
    let kept = ["serve", "results"].map(str::to_owned);
    if layer == Layer::Workspace && tree::get(tree, &kept).is_some() {
        let section = "serve.results";
        return Err(fail(kept.to_vec(), Problem::OutsideUser { section }));
    }
    let checked = match document.format {
        Format::Toml => diagnose::check(tree),
        Format::Json | Format::Manifest => {
            // `null` unsets a value of a lower layer; it has no type.
            let mut tree = tree.clone();
            tree::strip_nulls(&mut tree);
            diagnose::check(&tree)
        }
    };
    checked.map_err(|(path, problem)| fail(path, problem))
}

/// Parses a file; one in another format is put into our own terms.
fn translated(document: &Document) -> Result<Translated, ConfigError> {
    let tree = document.parse()?;
    let translated = match document.format {
        Format::Manifest => locara::translate(&tree),
        Format::Json if locara::is_manifest(&tree) => locara::translate(&tree),
        Format::Json if sandbox::is_sandbox(&tree) => sandbox::translate(&tree),
        _ => {
            return Ok(Translated {
                tree,
                ..Translated::default()
            });
        }
    };
    translated.map_err(|(path, problem)| {
        let key = (!path.is_empty()).then(|| tree::dotted(&path));
        ConfigError::at(document.place(&path), key, problem)
    })
}

fn take_extends(tree: &mut Value) -> Option<Vec<Extends>> {
    let value = tree.as_object_mut()?.shift_remove("extends")?;
    serde_json::from_value(value).ok()
}

/// Returns the directories from the workspace root down to the current one, if that lies inside.
fn between(root: &Path, cwd: &Path) -> Vec<PathBuf> {
    let Ok(cwd) = cwd.canonicalize() else {
        return vec![root.to_path_buf()];
    };
    let mut dirs: Vec<PathBuf> = cwd
        .ancestors()
        .take_while(|dir| dir.starts_with(root))
        .map(Path::to_path_buf)
        .collect();
    if dirs.is_empty() {
        dirs.push(root.to_path_buf());
    }
    dirs.reverse();
    dirs
}
