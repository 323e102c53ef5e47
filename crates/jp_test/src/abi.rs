//! Core modules written as text: an honest module of the ABI, whose parts can be swapped for
//! dishonest ones.

/// A module of the ABI, in parts.
#[derive(Debug, Clone)]
pub struct Abi {
    /// Its memory.
    pub memory: String,
    /// Its `alloc`.
    pub alloc: String,
    /// Its `dealloc`.
    pub dealloc: String,
    /// Its entrypoint.
    pub entry: String,
    /// Everything else; imports come first and have a part of their own.
    pub more: String,
    /// What it imports.
    pub imports: String,
}

impl Default for Abi {
    /// A module that answers with its arguments.
    fn default() -> Self {
        Self {
            memory: r#"(memory (export "memory") 2)"#.to_owned(),
            alloc: r#"
              (global $next (mut i32) (i32.const 4096))
              (func $alloc (export "alloc") (param $len i32) (result i32)
                (local $at i32)
                (local.set $at (global.get $next))
                (global.set $next (i32.add (global.get $next) (local.get $len)))
                (local.get $at))"#
                .to_owned(),
            dealloc: r#"(func (export "dealloc") (param i32 i32))"#.to_owned(),
            entry: entry("execute", ECHO),
            more: String::new(),
            imports: String::new(),
        }
    }
}

/// Where a fixed answer lies: past what is allocated for a few calls.
const ANSWER: u32 = 65536;

/// The body of an entrypoint that answers with what it was given.
pub const ECHO: &str = "(call $pack (local.get $at) (local.get $len))";

impl Abi {
    /// A module whose entrypoint has this body.
    #[must_use]
    pub fn running(body: &str) -> Self {
        Self {
            entry: entry("execute", body),
            ..Self::default()
        }
    }

    /// A module that answers with these bytes, whatever it is asked.
    #[must_use]
    pub fn saying(answer: impl AsRef<[u8]>) -> Self {
        let answer = answer.as_ref();
        let len = answer.len();
        Self {
            more: data(ANSWER, answer),
            ..Self::running(&format!(
                "(call $pack (i32.const {ANSWER}) (i32.const {len}))"
            ))
        }
    }

    /// Adds definitions.
    #[must_use]
    pub fn with(mut self, more: &str) -> Self {
        self.more.push_str(more);
        self
    }

    /// Returns the bytes of the module.
    ///
    /// # Panics
    ///
    /// When a part is no text of a module.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let Self {
            memory,
            alloc,
            dealloc,
            entry,
            more,
            imports,
        } = self;
        let pack = "(func $pack (param $at i32) (param $len i32) (result i64)
          (i64.or (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32))
            (i64.extend_i32_u (local.get $len))))";
        crate::text::component(&format!(
            "(module {imports} {memory} {pack} {alloc} {dealloc} {entry} {more})"
        ))
    }
}

/// Writes an entrypoint with a body over `$at` and `$len`.
#[must_use]
pub fn entry(name: &str, body: &str) -> String {
    format!(
        r#"(func (export "{name}") (param $at i32) (param $len i32) (result i64) (local $i i32)
             {body})"#
    )
}

/// Writes data that lies in memory from the start.
#[must_use]
pub fn data(at: u32, bytes: &[u8]) -> String {
    let escaped: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
    format!("(data (i32.const {at}) \"{escaped}\")")
}
