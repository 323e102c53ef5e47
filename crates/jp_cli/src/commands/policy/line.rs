//! Where a key stands in the files of a configuration: the last file that has it decides.

use std::{
    fs,
    path::{Path, PathBuf},
};

use toml_edit::{Document, Item};

/// Files of a configuration with more bytes are not searched; the loader reads none either.
const MOST: u64 = 4 << 20;

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) file: PathBuf,
    /// From 1.
    pub(super) number: usize,
}

impl Line {
    /// Finds a key, from the file that wins to the others.
    pub(super) fn find(files: &[PathBuf], path: &[&str]) -> Option<Self> {
        let found = |file: &PathBuf| {
            let number = number(&read(file)?, path)?;
            let file = file.clone();
            Some(Self { file, number })
        };
        files.iter().rev().find_map(found)
    }
}

fn read(file: &Path) -> Option<String> {
    let is_small = fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= MOST);
    is_small.then(|| fs::read_to_string(file).ok()).flatten()
}

/// Returns the number of the line that a key stands in.
fn number(text: &str, path: &[&str]) -> Option<usize> {
    let document: Document<String> = Document::parse(text.to_owned()).ok()?;
    let (last, tables) = path.split_last()?;
    let mut at: &Item = document.as_item();
    for table in tables {
        at = at.get(table)?;
    }
    let (key, value) = at.as_table_like()?.get_key_value(last)?;
    let span = key.span().or_else(|| value.span())?;
    let before = text.get(..span.start)?;
    Some(before.matches('\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_where_it_stands() {
        let text = "# first\n[policy]\nnet = true\n\n[conversation.tools.echo]\nsource = \"local\"\nrun = \"ask\"\n";
        assert_eq!(number(text, &["policy", "net"]), Some(3));
        let run = ["conversation", "tools", "echo", "run"];
        assert_eq!(number(text, &run), Some(7));
        assert_eq!(number(text, &["policy", "env"]), None);
        assert_eq!(number("policy.net = true", &["policy", "net"]), Some(1));
        assert_eq!(number("not toml [", &["policy"]), None);
    }
}
