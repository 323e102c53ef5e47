//! A look at bytes before they are compiled: what they are, and whether compiling them is bounded.
//!
//! Compilation cannot be cancelled, so what would take too long is refused before it starts.

use wasmparser::{FunctionBody, Operator, Parser, Payload};

use crate::{code::Layer, error::Error};

/// Bytes of a component or module. CPython with its standard library has 34 MiB.
pub(crate) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Functions in all modules of a component. CPython and SpiderMonkey have fewer than 40,000; 250,000
/// empty ones took the compiler 34 s and 1.5 GB.
const MAX_FUNCTIONS: u64 = 100_000;

/// Modules and components inside a component.
const MAX_PARTS: u64 = 1_000;

/// The most tangled function, as branches times locals. A million take the compiler about 0.2 s;
/// the largest in SpiderMonkey has 200,000, in CPython 70,000.
const MAX_TANGLE: u64 = 5_000_000;

/// The same for all functions of a component together.
const MAX_ALL_TANGLE: u64 = 50_000_000;

/// Payloads (sections and function bodies) that are walked.
const MAX_PAYLOADS: u64 = 2_000_000;

/// What a placeholder for a module that somebody has yet to write has in it.
const PLACEHOLDER: [&[u8]; 2] = [b"stub responses", b"\"stub\":true"];

/// Checks that the bytes are a component or module of bounded size.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Error> {
    let refuse = |reason: String| Err(Error::Compile { reason });
    if bytes.is_empty() {
        return refuse("the file is empty".to_owned());
    }
    check_size(bytes.len() as u64)?;
    if !bytes.starts_with(b"\0asm") {
        let text = bytes
            .iter()
            .take(64)
            .all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
        let what = if text {
            "it looks like text"
        } else {
            "the magic bytes are missing"
        };
        return refuse(format!("not a Wasm file: {what}"));
    }
    let (mut functions, mut parts, mut payloads) = (0_u64, 0_u64, 0_u64);
    let mut all_tangle = 0_u64;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = match payload {
            Ok(payload) => payload,
            Err(error) => {
                return refuse(format!("damaged or cut-off Wasm file: {}", error.message()));
            }
        };
        match payload {
            Payload::CodeSectionStart { count, .. } => functions += u64::from(count),
            Payload::CodeSectionEntry(body) => {
                let tangle = tangle(&body);
                all_tangle = all_tangle.saturating_add(tangle);
                if tangle > MAX_TANGLE || all_tangle > MAX_ALL_TANGLE {
                    return refuse(
                        "functions with too many branches over too many locals to be compiled in \
                         bounded time"
                            .to_owned(),
                    );
                }
            }
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => parts += 1,
            _ => {}
        }
        payloads += 1;
        if functions > MAX_FUNCTIONS {
            return refuse(format!("more than {MAX_FUNCTIONS} functions"));
        }
        if parts > MAX_PARTS {
            return refuse(format!(
                "more than {MAX_PARTS} modules and components inside it"
            ));
        }
        if payloads > MAX_PAYLOADS {
            return refuse(format!("more than {MAX_PAYLOADS} parts"));
        }
    }
    let holds = |marker: &&[u8]| memchr::memmem::find(bytes, marker).is_some();
    if Layer::of(bytes) == Layer::Module && PLACEHOLDER.iter().any(holds) {
        return refuse("a placeholder that answers with stub responses, not a tool".to_owned());
    }
    Ok(())
}

/// Estimates the compiler's work with one function: each branch may carry each local.
///
/// A body that cannot be read costs nothing: the compiler will refuse it.
fn tangle(body: &FunctionBody<'_>) -> u64 {
    let locals = || {
        let mut all = 0_u64;
        for group in body.get_locals_reader().ok()? {
            all = all.saturating_add(u64::from(group.ok()?.0));
        }
        Some(all)
    };
    let Some(locals) = locals() else { return 0 };
    let bytes = body.range().len() as u64;
    // Every branch takes at least two bytes, so most functions need no closer look.
    if locals.saturating_mul(bytes / 2) <= MAX_TANGLE / 100 {
        return 0;
    }
    let Ok(operators) = body.get_operators_reader() else {
        return 0;
    };
    let is_branch = |operator: &wasmparser::Result<Operator<'_>>| {
        matches!(
            operator,
            Ok(Operator::Loop { .. } | Operator::Block { .. } | Operator::If { .. })
        )
    };
    let branches = operators.into_iter().filter(is_branch).count() as u64;
    locals.saturating_mul(branches)
}

/// Checks a size before the bytes are read.
pub(crate) fn check_size(size: u64) -> Result<(), Error> {
    if size > MAX_BYTES {
        let reason = format!("{size} bytes, at most {MAX_BYTES} are allowed");
        return Err(Error::Compile { reason });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> String {
        check(bytes).unwrap_err().to_string()
    }

    #[test]
    fn garbage_is_named_for_what_it_is() {
        assert_eq!(refused(b""), "the file is empty");
        assert_eq!(
            refused(b"(component)"),
            "not a Wasm file: it looks like text"
        );
        assert_eq!(
            refused(&[0xff; 100]),
            "not a Wasm file: the magic bytes are missing"
        );
        assert!(
            refused(b"\0asm").contains("damaged or cut-off"),
            "{}",
            refused(b"\0asm")
        );
        check(&wat::parse_str("(module)").unwrap()).unwrap();
        let component = wat::parse_str("(component (core module (func)))").unwrap();
        check(&component).unwrap();
        assert!(refused(&component[..component.len() - 3]).contains("damaged or cut-off"));
    }

    #[test]
    fn a_placeholder_is_refused_by_what_it_holds() {
        for text in ["stub responses", r#"{\"stub\":true}"#] {
            let data = format!("(memory 1) (data (i32.const 0) \"{text}\")");
            let module = wat::parse_str(format!("(module {data})")).unwrap();
            assert!(refused(&module).contains("placeholder"), "{text}");
            let component = wat::parse_str(format!("(component (core module {data}))")).unwrap();
            check(&component).unwrap();
        }
    }

    /// 10,000 loops over 5,000 locals are 140 KB, and would keep the compiler busy for a minute.
    #[test]
    fn a_small_function_that_takes_a_minute_to_compile_is_refused() {
        let function = |loops: usize| {
            let (locals, loops) = ("i64 ".repeat(5_000), "loop end ".repeat(loops));
            wat::parse_str(format!(
                "(component (core module (func (local {locals}) {loops})))"
            ))
            .unwrap()
        };
        assert!(refused(&function(10_000)).contains("too many branches"));
        check(&function(500)).unwrap();
    }

    #[test]
    fn oversized_files_are_refused_by_their_size() {
        assert!(check_size(MAX_BYTES).is_ok());
        assert_eq!(
            check_size(MAX_BYTES + 1).unwrap_err().to_string(),
            "67108865 bytes, at most 67108864 are allowed"
        );
    }
}
