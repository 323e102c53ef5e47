//! What some bytes are, without compiling or running them: for people who ask why a file is not a
//! tool. Which kind of tool it is, [`Prepared::kind`](crate::Prepared::kind) says.

use wasmparser::{ComponentTypeRef, Encoding, Parser, Payload};

use crate::prescan;

/// Names that are listed; a hostile file can have millions.
const MAX_NAMES: usize = 200;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A component.
    Component,
    /// A core module.
    Module,
    /// Something else.
    NotWasm,
}

/// What is known about a file from its bytes alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// What it is.
    pub kind: FileKind,
    /// The names it imports, up to a bound.
    pub imports: Vec<String>,
    /// The names it exports, up to a bound.
    pub exports: Vec<String>,
    /// Whether there are more names than are listed.
    pub cut: bool,
    /// What is wrong with its structure or size, if anything is.
    pub problem: Option<String>,
}

impl Inspected {
    /// Looks at bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut seen = Self {
            kind: FileKind::NotWasm,
            imports: Vec::new(),
            exports: Vec::new(),
            cut: false,
            problem: prescan::check(bytes).err().map(|error| error.to_string()),
        };
        if !bytes.starts_with(b"\0asm") {
            return seen;
        }
        let mut depth = 0_usize;
        // A payload that cannot be read ends the walk; `problem` has the reason.
        for payload in Parser::new(0).parse_all(bytes).map_while(Result::ok) {
            match payload {
                Payload::Version { encoding, .. } => {
                    if depth == 0 {
                        seen.kind = match encoding {
                            Encoding::Component => FileKind::Component,
                            Encoding::Module => FileKind::Module,
                        };
                    }
                    depth += 1;
                }
                Payload::End(_) => depth = depth.saturating_sub(1),
                payload if depth == 1 => seen.names(payload),
                _ => {}
            }
        }
        seen
    }

    fn names(&mut self, payload: Payload<'_>) {
        match payload {
            Payload::ComponentImportSection(section) => {
                for import in section.into_iter().map_while(Result::ok) {
                    // A type is a name for a shape, nothing that could be called.
                    if !matches!(import.ty, ComponentTypeRef::Type(_)) {
                        push(&mut self.imports, &mut self.cut, import.name.name);
                    }
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section.into_iter().map_while(Result::ok) {
                    push(&mut self.exports, &mut self.cut, export.name.name);
                }
            }
            Payload::ExportSection(section) => {
                for export in section.into_iter().map_while(Result::ok) {
                    push(&mut self.exports, &mut self.cut, export.name);
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports().map_while(Result::ok) {
                    let name = format!("{}/{}", import.module, import.name);
                    push(&mut self.imports, &mut self.cut, &name);
                }
            }
            _ => {}
        }
    }
}

fn push(names: &mut Vec<String>, cut: &mut bool, name: &str) {
    if names.len() < MAX_NAMES {
        names.push(jp_text::shorten(name, 200).into_owned());
    } else {
        *cut = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_for_what_it_is() {
        assert_eq!(Inspected::of(b"hello").kind, FileKind::NotWasm);
        let module =
            wat::parse_str(r#"(module (import "a" "b" (func)) (export "c" (func 0)))"#).unwrap();
        let seen = Inspected::of(&module);
        assert_eq!(seen.kind, FileKind::Module);
        assert_eq!(
            (seen.imports, seen.exports),
            (vec!["a/b".into()], vec!["c".into()])
        );
        assert_eq!(seen.problem, None, "what it lacks is found by preparing it");
        let component = wat::parse_str(
            r#"(component (import "x" (func)) (core module (export "no" (func 0)) (func)))"#,
        )
        .unwrap();
        let seen = Inspected::of(&component);
        assert_eq!(seen.kind, FileKind::Component);
        assert_eq!((seen.imports, seen.exports), (vec!["x".into()], vec![]));
        assert_eq!(seen.problem, None);
    }

    #[test]
    fn a_damaged_file_is_looked_at_as_far_as_it_goes() {
        let component = wat::parse_str(r#"(component (import "x" (func)))"#).unwrap();
        for end in 0..component.len() {
            let _ = Inspected::of(&component[..end]);
        }
    }
}
