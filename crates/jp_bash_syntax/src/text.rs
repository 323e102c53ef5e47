//! Texts that only exist when a script runs: arithmetic, prompts, array literals.

use std::sync::Arc;

use crate::ast::{Element, Expr, Word};
use crate::error::{ArithError, SyntaxError};
use crate::expr::parse_text;
use crate::names::Names;
use crate::parser::ParseOptions;
use crate::reader::Reader;

/// Parses an expression after its text was expanded (`$((…))`, `let`, values of variables).
pub fn parse_arith(
    text: &[u8],
    names: &mut Names,
    options: &ParseOptions,
) -> Result<Expr, ArithError> {
    parse_text(text, names, options)
}

/// Parses a text that is expanded as in double quotes (`${x@P}`, `PS4`, `$((…))` with odd expansions).
pub fn parse_quoted_text(
    text: &[u8],
    names: &mut Names,
    options: &ParseOptions,
) -> Result<Word, SyntaxError> {
    let text: Arc<[u8]> = text.iter().copied().filter(|byte| *byte != 0).collect();
    let mut reader = Reader::new(text, names, &|_| None, options);
    reader.here_text().map_err(|error| *error)
}

/// Parses a text as one word with quotes and expansions but no splitting, as the value of an assignment.
pub fn parse_value_text(
    text: &[u8],
    names: &mut Names,
    options: &ParseOptions,
) -> Result<Word, SyntaxError> {
    let text: Arc<[u8]> = text.iter().copied().filter(|byte| *byte != 0).collect();
    let mut reader = Reader::new(text, names, &|_| None, options);
    reader.whole_word().map_err(|error| *error)
}

/// Parses the elements of an array literal given as text, parentheses included (`declare -a "a=(1 2)"`).
pub fn parse_array_text(
    text: &[u8],
    names: &mut Names,
    options: &ParseOptions,
) -> Result<Vec<Element>, SyntaxError> {
    let text: Arc<[u8]> = text.iter().copied().filter(|byte| *byte != 0).collect();
    let mut reader = Reader::new(text, names, &|_| None, options);
    reader.skip_blanks();
    if reader.here() != b'(' {
        return Err(*reader.unexpected());
    }
    reader.array().map_err(|error| *error)
}
