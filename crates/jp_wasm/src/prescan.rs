//! A look at bytes before they are compiled: what they are, and whether compiling them is bounded.
//!
//! Compilation cannot be cancelled, so what would take too long is refused before it starts.

use wasmparser::{Encoding, Parser, Payload};

use crate::error::Error;

/// Bytes of a component. CPython with its standard library has 34 MiB.
pub(crate) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Functions in all modules of a component. CPython and SpiderMonkey have fewer than 40,000; 250,000
/// empty ones took the compiler 34 s and 1.5 GB.
const MAX_FUNCTIONS: u64 = 100_000;

/// Modules and components inside a component.
const MAX_PARTS: u64 = 1_000;

/// Payloads (sections and function bodies) that are walked.
const MAX_PAYLOADS: u64 = 2_000_000;

/// Checks that the bytes are a component of bounded size.
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
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = match payload {
            Ok(payload) => payload,
            Err(error) => {
                return refuse(format!("damaged or cut-off Wasm file: {}", error.message()));
            }
        };
        match payload {
            Payload::Version {
                encoding: Encoding::Module,
                ..
            } if payloads == 0 => {
                return refuse(
                    "a core Wasm module, not a component; build it for wasm32-wasip2".to_owned(),
                );
            }
            Payload::CodeSectionStart { count, .. } => functions += u64::from(count),
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
    Ok(())
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
        let module = wat::parse_str("(module)").unwrap();
        assert!(refused(&module).contains("wasm32-wasip2"));
        let component = wat::parse_str("(component (core module (func)))").unwrap();
        check(&component).unwrap();
        assert!(refused(&component[..component.len() - 3]).contains("damaged or cut-off"));
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
