//! `jp serve install`: the files of all clients, from outside.

mod flow;
mod hostile;
mod table;

use std::{fs, path::Path};

use crate::kit::{Ran, Sandbox};

/// Returns the program as an entry names it.
fn program() -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_jp")).canonicalize().unwrap();
    own.to_str().unwrap().to_owned()
}

fn install(sandbox: &Sandbox, words: &[&str]) -> Ran {
    sandbox.jp(&[&["serve", "install"], words].concat())
}

/// Reads a file; the program is `/bin/jp` in what is compared.
fn read(sandbox: &Sandbox, file: &str) -> String {
    let text = fs::read_to_string(sandbox.path(file)).unwrap();
    text.replace(&program(), "/bin/jp")
}

fn names(sandbox: &Sandbox, dir: &str) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path(dir)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}
