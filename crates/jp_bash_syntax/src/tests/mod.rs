//! What the parser makes of scripts: shapes of trees, messages, limits.

mod limits;
mod recorded;
mod shape;
mod trees;

use crate::ast::List;
use crate::error::SyntaxError;
use crate::names::Names;
use crate::parser::{ParseOptions, Parser};

/// Parses a whole script.
fn parse(source: &[u8], names: &mut Names) -> Result<List, SyntaxError> {
    parse_with(source, names, ParseOptions::default())
}

fn parse_with(
    source: &[u8],
    names: &mut Names,
    options: ParseOptions,
) -> Result<List, SyntaxError> {
    let mut parser = Parser::new(source, options);
    let mut all = List::new();
    while let Some(mut line) = parser.next(names, &|_| None)? {
        all.append(&mut line);
    }
    Ok(all)
}
