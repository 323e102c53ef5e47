//! The builtins that are written in jq itself. Read once for the process; compiled where they are used.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::ast::Def;
use super::parse;
use super::text::Text;

const SOURCE: &[u8] = include_bytes!("prelude.jq");

type Table = HashMap<(Vec<u8>, usize), Arc<Def>>;

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let defs = parse::parse(SOURCE)
            .map(|source| source.defs)
            .unwrap_or_default();
        defs.into_iter()
            .map(|def| ((def.name.to_vec(), def.params.len()), def))
            .collect()
    })
}

/// Finds a builtin.
pub(super) fn find(name: &Text, arity: usize) -> Option<Arc<Def>> {
    table().get(&(name.to_vec(), arity)).map(Arc::clone)
}

/// Lists `name/arity` of all that are public.
pub(super) fn names() -> impl Iterator<Item = String> {
    let inline = [
        "empty/0",
        "error/0",
        "error/1",
        "path/1",
        "getpath/1",
        "map/1",
        "select/1",
        "first/1",
        "map_values/1",
        "range/1",
        "range/2",
    ];
    table()
        .keys()
        .filter(|(name, _)| !name.starts_with(b"_"))
        .map(|(name, arity)| format!("{}/{arity}", String::from_utf8_lossy(name)))
        .chain(inline.into_iter().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prelude_reads_without_error() {
        if let Err(error) = parse::parse(SOURCE) {
            panic!("{} at {}", error.message, error.at);
        }
        assert!(find(&Text::from("recurse"), 1).is_some());
    }
}
