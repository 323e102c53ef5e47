//! What a core module must export and may import to be a tool, and the words for what is missing.

use wasmtime::{ExternType, FuncType, Module, ModuleExport};

use crate::{guest::ToolKind, preview1};

/// The type of an entrypoint and of `resume`: where the input lies, and where the output.
const ENTRY: &str = "(i32,i32)->i64";

/// The names that are tried when none is configured.
const DEFAULT_ENTRIES: [&str; 2] = ["execute", "invoke"];

/// The exports of a module that are used.
pub(super) struct Shape {
    /// Whether it imports WASI preview 1.
    pub(super) wasi: bool,
    /// What text is exchanged through; or which of it is missing.
    pub(super) memory: Result<MemoryExports, String>,
    /// Lets it go on with the result of a capability call.
    pub(super) resume: Option<ModuleExport>,
    /// Sets up a WASI module that is no program.
    pub(super) initialize: Option<ModuleExport>,
    /// Runs a WASI program.
    start: Option<ModuleExport>,
    /// How a call enters that names no export. Looking for one writes out types, too slow for each
    /// call.
    unnamed: Result<WayIn, String>,
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
    /// Looks at a module, or says why it is no tool.
    pub(super) fn of(module: &Module) -> Result<Self, String> {
        if let Some(import) = module.imports().find(|i| i.module() != preview1::NAME) {
            return Err(format!(
                "WASM module imports `{}/{}`; a tool module has no imports, or those of {} alone",
                jp_text::short_line(import.module(), 120),
                jp_text::short_line(import.name(), 120),
                preview1::NAME
            ));
        }
        let wasi = module.imports().next().is_some();
        let only_wasi = |name| function(module, name, "()->()").ok().filter(|_| wasi);
        let mut shape = Self {
            wasi,
            memory: memory(module),
            resume: function(module, "resume", ENTRY).ok(),
            initialize: only_wasi("_initialize"),
            start: only_wasi("_start"),
            unnamed: Err(String::new()),
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
    pub(super) fn way_in(&self, module: &Module, name: Option<&str>) -> Result<WayIn, String> {
        match name {
            None => self.unnamed.clone(),
            Some(name) if name == DEFAULT_ENTRIES[0] => self.unnamed.clone(),
            named => self.find(module, named),
        }
    }

    fn find(&self, module: &Module, named: Option<&str>) -> Result<WayIn, String> {
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
fn memory(module: &Module) -> Result<MemoryExports, String> {
    let memory = match module.get_export("memory") {
        Some(ExternType::Memory(memory)) if !memory.is_64() && !memory.is_shared() => {
            module.get_export_index("memory")
        }
        Some(ExternType::Memory(_)) => {
            return Err(
                "WASM module missing exported memory: its `memory` has another type".into(),
            );
        }
        _ => None,
    };
    let exports = MemoryExports {
        memory: memory.ok_or("WASM module missing exported memory")?,
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

fn default_entry(module: &Module) -> Result<ModuleExport, String> {
    let [first, second] = DEFAULT_ENTRIES;
    if module.get_export(first).is_none() && module.get_export(second).is_some() {
        return function(module, second, ENTRY);
    }
    function(module, first, ENTRY)
}

/// Finds a function by name and type.
fn function(module: &Module, name: &str, wanted: &str) -> Result<ModuleExport, String> {
    let missing = |why: &str| {
        let name = jp_text::short_line(name, 120);
        format!("WASM module missing `{name}{wanted}` export{why}")
    };
    match module.get_export(name) {
        Some(ExternType::Func(ty)) if signature(&ty) == wanted => {
            module.get_export_index(name).ok_or_else(|| missing(""))
        }
        Some(_) => Err(missing(&format!(
            ": its `{}` has another type",
            jp_text::short_line(name, 120)
        ))),
        None => Err(missing("")),
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
