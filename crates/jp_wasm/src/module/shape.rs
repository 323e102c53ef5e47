//! What a core module must export and may import to be a tool, and the words for what it lacks.

use wasmtime::{ExternType, FuncType, Module, ModuleExport};

use crate::{error::Error, guest::ToolKind, preview1};

/// The type of an entrypoint and of `resume`: where the input lies, and where the output.
const ENTRY: &str = "(i32,i32)->i64";

/// The names that are tried when none is configured.
const DEFAULT_ENTRIES: [&str; 2] = ["execute", "invoke"];

/// Why a module is not a tool, or why a call cannot enter it. Names of its exports are its author's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ShapeError {
    #[error(
        "WASM module imports `{}/{}`; a tool module has no imports, or those of {} alone",
        jp_text::short_line(module, 120),
        jp_text::short_line(name, 120),
        preview1::NAME
    )]
    Import { module: String, name: String },
    #[error("WASM module missing exported memory")]
    NoMemory,
    #[error("WASM module missing exported memory: its `memory` has another type")]
    MemoryType,
    #[error(
        "WASM module missing `{}{wanted}` export",
        jp_text::short_line(name, 120)
    )]
    NoFunction { name: String, wanted: &'static str },
    #[error(
        "WASM module missing `{0}{wanted}` export: its `{0}` has another type",
        jp_text::short_line(name, 120)
    )]
    FunctionType { name: String, wanted: &'static str },
}

impl From<ShapeError> for Error {
    fn from(problem: ShapeError) -> Self {
        Self::InstantiateModule {
            reason: problem.to_string(),
        }
    }
}

/// The exports of a module that are used.
pub(super) struct Shape {
    /// Whether it imports WASI preview 1.
    pub(super) wasi: bool,
    /// What text is exchanged through; or which of it is missing.
    pub(super) memory: Result<MemoryExports, ShapeError>,
    /// Lets it go on with the result of a capability call.
    pub(super) resume: Option<ModuleExport>,
    /// Sets up a WASI module that is not a program.
    pub(super) initialize: Option<ModuleExport>,
    /// Runs a WASI program.
    start: Option<ModuleExport>,
    /// How a call enters that names no export. Looking for one writes out types, too slow for each
    /// call.
    unnamed: Result<WayIn, ShapeError>,
}

/// What text is exchanged through.
pub(super) struct MemoryExports {
    pub(super) memory: ModuleExport,
    pub(super) alloc: ModuleExport,
    pub(super) dealloc: ModuleExport,
}

/// How a call enters a module.
#[derive(Clone, Copy)]
pub(crate) enum WayIn {
    /// By a function that reads and writes its memory.
    Memory(ModuleExport),
    /// As a program.
    Command(ModuleExport),
}

impl Shape {
    /// Looks at a module, or says why it is not a tool.
    pub(super) fn of(module: &Module) -> Result<Self, ShapeError> {
        if let Some(import) = module.imports().find(|i| i.module() != preview1::NAME) {
            return Err(ShapeError::Import {
                module: import.module().to_owned(),
                name: import.name().to_owned(),
            });
        }
        let wasi = module.imports().next().is_some();
        let only_wasi = |name| function(module, name, "()->()").ok().filter(|_| wasi);
        let mut shape = Self {
            wasi,
            memory: memory(module),
            resume: function(module, "resume", ENTRY).ok(),
            initialize: only_wasi("_initialize"),
            start: only_wasi("_start"),
            unnamed: Err(ShapeError::NoMemory),
        };
        shape.unnamed = shape.find(module, None);
        if let (Err(missing), None) = (&shape.memory, shape.start) {
            return Err(missing.clone());
        }
        Ok(shape)
    }

    pub(super) fn kind(&self) -> ToolKind {
        let resumes = self.resume.is_some();
        match (&self.memory, self.wasi) {
            (Ok(_), false) => ToolKind::Module { resumes },
            (Ok(_), true) => ToolKind::WasiModule { resumes },
            (Err(_), _) => ToolKind::WasiCommand,
        }
    }

    /// Finds the export that a call enters by.
    pub(super) fn way_in(&self, module: &Module, name: Option<&str>) -> Result<WayIn, ShapeError> {
        match name {
            None => self.unnamed.clone(),
            Some(name) if name == DEFAULT_ENTRIES[0] => self.unnamed.clone(),
            named => self.find(module, named),
        }
    }

    fn find(&self, module: &Module, named: Option<&str>) -> Result<WayIn, ShapeError> {
        if let (Some("_start"), Some(start)) = (named, self.start) {
            return Ok(WayIn::Command(start));
        }
        let found = match (&self.memory, named) {
            (Err(missing), _) => Err(missing.clone()),
            (Ok(_), Some(name)) => function(module, name, ENTRY),
            (Ok(_), None) => default_entry(module),
        };
        match (found, named, self.start) {
            (Ok(entry), ..) => Ok(WayIn::Memory(entry)),
            (Err(_), None, Some(start)) => Ok(WayIn::Command(start)),
            (Err(missing), ..) => Err(missing),
        }
    }
}

/// Finds what text is exchanged through. Which entrypoint a call will name is not known yet, so
/// any function that could be one will do.
fn memory(module: &Module) -> Result<MemoryExports, ShapeError> {
    let memory = match module.get_export("memory") {
        Some(ExternType::Memory(memory)) if !memory.is_64() && !memory.is_shared() => {
            module.get_export_index("memory")
        }
        Some(ExternType::Memory(_)) => {
            return Err(ShapeError::MemoryType);
        }
        _ => None,
    };
    let exports = MemoryExports {
        memory: memory.ok_or(ShapeError::NoMemory)?,
        alloc: function(module, "alloc", "(i32)->i32")?,
        dealloc: function(module, "dealloc", "(i32,i32)->()")?,
    };
    let is_entry = |name: &str, ty: &ExternType| {
        name != "resume" && ty.func().is_some_and(|ty| signature(ty) == ENTRY)
    };
    if module.exports().any(|e| is_entry(e.name(), &e.ty())) {
        Ok(exports)
    } else {
        default_entry(module).map(|_| exports)
    }
}

fn default_entry(module: &Module) -> Result<ModuleExport, ShapeError> {
    let [first, second] = DEFAULT_ENTRIES;
    if module.get_export(first).is_none() && module.get_export(second).is_some() {
        return function(module, second, ENTRY);
    }
    function(module, first, ENTRY)
}

/// Finds a function by name and type.
fn function(module: &Module, name: &str, wanted: &'static str) -> Result<ModuleExport, ShapeError> {
    let missing = || ShapeError::NoFunction {
        name: name.to_owned(),
        wanted,
    };
    match module.get_export(name) {
        Some(ExternType::Func(ty)) if signature(&ty) == wanted => {
            module.get_export_index(name).ok_or_else(missing)
        }
        Some(_) => Err(ShapeError::FunctionType {
            name: name.to_owned(),
            wanted,
        }),
        None => Err(missing()),
    }
}

/// Writes a function's type as people do: `(i32,i32)->i64`, `()->()`.
fn signature(ty: &FuncType) -> String {
    let list = |types: &mut dyn Iterator<Item = wasmtime::ValType>| {
        let types: Vec<String> = types.map(|ty| ty.to_string()).collect();
        types.join(",")
    };
    let params = list(&mut ty.params());
    let results = list(&mut ty.results());
    if ty.results().len() == 1 {
        format!("({params})->{results}")
    } else {
        format!("({params})->({results})")
    }
}
