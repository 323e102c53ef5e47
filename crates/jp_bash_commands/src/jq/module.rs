//! Finds and reads the files of `import` and `include`, in the virtual file system only.

use jp_bash_system::{Follow, OpenHow, SysError, failed};

use super::ast::{Import, Source};
use super::code::{CompileError, Global};
use super::compile::{Compiled, Compiler, What};
use super::fail::{Fail, Result};
use super::fuel::Fuel;
use super::json::{self, Parser, Step};
use super::parse;
use super::text::Text;
use super::value::Value;

/// How deep modules may import modules.
const MAX_DEPTH: u32 = 32;
/// How many modules a program may load in all: a cycle must end.
const MAX_MODULES: usize = 256;

/// A module that was read.
pub(super) struct Module {
    source: Source,
    imports: Vec<Loaded>,
}

/// What an import gave.
enum Loaded {
    Module(Option<Text>, Module),
    /// Data is a variable, which was added to the globals.
    Data,
}

/// Why a program could not be put together.
pub(super) enum Trouble {
    Message(String),
    Fail(Fail),
}

impl From<Fail> for Trouble {
    fn from(fail: Fail) -> Self {
        Self::Fail(fail)
    }
}

/// Loads modules.
pub(super) struct Loader<'l, 's> {
    pub(super) fuel: &'l mut Fuel<'s>,
    pub(super) search: &'l [Vec<u8>],
    pub(super) globals: &'l mut Vec<Global>,
    pub(super) count: usize,
}

impl Loader<'_, '_> {
    /// Loads what a source imports.
    pub(super) fn load(
        &mut self,
        source: Source,
        directory: &[u8],
        depth: u32,
    ) -> std::result::Result<Module, Trouble> {
        let mut imports = Vec::new();
        for import in &source.imports {
            self.count += 1;
            if depth > MAX_DEPTH || self.count > MAX_MODULES {
                return Err(Trouble::Message("modules are nested too deeply".to_owned()));
            }
            let (path, text) = self.find(import, directory)?;
            if import.data {
                let value = texts(&text).map_err(|error| {
                    Trouble::Message(format!("{}: {error}", String::from_utf8_lossy(&path)))
                })?;
                if let Some(alias) = &import.alias {
                    let qualified = [&**alias, b"::", &**alias].concat();
                    self.globals.push((alias.clone(), value.clone()));
                    self.globals.push((Text::owned(qualified), value));
                }
                imports.push(Loaded::Data);
                continue;
            }
            let inner = parse::parse(&text).map_err(|error| {
                let line = line_of(&text, error.at);
                Trouble::Message(format!(
                    "{} at {}, line {line}:\n{}",
                    error.message,
                    String::from_utf8_lossy(&path),
                    String::from_utf8_lossy(&text)
                ))
            })?;
            let below = path
                .iter()
                .rposition(|byte| *byte == b'/')
                .map_or(&b"."[..], |at| path.get(..at).unwrap_or_default());
            let module = self.load(inner, below, depth + 1)?;
            imports.push(Loaded::Module(import.alias.clone(), module));
        }
        Ok(Module { source, imports })
    }

    fn find(
        &mut self,
        import: &Import,
        directory: &[u8],
    ) -> std::result::Result<(Vec<u8>, Vec<u8>), Trouble> {
        let path = import.path.as_str();
        if path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err(Trouble::Message(format!(
                "Modules must be named by relative paths, not {path}"
            )));
        }
        let last = path.rsplit('/').next().unwrap_or(path);
        let end = if import.data { "json" } else { "jq" };
        let mut directories = Vec::new();
        if let Some(search) = &import.search {
            // A search path of its own is relative to the file that says it.
            directories.push(if search.starts_with(b"/") || directory == b"." {
                search.to_vec()
            } else {
                [directory, b"/", search].concat()
            });
        }
        directories.extend(self.search.iter().cloned());
        for found in directories {
            let base = match found.strip_prefix(b"~/") {
                Some(rest) => {
                    let home = self.fuel.sys.env(b"HOME").unwrap_or_default();
                    [&home[..], b"/", rest].concat()
                }
                None if found.starts_with(b"$ORIGIN") => continue,
                None => found,
            };
            for name in [format!("/{path}.{end}"), format!("/{path}/{last}.{end}")] {
                let file = [&base[..], name.as_bytes()].concat();
                if let Some(text) = read_file(self.fuel, &file)? {
                    return Ok((file, text));
                }
            }
        }
        Err(Trouble::Message(format!("module not found: {path}\n")))
    }
}

