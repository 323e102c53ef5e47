//! Bytes in, script out. Knows nothing of variables, files or running.

mod arith;
pub mod ast;
mod builder;
mod compound;
mod cond;
pub mod error;
mod escapes;
mod expr;
mod here_doc;
mod list;
pub mod names;
mod number;
mod operators;
mod param;
pub mod parser;
pub mod print;
mod print_word;
mod reader;
mod simple;
mod substitution;
#[cfg(test)]
mod tests;
pub mod text;
mod word;
