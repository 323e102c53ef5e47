//! The documentation's table of commands is the one that the code makes.
//!
//! `JP_UPDATE=1 cargo test -p jp_bash --test docs` writes it anew.

use std::{env, fs, path::Path};

#[test]
fn the_table_of_commands_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/features/bash-commands.md");
    let made = jp_bash::commands_reference();
    if env::var_os("JP_UPDATE").is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == made,
        "{} is stale; write it anew with `JP_UPDATE=1 cargo test -p jp_bash --test docs`",
        path.display()
    );
}
