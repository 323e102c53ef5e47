//! Components written as text, for what no compiler would make of honest source.

/// The types of `jp:tool@0.1.0` as a component imports them.
const TYPES: &str = r#"
  (import "jp:tool/types@0.1.0" (instance $types
    (type $a' (enum "run" "format-arguments"))
    (export "action" (type $action (eq $a')))
    (type $c' (record (field "root" string) (field "action" $action)))
    (export "context" (type $context (eq $c')))
    (type $strings (list string))
    (type $e' (record (field "message" string) (field "trace" $strings) (field "transient" bool)))
    (export "error-info" (type $error (eq $e')))
    (type $maybe (option string))
    (type $q' (record (field "id" string) (field "text" string) (field "answer-type" string)
      (field "default" $maybe)))
    (export "question" (type $question (eq $q')))
    (type $o' (variant (case "success" string) (case "error" $error)
      (case "needs-input" $question)))
    (export "outcome" (type $outcome (eq $o')))))
  (alias export $types "context" (type $context))
  (alias export $types "outcome" (type $outcome))
"#;

/// The export that the contract asks for, over the core function `run` of `$main`.
const RUN: &str = r#"
  (func $run (param "ctx" $context) (param "name" string) (param "arguments" string)
      (param "answers" string) (result $outcome)
    (canon lift (core func $main "run") (memory (core memory $main "memory"))
      (realloc (core func $main "realloc"))))
  (export "run" (func $run))
"#;

/// The core signature of `run`: nine words in, a pointer to the outcome out.
pub const SIGNATURE: &str = "(param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)";

/// An allocator that gives everything the same place: enough for arguments nobody reads.
pub(crate) const REALLOC: &str =
    r#"(func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))"#;

/// Writes a tool: `outer` is part of the component and makes the core instance `$main`, which
/// exports `memory`, `realloc` and `run`.
#[must_use]
pub fn tool(outer: &str) -> String {
    format!("(component {TYPES} {outer} {RUN})")
}

/// Writes a tool of one core module without imports. The module has a memory of `pages` and
/// answers with the text that `body` leaves in it: pointer in `$at`, length in `$len`.
#[must_use]
pub fn simple(pages: u32, definitions: &str, body: &str) -> String {
    tool(&format!(
        "(core module $m {}) (core instance $main (instantiate $m))",
        module(pages, definitions, body)
    ))
}

/// Writes the inside of a core module as [`simple`] has it, for tools with imports.
#[must_use]
pub fn module(pages: u32, definitions: &str, body: &str) -> String {
    format!(
        r#"
  {definitions}
  (memory (export "memory") {pages})
  {REALLOC}
  (func (export "run") {SIGNATURE}
    (local $at i32) (local $len i32) (local $i i32) (local $n i32) (local $wide i64)
    {body}
    (i32.store8 (i32.const 0) (i32.const 0))
    (i32.store (i32.const 4) (local.get $at))
    (i32.store (i32.const 8) (local.get $len))
    (i32.const 0))"#
    )
}

/// Text that makes the answer of [`simple`] the decimal digits of `$n`.
pub const SAY_N: &str = r"
    (local.set $at (i32.const 64))
    (loop $digit
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (local.set $len (i32.add (local.get $len) (i32.const 1)))
      (i32.store8 (local.get $at)
        (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10))))
      (local.set $n (i32.div_u (local.get $n) (i32.const 10)))
      (br_if $digit (local.get $n)))";

/// Turns text into a component.
///
/// # Panics
///
/// When the text is wrong.
#[must_use]
#[expect(clippy::panic, reason = "a test kit fails by panicking")]
pub fn component(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