impl Compiler<'_> {
    /// Makes the code of a module's functions and binds their names, in the importer's view.
    pub(super) fn module(&mut self, module: &Module) -> Compiled<()> {
        for loaded in &module.imports {
            let Loaded::Module(alias, inner) = loaded else {
                continue;
            };
            let before = self.bindings().len();
            self.module(inner)?;
            let mut own = self.bindings().split_off(before);
            // Only what the module defines itself is seen outside of it.
            own.retain(|binding| {
                matches!(binding.what, What::Function { .. })
                    && !binding.name.windows(2).any(|pair| pair == b"::")
            });
            if let Some(alias) = alias {
                for binding in &mut own {
                    binding.name = Text::owned([&**alias, b"::", &*binding.name].concat());
                }
            }
            self.bindings().extend(own);
        }
        self.defs(&module.source.defs)
    }

    /// Makes the whole program.
    pub(super) fn program(mut self, module: &Module) -> Compiled<super::code::Program> {
        self.module(module)?;
        match &module.source.body {
            Some(body) => self.finish(body),
            None => self.finish(&super::ast::Ast::Identity),
        }
    }
}

/// Returns the line that a place is in.
pub(super) fn line_of(text: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', text.get(..at).unwrap_or(text)).count() + 1
}

/// Makes the message of a name that means nothing.
pub(super) fn describe(error: &CompileError, text: &[u8]) -> String {
    format!(
        "{} at <top-level>, line {}:\n{}",
        error.message,
        error.line,
        String::from_utf8_lossy(text)
    )
}

/// Reads a whole file; `None` if it cannot be opened.
pub(super) fn read_file(fuel: &mut Fuel<'_>, path: &[u8]) -> Result<Option<Vec<u8>>> {
    let Ok(stat) = failed(fuel.sys.stat(path, Follow::Yes))? else {
        return Ok(None);
    };
    if stat.kind == jp_bash_system::FileKind::Directory {
        return Ok(None);
    }
    let Ok(fd) = failed(fuel.sys.open(path, OpenHow::READ))? else {
        return Ok(None);
    };
    let mut text = Vec::new();
    loop {
        let held = text.len();
        let piece = usize::max(16 * 1024, held);
        fuel.room(held + piece)?;
        text.resize(held + piece, 0);
        let room = text.get_mut(held..).unwrap_or_default();
        let got = match fuel.sys.read(fd, room) {
            Ok(got) => got,
            Err(SysError::Stop(stop)) => return Err(stop.into()),
            Err(SysError::Errno(_)) => 0,
        };
        text.truncate(held + got);
        if got == 0 {
            fuel.sys.close(fd);
            return Ok(Some(text));
        }
    }
}

/// Reads all JSON texts of a file into an array.
pub(super) fn texts(text: &[u8]) -> std::result::Result<Value, json::Invalid> {
    let mut parser = Parser::default();
    let mut at = 0;
    let mut all = Vec::new();
    loop {
        match parser.read(text, &mut at, true) {
            Ok(Step::Value(value)) => all.push(value),
            Ok(Step::End | Step::More) => return Ok(Value::array(all)),
            Err(message) => {
                let before = text.get(..at).unwrap_or(text);
                return Err(json::Invalid::new(message, before));
            }
        }
    }
}
