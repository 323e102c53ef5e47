//! Bytes in, script out. Knows nothing of variables, files or running.

mod arith;
pub(crate) mod ast;
mod builder;
mod compound;
mod cond;
pub(crate) mod error;
mod escapes;
mod expr;
mod here_doc;
mod list;
pub(crate) mod names;
mod number;
mod operators;
mod param;
pub(crate) mod parser;
pub(crate) mod print;
mod print_word;
mod reader;
mod simple;
mod substitution;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod word;
