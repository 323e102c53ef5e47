//! The documentation's table of capabilities is the one that the code makes.
//!
//! `JP_UPDATE=1 cargo test -p jp_broker --test docs` writes it anew.

use std::{collections::BTreeSet, env, fs, path::Path};

use jp_policy::BrokeredName;

#[test]
fn the_table_of_capabilities_is_up_to_date() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/features/capabilities-table.md");
    let made = jp_broker::reference();
    if env::var_os("JP_UPDATE").is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == made,
        "{} is stale; write it anew with `JP_UPDATE=1 cargo test -p jp_broker --test docs`",
        path.display()
    );
}

#[test]
fn every_name_can_be_granted_and_occurs_once() {
    let mut seen = BTreeSet::new();
    for known in jp_broker::table() {
        let name = known.spec().name;
        assert!(name.parse::<BrokeredName>().is_ok(), "{name}");
        assert!(seen.insert(name.to_owned()), "{name} twice");
    }
}
